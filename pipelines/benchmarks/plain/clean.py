"""`clean`: the dialogues of any source that pass every check of cleaning, as they are or through perturbers such as `redact`."""

from collections.abc import Mapping
from typing import Any

from dialmill.pipelines.core.benchmark import Benchmark


class Clean(Benchmark):
    name = "clean"
    about = "the dialogues of any log that pass the checks of cleaning, the others in rejects/ with reason and evidence"
    takes_carried = True
    panel = ""

    def command(self, recipe: Mapping[str, Any]) -> str:
        chains = "".join(f" --with '{spec}'" for spec in recipe.get("perturbations", {}).values())
        return f"dialmill clean --input PATH... --recipe recipe.yaml{chains}"
