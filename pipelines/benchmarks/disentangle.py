"""`disentangle`: reply links of IRC logs (links/NAME.annotation.txt, in the upstream form) and their conversations as dialogues."""

from pipelines.noesis.recipe import LogRecipe
from pipelines.recipe import Recipe

from . import Benchmark


class Disentangle(Benchmark):
    name = "disentangle"
    about = "reply links and conversations of IRC logs"
    paper = "Kummerfeld et al. (2019), A Large-Scale Corpus for Conversation Disentanglement"

    def recipe(self) -> type[Recipe]:
        return LogRecipe
