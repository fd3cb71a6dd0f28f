"""`score dstc9-track3`: people's ratings, and how well metrics agree with them.

The gold is a folder that `build dstc9-track3` made, or a file in FED's form; `--predictions` takes files of ratings (FED's form; those of several
raters add up) and of metrics (schema predictions-dstc9-track3), in any number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dialmill.pipelines.benchmarks.interactive import ratings
from dialmill.pipelines.benchmarks.interactive.questionnaire import LEVELS, OVERALL, QUALITIES
from dialmill.pipelines.benchmarks.interactive.ratings import Rated
from dialmill.pipelines.core.bootstrap import DIGITS, draws, interval
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.scorer import Settings, Table, versions
from dialmill.pipelines.core.units import Floats
from dialmill.pipelines.scoring.tables import number
from dialmill.pipelines.scoring.tables import text as shown

_SAMPLES, _SEED, _CONFIDENCE = 1000, 1, 0.95
_EVERY = "all systems"
_POLICY = {
    "means": "of an item its raters' mean, of a system the mean of its items",
    "intervals": "95 %, bootstrap over conversations (1,000 samples); of Spearman with the ranks of the whole sample",
    "agreement": "alpha: Krippendorff's for ordinal data; spearman: each rating with the mean of the other ratings of its item",
    "outliers": "stay; FED's paper removes some",
    "correlation": "of a metric with the items' mean ratings; by systems: of the systems' means",
    "ratings that are no numbers": "are left out",
}


def score_files(settings: Settings, predictions: Sequence[str], suite: str | None) -> dict[str, Any]:
    """The score file.

    Raises:
        UsageError: a level that there isn't.
        DialmillError: nothing is rated, or a file that can't be used.
    """
    if suite not in (None, "all", *LEVELS):
        raise UsageError(f"there is no level {suite!r}; --suite takes {', '.join(LEVELS)} or all")
    items = ratings.read_gold(settings.gold)
    metrics = []
    for path in map(Path, predictions):
        if not path.is_file():
            raise InputError(str(path), "is no file", "name a file of ratings, or of a metric's scores")
        if ratings.is_ratings(path):
            ratings.add_ratings(items, path)
        else:
            metrics.append(path)
    rated = [one for one in items.values() if any(one.ratings.values())]
    if not rated:
        raise InputError(settings.gold, "has no ratings", "give people's ratings with --predictions FILE, in FED's form")
    levels = [level for level in LEVELS if suite in (None, "all", level) and any(one.level == level for one in rated)]
    if not levels:
        raise InputError(settings.gold, f"has no ratings of the {suite} level", "name the other level with --suite")
    by_level = {level: [one for one in rated if one.level == level] for level in levels}
    notes = [f"{len(items) - len(rated)} of {len(items)} items have no ratings"] if len(rated) < len(items) else []
    left_out = sum(one.left_out for one in rated)
    if left_out:
        notes.append(f"{left_out} ratings are no numbers (N/A) and left out")
    means = {level: _means(level, some) for level, some in by_level.items()}
    return {
        "benchmark": "dstc9-track3",
        "suite": suite or "all",
        "scale": "points",
        "metrics": {level: {quality: one["mean"] for quality, one in found[_EVERY].items()} for level, found in means.items()},
        "systems": means,
        "agreement": {level: _agreement(level, some) for level, some in by_level.items()},
        "correlation": dict(zip(_names(metrics), [_correlations(items, by_level, path) for path in metrics], strict=True)),
        "policy": _POLICY,
        "notes": notes,
        "versions": versions(("numpy",)),
        "counts": {
            "items": {level: len(some) for level, some in by_level.items()},
            "ratings": {level: sum(len(given) for one in some for given in one.ratings.values()) for level, some in by_level.items()},
        },
    }


def _qualities(level: str, items: Sequence[Rated]) -> list[str]:
    """The qualities that were rated, the questionnaire's first and in its order."""
    asked = [one.name for one in QUALITIES[level]]
    given = dict.fromkeys(quality for one in items for quality, found in one.ratings.items() if found)
    return [quality for quality in asked if quality in given] + [quality for quality in given if quality not in asked]


def _means(level: str, items: Sequence[Rated]) -> dict[str, Any]:
    """System -> quality -> mean with its interval and the number of items; all systems together first."""
    systems = sorted({one.system for one in items})
    found: dict[str, Any] = {}
    for system in [_EVERY, *systems]:
        mine = [one for one in items if system in (_EVERY, one.system)]
        found[system] = {}
        for quality in _qualities(level, items):
            pairs = [(one.source, mean) for one in mine if (mean := one.mean(quality)) is not None]
            if pairs:
                found[system][quality] = _mean(pairs, level, system, quality)
    return found


def _mean(pairs: Sequence[tuple[str, float]], *key: str) -> dict[str, Any]:
    """The mean of (conversation, rating), with its interval over conversations."""
    # Sorted, so that the order of a file changes nothing.
    sources = {source: place for place, source in enumerate(sorted({source for source, _ in pairs}))}
    sums = np.zeros((2, len(sources)))
    for source, value in pairs:
        sums[:, sources[source]] += (value, 1)
    drawn = draws(_SEED, len(sources), _SAMPLES, "ratings", *key)
    between = interval((drawn @ sums[0]) / (drawn @ sums[1]), _CONFIDENCE)
    return {"mean": round(float(sums[0].sum() / sums[1].sum()), DIGITS), "low": between.low, "high": between.high, "items": len(pairs)}


