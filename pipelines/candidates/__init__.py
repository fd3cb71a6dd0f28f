"""Candidate pools for next-utterance selection: keys, sampling of distractors, cuts of conversations, and the audit of the pools."""
