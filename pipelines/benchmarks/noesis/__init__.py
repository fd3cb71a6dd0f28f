"""Next-utterance selection as in DSTC7 Task 1 and DSTC8 Track 2 (NOESIS): conversations, cuts, candidate pools, and their audit.

Gunasekara et al. (2019), DSTC7 Task 1: Noetic End-to-End Response Selection. Pure functions and plain stages; nothing here imports Beam.
"""
