"""Every dialogue gets its split, or is rejected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Item, Reject, Stage
from dialmill.pipelines.stages.items import DialogueRecords, ParsedDialogue, SplitDialogue
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas.dialogue import STANDARD


class AssignSplit(Stage):
    """A `ParsedDialogue` into `DialogueRecords` that hold no record yet. Side input: (the `Layout` of the splits, paths).

    Args:
        recipe: the resolved recipe of the run.
        takes_records: whether the benchmark also wants the dialogues that no split takes, on the output "record".
    """

    tags = ("out", "record")

    def __init__(self, recipe: Recipe, takes_records: bool) -> None:
        self.recipe, self.takes_records = recipe, takes_records

    def process(self, element: Item, side: tuple[Layout, Any] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        source_id, parsed = element[0], ParsedDialogue.decode(element[1])
        split, reason = side[0].assign(parsed.fact, self.recipe)
        counted = self.counters.stage("split")
        counted.entered += 1
        if split is not None:
            counted.out += 1
            blind = self.recipe.held_out_labels and split == "test"
            yield "main", DialogueRecords(parsed, parsed.dialogue.replace(split=split, dialogue_id=f"{source_id}/{STANDARD}/0"), blind=blind)
            return
        self.counters.reject("split", reason)
        if self.takes_records:
            yield "record", SplitDialogue(parsed.packed, parsed.extra, None).item(source_id)
        evidence = ", ".join(parsed.dialogue.domains) if reason == "unseen_domain" else parsed.fact.group
        yield "out", Reject("split", reason, evidence, parsed.file, parsed.index, source_id).out().item(1)
