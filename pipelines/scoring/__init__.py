"""Scores as the benchmarks' own scorers give them."""
