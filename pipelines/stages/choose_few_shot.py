"""Which training dialogues are few-shot ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.core.subsets import FEW
from dialmill.pipelines.stages import training_sample
from dialmill.pipelines.stages.few_shot import is_few
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.pipelines.stages.split import Layout


class ChooseFewShot(Stage):
    """The dialogue, told whether it is a few-shot one. Side input: (the layout, where what was learned lies).

    Args:
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
        panel: the name of the benchmark's panel.
        labels: whether labels of turns are classes.
    """

    def __init__(self, recipe: Recipe, seed: int, panel: str, labels: bool) -> None:
        self.recipe, self.seed, self.panel, self.labels = recipe, seed, panel, labels

    def process(self, element: DialogueRecords, side: tuple[Layout, dict[str, str]] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        if element.split != "train" or not self.recipe.few_shot:
            yield "main", element
            return
        bounds = training_sample.bind(side[1], self.recipe, self.panel).bounds
        few = is_few(bounds, self.seed, element.parsed.fact, element.parsed.dialogue, self.labels)
        if element.records:
            counted = self.counters.stage(FEW)
            counted.entered += len(element.records)
            if few:
                counted.out += len(element.records)
            else:
                self.counters.reject(FEW, "not_few_shot", len(element.records))
        yield "main", replace(element, few=few)
