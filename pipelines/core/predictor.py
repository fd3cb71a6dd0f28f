"""The contract of a predictor: the light baseline of a benchmark, whose files `dialmill score` reads."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol


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


class Predictions(NamedTuple):
    """A prediction file: its content, its schema, how much it predicts, and what it was trained on."""

    content: bytes
    schema: str
    predicted: int
    trained: str


class Predictor(Protocol):
    """A module that predicts."""

    BASELINES: tuple[str, ...]  #: the first is the default

    def predict(self, task: Task) -> Predictions: ...
