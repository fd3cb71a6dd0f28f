"""How much a system loses on each suite, why, and whether it errs on the same turns: suites against the clean one, paired.

A turn of a suite is paired with the turn of the clean suite that it is a variant of (inserted turns have none). Where a suite has several variants
of a dialogue, each is paired with the same clean turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dialmill.pipelines.core.bootstrap import draws, interval
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.units import Floats, Key, Units
from numpy.typing import NDArray

CONFIDENCE = 0.95
#: A stratum of fewer turns than this is told without an interval: it would say more than is known.
_ENOUGH = 10


def table(scorer: Scorer, made: Mapping[str, Units], seed: int, samples: int) -> dict[str, Any]:
    """The comparison of every suite with the clean one.

    Returns:
        {"clean", "main" (the metrics to look at), "seed", "samples", "confidence", "suites": {SUITE: {"dialogues", "turns", "pairs", "metrics":
        {METRIC: CHANGE}, "consistency", "by": {KIND: {LABEL: {"turns", METRIC: CHANGE}}}}}}; CHANGE is {"clean", "suite", "drop", "low", "high"}:
        the drop is clean - suite, with its interval.
    """
    clean = made[scorer.clean]
    found = {
        suite: _compare(scorer, clean, units, seed, samples) for suite, units in made.items() if suite != scorer.clean and suite not in scorer.pools
    }
    shown = [metric for metric in scorer.ranked if any(metric in one["metrics"] for one in found.values())]
    return {"clean": scorer.clean, "main": shown, "seed": seed, "samples": samples, "confidence": CONFIDENCE, "suites": found}


def _compare(scorer: Scorer, clean: Units, suite: Units, seed: int, samples: int) -> dict[str, Any]:
    have = {key.source for key in clean.keys}
    sources = {source: number for number, source in enumerate(sorted({key.source for key in suite.keys} & have))}
    # The key of the draws is the same for all suites: with the same dialogues they get the same samples.
    weights = draws(seed, len(sources), samples)
    changed = changes(scorer, clean, suite, sources, weights)
    pairs = _pairs(clean.keys, suite.keys)
    by: dict[str, Any] = {}
    for kind, labels in suite.strata.items():
        rows: dict[str, list[tuple[int, int]]] = {}
        for one, other in pairs:
            rows.setdefault(labels[other], []).append((one, other))
        strata = {label: _stratum(scorer, clean, suite, sources, weights, rows[label]) for label in sorted(rows, key=_order)}
        if len(strata) > 1:
            by[kind] = strata
    found: dict[str, Any] = {"dialogues": len(sources), "turns": len(suite), "pairs": len(pairs), "metrics": changed}
    if clean.right is not None and suite.right is not None and pairs:
        found["consistency"] = _consistency(clean.right, suite.right, pairs)
    if by:
        found["by"] = by
    return found


def _order(label: str) -> tuple[int, str]:
    known = ["unchanged", "up to 5 %", "5 to 15 %", "15 to 40 %", "above 40 %", "1", "2-3", "4-6", "7 and more", "kept", "changed", "lost", "none"]
    return known.index(label) if label in known else len(known), label


def _pairs(clean: Sequence[Key], suite: Sequence[Key]) -> list[tuple[int, int]]:
    """(row of the clean suite, row of the suite) of every pair."""
    place: dict[tuple[str, str], int] = {}
    for row, key in enumerate(clean):
        place.setdefault((key.source, key.place), row)
    return [(place[key.source, key.place], row) for row, key in enumerate(suite) if (key.source, key.place) in place]


def changes(
    scorer: Scorer,
    clean: Units,
    suite: Units,
    sources: Mapping[str, int],
    weights: NDArray[np.float64],
    rows: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None] = (None, None),
    only: Sequence[str] | None = None,
    sure: bool = True,
) -> dict[str, dict[str, float]]:
    """How the metrics change from some rows to others, dialogue by dialogue.

    Args:
        clean, suite: the rows before and after.
        sources: the dialogues that both have, numbered.
        weights: how often each of them is drawn in each bootstrap sample.
        rows: which rows of either are taken, all for None.
        only: the metrics, all for None.
        sure: whether the changes get intervals.

    Returns:
        METRIC -> {"clean", "suite", "drop" (clean - suite), "low", "high"}.
    """
    tables = [units.by_source(sources, chosen) for units, chosen in zip((clean, suite), rows, strict=True)]
    names = [list(units.columns) for units in (clean, suite)]
    before, after = (
        {name: float(value) for name, value in scorer.metrics(_sums(one.sum(axis=0), at)).items()} for one, at in zip(tables, names, strict=True)
    )
    if sure:
        drawn = [scorer.metrics(_sums(weights @ one, at)) for one, at in zip(tables, names, strict=True)]
    found: dict[str, dict[str, float]] = {}
    for metric in before:
        if metric not in after or (only is not None and metric not in only):
            continue
        change = {"clean": before[metric], "suite": after[metric], "drop": before[metric] - after[metric]}
        if sure:
            low, high = interval(drawn[0][metric] - drawn[1][metric], CONFIDENCE)
            change |= {"low": low, "high": high}
        found[metric] = change
    return found


def _sums(table: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """The columns of a table (..., columns) by name."""
    return {name: np.asarray(table[..., number]) for number, name in enumerate(names)}


def _stratum(
    scorer: Scorer,
    clean: Units,
    suite: Units,
    sources: Mapping[str, int],
    weights: NDArray[np.float64],
    pairs: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    rows = (np.array([one for one, _ in pairs], np.intp), np.array([other for _, other in pairs], np.intp))
    sure = len(pairs) >= _ENOUGH
    return {"turns": len(pairs)} | changes(scorer, clean, suite, sources, weights, rows, scorer.of_turns, sure)


def _consistency(clean: NDArray[np.bool_], suite: NDArray[np.bool_], pairs: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Shares of pairs, in [0, 1]: what an average hides (Cho et al. 2022, CheckDST)."""
    before = clean[[one for one, _ in pairs]]
    after = suite[[other for _, other in pairs]]
    total = len(pairs)
    return {
        "pairs": total,
        "both_right": float((before & after).sum()) / total,
        "right_on_clean_only": float((before & ~after).sum()) / total,
        "right_on_variant_only": float((~before & after).sum()) / total,
        "both_wrong": float((~before & ~after).sum()) / total,
        "same": float((before == after).sum()) / total,
    }
