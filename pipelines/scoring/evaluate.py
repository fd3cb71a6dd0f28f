"""`dialmill score`: predictions of one or several systems into a score file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.scorer import Scorer, Settings, nested, versions
from dialmill.pipelines.core.units import Floats, Units
from dialmill.pipelines.scoring import comparison, robustness

ALL = "all"


@dataclass(frozen=True)
class Request:
    """What is to be scored.

    Args:
        scorer: the scorer of the benchmark.
        predictions: one path a system.
        suite: a suite, "all", or None to take what the predictions are about.
        seed, samples: of the bootstrap.
        metrics: those of the table of systems and suites, none for the first that systems are ranked by.
    """

    benchmark: str
    scorer: type[Scorer]
    settings: Settings
    predictions: Sequence[str]
    suite: str | None = None
    seed: int = 1
    samples: int = 1000
    metrics: Sequence[str] = ()


def evaluate(request: Request) -> dict[str, Any]:
    """The score file.

    Raises:
        UsageError: an unknown suite.
        DialmillError: gold or predictions that can't be used, or a missing extra.
    """
    scorer = request.scorer(request.settings)
    scorer.self_test()
    if request.suite not in (None, ALL, *scorer.suites()):
        raise UsageError(f"there is no suite {request.suite!r} in {request.settings.gold}; there are: {', '.join([*scorer.suites(), ALL])}")
    names = _system_names(request.predictions)
    made: dict[str, dict[str, Units]] = {name: {} for name in names}
    scored = {name: _one(scorer, request, path, made[name]) for name, path in zip(names, request.predictions, strict=True)}
    first = next(iter(scored.values()))
    if len({one["suite"] for one in scored.values()}) > 1:
        raise InputError(request.predictions[0], "and the other predictions are about different suites", "name one with --suite")
    head = {"benchmark": request.benchmark, "suite": first["suite"], "split": scorer.split}
    tail: dict[str, Any] = {
        "scale": scorer.scale,
        "official_compat": request.settings.official,
        "policy": scorer.policy(),
        "versions": versions(scorer.packages()),
        "notes": scorer.notes.lines,
    }
    if len(scored) == 1:
        rest = {key: value for key, value in first.items() if key not in ("suite", "metrics")}
        return head | {"metrics": first["metrics"], **rest, **_table(scorer, request, scored, made)} | tail
    ranking = mean_reciprocal_ranks(
        {name: one["metrics"] for name, one in scored.items()}, scorer.ranked, scorer.clean if first["suite"] == ALL else None
    )
    order = sorted(ranking, key=lambda name: (-ranking[name], name))
    return head | {
        "metrics": {"mean_reciprocal_rank": {name: ranking[name] for name in order}},
        "ranked_by": list(scorer.ranked),
        "systems": {name: {key: value for key, value in scored[name].items() if key != "suite"} for name in order},
        **_table(scorer, request, {name: scored[name] for name in order}, made),
        "ceiling": first["ceiling"],
        "counts": first["counts"],
        **tail,
    }


def _table(scorer: Scorer, request: Request, scored: dict[str, Any], made: comparison.Made) -> dict[str, Any]:
    """The table of systems and suites, where there is more than one of either."""
    metrics = comparison.chosen(scorer, scored, request.metrics)
    several = len(scored) > 1 or any(len(units) > 1 for units in made.values()) or request.metrics
    return {"comparison": comparison.compare(scorer, scored, made, metrics, request.seed, request.samples)} if several and metrics else {}


def _one(scorer: Scorer, request: Request, path: str, made: dict[str, Units]) -> dict[str, Any]:
    """One system's part of the score file; its rows go to `made`, by suite."""
    guesses = scorer.read(path)
    covered = scorer.covered(guesses)
    if request.suite is None:
        wanted = covered
    elif request.suite == ALL:
        wanted = scorer.every(guesses)
        for suite in scorer.suites():
            if suite not in wanted:
                scorer.notes.add(f"the predictions have none of suite {suite}: it is not scored")
    else:
        wanted = [request.suite]
    ceiling: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    for suite in wanted:
        made[suite] = scorer.units(suite, guesses)
        counts[suite] = scorer.counts(made[suite])
        if not len(made[suite]):
            scorer.notes.add(f"suite {suite} has nothing to score")
        own = scorer.metrics(scorer.units(suite, None).sums())
        _note_ceiling(scorer, suite, own)
        ceiling[suite] = nested(own)
    metrics = {suite: nested(scorer.metrics(units.sums())) for suite, units in made.items()}
    if len(wanted) == 1 and request.suite != ALL:
        (suite,) = wanted
        return {"suite": suite, "metrics": metrics[suite], "ceiling": ceiling[suite], "counts": counts[suite]}
    result = {"suite": ALL, "metrics": metrics, "ceiling": ceiling, "counts": counts}
    if not scorer.paired:
        return result
    if scorer.clean in made and len(made) > 1:
        result["robustness"] = robustness.table(scorer, made, request.seed, request.samples)
    elif len(made) > 1:
        scorer.notes.add(f"no predictions for the clean suite {scorer.clean}: drops are not computed")
    return result


def _note_ceiling(scorer: Scorer, suite: str, ceiling: Mapping[str, Floats]) -> None:
    """Says in which metrics the right answers themselves don't reach the full score, and why."""
    full = 1.0 if scorer.scale == "fraction" else 100.0
    for metric, value in ceiling.items():
        reason = scorer.below_full.get(metric.rpartition(".")[2])
        if reason is not None and abs(float(value) - full) > 1e-6:
            scorer.notes.add(f"ceiling: the right answers themselves reach {float(value):.4g} in {metric} of suite {suite}: {reason}")


def _system_names(paths: Sequence[str]) -> list[str]:
    """A short name of each system: its file's, with as many parent folders as tell them apart."""
    parts = [Path(path).absolute().with_suffix("").parts for path in paths]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    raise UsageError("two of the predictions are the same file; name each system once")


def mean_reciprocal_ranks(metrics: dict[str, dict[str, Any]], ranked: Sequence[str], suite: str | None = None) -> dict[str, float]:
    """How DSTC9 ranks its entries: the mean over metrics of 1 / (rank in that metric), in (0, 1]. Systems of equal score share the better rank."""
    values = {name: {metric: _at(found[suite] if suite else found, metric) for metric in ranked} for name, found in metrics.items()}
    used = [metric for metric in ranked if all(one[metric] is not None for one in values.values())]
    if not used:
        return dict.fromkeys(metrics, 0.0)
    return {
        name: sum(1 / (1 + sum(other[metric] > mine[metric] for other in values.values())) for metric in used) / len(used)
        for name, mine in values.items()
    }


def _at(metrics: dict[str, Any], name: str) -> Any:
    value: Any = metrics
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
