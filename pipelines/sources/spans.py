"""Where values stand: a corpus' own spans proved, and put right where they can be.

Corpora count offsets in tokens or in characters, on the text as it is or on another tokenisation of it (cases B29, B30). Here every claim ("value v
stands at [start, end)") becomes character offsets and is proved: the text there must be the value, up to letter case, blanks and punctuation. A claim
that fails is looked for in the whole utterance at token boundaries, nearest to where it was said to be, and never inside a longer value. What
is found nowhere is counted and left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from schemas import Span

_TOKEN = re.compile(r"\S+")
_RUN = re.compile(r"\w+|[^\w\s]+|\s+")


class Claim(NamedTuple):
    """What a corpus says: `value` stands at ``text[start:end]``. Offsets may be nonsense; None where it names no place."""

    domain: str
    slot: str
    value: str
    start: int | None = None
    end: int | None = None


class Settled(NamedTuple):
    """The spans that hold, in text order, and how many claims were moved to another place or found nowhere."""

    spans: tuple[Span, ...]
    moved: int
    lost: int


def token_bounds(text: str) -> list[tuple[int, int]]:
    """Character offsets of the blank-separated tokens of `text`, as ``text.split()`` cuts it."""
    return [match.span() for match in _TOKEN.finditer(text)]


def from_tokens(bounds: Sequence[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    """Character offsets of the tokens `first` to `last`, both inclusive. Indices out of range give offsets out of range."""
    count = len(bounds)
    far = bounds[-1][1] + 1 if bounds else 1
    start = bounds[first][0] if 0 <= first < count else far
    end = bounds[last][1] if 0 <= last < count else far
    return start, end


def fold(text: str) -> str:
    """`text` for comparison: lower case, without blanks and punctuation, but with the points of decimals."""
    if text.isalnum():
        return text.lower()
    kept = []
    for place, char in enumerate(text):
        if char.isalnum() or (char == "." and text[place - 1 : place].isdigit() and text[place + 1 : place + 2].isdigit()):
            kept.append(char)
    return "".join(kept).lower()


def prove(text: str, start: int, end: int, value: str) -> tuple[int, int] | None:
    """The exact place of `value` if ``text[start:end]`` is it, up to case, blanks and punctuation; else None.

    Punctuation at either end that the value lacks is left outside ("east." for "east").
    """
    if not 0 <= start < end <= len(text):
        return None
    if text[start:end].lower() != value.lower():
        while start < end and not text[start].isalnum() and text[start] != value[:1]:
            start += 1
        while end > start and not text[end - 1].isalnum() and text[end - 1] != value[-1:]:
            end -= 1
        folded = fold(text[start:end])
        if not folded or folded != fold(value):
            return None
    return (start, end) if whole(text, start, end) else None


def whole(text: str, start: int, end: int) -> bool:
    """Whether [start, end) cuts no word and no number in two ("7" in "17:30" does). Chinese writes no word boundaries."""
    return _free(text[start - 2 : start] if start > 1 else text[:start], text[start], -1) and _free(text[end : end + 2], text[end - 1], 1)


def _free(beyond: str, edge: str, side: int) -> bool:
    """Whether the characters `beyond` an edge (up to two, in text order) belong to another token than the edge."""
    if not beyond or not edge.isalnum() or "\u3400" <= edge <= "\u9fff":
        return True
    near, far = (beyond[-1], beyond[:-1]) if side < 0 else (beyond[0], beyond[1:])
    if near.isalnum():
        return "\u3400" <= near <= "\u9fff"
    return not (edge.isdigit() and near in ".:," and far.isdigit())


@lru_cache(maxsize=1 << 14)
def _pattern(value: str) -> re.Pattern[str] | None:
    """A pattern for `value` in any letter case, with any blanks, hyphens or apostrophes between its words."""
    parts: list[str] = []
    for run in _RUN.findall(value):
        if run[0].isalnum() or run[0] == "_" or (run in (".", ":") and parts):
            parts.append(re.escape(run))
        elif parts and not parts[-1].startswith("["):
            parts.append(r"[\s\-'’,&.]{0,3}")
    return re.compile("".join(parts).removesuffix(r"[\s\-'’,&.]{0,3}"), re.IGNORECASE) if parts else None


def occurrences(text: str, value: str) -> list[tuple[int, int]]:
    """Every place where `value` stands in `text` as whole words and numbers, left to right."""
    pattern = _pattern(value)
    if pattern is None:
        return []
    return [m.span() for m in pattern.finditer(text) if m.end() > m.start() and whole(text, *m.span())]


def settle(text: str, claims: Sequence[Claim]) -> Settled:
    """The spans that hold of `claims` about `text`; each claim is proved, moved or lost. A claim that names no place can't be lost."""
    spans: list[Span] = []
    open_claims: list[Claim] = []
    for claim in claims:
        place = prove(text, claim.start, claim.end, claim.value) if claim.start is not None and claim.end is not None else None
        if place is None:
            open_claims.append(claim)
        else:
            spans.append(Span(place[0], place[1], text[place[0] : place[1]], claim.domain, claim.slot, claim.value))
    moved = lost = 0
    # Longest values first, so that "north" is not looked for inside "north star inn" (case B30).
    for claim in sorted(open_claims, key=lambda c: (-len(c.value), c.domain, c.slot, c.value, c.start or 0)):
        place = _nearest(text, claim, spans)
        if place is not None:
            spans.append(Span(place[0], place[1], text[place[0] : place[1]], claim.domain, claim.slot, claim.value))
            moved += claim.start is not None
        else:
            lost += claim.start is not None
    if len(spans) > 1:
        spans = sorted(dict.fromkeys(spans), key=lambda s: (s.start, s.end, s.domain, s.slot, s.value))
    return Settled(tuple(spans), moved, lost)


def _nearest(text: str, claim: Claim, placed: Sequence[Span]) -> tuple[int, int] | None:
    """The occurrence of a claim's value nearest to where it was said to be; of equals, one that no other value has taken, then the first."""
    hint = claim.start or 0
    best: tuple[tuple[bool, int, int], tuple[int, int]] | None = None
    for start, end in occurrences(text, claim.value):
        taken = False
        for span in placed:
            assert span.start is not None and span.end is not None
            if span.start < end and start < span.end:
                if span.end - span.start > end - start:
                    break
                taken = True
        else:
            rank = (taken, abs(start - hint), start)
            if best is None or rank < best[0]:
                best = (rank, (start, end))
    return best[1] if best else None
