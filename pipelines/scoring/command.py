"""What `dialmill score` does with its options: scorers of prediction files, and those that have files of their own."""

from __future__ import annotations

import argparse
from typing import Any

from pipelines.errors import UsageError

from . import names, tables

_DISENTANGLEMENT, _WER = "disentanglement", "wer"


def run(options: argparse.Namespace) -> dict[str, Any]:
    """The score file.

    Raises:
        UsageError: an option that the benchmark doesn't take.
        DialmillError: gold or predictions that can't be used.
    """
    if options.benchmark == _DISENTANGLEMENT:
        from . import disentanglement

        (predictions,) = _predictions(options, 1)
        return disentanglement.score(options.gold, predictions)
    if options.benchmark == _WER:
        from . import wer

        if options.predictions:
            raise UsageError("score wer takes no --predictions: what was said stands in the gold beside what was heard")
        return wer.score(options.gold, options.suite, options.split)
    from .base import Settings
    from .evaluate import Request, evaluate

    if options.benchmark in names():
        _predictions(options)
    settings = Settings(options.gold, options.split, options.official_compat, options.database)
    return evaluate(Request(options.benchmark, settings, options.predictions or [], options.suite, options.seed, options.samples))


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
        from . import disentanglement

        return disentanglement.table(scores)
    return tables.text(scores)


def markdown(scores: dict[str, Any]) -> str:
    """As Markdown."""
    return tables.markdown(_complete(scores))


def latex(scores: dict[str, Any]) -> str:
    """As LaTeX."""
    return tables.latex(_complete(scores))


def _complete(scores: dict[str, Any]) -> dict[str, Any]:
    """With the members that tables use, which scorers of their own may lack."""
    return {"scale": "percent", "policy": {}, "notes": []} | scores
