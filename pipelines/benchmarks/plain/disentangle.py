"""`disentangle`: reply links of IRC logs in upstream's forms (links/NAME.annotation.txt, links.graphs.txt, links.clusters.txt) and their
conversations as dialogues."""

from collections.abc import Mapping
from typing import Any

from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.disentangle.recipe import LogRecipe


class Disentangle(Benchmark):
    name = "disentangle"
    panel, labels_are_classes = "", False
    about = "predict reply links and conversations of IRC logs"
    paper = "Kummerfeld et al. (2019), A Large-Scale Corpus for Conversation Disentanglement"

    def command(self, recipe: Mapping[str, Any]) -> str:
        return "dialmill disentangle --input PATH..."

    def recipe(self) -> type[Recipe]:
        return LogRecipe