def _agreement(level: str, items: Sequence[Rated]) -> dict[str, Any]:
    found = {}
    for quality in _qualities(level, items):
        units = [one.ratings[quality] for one in items if one.ratings.get(quality)]
        found[quality] = {
            "alpha": _rounded(ratings.alpha(units)),
            "spearman": _rounded(ratings.with_others(units)),
            "raters": round(sum(map(len, units)) / len(units), 2),
        }
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _correlations(items: Mapping[str, Rated], by_level: Mapping[str, Sequence[Rated]], file: Path) -> dict[str, Any]:
    """Level -> quality -> how a metric's scores go with people's, by items; and by systems for the overall quality."""
    scores = ratings.read_scores(items, file)
    found: dict[str, Any] = {}
    for level, some in by_level.items():
        here = [one for one in some if one.id in scores]
        qualities = {}
        for quality in _qualities(level, here):
            pairs = [(one, scores[one.id].get(quality, scores[one.id].get("")), one.mean(quality)) for one in here]
            both = [(one, score, mean) for one, score, mean in pairs if score is not None and mean is not None]
            if both:
                qualities[quality] = _correlated(both, level, quality)
        if qualities:
            found[level] = qualities
    return found


def _correlated(both: Sequence[tuple[Rated, float, float]], *key: str) -> dict[str, Any]:
    mine, people = (np.array(column, float) for column in ([score for _, score, _ in both], [mean for _, _, mean in both]))
    my_ranks, their_ranks = ratings.ranks(mine), ratings.ranks(people)
    spearman = ratings.correlation(my_ranks, their_ranks)
    made: dict[str, Any] = {"spearman": _rounded(spearman), "low": None, "high": None, "pearson": _rounded(ratings.correlation(mine, people))}
    if spearman is not None:
        sampled = ratings.weighted(my_ranks, their_ranks, _drawn([one.source for one, _, _ in both], *key))
        sampled = sampled[~np.isnan(sampled)]
        if len(sampled):
            between = interval(sampled, _CONFIDENCE)
            made |= {"low": between.low, "high": between.high}
    systems: dict[str, list[tuple[float, float]]] = {}
    for one, score, mean in both:
        systems.setdefault(one.system, []).append((score, mean))
    means = np.array([np.mean(some, axis=0) for _, some in sorted(systems.items())])
    return made | {
        "systems": {
            "spearman": _rounded(ratings.correlation(ratings.ranks(means[:, 0]), ratings.ranks(means[:, 1]))),
            "pearson": _rounded(ratings.correlation(means[:, 0], means[:, 1])),
            "number": len(means),
        },
        "items": len(both),
    }


def _drawn(sources: Sequence[str], *key: str) -> Floats:
    """(samples, items): how often each item is drawn, those of one conversation together."""
    places = {source: place for place, source in enumerate(sorted(set(sources)))}
    drawn = draws(_SEED, len(places), _SAMPLES, "correlation", *key)
    return drawn[:, [places[source] for source in sources]]


def _names(paths: Sequence[Path]) -> list[str]:
    """A name of each metric: its file's, numbered where two are equal."""
    found: list[str] = []
    for path in paths:
        name, copies = path.stem, 1
        while name in found:
            copies += 1
            name = f"{path.stem}-{copies}"
        found.append(name)
    return found


def text(scores: dict[str, Any]) -> str:
    """The scores for a terminal."""
    return shown(scores, tables(scores))


def tables(scores: dict[str, Any]) -> list[Table]:
    """The scores as tables."""
    return [*_mean_tables(scores), *_correlation_tables(scores)]


def _mean_tables(scores: dict[str, Any]) -> Iterator[Table]:
    for level, systems in scores["systems"].items():
        agreement = scores["agreement"][level]
        head = ("quality", *systems, "alpha", "rating with others")
        rows = []
        for quality in systems[_EVERY]:
            cells = [_cell(found.get(quality)) for found in systems.values()]
            rows.append((quality, *cells, *(_plain(agreement[quality][name]) for name in ("alpha", "spearman"))))
        yield Table(f"{level} level: mean ratings with 95 % intervals, and agreement", head, rows)


def _cell(one: Mapping[str, Any] | None) -> str:
    return "" if one is None else f"{one['mean']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


def _plain(value: float | None) -> str:
    return "-" if value is None else number(value, 3)


def _correlation_tables(scores: dict[str, Any]) -> Iterator[Table]:
    for level in scores["systems"]:
        rows = []
        for metric, levels in scores["correlation"].items():
            for quality, one in levels.get(level, {}).items():
                between = "" if one["low"] is None else f"[{one['low']:.3f}, {one['high']:.3f}]"
                by_system = _plain(one["systems"]["spearman"]) if quality == OVERALL else ""
                rows.append((f"{metric}: {quality}", _plain(one["spearman"]), between, _plain(one["pearson"]), by_system))
        if rows:
            yield Table(f"{level} level: correlation with people", ("metric: quality", "Spearman", "95 % interval", "Pearson", "by systems"), rows)
