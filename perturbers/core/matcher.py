"""Finding many surfaces in a text at once, on whole tokens.

A text is cut into units: lower-cased runs of letters and digits in English, single characters and Latin or digit runs in Chinese. The key of a
surface is the concatenation of its units, so that blanks, hyphens and apostrophes don't count: "rosa 's" is "rosas", "2010 年代" is "2010年代";
only before a digit stays a blank, so that "1 2" is not 12. As whole units are joined, the 7 of 17:30 is never a 7.

This runs for every turn of every corpus, twice. So the units of a run between blanks are kept, their places in the text are looked up only when asked
for, and an index is a dict and a set that C code fills.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Generic, NamedTuple, TypeVar
from unicodedata import is_normalized, normalize

from dialmill.perturbers.core.graphemes import MARKS
from dialmill.perturbers.core.tokens import Runs

T = TypeVar("T")

#: Units of an English text: words, numbers with their separators and letters (17:30, 10.50, 01223-358966, 7pm), placeholders.
_EN_UNIT = re.compile(r"[^\W\d_][^\W_]*|\d+(?:[:.,]\d+)*[^\W_]*(?:(?<=\d\d)(?:-\d\d+)+)?|[^\W_]+|&|\[\w[\w.-]*\]|<\w[\w.-]*>")
_EN_RUNS = Runs(_EN_UNIT)
_ZH_UNIT = re.compile(r"[\[<][a-z]\w*[\]>]|\d+(?:[:.,]\d+)*[a-z]*(?:(?<=\d\d)(?:-\d\d+)+)?|[a-z][a-z0-9]*|[^\W_]")
#: The same with combining marks inside words, for texts that have any: "e" and U+0301 is one letter, as U+00E9 is.
_MARKED = re.compile(f"[{MARKS}]")
_EN_MARKED_RUNS = Runs(re.compile(rf"[^\W\d_](?:[^\W_]|[{MARKS}])*|{_EN_UNIT.pattern.partition('|')[2]}"))
_ZH_MARKED = re.compile(_ZH_UNIT.pattern.replace("[a-z][a-z0-9]*|[^\\W_]", rf"[a-z](?:[a-z0-9]|[{MARKS}])*|[^\W_][{MARKS}]*"))
#: Full-width forms to half-width ones, one code point each, so that offsets hold.
_HALF = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0x2019: 0x27}
#: Signs at the ends of a value, in half and full width.
_OPENING, _CLOSING = frozenset("([（［"), frozenset(")]%）］％")
#: Where a sentence ends: no surface runs across it.
BREAK = re.compile(r"[?!;\n。？！；]")


class Cut:
    """A text in units: `names` are the folded units, `bounds` the (start, end) of each in the text."""

    __slots__ = ("_bounds", "_folded", "_found", "names")

    def __init__(self, text: str, language: str) -> None:
        folded = lowered(text)
        if not folded.isascii():
            folded = folded.translate(_HALF)
        marked = not folded.isascii() and _MARKED.search(folded) is not None
        if marked:
            found: list[str] = (_ZH_MARKED if language == "zh" else _EN_MARKED_RUNS).findall(folded)
        else:
            found = (_ZH_UNIT if language == "zh" else _EN_RUNS).findall(folded)
        self._folded = folded
        self._found = found
        self._bounds: list[tuple[int, int]] | None = None
        self.names = ["and" if name == "&" else name for name in found] if "&" in folded else found
        if not folded.isascii() and (marked or not is_normalized("NFKC", folded) or folded.casefold() != folded):
            # A label may have the composed letter where the text has letter and mark, "ss" where it has ß, "fi" where it has the ligature.
            self.names = [folded_word(name) for name in self.names]

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Start and end of each unit, in code points of the text."""
        if self._bounds is None:
            # Between two units stand only characters that begin none, so that the next occurrence of a unit's name is the unit.
            find = self._folded.find
            end = 0
            bounds = []
            for name in self._found:
                start = find(name, end)
                end = start + len(name)
                bounds.append((start, end))
            self._bounds = bounds
        return self._bounds

    def around(self, start: int, end: int, value: str) -> tuple[int, int]:
        """Where a place of `value` begins and ends whose units are text[start:end]: the brackets of "(西单)火锅" and "海底捞(西单店)" belong
        to it, and so does the sign of "50%", in full width or in half."""
        if value[:1] in _OPENING and start and self._folded[start - 1] == value[0].translate(_HALF):
            start -= 1
        if value[-1:] in _CLOSING and self._folded[end : end + 1] == value[-1].translate(_HALF):
            end += 1
        return start, end


