"""A long text in parts that are said one after the other: cut at sentences, else at clauses, else between words."""

from __future__ import annotations

import re

from dialmill.perturbers.core.graphemes import inner_places

#: Where a text is cut, the best places first: behind a sentence, behind a clause, before a word that begins one, between words.
_CUTS = {
    "en": (
        re.compile(r"(?<=[.?!])\s+"),
        re.compile(r"(?<=[,;:])\s+"),
        re.compile(r"\s+(?=(?:and|but|or|because|so|which|that|if|when|then|also|with|for)\b)"),
        re.compile(r"\s+"),
    ),
    "zh": (
        re.compile(r"(?<=[。？！])"),
        re.compile(r"(?<=[，；：、])"),
        re.compile(r"(?=而且|但是|因为|所以|如果|然后|还有|另外|并且|不过)"),
        re.compile(""),
    ),
}
#: A better kind of place is taken up to this share of a part away from where equal parts would end.
_AWAY = 0.35


def parts_of(text: str, language: str, number: int) -> list[str]:
    """A text in about `number` parts of about equal length, none of them empty; joined (with blanks, in Chinese without) they are the text.

    Fewer parts where the text has fewer places to be cut at: one for a text of one word.
    """
    inner = inner_places(text)
    found: list[str] = []
    start = 0
    for part in range(1, number):
        wanted = start + (len(text) - start) / (number - part + 1)
        cut = _nearest(text, language, start, wanted, (wanted - start) * _AWAY, inner)
        if cut is None:
            break
        found.append(text[start : cut[0]].strip())
        start = cut[1]
    found.append(text[start:].strip())
    return [part for part in found if part]


def _nearest(text: str, language: str, start: int, wanted: float, away: float, inner: frozenset[int]) -> tuple[int, int] | None:
    """The place (from, to) to cut at: of the best kind that has one near enough, the nearest; None where there is none at all."""
    kinds = _CUTS.get(language, _CUTS["en"])
    for rank, kind in enumerate(kinds):
        places = [
            match.span()
            for match in kind.finditer(text, start + 1, len(text) - 1)
            if not {*match.span()} & inner and text[start : match.start()].strip() and text[match.end() :].strip()
        ]
        nearest = min(places, key=lambda place: abs(place[0] - wanted), default=None)
        if nearest is not None and (abs(nearest[0] - wanted) <= away or rank == len(kinds) - 1):
            return nearest
    return None
