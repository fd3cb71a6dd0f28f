"""Score files by the name of a benchmark, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.scorer import Settings, Table
from dialmill.pipelines.scoring import mwzeval, tables
from dialmill.pipelines.scoring.evaluate import ALL, Request, evaluate
from dialmill.pipelines.scoring.turns import TurnScorer


def score(
    benchmark: str,
    settings: Settings,
    predictions: Sequence[str],
    suite: str | None = None,
    seed: int = 1,
    samples: int = 1000,
    metrics: Sequence[str] = (),
) -> dict[str, Any]:
    """The score file of one or several systems.

    Args:
        benchmark: its name; also what is scored and not built, such as "wer".
        settings: the gold, and how it is scored.
        predictions: a file or folder of each system.
        suite: a suite, "all", or None to take what the predictions are about.
        seed: of the bootstrap.
        samples: of the bootstrap.
        metrics: those of the table of systems and suites; none takes the first that systems are ranked by.

    Raises:
        UsageError: an unknown benchmark, suite or metric, or an option that the benchmark doesn't take.
        DialmillError: gold or predictions that can't be used.
    """
    own = _scored(benchmark).own_scoring()
    if own is not None:
        if metrics:
            raise UsageError(f"score {benchmark} takes no --metrics: it has one table of its own")
        return own.score_files(settings, predictions, suite)
    if not predictions:
        raise UsageError(f"score {benchmark} needs --predictions")
    return evaluate(request(benchmark, settings, predictions, suite, seed, samples, metrics))


def request(
    benchmark: str,
    settings: Settings,
    predictions: Sequence[str],
    suite: str | None = None,
    seed: int = 1,
    samples: int = 1000,
    metrics: Sequence[str] = (),
) -> Request:
    """What is to be scored, with the scorer of a benchmark by its name.

    Raises:
        UsageError: it has no scorer of predictions; the message lists the benchmarks that are scored.
    """
    scorer = _scored(benchmark).scorer()
    if scorer is None:
        raise UsageError(f"{benchmark} has no scorer of predictions")
    return Request(benchmark, scorer, settings, predictions, suite, seed, samples, metrics)


def mwzeval_form(benchmark: str, settings: Settings, predictions: Sequence[str], suite: str | None = None) -> dict[str, Any]:
    """The predictions of one system in the form of MultiWOZ_Evaluation, which knows no suites.

    Args:
        suite: the suite that is written; None and "all" for the clean one, or the first that is predicted.

    Raises:
        UsageError: several systems, or a benchmark whose predictions are no states and responses.
        DialmillError: gold or predictions that can't be used.
    """
    kind = _scored(benchmark).scorer()
    if kind is None or not issubclass(kind, TurnScorer):
        raise UsageError(f"--mwzeval: predictions of {benchmark} have no states and responses, which MultiWOZ_Evaluation reads")
    if len(predictions) != 1:
        raise UsageError("--mwzeval: a file is of one system; name one with --predictions")
    scorer = kind(settings)
    guesses = scorer.read(predictions[0])
    covered = scorer.covered(guesses)
    named = suite if suite not in (None, ALL) else scorer.clean if scorer.clean in covered else covered[0]
    assert named is not None
    return mwzeval.document(scorer.gold.turns(named), guesses)


def _scored(name: str) -> Benchmark:
    """A benchmark that is scored."""
    found = registry.get(name) if name in registry.REGISTRY.entries else None
    if found is None or not _is_scored(found):
        known = [one.name for one in registry.usable() if _is_scored(one)]
        raise UsageError(f"{name!r} is nothing that can be scored; what can be is: {', '.join(known)}")
    return found


def _is_scored(benchmark: Benchmark) -> bool:
    return benchmark.scorer() is not None or benchmark.own_scoring() is not None


def text(scores: dict[str, Any], details: bool = True) -> str:
    """For a terminal; without `details` the one table of systems by suites, where there is one."""
    own = _scored(scores["benchmark"]).own_scoring()
    return own.text(scores) if own is not None else tables.text(scores, _tables(scores, details))


def markdown(scores: dict[str, Any], details: bool = True) -> str:
    """As Markdown."""
    scores = _complete(scores)
    return tables.markdown(scores, _tables(scores, details))


def latex(scores: dict[str, Any], details: bool = True) -> str:
    """As LaTeX."""
    return tables.latex(_tables(_complete(scores), details))


def _tables(scores: dict[str, Any], details: bool) -> list[Table]:
    own = _scored(scores["benchmark"]).own_scoring()
    return own.tables(scores) if own is not None else tables.tables(scores, details)


def _complete(scores: dict[str, Any]) -> dict[str, Any]:
    """With the members that tables use, which score files of their own may lack."""
    return {"scale": "percent", "policy": {}, "notes": []} | scores