def lowered(text: str) -> str:
    """Lower case with every character in its place: the one capital whose small letter is two characters stays."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one.lower()) != 1 else one.lower() for one in text)


def folded_word(text: str) -> str:
    """A text in the one form in which equal words are equal: compatible characters (ligatures, full-width and circled ones) by what they stand for,
    letters with their marks in one, without letter case (ß is ss). It may be longer or shorter than the text."""
    if text.isascii():
        return text.lower()
    # The dot that the capital İ keeps is part of its small letter.
    return normalize("NFC", normalize("NFKC", text).casefold().replace("i\u0307", "i"))


class Hit(NamedTuple):
    """A key found in the units from `first` up to `last`, exclusive."""

    first: int
    last: int
    key: str


def join(names: Sequence[str]) -> str:
    """The key of a run of units."""
    key = ""
    for name in names:
        key += f" {name}" if key and name[0] in "0123456789" else name
    return key


@lru_cache(maxsize=16384)
def key_of(text: str, language: str) -> str:
    """The key of a surface."""
    return join(Cut(text, language).names)


@lru_cache(maxsize=16384)
def prefixes_of(text: str, language: str) -> frozenset[str]:
    """What a text may have read when it is on its way through this surface: the keys of its first units, and of all."""
    names = Cut(text, language).names
    found = {join(names[:count]) for count in range(1, len(names) + 1)}
    # "christs college" is also written "christ 's college", "dont care" also "do n't care" and "don't care".
    found |= {prefix[:-1] for prefix in found if len(prefix) > 3 and (prefix[-1] == "s" or prefix.endswith("nt"))}
    found |= {prefix[:-2] for prefix in found if len(prefix) > 3 and prefix.endswith("nt")}
    return frozenset(found)


@lru_cache(maxsize=16384)
def parts_of(text: str, language: str) -> frozenset[str]:
    """What a unit of a text may be that stands in this surface; any other unit is no part of it."""
    names = Cut(text, language).names
    found = {join(names[first:last]) for first in range(1, len(names)) for last in range(first + 1, len(names) + 1)}
    return prefixes_of(text, language) | found | {"s", "t", "n", "nt"}


class Index(Generic[T]):
    """Keys, each with the entries added under it."""

    __slots__ = ("entries", "prefixes")

    def __init__(self) -> None:
        self.entries: dict[str, tuple[T, ...]] = {}
        self.prefixes: set[str] = set()

    def add(self, entries: dict[str, tuple[T, ...]], *prefixes: frozenset[str]) -> None:
        """Adds the keys of `entries`, after what stands under them; with the keys' `prefixes_of`, unless those were added before."""
        own = self.entries
        if own.keys().isdisjoint(entries):
            own.update(entries)
        else:
            for key, added in entries.items():
                own[key] = (*own.get(key, ()), *added)
        self.prefixes.update(*prefixes)

    def scan(self, names: Sequence[str]) -> list[Hit]:
        """Every key that some run of units spells, by first unit, shorter before longer."""
        entries, prefixes = self.entries, self.prefixes
        hits: list[Hit] = []
        count = len(names)
        for first in compress(range(count), map(prefixes.__contains__, names)):
            key = names[first]
            last = first + 1
            while True:
                if key in entries:
                    hits.append(Hit(first, last, key))
                if last == count:
                    break
                name = names[last]
                key += f" {name}" if name[0] in "0123456789" else name
                if key not in prefixes:
                    break
                last += 1
        return hits

    def find(self, text: str, units: Cut) -> list[Hit]:
        """Disjoint hits in order: longer before shorter, then earlier before later; none runs across the end of a sentence."""
        hits = self.scan(units.names)
        if not hits:
            return hits
        kept: list[Hit] = []
        reached = 0
        for hit in hits:
            if hit.first < reached or (hit.last - hit.first > 1 and _broken(text, units.bounds, hit)):
                return _disjoint(text, units.bounds, hits)
            kept.append(hit)
            reached = hit.last
        return kept


def _broken(text: str, bounds: list[tuple[int, int]], hit: Hit) -> bool:
    return BREAK.search(text, bounds[hit.first][1], bounds[hit.last - 1][0]) is not None


def _disjoint(text: str, bounds: list[tuple[int, int]], hits: list[Hit]) -> list[Hit]:
    taken: set[int] = set()
    kept: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (bounds[hit.first][0] - bounds[hit.last - 1][1], hit.first)):
        if taken.isdisjoint(range(hit.first, hit.last)) and not _broken(text, bounds, hit):
            taken.update(range(hit.first, hit.last))
            kept.append(hit)
    kept.sort()
    return kept
