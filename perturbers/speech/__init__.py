"""The speech channel: text, voice, noise, recogniser, text again; and a text channel that learned its errors.

from dialmill.perturbers import get
speech = get("speech")(wer=0.3)
variant = speech.perturb(dialogue, seed=1)
"""
