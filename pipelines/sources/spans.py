"""Where values stand: a corpus' own spans proved, and put right where they can be.

Corpora count offsets in tokens or in characters, on the text as it is or on another tokenisation of it. Here every claim ("value v
stands at [start, end)") becomes character offsets and is proved: the text there must be the value, up to letter case, blanks and punctuation. A claim
that fails is looked for by `perturbers.core.values.find_span`: first among the words it names ("center" for centre), then
in the whole utterance, never inside a longer value. What is found nowhere is counted and left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dialmill.perturbers.core.graphemes import is_mark
from dialmill.perturbers.core.matcher import folded_word
from dialmill.perturbers.core.values import find_span
from dialmill.schemas import Span

_TOKEN = re.compile(r"\S+")


class Claim(NamedTuple):
    """What a corpus says: `value` stands at ``text[start:end]``. Offsets may be nonsense; None where it names no place."""

    domain: str
    slot: str
    value: str
    start: int | None = None
    end: int | None = None


class Settled(NamedTuple):
    """The spans that hold, in text order.

    `moved` claims were wrong about the place and found at another, `lost` ones found nowhere; `ambiguous` ones had several places as good.
    """

    spans: tuple[Span, ...]
    moved: int = 0
    lost: int = 0
    ambiguous: int = 0


class Tokens:
    """The tokens of a text, cut at blanks as ``text.split()`` does it, and where they stand."""

    __slots__ = ("_bounds", "_words")

    def __init__(self, text: str) -> None:
        self._words = text.split()
        # With one blank between any two words, which is nearly always, lengths alone give the places.
        regular = " ".join(self._words) == text
        self._bounds = None if regular else [match.span() for match in _TOKEN.finditer(text)]

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Character offsets of the tokens `first` to `last`, both inclusive. Indices out of range, or in the wrong order, give an empty range."""
        words = self._words
        if not 0 <= first <= last < len(words):
            return 0, 0
        if self._bounds is not None:
            return self._bounds[first][0], self._bounds[last][1]
        start = len(" ".join(words[:first])) + 1 if first else 0
        return start, start + (len(words[first]) if first == last else len(" ".join(words[first : last + 1])))


def fold(text: str) -> str:
    """`text` for comparison: lower case, without blanks and punctuation, but with the points of decimals."""
    if not text.isascii():
        text = folded_word(text)  # a label may have the composed letter where the text has letter and mark, and ss where it has ß
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
    surface = text[start:end]
    if surface != value and surface.lower() != value.lower():
        while start < end and not _letter(text[start]) and text[start] != value[:1]:
            start += 1
        while end > start and not _letter(text[end - 1]) and text[end - 1] != value[-1:]:
            end -= 1
        folded = fold(text[start:end])
        if not folded or folded != fold(value):
            return None
    elif not surface.strip():
        return None
    return (start, end) if whole(text, start, end) else None


def _letter(char: str) -> bool:
    """Whether a character is a letter, a digit or a mark on one."""
    return char.isalnum() or is_mark(char)


def whole(text: str, start: int, end: int) -> bool:
    """Whether [start, end) cuts no word and no number in two ("7" in "17:30" does). Chinese writes no word boundaries."""
    if is_mark(text[start]):
        return False
    # Between blanks, which is nearly always, there is nothing to look at.
    left = start == 0 or text[start - 1] == " " or _free(text[max(0, start - 2) : start][::-1], text[start])
    return left and (end == len(text) or text[end] == " " or _free(text[end : end + 2], text[end - 1]))


def widen(text: str, start: int, end: int) -> tuple[int, int]:
    """[start, end) with the rest of the words that its ends cut ("moderate" in "moderately priced" is said of the whole word)."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum() and not whole(text, start, end):
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum() and not whole(text, start, end):
        end += 1
    return start, end


def _free(beyond: str, edge: str) -> bool:
    """Whether the character beyond an edge, and the one after that, belong to another token than the edge."""
    if is_mark(beyond[0]):
        return False  # a mark belongs to the letter before it
    if not edge.isalnum() or "\u3400" <= edge <= "\u9fff" or "\u3400" <= beyond[0] <= "\u9fff":
        return True
    return not beyond[0].isalnum() and not (edge.isdigit() and beyond[0] in ".:," and beyond[1:].isdigit())


def settle(text: str, claims: Sequence[Claim], language: str = "en") -> Settled:
    """The spans that hold of `claims` about `text`. A claim that names no place can't be moved or lost."""
    spans: list[Span] = []
    open_claims: list[Claim] = []
    for claim in claims:
        domain, slot, value, start, end = claim
        place = None if start is None or end is None else prove(text, start, end, value)
        if place is None:
            open_claims.append(claim)
        else:
            start, end = place
            spans.append(Span(start, end, text[start:end], domain, slot, value))
    counts = _search(text, open_claims, spans, [claim.value for claim in claims], language) if open_claims else (0, 0, 0)
    if any(left.start >= right.start for left, right in pairwise(spans)):  # type: ignore[operator]  # these spans have offsets
        spans = sorted(dict.fromkeys(spans), key=_reading_order)
    return Settled(tuple(spans), *counts)


def _reading_order(span: Span) -> tuple[int, int, str, str, str]:
    assert span.start is not None and span.end is not None
    return span.start, span.end, span.domain, span.slot, span.value


def _search(text: str, claims: list[Claim], spans: list[Span], named: Sequence[str], language: str) -> tuple[int, int, int]:
    """Adds to `spans` those of `claims` that are found, longest values first; how many were moved, lost, ambiguous."""
    moved = lost = ambiguous = 0
    for claim in sorted(claims, key=lambda c: (-len(c.value), c.domain, c.slot, c.value, c.start or 0)):
        place = _find(text, claim, spans, named, language)
        if place is None:
            lost += claim.start is not None
            continue
        start, end, unsure, elsewhere = place
        spans.append(Span(start, end, text[start:end], claim.domain, claim.slot, claim.value))
        moved += elsewhere and claim.start is not None
        ambiguous += unsure
    return moved, lost, ambiguous


def _find(text: str, claim: Claim, spans: list[Span], named: Sequence[str], language: str) -> tuple[int, int, bool, bool] | None:
    """(start, end, ambiguous, elsewhere) of a claim that isn't literally true of the place it names."""
    if claim.start is not None and claim.end is not None and 0 <= claim.start < claim.end <= len(text):
        left, right = widen(text, claim.start, claim.end)
        found = find_span(text[left:right], claim.value, claim.slot, language)
        if found is not None and whole(text, left + found[0], left + found[1]):
            return left + found[0], left + found[1], False, False
    taken = [(span.start, span.end) for span in spans if span.start is not None and span.end is not None]
    # The same words may show one value of two slots, so a second look passes over spans of this value.
    shared = [(span.start, span.end) for span in spans if span.start is not None and span.end is not None and span.value != claim.value]
    for ranges in (taken, shared) if len(shared) < len(taken) else (taken,):
        anywhere = find_span(text, claim.value, claim.slot, language, ranges, named)
        if anywhere is not None and whole(text, anywhere[0], anywhere[1]):
            return *anywhere, True
    return None
