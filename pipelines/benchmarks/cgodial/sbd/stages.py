"""What no single dialogue tells: the slots of every domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from dialmill.pipelines.benchmarks.cgodial.sbd.slots import slot_name
from dialmill.pipelines.benchmarks.cgodial.writing import keyed
from dialmill.pipelines.core.stage import Item, Out, Stage
from dialmill.pipelines.stages.items import SplitDialogue


class SeenSlots(Stage):
    """The slots of a dialogue's states and acts, keyed by domain."""

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        given = SplitDialogue.decode(element[1])
        if given.split is None:
            return
        found: dict[str, set[str]] = {}
        for turn in given.dialogue.turns:
            for domain, slot in [(one.domain, one.slot) for one in turn.state] + [(act.domain, str(act.slot)) for act in turn.acts if act.slot]:
                found.setdefault(domain, set()).add(slot_name(slot))
        for domain, names in sorted(found.items()):
            yield "main", (domain, msgspec.msgpack.encode(sorted(names)))


class WriteSlots(Stage):
    """A domain with its slots, one entry of each slot_value_set.json at `paths`."""

    tags = ("out",)

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        names = {name for value in element[1] for name in msgspec.msgpack.decode(value, type=list[str])}
        for path in self.paths:
            yield "out", Out(path, element[0].encode(), 1, keyed(element[0], sorted(names))).item(1)
