"""The values that a tracker knows, learned from the states of training dialogues, and where they stand in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.matcher import Cut, Index
from dialmill.perturbers.core.surfaces import DONTCARE as DONTCARE_WORDS
from dialmill.perturbers.core.surfaces import Group, block, kind_of
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import DONTCARE

Slot = tuple[str, str]  # domain, slot

#: Kinds whose values a dialogue may hold without any training dialogue that has them: (kind, values as labels write them).
_OPEN = {
    "time": [f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(0, 24 * 60, 5)],
    "number": [str(number) for number in range(1, 21)],
}
#: Classes of the closed lexicon that are taken whole.
_CLASSES = ("food", "day", "city", "country")
#: A slot takes such values where it was seen with this many different ones of the kind or class.
_ENOUGH = 2
#: A slot of names takes all names of another one that it shares this many with: a taxi goes wherever there is something with a name.
_SHARED = 3


def canonical(value: str) -> str:
    """A value as it is compared: blanks collapsed, in lower case, one word for "no preference"."""
    low = " ".join(value.lower().split())
    return DONTCARE if low in DONTCARE_WORDS else low


def silent(slot: str, value: str) -> bool:
    """Whether no words of a text spell this value: yes and no, and "no preference"."""
    kind = kind_of(slot, value)
    return kind in ("dontcare", "none") or kind.startswith("boolean")


@lru_cache(maxsize=8)
def _closed_classes(language: str) -> dict[str, list[str]]:
    """The values of the closed lexicon by class."""
    found: dict[str, list[str]] = {}
    for kind, value, *_ in rows(language, "closed"):
        found.setdefault(kind, []).append(value)
    return found


class Mention(NamedTuple):
    """A value of the ontology in a text: the units from `first` to `last`, exclusive, and what value each slot that takes it would have."""

    first: int
    last: int
    key: str
    kind: str
    values: dict[Slot, str]


class Ontology:
    """Values by slot, with how often training states hold them.

    Attributes:
        language: of the dialogues.
        counts: slot -> value -> number of training turns that brought it in.
        silent: slot -> the values that no words spell, most frequent first.
    """

    def __init__(self, language: str, counts: dict[Slot, dict[str, int]]) -> None:
        self.language = language
        self.counts = dict(sorted(counts.items()))
        self.silent: dict[Slot, list[str]] = {}
        self._slots: dict[Group, dict[Slot, tuple[int, str]]] = {}
        self._index: Index[Any] = Index()
        self._names: dict[Slot, set[str]] = {}
        for slot, values in sorted(counts.items()):
            kinds: Counter[str] = Counter()
            for value, count in sorted(values.items(), key=lambda item: (-item[1], item[0])):
                if silent(slot[1], value):
                    self.silent.setdefault(slot, []).append(value)
                    continue
                kind = kind_of(slot[1], value)
                kinds[kind] += 1
                self._add(slot, kind, value, count)
                if kind == "name":
                    self._names.setdefault(slot, set()).add(value)
            classes = _closed_classes(language)
            for kind, others in [*_OPEN.items(), *(("plain", classes.get(name, [])) for name in _CLASSES)]:
                if kinds[kind] >= _ENOUGH and (kind != "plain" or len(set(others) & set(values)) >= _ENOUGH):
                    for value in others:
                        if value not in values:
                            self._add(slot, kind, value, 0)
        for slot, own in sorted(self._names.items()):
            for names in self._names.values():
                if names is not own and len(names & own) >= _SHARED:
                    for value in sorted(names - own):
                        self._add(slot, "name", value, 0)

    def _add(self, slot: Slot, kind: str, value: str, count: int) -> None:
        group = (kind, value)
        known = self._slots.setdefault(group, {})
        if not known:
            forms = block(kind, value, self.language)
            self._index.add({key: tuple(group for _, group in entries) for key, entries in forms.forms.items()}, forms.prefixes)
        known[slot] = (count, value)

    def find(self, text: str) -> tuple[list[str], list[Mention]]:
        """The units of a text and the values in it, disjoint, the longest first chosen, in order."""
        units = Cut(text, self.language)
        found = []
        for hit in self._index.find(text, units):
            best: dict[Slot, tuple[int, str]] = {}
            for group in self._index.entries[hit.key]:
                for slot, counted in self._slots[group].items():
                    # Several labels are written so ("asian", "asian oriental"): the one met most often, of equal ones the first in the alphabet.
                    if slot not in best or (-counted[0], counted[1]) < (-best[slot][0], best[slot][1]):
                        best[slot] = counted
            kind = self._index.entries[hit.key][0][0]
            found.append(Mention(hit.first, hit.last, hit.key, kind, {slot: value for slot, (_, value) in sorted(best.items())}))
        return units.names, found

    def takers(self, slot: Slot, value: str) -> list[Slot]:
        """The slots that take a value of another slot, sorted."""
        return sorted(self._slots.get((kind_of(slot[1], value), value), ()))

    @classmethod
    def learn(cls, dialogues: Iterable[Dialogue], language: str) -> Ontology:
        """The values that the states of some dialogues bring in."""
        counts: dict[Slot, dict[str, int]] = {}
        for dialogue in dialogues:
            before: set[tuple[Slot, str]] = set()
            for turn in dialogue.turns:
                if turn.speaker != "user":
                    continue
                now = {((cell.domain, cell.slot), canonical(cell.values[0])) for cell in turn.state if cell.values}
                for slot, value in sorted(now - before):
                    values = counts.setdefault(slot, {})
                    values[value] = values.get(value, 0) + 1
                before = now
        return cls(language, counts)
