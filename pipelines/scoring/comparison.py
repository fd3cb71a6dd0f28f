"""Systems by suites: the score of each, its drop from the clean suite, which is best, and which of two is better for more than chance.

Two systems are compared by a paired bootstrap: dialogues are drawn, the same for both, so that what makes a dialogue hard cancels out. One is better
where the interval of the difference doesn't hold 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from dialmill.pipelines.core.bootstrap import draws
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.units import Units
from dialmill.pipelines.scoring.robustness import CONFIDENCE, changes
from dialmill.pipelines.scoring.tables import flat

#: System -> suite -> its rows.
Made = Mapping[str, Mapping[str, Units]]
#: Scores closer than this are one score.
_EQUAL = 1e-9


def chosen(scorer: Scorer, scored: Mapping[str, Any], wanted: Sequence[str]) -> list[str]:
    """The metrics of a table: those that are wanted, by their whole name or its last part ("f1" for "detection.f1"); without any the one to look at
    first, of a single system all that it is ranked by.

    A metric that systems are ranked by and that can't be computed here is left out with a note.

    Args:
        scored: system -> its part of the score file.

    Raises:
        UsageError: there is no such metric, or one name fits several; lists those there are.
    """
    known = list(dict.fromkeys(name for one in scored.values() for name in _names(one)))
    found: list[str] = []
    for word in wanted:
        fit = [name for name in known if name.lower() == word.lower()] or [name for name in known if name.lower().split(".")[-1] == word.lower()]
        if len(fit) == 1:
            found.append(fit[0])
        elif not fit and word in scorer.ranked:
            scorer.notes.add(f"{word} is left out: it can't be computed from these predictions with what is installed")
        else:
            about = f"could be any of {', '.join(fit)}" if fit else f"is none of the metrics: {', '.join(known)}"
            raise UsageError(f"--metrics: {word!r} {about}" + "".join(f"; {line}" for line in scorer.notes.lines))
    if wanted:
        return list(dict.fromkeys(found))
    ranked = [name for name in scorer.ranked if name in known] or known
    return ranked if len(scored) == 1 else ranked[:1]


def _names(one: Mapping[str, Any]) -> list[str]:
    metrics = one["metrics"].values() if one["suite"] == "all" else [one["metrics"]]
    return [name for found in metrics for name in flat(found)]


def compare(scorer: Scorer, scored: Mapping[str, Any], made: Made, metrics: Sequence[str], seed: int, samples: int) -> dict[str, Any]:
    """The table of a score file.

    Args:
        scored: system -> its part of the score file.
        made: the rows that it was made from.

    Returns:
        {"metrics", "systems", "suites", "clean", "confidence", "samples", "seed", "scores": {METRIC: {SYSTEM: {SUITE: CELL}}}, "pairs": {METRIC:
        {SUITE: [PAIR]}}}; CELL is {"score", "best", "beats": [SYSTEM]} and, of a noisy suite, {"drop", "low", "high"}; PAIR is {"a", "b",
        "difference" (a - b), "low", "high", "dialogues"}.
    """
    suites = list(dict.fromkeys(suite for suite in scorer.suites() for units in made.values() if suite in units))
    suites += [suite for units in made.values() for suite in units if suite not in suites]
    scores = {metric: {name: _cells(one, made[name], metric) for name, one in scored.items()} for metric in metrics}
    pairs: dict[str, dict[str, list[dict[str, Any]]]] = {metric: {} for metric in metrics}
    for suite in suites:
        for first, second in combinations([name for name in scored if suite in made[name]], 2):
            found = _difference(scorer, made[first][suite], made[second][suite], metrics, seed, samples)
            for metric, pair in found.items():
                pairs[metric].setdefault(suite, []).append({"a": first, "b": second, **pair})
                if pair["low"] > 0 or pair["high"] < 0:
                    better, worse = (first, second) if pair["low"] > 0 else (second, first)
                    scores[metric][better][suite]["beats"].append(worse)
        for by_system in scores.values():
            there = [cells[suite] for cells in by_system.values() if suite in cells]
            highest = max((cell["score"] for cell in there), default=0.0)
            for cell in there:
                cell["best"] = len(there) > 1 and cell["score"] > highest - _EQUAL
    return {
        "metrics": list(metrics),
        "systems": list(scored),
        "suites": suites,
        "clean": scorer.clean,
        "confidence": CONFIDENCE,
        "samples": samples,
        "seed": seed,
        "scores": scores,
        "pairs": pairs,
    }


def _cells(one: Mapping[str, Any], units: Mapping[str, Units], metric: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    drops = one.get("robustness", {}).get("suites", {})
    for suite in units:
        score = flat(one["metrics"][suite] if one["suite"] == "all" else one["metrics"]).get(metric)
        if score is not None:
            change = drops.get(suite, {}).get("metrics", {}).get(metric, {})
            found[suite] = {"score": score, "best": False, "beats": [], **{key: change[key] for key in ("drop", "low", "high") if key in change}}
    return found


def _difference(scorer: Scorer, first: Units, second: Units, metrics: Sequence[str], seed: int, samples: int) -> dict[str, dict[str, float]]:
    """What the first system is ahead of the second by, on the dialogues that both are scored on."""
    both = sorted({key.source for key in first.keys} & {key.source for key in second.keys})
    if not both:
        return {}
    sources = {source: number for number, source in enumerate(both)}
    found = changes(scorer, first, second, sources, draws(seed, len(both), samples), only=metrics)
    return {name: {"difference": one["drop"], "low": one["low"], "high": one["high"], "dialogues": len(both)} for name, one in found.items()}
