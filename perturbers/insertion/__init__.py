"""Perturbers that insert turns: knowledge-seeking questions, out-of-scope turns, questions that no slot answers."""
