"""Three ways to find slot values in a text, so that the kinds of baselines don't all fail where one of them does.

Each is learned from training turns: by the package's own matcher of values, by n-grams of characters, which forgive a slip of the keyboard, and by
the words that labels mark as a value.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from dialmill.pipelines.baselines.ontology import Ontology, Slot, silent
from dialmill.pipelines.baselines.panel.seen import Task
from numpy.typing import NDArray

#: Slot -> value -> how many training turns brought it in.
Counts = dict[Slot, dict[str, int]]
_UNIT = re.compile(r"[a-z0-9]+(?:[:.'][a-z0-9]+)*|[\u3400-\u9fff]")
_BLANKS = re.compile(r"[\W_]+")
#: A value counts as said where a text has this share of its n-grams, in tenths.
_ENOUGH = 7


class Found(NamedTuple):
    """Values in a text: where it stands among others, the words before and after it, and the value that each slot would take from it."""

    place: int
    left: tuple[str, ...]
    right: tuple[str, ...]
    values: Mapping[Slot, str]


class Finder(ABC):
    """Finds values in texts of one language."""

    def __init__(self, language: str, counts: Counts) -> None:
        self.language, self.counts = language, counts

    @abstractmethod
    def find(self, text: str) -> Sequence[Found]:
        """The values in a text, in order."""


def learn_counts(tasks: Iterable[Task]) -> Counts:
    """The values that turns bring into the state."""
    counts: Counts = {}
    for task in tasks:
        for slot, values in task.right.changed.items():
            mine = counts.setdefault(slot, {})
            mine[values[0]] = mine.get(values[0], 0) + 1
    return {slot: dict(sorted(values.items())) for slot, values in sorted(counts.items())}


class ExactFinder(Finder):
    """Values as the package's matcher finds them."""

    def __init__(self, language: str, counts: Counts) -> None:
        super().__init__(language, counts)
        self._ontology = Ontology(language, counts)
        self._kept = lru_cache(maxsize=1 << 14)(self._find)

    def find(self, text: str) -> Sequence[Found]:
        return self._kept(text)

    def _find(self, text: str) -> Sequence[Found]:
        units, mentions = self._ontology.find(text)
        return [
            Found(one.first, tuple(units[max(0, one.first - 3) : one.first]), tuple(units[one.last : one.last + 2]), one.values) for one in mentions
        ]


@lru_cache(maxsize=1 << 14)
def units_of(text: str) -> tuple[str, ...]:
    """Words in lower case, Chinese characters one by one."""
    return tuple(_UNIT.findall(text.lower()))


class WordFinder(Finder):
    """Values by sequences of words: the value's own, and without a leading zero of a time."""

    #: Units of the longest value that is looked for.
    _LONGEST = 8

    def __init__(self, language: str, counts: Counts) -> None:
        super().__init__(language, counts)
        self._forms: dict[tuple[str, ...], dict[Slot, tuple[int, str]]] = {}
        for slot, values in counts.items():
            for value, number in values.items():
                if not silent(slot[1], value):
                    for form in {value, value.removeprefix("the "), re.sub(r"\b0(\d:)", r"\1", value)}:
                        known = self._forms.setdefault(units_of(form)[: self._LONGEST], {})
                        known[slot] = max(known.get(slot, (0, "")), (number, value))

    def find(self, text: str) -> Sequence[Found]:
        units = units_of(text)
        found = []
        at = 0
        while at < len(units):
            for size in range(min(self._LONGEST, len(units) - at), 0, -1):
                slots = self._forms.get(units[at : at + size])
                if slots is not None:
                    values = {slot: value for slot, (_, value) in slots.items()}
                    found.append(Found(at, units[max(0, at - 3) : at], units[at + size : at + size + 2], values))
                    at += size - 1
                    break
            at += 1
        return found


