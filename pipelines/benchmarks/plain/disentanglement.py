"""`score disentanglement`: predicted reply links of chat logs against annotated ones."""

from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.scorer import OwnScoring
from dialmill.pipelines.scoring import disentanglement


class Disentanglement(Benchmark):
    name = "disentanglement"
    about = "reply links and conversations of chat logs, scored from link files"
    paper = "Kummerfeld et al. (2019), A Large-Scale Corpus for Conversation Disentanglement"

    def own_scoring(self) -> OwnScoring:
        return disentanglement
