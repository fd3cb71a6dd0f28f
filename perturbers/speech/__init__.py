"""The speech channel: text to speech, noise, speech to text; and a simulator that learned its errors.

from dialmill.perturbers import get
speech = get("speech")(wer=0.3)
variant = speech.perturb(dialogue, seed=1)
"""
