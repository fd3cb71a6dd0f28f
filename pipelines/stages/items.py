"""What travels from stage to stage: a dialogue that was read, and the same once its split and subsets are known. Encoded and decoded here alone.

A dialogue is packed and compressed once, when it was read; the stages after it pass these bytes on and unpack them where they need the dialogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
from dialmill.pipelines.core.stage import Item, Reject, compress, decompress
from dialmill.pipelines.stages.split import Fact
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import Split, pack, unpack

D = TypeVar("D", bound="DialogueItem")


class DialogueItem(msgspec.Struct, array_like=True, frozen=True):
    """A dialogue between two stages: itself packed and compressed, and what its source keeps beside it."""

    packed: bytes
    extra: bytes

    @property
    def dialogue(self) -> Dialogue:
        """The dialogue, decompressed and unpacked anew at each call."""
        return unpack_dialogue(self.packed)

    def item(self, source_id: str) -> Item:
        """The item as it travels, keyed by the id that the source gives the dialogue."""
        return source_id, msgspec.msgpack.encode(self)

    @classmethod
    def decode(cls: type[D], data: bytes) -> D:
        """Inverse of `item`, from its bytes."""
        return msgspec.msgpack.decode(data, type=cls)


class ParsedDialogue(DialogueItem, array_like=True, frozen=True):
    """A dialogue that was read and passed the filters: where it stood (the file as it is shown, and the place in it, from 0), and what the split
    planner knows of it. One that filters `refused` is in no split; baselines learn from it."""

    file: str
    index: int
    fact: Fact
    refused: bool = False


class SplitDialogue(DialogueItem, array_like=True, frozen=True):
    """A dialogue as a benchmark's `finish` gets it.

    `split` is None where no split took it, `few` says whether it is a few-shot one, `hard` has the ids of those of its records that are in test_hard,
    `hard_turns` the hard turns of these, where turns are judged for themselves, and `texts` the texts of its turns in the first variant of each suite
    that the benchmark wants (`Benchmark.wanted_suites`).
    """

    split: str | None
    few: bool = False
    hard: list[str] = []
    hard_turns: dict[str, list[int]] = {}
    texts: dict[str, list[str]] = {}


def pack_dialogue(dialogue: Dialogue) -> bytes:
    """A dialogue as items hold it."""
    return compress(pack(dialogue))


def unpack_dialogue(packed: bytes) -> Dialogue:
    """Inverse of `pack_dialogue`."""
    return unpack(decompress(packed))


@dataclass(frozen=True)
class DialogueRecords:
    """A dialogue that has a split, and the records made of it so far: what the stages from "assign splits" to "release" hand on in memory.

    Args:
        parsed: the dialogue as it was read.
        source: itself with its split, and with the turns that the benchmark inserts once that is done; what all its suites are made of.
        records: suite by suite, variant by variant.
        few: whether it is a few-shot one.
        blind: whether nothing of it but its release is to be public: a test dialogue whose labels are held out.
        hard: those of its records that are in test_hard, as they stand there, by id.
        hard_turns: their hard turns, where turns are judged for themselves.
    """

    parsed: ParsedDialogue
    source: Dialogue
    records: tuple[Dialogue, ...] = ()
    few: bool = False
    blind: bool = False
    hard: Mapping[str, Dialogue] = field(default_factory=dict)
    hard_turns: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @property
    def split(self) -> Split:
        """The split of the dialogue and of all its records."""
        assert self.source.split is not None
        return self.source.split

    def reject(self, stage: str, reason: str, evidence: str, suite: str | None = None, variant: int | None = None) -> tuple[str, Item]:
        """The line of rejects/STAGE.jsonl for a record of the dialogue, as a stage yields it."""
        if self.blind:
            return "out", Reject(stage, reason, "", suite=suite, variant=variant).out().item(1)
        return "out", Reject(stage, reason, evidence, self.parsed.file, self.parsed.index, self.source.source_id, suite, variant).out().item(1)
