"""The canonical records as lines of their files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from dialmill.pipelines.core.blind import drawn, published
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Out, Stage, dialogue_order
from dialmill.pipelines.core.subsets import FEW, HARD
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import encode


class WriteRecords(Stage):
    """Every record into dialogues/SUITE/SPLIT.jsonl, and into the files of the subsets that it is in; test records without their labels where these
    are held out, which then stand in labels/.

    Args:
        recipe: the resolved recipe of the run.
        shards: into how many parts each file is written.
        shown: which test records are published where labels are held out: all that were made, one of each dialogue, or none.
        seed: the seed of the run.
    """

    tags = ("out",)

    def __init__(self, recipe: Recipe, shards: int, shown: Literal["all", "one", "none"] = "all", seed: int = 0) -> None:
        self.recipe, self.shards, self.shown, self.seed = recipe, shards, shown, seed

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        shown = self._shown(element.records)
        for record in element.records:
            for out in self.lines(record, element.hard.get(record.dialogue_id), element.few, record in shown):
                yield "out", out.item(self.shards)
        yield "main", element

    def _shown(self, records: Sequence[Dialogue]) -> Sequence[Dialogue]:
        """The records that are published."""
        if self.shown == "all" or not records or not self.recipe.held_out_labels or records[0].split != "test":
            return records
        return () if self.shown == "none" else (drawn(records, self.seed, records[0].source_id, "suite"),)

    def lines(self, record: Dialogue, hard: Dialogue | None, few: bool, shown: bool = True) -> Iterable[Out]:
        """The lines of one record; `hard` is it as it stands in test_hard, None where it doesn't; `shown` whether it is published."""
        order = dialogue_order(record)
        blind = self.recipe.held_out_labels and record.split == "test"
        for name, one in ((str(record.split), record), (HARD, hard)):
            if one is None:
                continue
            path = f"dialogues/{record.suite}/{name}.jsonl"
            if blind:
                yield Out(f"labels/{path}", order, 1, encode(one))
                if not shown:
                    continue
                one = published(one)
            yield Out(path, order, 1, encode(self._seedless(one)))
        if few:
            yield Out(f"{FEW}/{record.suite}/train.jsonl", order, 1, encode(self._seedless(record)))

    def _seedless(self, record: Dialogue) -> Dialogue:
        """A record without the seed where labels are held out: a rebuild with it would give them away."""
        if not self.recipe.held_out_labels:
            return record
        return record.replace(lineage=tuple(step.replace(seed=None) for step in record.lineage))
