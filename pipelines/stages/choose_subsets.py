"""Which dialogues are few-shot ones, and which test records are hard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.core.subsets import FEW, HARD
from dialmill.pipelines.stages import training_sample
from dialmill.pipelines.stages.hard import hard_copy
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue


class ChooseSubsets(Stage):
    """The dialogue with the subsets it belongs to. Side input: (the layout, where the trained baselines lie).

    Args:
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
    """

    def __init__(self, recipe: Recipe, seed: int) -> None:
        self.recipe, self.seed = recipe, seed

    def process(self, element: DialogueRecords, side: tuple[Layout, dict[str, str]] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        baselines = training_sample.bind(side[1], self.recipe)
        if element.split == "train" and self.recipe.few_shot:
            few = training_sample.is_few(baselines.few, self.seed, element.parsed.fact)
            if element.records:
                counted = self.counters.stage(FEW)
                counted.entered += len(element.records)
                if few:
                    counted.out += len(element.records)
                else:
                    self.counters.reject(FEW, "not_few_shot", len(element.records))
            yield "main", replace(element, few=few)
        elif element.split == "test":
            hard: dict[str, Dialogue] = {}
            for record in element.records:
                counted = self.counters.stage(HARD)
                counted.entered += 1
                made = hard_copy(record, self.recipe.hard_threshold, baselines)
                if isinstance(made, str):
                    self.counters.reject(HARD, made)
                else:
                    counted.out += 1
                    hard[record.dialogue_id] = made
            yield "main", replace(element, hard=hard)
        else:
            yield "main", element
