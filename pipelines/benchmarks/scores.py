"""Score files by the name of a benchmark, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.scorer import Settings, Table
from dialmill.pipelines.scoring import tables
from dialmill.pipelines.scoring.evaluate import Request, evaluate


def score(
    benchmark: str, settings: Settings, predictions: Sequence[str], suite: str | None = None, seed: int = 1, samples: int = 1000
) -> dict[str, Any]:
    """The score file of one or several systems.

    Args:
        benchmark: its name; also what is scored and not built, such as "wer".
        settings: the gold, and how it is scored.
        predictions: a file or folder of each system.
        suite: a suite, "all", or None to take what the predictions are about.
        seed: of the bootstrap.
        samples: of the bootstrap.

    Raises:
        UsageError: an unknown benchmark or suite, or an option that the benchmark doesn't take.
        DialmillError: gold or predictions that can't be used.
    """
    own = _scored(benchmark).own_scoring()
    if own is not None:
        return own.score_files(settings, predictions, suite)
    if not predictions:
        raise UsageError(f"score {benchmark} needs --predictions")
    return evaluate(request(benchmark, settings, predictions, suite, seed, samples))


def request(benchmark: str, settings: Settings, predictions: Sequence[str], suite: str | None = None, seed: int = 1, samples: int = 1000) -> Request:
    """What is to be scored, with the scorer of a benchmark by its name.

    Raises:
        UsageError: it has no scorer of predictions; the message lists the benchmarks that are scored.
    """
    scorer = _scored(benchmark).scorer()
    if scorer is None:
        raise UsageError(f"{benchmark} has no scorer of predictions")
    return Request(benchmark, scorer, settings, predictions, suite, seed, samples)


def _scored(name: str) -> Benchmark:
    """A benchmark that is scored."""
    found = registry.get(name) if name in registry.REGISTRY.entries else None
    if found is None or not _is_scored(found):
        known = [one.name for one in registry.usable() if _is_scored(one)]
        raise UsageError(f"there is no scorer {name!r}; the known ones are: {', '.join(known)}")
    return found


def _is_scored(benchmark: Benchmark) -> bool:
    return benchmark.scorer() is not None or benchmark.own_scoring() is not None


def text(scores: dict[str, Any]) -> str:
    """For a terminal."""
    own = _scored(scores["benchmark"]).own_scoring()
    return own.text(scores) if own is not None else tables.text(scores, _tables(scores))


def markdown(scores: dict[str, Any]) -> str:
    """As Markdown."""
    scores = _complete(scores)
    return tables.markdown(scores, _tables(scores))


def latex(scores: dict[str, Any]) -> str:
    """As LaTeX."""
    return tables.latex(_tables(_complete(scores)))


def _tables(scores: dict[str, Any]) -> list[Table]:
    own = _scored(scores["benchmark"]).own_scoring()
    return own.tables(scores) if own is not None else tables.tables(scores)


def _complete(scores: dict[str, Any]) -> dict[str, Any]:
    """With the members that tables use, which score files of their own may lack."""
    return {"scale": "percent", "policy": {}, "notes": []} | scores
