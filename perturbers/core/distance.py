"""How far two words are apart."""

from __future__ import annotations


def distance(one: str, other: str) -> int:
    """Optimal string alignment distance: insertions, deletions, substitutions, and transpositions of neighbours, each at cost 1."""
    if one == other:
        return 0
    previous: list[int] = []
    current = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, previous, current = previous, current, [i]
        for j, b in enumerate(other, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            current.append(cost)
    return current[-1]
