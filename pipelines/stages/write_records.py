"""The canonical records as lines of their files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
    """

    tags = ("out",)

    def __init__(self, recipe: Recipe, shards: int) -> None:
        self.recipe, self.shards = recipe, shards

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        for record in element.records:
            for out in self.lines(record, element.hard.get(record.dialogue_id), element.few):
                yield "out", out.item(self.shards)
        yield "main", element

    def lines(self, record: Dialogue, hard: Dialogue | None, few: bool) -> Iterable[Out]:
        """The lines of one record; `hard` is it as it stands in test_hard, None where it doesn't."""
        order = dialogue_order(record)
        blind = self.recipe.held_out_labels and record.split == "test"
        for name, one in ((str(record.split), record), (HARD, hard)):
            if one is None:
                continue
            path = f"dialogues/{record.suite}/{name}.jsonl"
            if blind:
                yield Out(f"labels/{path}", order, 1, encode(one))
                one = without_labels(one)
            yield Out(path, order, 1, encode(one))
        if few:
            yield Out(f"{FEW}/{record.suite}/train.jsonl", order, 1, encode(record))


def without_labels(dialogue: Dialogue) -> Dialogue:
    """A test record as its solvers see it: utterances, and nothing that gives away labels or the unperturbed text."""
    turns = tuple(turn.replace(original=None, spans=(), acts=(), state=(), edits=(), labels=(), knowledge=()) for turn in dialogue.turns)
    return dialogue.replace(turns=turns, goal=None, lineage=())
