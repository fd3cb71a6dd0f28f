"""Perturbers that reword a turn: paraphrase, simplification, verbosity."""
