"""`dialmill predict-baseline`: prediction files of the light baselines, in the formats that `dialmill score` reads.

Each predictor trains on the training part of the folder that it predicts for, and reads no label of the part that it predicts.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from pipelines import plugins
from pipelines.errors import InputError, UsageError


class Task(NamedTuple):
    """What is asked for.

    Args:
        gold: an output folder, or what else the predictor's module says.
        suite: a suite, or None for all (of a ranking benchmark: for the first one).
        split: the split that is predicted.
        baseline: one of the predictor's `BASELINES`.
    """

    benchmark: str
    gold: Path
    suite: str | None
    split: str
    baseline: str


class Made(NamedTuple):
    """A prediction file: its content, its schema, how much it predicts, and what it was trained on."""

    content: bytes
    schema: str
    predicted: int
    trained: str


class Predictor(Protocol):
    """A module of this package."""

    BASELINES: tuple[str, ...]  #: the first is the default

    def predict(self, task: Task) -> Made: ...


#: Benchmark -> module here.
_MODULES = {
    "cgodial-fbd": "turns",
    "cgodial-rbd": "ranking",
    "cgodial-sbd": "turns",
    "dstc9-track1": "knowledge",
    "noesis-advising": "ranking",
    "noesis-ubuntu": "ranking",
    "perturb": "turns",
    "raddle": "turns",
    "splits": "turns",
}


def names() -> list[str]:
    """The benchmarks that have a baseline."""
    return sorted(_MODULES)


def predict(benchmark: str, gold: str, suite: str | None = None, split: str = "test", baseline: str | None = None) -> Made:
    """The predictions of a baseline.

    Raises:
        UsageError: an unknown benchmark or baseline; the message lists the known ones.
        InputError: the folder doesn't hold what is needed.
    """
    module: Predictor = plugins.load("baseline of", benchmark, _MODULES, __name__, names())
    if baseline is not None and baseline not in module.BASELINES:
        raise UsageError(f"{benchmark} has no baseline {baseline!r}; it has: {', '.join(module.BASELINES)}")
    if not Path(gold).is_dir():
        raise InputError(gold, "is no folder", f"name a folder that `dialmill build {benchmark}` made")
    return module.predict(Task(benchmark, Path(gold), suite, split, baseline or module.BASELINES[0]))
