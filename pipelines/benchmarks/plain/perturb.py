"""`perturb`: suites of the user's own data, one for every `--with`."""

from dialmill.pipelines.benchmarks.plain.scorer import SplitsScorer
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.scorer import Scorer


class Perturb(Benchmark):
    name = "perturb"
    about = "suites of any supported corpus through any chain of perturbers"

    def scorer(self) -> type[Scorer]:
        return SplitsScorer

    def predictor(self) -> Predictor:
        return turn_predictor
