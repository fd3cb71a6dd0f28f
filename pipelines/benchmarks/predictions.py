"""Prediction files of the light baselines by the name of a benchmark, in the formats that `dialmill score` reads.

Each predictor trains on the training part of the folder that it predicts for, and reads no label of the part that it predicts.
"""

from __future__ import annotations

from pathlib import Path

from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.predictor import Predictions, Task


def names() -> list[str]:
    """The benchmarks that have a baseline."""
    return [one.name for one in registry.usable() if one.predictor() is not None]


def predict(benchmark: str, gold: str, suite: str | None = None, split: str = "test", baseline: str | None = None) -> Predictions:
    """The predictions of a baseline.

    Raises:
        UsageError: an unknown benchmark or baseline; the message lists the known ones.
        InputError: the folder doesn't hold what is needed, or has nothing to predict.
    """
    known = names()
    module = registry.get(benchmark).predictor() if benchmark in known else None
    if module is None:
        raise UsageError(f"there is no baseline of {benchmark!r}; the known ones are: {', '.join(sorted(known))}")
    if baseline is not None and baseline not in module.BASELINES:
        raise UsageError(f"{benchmark} has no baseline {baseline!r}; it has: {', '.join(module.BASELINES)}")
    if not Path(gold).is_dir():
        raise InputError(gold, "is no folder", f"name a folder that `dialmill build {benchmark}` made")
    made = module.predict(Task(benchmark, Path(gold), suite, split, baseline or module.BASELINES[0]))
    if not made.predicted:
        raise InputError(gold, f"has nothing to predict: its split {split!r} is empty", "name another with --split")
    return made
