"""`splits`: any source, split again, unperturbed, in the canonical record."""

from dialmill.pipelines.benchmarks.plain.scorer import SplitsScorer
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.scorer import Scorer


class Splits(Benchmark):
    name = "splits"
    about = "any source split again: official lists or a deterministic hash, few-shot subsets, filters"
    takes_carried = True

    def scorer(self) -> type[Scorer]:
        return SplitsScorer

    def predictor(self) -> Predictor:
        return turn_predictor
