"""`perturb`: suites of the user's own data, one for every `--with`."""

from collections.abc import Mapping
from typing import Any

from dialmill.pipelines.benchmarks.plain.scorer import SplitsScorer
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.scorer import Scorer


class Perturb(Benchmark):
    name = "perturb"
    about = "suites of any supported corpus through any chain of perturbers"
    takes_carried = True

    def command(self, recipe: Mapping[str, Any]) -> str:
        chains = "".join(f" --with '{spec}'" for spec in recipe.get("perturbations", {}).values())
        return f"dialmill perturb --input PATH...{chains} --variants {recipe.get('variants', 1)}"

    def scorer(self) -> type[Scorer]:
        return SplitsScorer

    def predictor(self) -> Predictor:
        return turn_predictor
