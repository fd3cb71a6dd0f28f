"""What all kinds of baselines that judge user turns share: the classes that the learned ones decide on, and their contract."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from dialmill.pipelines.baselines.ontology import Slot, silent
from dialmill.pipelines.baselines.panel.finders import (
    Counts,
    Cues,
    Finder,
    Found,
    fill,
    learn_counts,
    pack_counts,
    unpack_counts,
)
from dialmill.pipelines.baselines.panel.onevsrest import targets_of
from dialmill.pipelines.baselines.panel.seen import Guess, Seen, Task
from dialmill.pipelines.baselines.rankers import log2_fixed
from numpy.typing import NDArray

#: The names of classes: a slot filled with what is said, one that comes to a value no words spell, an act, a label.
FILL, SILENT, ACT, LABEL = "fill", "silent", "act", "label"
#: A class is learned from so many training turns on.
_LEAST = 2
#: Classes at most.
_MOST = 2000
Class = tuple[str, ...]


class Classes:
    """What the learned kinds decide on: slots that come to a value that is said, to one that no words spell, acts, and labels."""

    def __init__(self, names: Sequence[Class]) -> None:
        self.names = [tuple(name) for name in names]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.labels = [number for number, name in enumerate(self.names) if name[0] == LABEL]

    @classmethod
    def learn(cls, tasks: Sequence[Task]) -> Classes:
        """The classes of training turns."""
        counts = Counter(name for task in tasks for name in cls.of(task))
        kept = [name for name, number in counts.items() if number >= _LEAST or len(tasks) < 200]
        if not any(task.right.label for task in tasks):
            kept = [name for name in kept if name[0] != LABEL]
        # The commonest where there are very many: a table of weights has a column for each.
        return cls(sorted(sorted(kept, key=lambda name: (-counts[name], name))[:_MOST]))

    @staticmethod
    def of(task: Task) -> list[Class]:
        """The classes that are right for a turn."""
        found: list[Class] = [(ACT, name) for name in task.right.acts]
        found.append((LABEL, task.right.label))
        for slot, values in task.right.changed.items():
            found.append((SILENT, *slot, values[0]) if silent(slot[1], values[0]) else (FILL, *slot))
        return found

    def targets(self, tasks: Sequence[Task]) -> NDArray[np.int8]:
        """The classes of turns as `onevsrest` takes them."""
        return targets_of([[self.numbers[name] for name in self.of(task) if name in self.numbers] for task in tasks], len(self.names))

    def guess(self, scores: Sequence[int], user: Sequence[Found], system: Sequence[Found], cues: Cues) -> Guess:
        """What the scores of all classes say of a turn in which these values stand."""
        wanted: list[tuple[Slot, int]] = []
        told: dict[Slot, tuple[int, str]] = {}
        acts = []
        for name, score in zip(self.names, scores, strict=True):
            if score <= 0 or name[0] == LABEL:
                continue
            if name[0] == ACT:
                acts.append(name[1])
            elif name[0] == FILL:
                wanted.append(((name[1], name[2]), score))
            else:
                told[name[1], name[2]] = max(told.get((name[1], name[2]), (0, "")), (score, name[3]))
        update = {slot: value for slot, (_, value) in told.items()} | fill(wanted, user, system, cues)
        label = max(self.labels, key=lambda number: (scores[number], -number), default=None)
        return Guess(update, frozenset(acts), "" if label is None else self.names[label][1])


def context_names(seen: Seen) -> list[str]:
    """What the state before a turn says, as features."""
    return ["=", f"=topic {seen.topic}", *(f"={slot[0]}" for slot, _ in seen.state), *(f"={slot[0]} {slot[1]}" for slot, _ in seen.state)]


class TurnKind(ABC):
    """One kind of baseline, trained on the turns of one language.

    Attributes:
        finder: finds the values that it has met, of every slot.
    """

    name: ClassVar[str]
    finder: Finder

    @classmethod
    @abstractmethod
    def train(cls, tasks: Sequence[Task], language: str) -> TurnKind:
        """A baseline from training turns, in an order that depends on nothing but themselves."""

    @abstractmethod
    def guess(self, seen: Seen) -> Guess:
        """What it says of a turn."""

    @abstractmethod
    def label_scores(self, seen: Seen) -> Mapping[str, int]:
        """A score of each label that a turn can have, "" for none; the highest is the guess. Empty where training turns have no labels."""

    @abstractmethod
    def parts(self) -> tuple[Any, Sequence[NDArray[Any]]]:
        """What it has learned: plain values, and arrays of whole numbers."""

    @classmethod
    @abstractmethod
    def of(cls, plain: Any, arrays: Sequence[NDArray[Any]]) -> TurnKind:
        """Inverse of `parts`."""

    def pack(self) -> bytes:
        """The baseline as bytes, equal for equal ones."""
        plain, arrays = self.parts()
        packed = []
        for one in arrays:
            small = one.astype("<i4") if not len(one) or (int(one.min()) >= -(1 << 31) and int(one.max()) < 1 << 31) else one.astype("<i8")
            packed.append((small.dtype.str, list(small.shape), small.tobytes()))
        return zlib.compress(msgspec.msgpack.encode((plain, packed)), 1)

    @classmethod
    def unpack(cls, data: bytes) -> TurnKind:
        """Inverse of `pack`."""
        plain, packed = msgspec.msgpack.decode(zlib.decompress(data))
        return cls.of(plain, [np.frombuffer(raw, dtype=kind).reshape(shape) for kind, shape, raw in packed])


class Learned(TurnKind):
    """A kind that scores classes and finds the values of those that it wants to fill."""

    finder_kind: ClassVar[type[Finder]]

    def __init__(self, language: str, counts: Counts, classes: Classes, cues: Cues) -> None:
        self.language, self.classes, self.cues = language, classes, cues
        self.finder = self.finder_kind(language, counts)

    @abstractmethod
    def scores(self, seen: Seen) -> Sequence[int]:
        """A score of each class, above 0 where it holds."""

    def guess(self, seen: Seen) -> Guess:
        scores = self.scores(seen)
        return self.classes.guess(scores, self.finder.find(seen.user), self.finder.find(seen.system), self.cues)

    def label_scores(self, seen: Seen) -> Mapping[str, int]:
        scores = self.scores(seen) if self.classes.labels else ()
        return {self.classes.names[number][1]: scores[number] for number in self.classes.labels}

    def base_parts(self) -> list[Any]:
        """What all such kinds hold."""
        return [self.language, pack_counts(self.finder.counts), [list(name) for name in self.classes.names], self.cues.counts]

    @classmethod
    def base_of(cls, plain: Sequence[Any]) -> tuple[str, Counts, Classes, Cues]:
        """Inverse of `base_parts`."""
        language, counts, names, cues = plain[:4]
        return language, unpack_counts(counts), Classes(names), Cues(cues)

    @classmethod
    def base_train(cls, tasks: Sequence[Task], language: str) -> tuple[str, Counts, Classes, Cues]:
        """The same, learned from training turns."""
        counts = learn_counts(tasks)
        return language, counts, Classes.learn(tasks), Cues.learn(tasks, cls.finder_kind(language, counts))


def bits(one: int, other: int) -> int:
    """The logarithm of a ratio, in units of 2**-16."""
    one, other = max(one, 1), max(other, 1)
    return log2_fixed(one, other) if one >= other else -log2_fixed(other, one)
