"""The kind that looks at the most similar training turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from dialmill.pipelines.baselines.panel.finders import (
    Counts,
    Cues,
    WordFinder,
    fill,
    learn_counts,
    pack_counts,
    units_of,
    unpack_counts,
)
from dialmill.pipelines.baselines.panel.kind import ACT, FILL, LABEL, SILENT, Class, Classes, TurnKind
from dialmill.pipelines.baselines.panel.onevsrest import Whole
from dialmill.pipelines.baselines.panel.seen import Guess, Seen, Task
from dialmill.pipelines.baselines.rankers import log2_fixed
from numpy.typing import NDArray


class Neighbours(TurnKind):
    """What was right of the most similar training turns, by the vote of the eight best; their words are weighed by TF-IDF."""

    name = "neighbours"
    _NEAREST = 8
    #: Postings of so many turns at most: commoner words tell little.
    _COMMON = 2500

    def __init__(self, language: str, counts: Counts, cues: Cues, postings: dict[str, list[int]], norms: Sequence[int], told: Sequence[Any]) -> None:
        self.language, self.cues, self.told = language, cues, told
        self.finder = WordFinder(language, counts)
        self._plain = postings
        self._postings = {name: np.array(places, dtype=np.int64) for name, places in postings.items()}
        self.norms: Whole = np.array(norms, dtype=np.int64)

    @staticmethod
    def features(seen: Seen) -> dict[str, int]:
        """The words of a turn with their weights: the user's count four times what those of the system do."""
        found: dict[str, int] = {}
        user = units_of(seen.user)
        for name in (*user, *(f"{one} {other}" for one, other in pairwise(user))):
            found[name] = 4
        for name in units_of(seen.system):
            found[f"s {name}"] = 1
        found[f"=topic {seen.topic}"] = 6
        for slot, _ in seen.state:
            found[f"={slot[0]} {slot[1]}"] = 1
        return found

    @classmethod
    def train(cls, tasks: Sequence[Task], language: str) -> Neighbours:
        counts = learn_counts(tasks)
        postings: dict[str, list[int]] = {}
        named = [cls.features(task.seen) for task in tasks]
        for place, names in enumerate(named):
            for name in names:
                postings.setdefault(name, []).append(place)
        postings = {name: places for name, places in sorted(postings.items()) if len(places) <= cls._COMMON}
        norms = [
            int(sum((weight * cls._rarity(len(tasks), len(postings[name]))) ** 2 for name, weight in names.items() if name in postings)) or 1
            for names in named
        ]
        told = [[[list(name) for name in Classes.of(task)], task.right.label] for task in tasks]
        return cls(language, counts, Cues.learn(tasks, WordFinder(language, counts)), postings, norms, told)

    @staticmethod
    def _rarity(number: int, having: int) -> int:
        return log2_fixed(number + 1, having) >> 12

    def _nearest_to(self, seen: Seen) -> list[int]:
        """The places of the most similar training turns."""
        total = len(self.told)
        product = np.zeros(total, dtype=np.int64)
        for name, weight in self.features(seen).items():
            places = self._postings.get(name)
            if places is not None:
                # The same word in both turns, whoever's it is, has the same weight in both.
                product[places] += (weight * self._rarity(total, len(places))) ** 2
        # Squared cosines, compared without a root: product**2 / norm, in whole numbers.
        likeness = (product >> 4) ** 2 // self.norms
        return self._best(likeness)

    def label_scores(self, seen: Seen) -> Mapping[str, int]:
        if not any(label for _, label in self.told):
            return {}
        votes = Counter(self.told[place][1] for place in self._nearest_to(seen))
        return {label: votes[label] for label in sorted({label for _, label in self.told})}

    def guess(self, seen: Seen) -> Guess:
        if not self.told:
            return Guess({}, frozenset(), "")
        nearest = self._nearest_to(seen)
        votes: Counter[Class] = Counter()
        for place in nearest:
            for name in self.told[place][0]:
                votes[tuple(name)] += 1
        half = len(nearest) / 2
        wanted = [((name[1], name[2]), number) for name, number in votes.items() if name[0] == FILL and number >= half]
        told = {(name[1], name[2]): name[3] for name, number in sorted(votes.items()) if name[0] == SILENT and number >= half}
        labels = [(number, name[1]) for name, number in votes.items() if name[0] == LABEL]
        label = min(labels, key=lambda one: (-one[0], one[1]))[1] if labels else ""
        update = told | fill(wanted, self.finder.find(seen.user), self.finder.find(seen.system), self.cues)
        return Guess(update, frozenset(name[1] for name, number in votes.items() if name[0] == ACT and number >= half), label)

    def _best(self, likeness: Whole) -> list[int]:
        """The places of the largest numbers, of equal ones the first."""
        number = min(self._NEAREST, len(likeness))
        bound = np.partition(likeness, -number)[-number]
        if not bound:  # fewer have a word in common
            bound = 1 if likeness.any() else 0
        places: list[int] = np.flatnonzero(likeness >= bound).tolist()
        if not bound:
            return places[:number]
        return sorted(places, key=lambda place: (-int(likeness[place]), place))[: self._NEAREST]

    def parts(self) -> tuple[Any, Sequence[NDArray[Any]]]:
        return [self.language, pack_counts(self.finder.counts), self.cues.counts, self._plain, self.norms.tolist(), list(self.told)], []

    @classmethod
    def of(cls, plain: Any, arrays: Sequence[NDArray[Any]]) -> Neighbours:
        language, counts, cues, postings, norms, told = plain
        return cls(language, unpack_counts(counts), Cues(cues), postings, norms, told)
