"""How far two words are apart."""

from __future__ import annotations

from rapidfuzz.distance import OSA


def distance(one: str, other: str) -> int:
    """Optimal string alignment distance: insertions, deletions, substitutions, and transpositions of neighbours, each at cost 1."""
    return OSA.distance(one, other)
