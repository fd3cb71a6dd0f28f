"""What `dialmill score` does with its options: scorers of prediction files, and those that have files of their own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.scoring import disentanglement, tables, wer
from dialmill.pipelines.scoring.evaluate import Request, evaluate

_DISENTANGLEMENT, _WER = "disentanglement", "wer"


def run(options: argparse.Namespace) -> dict[str, Any]:
    """The score file.

    Raises:
        UsageError: an unknown benchmark, or an option that it doesn't take.
        DialmillError: gold or predictions that can't be used.
    """
    if options.benchmark == _DISENTANGLEMENT:
        (predictions,) = _predictions(options, 1)
        return disentanglement.score(options.gold, predictions)
    if options.benchmark == _WER:
        if options.predictions:
            raise UsageError("score wer takes no --predictions: what was said stands in the gold beside what was heard")
        return wer.score(options.gold, options.suite, options.split)
    scorer_of(options.benchmark)
    _predictions(options)
    settings = Settings(options.gold, options.split, options.official_compat, options.database)
    return evaluate(request(options.benchmark, settings, options.predictions, options.suite, options.seed, options.samples))


def request(benchmark: str, settings: Settings, predictions: Sequence[str], suite: str | None = None, seed: int = 1, samples: int = 1000) -> Request:
    """What is to be scored, with the scorer of a benchmark by its name.

    Raises:
        UsageError: there is no such scorer; the message lists the known.
    """
    return Request(benchmark, scorer_of(benchmark), settings, predictions, suite, seed, samples)


def scorer_of(benchmark: str) -> type[Scorer]:
    """The scorer of a benchmark.

    Raises:
        UsageError: there is none; the message lists the known.
    """
    found = registry.get(benchmark).scorer() if benchmark in registry.REGISTRY.entries else None
    if found is None:
        known = sorted(name for name in registry.REGISTRY.entries if registry.get(name).scorer() is not None)
        raise UsageError(f"there is no scorer {benchmark!r}; the known ones are: {', '.join([*known, _DISENTANGLEMENT, _WER])}")
    return found


def _predictions(options: argparse.Namespace, most: int | None = None) -> list[str]:
    if not options.predictions:
        raise UsageError(f"score {options.benchmark} needs --predictions")
    if most is not None and len(options.predictions) > most:
        raise UsageError(f"score {options.benchmark} takes {most} --predictions, not {len(options.predictions)}")
    found: list[str] = options.predictions
    return found


def text(scores: dict[str, Any]) -> str:
    """For a terminal."""
    if scores["benchmark"] == _DISENTANGLEMENT:
        return disentanglement.table(scores)
    return tables.text(scores, _tables(scores))


def markdown(scores: dict[str, Any]) -> str:
    """As Markdown."""
    scores = _complete(scores)
    return tables.markdown(scores, _tables(scores))


def latex(scores: dict[str, Any]) -> str:
    """As LaTeX."""
    return tables.latex(_tables(_complete(scores)))


def _tables(scores: dict[str, Any]) -> list[tables.Table]:
    return wer.tables(scores) if scores["benchmark"] == _WER else tables.tables(scores)


def _complete(scores: dict[str, Any]) -> dict[str, Any]:
    """With the members that tables use, which scorers of their own may lack."""
    return {"scale": "percent", "policy": {}, "notes": []} | scores
