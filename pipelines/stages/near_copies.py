"""Near copies of dialogues, within splits and across them: one of each kind stays, the others are rejected.

Dialogues meet by the bands of the hashes that measure the overlap of splits (`overlap`), and are near copies from an exact Jaccard similarity of 0.8
of their word trigrams. Of two the one in the later official split stays (test, then valid, then train, then none), so that a published test set keeps
its dialogues and training loses what would give them away; within a split the one with the lower id.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from dialmill.pipelines.core.counters import SHORTFALL
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.stage import Item, Reject, Stage
from dialmill.pipelines.stages.items import ParsedDialogue
from dialmill.pipelines.stages.overlap import NEAR, bands, minima_of, trigrams
from dialmill.pipelines.stages.split import SPLITS, fingerprint
from dialmill.schemas import Dialogue

#: The value of the recipe's `clean` that asks for it.
CHECK = "duplicates"
REASON = "near_duplicate"
#: Different dialogues of one band that others are compared with, at most.
MOST = 3_000
_NOT_ALL = f"{SHORTFALL}duplicates: of dialogues with words in common, {MOST:,} of each group were compared: there may be more near copies"


class Copied(msgspec.Struct, array_like=True, frozen=True, order=True):
    """A dialogue as one of several that are alike: those that sort lower stay."""

    place: int
    source_id: str


class Marked(msgspec.Struct, array_like=True, frozen=True):
    """What the comparison needs of a dialogue: its trigrams as sorted hashes of four bytes."""

    who: Copied
    words: bytes


class Likeness(msgspec.Struct, array_like=True, frozen=True):
    """A dialogue that is like one that sorts before it, and how much."""

    earlier: Copied
    later: Copied
    similarity: float


class MarkDialogue(Stage):
    """A `ParsedDialogue` into its trigrams, under the key of each of its bands."""

    tags = ()

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        for item in marks(ParsedDialogue.decode(element[1]).dialogue):
            yield "main", item


def marks(dialogue: Dialogue) -> Iterable[Item]:
    """A dialogue's trigrams, under the key of each of its bands."""
    hashes = sorted(set(trigrams(fingerprint(dialogue), dialogue.language)))
    place = SPLITS[::-1].index(dialogue.split) if dialogue.split in SPLITS else len(SPLITS)
    packed = msgspec.msgpack.encode(Marked(Copied(place, dialogue.source_id), array("I", hashes).tobytes()))
    for key in bands(minima_of(hashes)):
        yield key, packed


class CompareMarked(Stage):
    """The dialogues of one band that are near copies of an earlier one that has none itself."""

    tags = ()

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        members = sorted((msgspec.msgpack.decode(value, type=Marked) for value in element[1]), key=lambda one: one.who)
        # What copies to the letter are like is found once, so that a flood of them isn't compared pair by pair.
        known: dict[bytes, list[tuple[Copied, float]]] = {}
        kept: list[tuple[Copied, set[int]]] = []
        for one in members:
            if one.words not in known:
                mine = set(array("I", one.words))
                alike = [(who, found) for who, words in kept if (found := _jaccard(words, mine)) >= NEAR]
                known[one.words] = alike or [(one.who, 1.0)]
                if not alike:
                    if len(kept) < MOST:
                        kept.append((one.who, mine))
                    else:
                        self.counters.note(_NOT_ALL)
                    continue
            for who, found in known[one.words]:
                yield "main", _item(Likeness(who, one.who, round(found, 4)))


def _item(found: Likeness) -> Item:
    return found.later.source_id, msgspec.msgpack.encode(found)


def _jaccard(one: set[int], other: set[int]) -> float:
    if min(len(one), len(other)) < NEAR * max(len(one), len(other)):
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


class GatherCopies:
    """The dialogues that go: id -> (the dialogue that stays in their place, similarity). A combiner; memory grows with the copies, not the input."""

    def create(self) -> list[Likeness]:
        """No copies."""
        return []

    def add(self, state: list[Likeness], item: Item) -> list[Likeness]:
        """Adds a pair."""
        state.append(msgspec.msgpack.decode(item[1], type=Likeness))
        return state

    def merge(self, states: Iterable[list[Likeness]]) -> list[Likeness]:
        """All of them."""
        return [one for state in states for one in state]

    def extract_output(self, state: list[Likeness]) -> dict[str, tuple[Copied, float]]:
        """A dialogue goes where one stays that it is like: what is like one that went may stay."""
        gone: dict[str, tuple[Copied, float]] = {}
        for pair in sorted(state, key=lambda one: (one.later, -one.similarity, one.earlier)):
            if pair.earlier.source_id not in gone:
                gone.setdefault(pair.later.source_id, (pair.earlier, pair.similarity))
        return gone


class DropCopies(Stage):
    """Every `ParsedDialogue` that stays, with its fact on the output "fact". Side input: what `GatherCopies` found.

    Args:
        blind: whether test labels are held out: then the rejects name no dialogue.
    """

    tags = ("out", "fact")

    def __init__(self, blind: bool) -> None:
        self.blind = blind

    def process(self, element: Item, side: Mapping[str, tuple[Copied, float]] | None = None) -> Iterable[tuple[str, Item]]:
        source_id, parsed = element[0], ParsedDialogue.decode(element[1])
        found = (side or {}).get(source_id)
        if found is None:
            yield "fact", ("fact", msgspec.msgpack.encode(parsed.fact))
            yield "main", element
            return
        # It had passed the filters when it was read.
        self.counters.stage("filter").out -= 1
        self.counters.reject("filter", REASON)
        kept, similarity = found
        split = (*SPLITS[::-1], "no split")[kept.place]
        told = "" if self.blind else f"{similarity:.0%} of its word trigrams and those of {kept.source_id} ({split}), which stays, are the same"
        yield "out", Reject("filter", REASON, told, parsed.file, parsed.index, source_id).out().item(1)


class OnlyAbsent(Stage):
    """Of the facts for the planner of splits those of listed dialogues that are not there: the others come again with what stays."""

    tags = ()

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        if element[0] == "absent":
            yield "main", element


def without_copies(runner: Runner, parsed: Outputs, blind: bool) -> tuple[Any, Any, list[Outputs]]:
    """The dialogues without near copies of others, their facts, and the outputs of the stages."""
    marked = runner.apply("mark word trigrams", MarkDialogue(), parsed.main)
    pairs = runner.apply("find near copies", CompareMarked(), runner.group("bring like dialogues together", marked.main))
    copies = runner.combine("gather near copies", GatherCopies(), pairs.main)
    dropped = runner.apply("leave near copies out", DropCopies(blind), parsed.main, side=copies)
    absent = runner.apply("keep absent ones", OnlyAbsent(), parsed.tagged["fact"])
    facts = runner.flatten("facts of what stays", [dropped.tagged["fact"], absent.main])
    return dropped.main, facts, [marked, pairs, dropped, absent]
