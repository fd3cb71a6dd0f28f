import os

# Audio differs in its last bits from one processor to another, and takes its time: tests that mean it ask for it (engine=audio).
os.environ.setdefault("DIALMILL_NO_AUDIO", "1")