class FuzzyFinder(Finder):
    """Values by the n-grams of characters that a text shares with them, three at a time, two in Chinese; the best value for each slot."""

    def __init__(self, language: str, counts: Counts) -> None:
        super().__init__(language, counts)
        self._size = 2 if language == "zh" else 3
        self._values: list[tuple[Slot, str]] = [
            (slot, value) for slot, values in counts.items() for value in values if not silent(slot[1], value) and self._grams(value)
        ]
        postings: dict[str, list[int]] = {}
        for number, (_, value) in enumerate(self._values):
            for gram in self._grams(value):
                postings.setdefault(gram, []).append(number)
        self._postings = {gram: np.array(numbers, dtype=np.int64) for gram, numbers in postings.items()}
        self._sizes: NDArray[np.int64] = np.array([len(self._grams(value)) for _, value in self._values], dtype=np.int64)
        self._kept = lru_cache(maxsize=1 << 14)(self._find)

    def _grams(self, text: str) -> dict[str, int]:
        """The n-grams of a text with the place of the first of each."""
        edge = "" if self.language == "zh" else "_"
        run = edge + (edge or "").join(one for one in _BLANKS.split(text.lower()) if one) + edge
        found: dict[str, int] = {}
        for at in range(max(1, len(run) - self._size + 1)):
            found.setdefault(run[at : at + self._size], at)
        return found

    def find(self, text: str) -> Sequence[Found]:
        return self._kept(text)

    def _find(self, text: str) -> Sequence[Found]:
        grams = self._grams(text)
        hits = [self._postings[gram] for gram in grams if gram in self._postings]
        if not hits:
            return []
        shared = np.bincount(np.concatenate(hits), minlength=len(self._values))
        best: dict[Slot, tuple[int, int, int]] = {}
        for number in np.flatnonzero(10 * shared >= _ENOUGH * self._sizes).tolist():
            slot, value = self._values[number]
            # Of several the one that more of the text speaks for; the more frequent of equal ones, then the first in the alphabet.
            rank = (int(2 * shared[number] - self._sizes[number]), self.counts[slot][value], -number)
            best[slot] = max(best.get(slot, (-1, 0, 0)), rank)
        low = text.lower()
        found: dict[int, dict[Slot, str]] = {}
        for slot, (_, _, number) in sorted(best.items()):
            value = self._values[-number][1]
            place = min(grams[gram] for gram in self._grams(value) if gram in grams)
            found.setdefault(place, {})[slot] = value
        return [Found(place, (low[max(0, place - 8) : place].strip(),), (), values) for place, values in sorted(found.items())]


class Cues:
    """Which slot a value belongs to, by the words before it: counts of training turns."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        self.counts = {word: dict(slots) for word, slots in counts.items()}

    @classmethod
    def learn(cls, tasks: Iterable[Task], finder: Finder) -> Cues:
        """The words before the values that turns bring in."""
        counts: dict[str, Counter[str]] = {}
        for task in tasks:
            for found in finder.find(task.seen.user):
                for slot, value in found.values.items():
                    if value in task.right.changed.get(slot, ()):
                        for word in found.left[-2:]:
                            counts.setdefault(word, Counter())["\t".join(slot)] += 1
        return cls({word: dict(sorted(slots.items())) for word, slots in sorted(counts.items()) if sum(slots.values()) > 1})

    def fit(self, found: Found, slot: Slot) -> int:
        """How well a slot fits the words before a value, in thousandths."""
        name = "\t".join(slot)
        fits = [1000 * slots.get(name, 0) // sum(slots.values()) for word in found.left[-2:] if (slots := self.counts.get(word))]
        return max(fits, default=0)


def fill(wanted: Iterable[tuple[Slot, int]], user: Sequence[Found], system: Sequence[Found], cues: Cues) -> dict[Slot, str]:
    """Values for the slots that a baseline wants to fill, the most wanted first; a value of the user's goes to one slot, one that the system
    offered is taken where the user says none.

    Args:
        wanted: (slot, how much it is wanted).
    """
    slots = sorted(wanted, key=lambda one: (-one[1], one[0]))
    pairs = [
        (cues.fit(found, slot), -rank, -at, slot, found.values[slot])
        for rank, (slot, _) in enumerate(slots)
        for at, found in enumerate(user)
        if slot in found.values
    ]
    filled: dict[Slot, str] = {}
    used: set[int] = set()
    for _, _, place, slot, value in sorted(pairs, reverse=True):
        if slot not in filled and place not in used:
            filled[slot] = value
            used.add(place)
    for slot, _ in slots:
        if slot not in filled:
            offered = next((found.values[slot] for found in reversed(system) if slot in found.values), None)
            if offered is not None:
                filled[slot] = offered
    return filled


def pack_counts(counts: Counts) -> Any:
    """Counts as plain lists."""
    return [(list(slot), sorted(values.items())) for slot, values in sorted(counts.items())]


def unpack_counts(plain: Any) -> Counts:
    """Inverse of `pack_counts`."""
    return {(slot[0], slot[1]): dict(values) for slot, values in plain}
