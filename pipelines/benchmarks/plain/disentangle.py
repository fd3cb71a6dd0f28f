"""`disentangle`: reply links of IRC logs (links/NAME.annotation.txt, in the upstream form) and their conversations as dialogues."""

from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.disentangle.recipe import LogRecipe


class Disentangle(Benchmark):
    name = "disentangle"
    about = "reply links and conversations of IRC logs"
    paper = "Kummerfeld et al. (2019), A Large-Scale Corpus for Conversation Disentanglement"

    def recipe(self) -> type[Recipe]:
        return LogRecipe
