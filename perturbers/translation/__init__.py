"""Dialogues in another language: labels by a lexicon, words by an engine, values at their places."""
