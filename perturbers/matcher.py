"""Finding many surfaces in a text at once, on whole tokens.

A text is cut into units: lower-cased runs of letters and digits in English, single characters and Latin or digit runs in Chinese. The key of a
surface is the concatenation of its units, so that blanks, hyphens and apostrophes don't count: "guest house" is "guesthouse", "christ 's" is
"christs", "2010 年代" is "2010年代"; only before a digit stays a blank, so that "1 2" is not 12. As whole units are joined, the 7 of 17:30 is
never a 7.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

#: Units of an English text: placeholders, numbers with their separators and letters (17:30, 10.50, 01223-358966, 7pm), other runs.
_EN_UNIT = re.compile(r"[^\W\d_][^\W_]*|\d+(?:[:.,]\d+)*[^\W_]*(?:(?<=\d\d)(?:-\d\d+)+)?|[^\W_]+|&|\[\w[\w.-]*\]|<\w[\w.-]*>")
_ZH_UNIT = re.compile(r"[\[<][a-z]\w*[\]>]|\d+(?:[:.,]\d+)*[a-z]*(?:(?<=\d\d)(?:-\d\d+)+)?|[a-z][a-z0-9]*|[^\W_]")
#: Full-width forms to half-width ones, one code point each, so that offsets hold.
_HALF = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0x2019: 0x27}
#: Where a sentence ends: no surface runs across it.
_BREAK = re.compile(r"[?!;\n。？！；]")
_DIGITS = frozenset("0123456789")


class Cut(NamedTuple):
    """A text in units.

    `names` are the folded units, `bounds` (start, end) of each in the text. `compact` is the key of the whole text, in which unit i stands
    from ``starts[i]`` to ``ends[i]``.
    """

    names: list[str]
    bounds: list[tuple[int, int]]
    compact: str
    starts: list[int]
    ends: list[int]


class Hit(NamedTuple):
    """A key found in the units from `first` up to `last`, exclusive."""

    first: int
    last: int
    key: str


def cut(text: str, language: str) -> Cut:
    """`text` in units."""
    folded = text.lower()
    if not folded.isascii():
        if len(folded) != len(text):
            folded = "".join(low if len(low := char.lower()) == 1 else char for char in text)
        folded = folded.translate(_HALF)
    bounds = [match.span() for match in (_ZH_UNIT if language == "zh" else _EN_UNIT).finditer(folded)]
    names = [folded[start:end] for start, end in bounds]
    if "&" in names:
        names = ["and" if name == "&" else name for name in names]
    if _DIGITS.isdisjoint(folded):
        ends = list(accumulate(map(len, names)))
        return Cut(names, bounds, "".join(names), [0, *ends[:-1]] if ends else [], ends)
    spaced = [f" {name}" if name[0] in _DIGITS else name for name in names]
    ends = list(accumulate(map(len, spaced)))
    return Cut(names, bounds, "".join(spaced), [end - len(name) for end, name in zip(ends, names, strict=True)], ends)


@lru_cache(maxsize=65536)
def key_of(text: str, language: str) -> str:
    """The key of a surface."""
    return cut(text, language).compact.lstrip()


class Index(Generic[T]):
    """Keys, each with what was added under it; for texts of one language."""

    __slots__ = ("entries", "heads", "short", "width")

    def __init__(self, language: str) -> None:
        self.width = 2 if language == "zh" else 3
        self.entries: dict[str, list[T]] = {}
        #: First `width` characters of the keys -> length of the longest key that begins so.
        self.heads: dict[str, int] = {}
        #: Keys shorter than that: they are one unit each.
        self.short: set[str] = set()

    def add(self, key: str, entry: T) -> None:
        """Puts `entry` under `key`, after those that are there."""
        entries = self.entries.get(key)
        if entries is not None:
            entries.append(entry)
            return
        self.entries[key] = [entry]
        size = len(key)
        if size < self.width:
            self.short.add(key)
            return
        head = key[: self.width]
        if self.heads.get(head, 0) < size:
            self.heads[head] = size

    def scan(self, units: Cut) -> list[Hit]:
        """Every key that some run of units spells."""
        names, _, compact, starts, ends = units
        entries, heads, width = self.entries, self.heads, self.width
        hits: list[Hit] = []
        if not self.short.isdisjoint(names):
            hits = [Hit(place, place + 1, name) for place, name in enumerate(names) if name in self.short]
        count = len(names)
        for first, start in enumerate(starts):
            longest = heads.get(compact[start : start + width])
            if longest is None:
                continue
            last = first
            while last < count:
                key = compact[start : ends[last]]
                if len(key) > longest:
                    break
                last += 1
                if len(key) >= width and key in entries:
                    hits.append(Hit(first, last, key))
        return hits

    def find(self, text: str, units: Cut) -> list[Hit]:
        """Disjoint hits in order: longer before shorter, then earlier before later; none runs across the end of a sentence."""
        hits = self.scan(units)
        if not hits:
            return hits
        bounds = units.bounds
        if len(hits) > 1:
            hits.sort(key=lambda hit: (bounds[hit.first][0] - bounds[hit.last - 1][1], hit.first))
        taken: set[int] = set()
        kept: list[Hit] = []
        for hit in hits:
            first, last, _ = hit
            if last - first == 1:
                if first in taken:
                    continue
                taken.add(first)
            else:
                if not taken.isdisjoint(range(first, last)) or _BREAK.search(text, bounds[first][1], bounds[last - 1][0]):
                    continue
                taken.update(range(first, last))
            kept.append(hit)
        kept.sort()
        return kept
