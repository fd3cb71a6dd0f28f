"""What is decided over all conversations before they are cut: which of the test ones are near copies of training ones, and which subtask each serves.

Near copies are found by min-hashing word trigrams in narrow bands, of which training conversations send only those that a test one has too; then by
the Jaccard similarity of the trigrams themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from zlib import crc32

import msgspec
import numpy as np
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.candidates.cuts import places
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.pipelines.stages.split import plain_words
from dialmill.schemas import Dialogue
from numpy.typing import NDArray

_BINS, _ROWS = 64, 2
_EMPTY = 0xFFFFFFFF


class Eligible(msgspec.Struct):
    """The conversations of valid and test that can be cut, by split, and the bands of those whose copies are looked for."""

    ids: dict[str, list[str]] = {}
    bands: set[int] = set()


class Copy(msgspec.Struct, array_like=True):
    """A conversation, the training one that it nearly copies, and the Jaccard similarity of their word trigrams."""

    source_id: str
    train_id: str
    likeness: float


class _Member(msgspec.Struct, array_like=True):
    source_id: str
    split: str
    grams: bytes


def trigrams(dialogue: Dialogue) -> NDArray[np.uint32]:
    """The hashes of the distinct word trigrams of a dialogue, ascending; of characters where a language has no blanks."""
    text = plain_words("\n".join(turn.utterance for turn in dialogue.turns))
    found = list(text.replace(" ", "")) if dialogue.language == "zh" else text.split()
    padded = ["", "", *found]
    made = {crc32(" ".join(padded[at : at + 3]).encode("utf-8", "surrogatepass")) for at in range(len(found))}
    return np.array(sorted(made), dtype=np.uint32)


def bands(grams: NDArray[np.uint32]) -> list[int]:
    """A number for each band of minima in which something stands."""
    minima = np.full(_BINS, _EMPTY, dtype=np.uint64)
    np.minimum.at(minima, (grams % _BINS).astype(np.int64), grams.astype(np.uint64) // _BINS)
    rows = minima.reshape(-1, _ROWS)
    return [key_number("band", at, *row) >> 1 for at, row in enumerate(rows.tolist()) if min(row) != _EMPTY]


def likeness(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> float:
    """The Jaccard similarity of two sets of trigrams."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / max(len(one) + len(other) - shared, 1)


class ListEligible(Stage):
    """The conversations of valid and test that can be cut, and the bands of those in the splits whose near copies are dropped."""

    def __init__(self, min_context: int, short: bool, watched: Collection[str]) -> None:
        self.min_context, self.short, self.watched = min_context, short, frozenset(watched)

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        given = SplitDialogue.decode(data)
        if given.split in (None, "train"):
            return
        dialogue = given.dialogue
        if not places(dialogue, self.min_context, self.short):
            return
        found = bands(trigrams(dialogue)) if given.split in self.watched else []
        yield "main", (source_id, msgspec.msgpack.encode((given.split, found)))


class GatherEligible:
    """All of them as one value for side inputs."""

    def create(self) -> Eligible:
        """None yet."""
        return Eligible({}, set())

    def add(self, state: Eligible, item: Item) -> Eligible:
        """Adds one."""
        split, found = msgspec.msgpack.decode(item[1], type=tuple[str, list[int]])
        state.ids.setdefault(split, []).append(item[0])
        state.bands.update(found)
        return state

    def merge(self, states: Iterable[Eligible]) -> Eligible:
        """All of them."""
        made = self.create()
        for state in states:
            for split, ids in state.ids.items():
                made.ids.setdefault(split, []).extend(ids)
            made.bands |= state.bands
        return made

    def extract_output(self, state: Eligible) -> Eligible:
        """Sorted."""
        return Eligible({split: sorted(ids) for split, ids in state.ids.items()}, state.bands)


class SendBands(Stage):
    """A conversation under each of its bands that a watched one has. Side input: `Eligible`."""

    def __init__(self, watched: Collection[str]) -> None:
        self.watched = frozenset(watched)

    def process(self, element: Item, side: Eligible | None = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        given = SplitDialogue.decode(data)
        assert side is not None
        if not side.bands or given.split is None or (given.split != "train" and given.split not in self.watched):
            return
        grams = trigrams(given.dialogue)
        packed = msgspec.msgpack.encode(_Member(source_id, given.split, grams.tobytes()))
        for band in bands(grams):
            if band in side.bands:
                yield "main", (str(band), packed)


class CompareCopies(Stage):
    """The training conversation in its band that each watched one is most like, where the two are at least `limit` alike. Conversations with the same
    trigrams are compared once."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        training: dict[bytes, str] = {}
        watched: dict[bytes, list[str]] = {}
        for value in element[1]:
            one = msgspec.msgpack.decode(value, type=_Member)
            if one.split == "train":
                training[one.grams] = min(one.source_id, training.get(one.grams, one.source_id))
            else:
                watched.setdefault(one.grams, []).append(one.source_id)
        others = [(np.frombuffer(data, np.uint32), train_id) for data, train_id in training.items()]
        for data, names in watched.items():
            grams = np.frombuffer(data, np.uint32)
            # What two sets share is no larger than the smaller: very unlike sizes need no look.
            fitting = [(likeness(grams, one), name) for one, name in others if min(len(one), len(grams)) >= self.limit * max(len(one), len(grams))]
            best = min(((-round(alike, 4), name) for alike, name in fitting if alike >= self.limit), default=None)
            if best is not None:
                for name in names:
                    yield "main", (name, msgspec.msgpack.encode(Copy(name, best[1], -best[0])))


class GatherCopies:
    """The nearest training conversation of each copy, as one value for side inputs."""

    def create(self) -> dict[str, Copy]:
        """None yet."""
        return {}

    def add(self, state: dict[str, Copy], item: Item) -> dict[str, Copy]:
        """Adds a pair."""
        return self._put(state, msgspec.msgpack.decode(item[1], type=Copy))

    def merge(self, states: Iterable[dict[str, Copy]]) -> dict[str, Copy]:
        """All pairs."""
        made: dict[str, Copy] = {}
        for state in states:
            for one in state.values():
                self._put(made, one)
        return made

    def extract_output(self, state: dict[str, Copy]) -> dict[str, Copy]:
        """By id."""
        return dict(sorted(state.items()))

    @staticmethod
    def _put(state: dict[str, Copy], one: Copy) -> dict[str, Copy]:
        before = state.get(one.source_id)
        if before is None or (-one.likeness, one.train_id) < (-before.likeness, before.train_id):
            state[one.source_id] = one
        return state


def divide(ids: Sequence[str], groups: Sequence[int], seed: int) -> dict[str, int]:
    """The group that each conversation serves: as many in each as can be, in the order of a deterministic hash."""
    ranked = sorted(ids, key=lambda one: (key_number(seed, "subtask@1", one), one))
    return {one: groups[at % len(groups)] for at, one in enumerate(ranked)}
