"""How many tokens of a text another text changes."""

from __future__ import annotations

from collections.abc import Sequence


def token_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Levenshtein distance of two sequences of tokens.

    Bit-parallel (Hyyrö 2003, after Myers 1999): a column of the table is two integers of as many bits as `one` has tokens, so that a turn of
    hundreds of tokens costs no more than some additions a token.
    """
    if not one:
        return len(other)
    places: dict[str, int] = {}
    for place, token in enumerate(one):
        places[token] = places.get(token, 0) | 1 << place
    whole, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, found = whole, 0, len(one)
    for token in other:
        equal = places.get(token, 0)
        across = (((equal & more) + more) ^ more) | equal
        up = less | (whole & ~(across | more))
        down = more & across
        found += bool(up & last) - bool(down & last)
        up = (up << 1 | 1) & whole
        vertical = equal | less
        more = ((down << 1) | (whole & ~(vertical | up))) & whole
        less = up & vertical
    return found
