"""What a perturbed suite costs light baselines: each kind's figures on the unperturbed text and on the suite, over the same test dialogues.

The panel that chooses the hard sets (`stages.hard`) has judged both texts of each dialogue already. A loss is in points, standard minus suite; its
interval is a paired bootstrap over dialogues.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from dialmill.pipelines.baselines.panel.choice import DRAWS, Measure
from dialmill.pipelines.core.bootstrap import draws, interval

Sums = Mapping[str, Mapping[str, int]]

#: The columns of `rows`.
COLUMNS = ("suite", "figure", "standard", "suite's", "mean loss", "least to most", "surely above 0")
#: Fewer dialogues tell nothing of a suite.
LEAST = 50


class Loss(NamedTuple):
    """A figure of a kind of baseline, 0 to 1, on the unperturbed text and on the suite, and the bounds of the difference."""

    kind: str
    figure: str
    standard: float
    suite: float
    low: float
    high: float


def losses(before: Sequence[Sums], after: Sequence[Sums], measure: Measure) -> Iterator[Loss]:
    """The losses of a suite.

    Args:
        before, after: for each dialogue and text, in one order, kind -> what `measure` needs, to be summed up; the same kinds in both.
        measure: sums -> figures.
    """
    kinds = sorted({kind for sums in after for kind in sums} & {kind for sums in before for kind in sums})
    drawn = draws(0, len(after), DRAWS, "losses")
    for kind in kinds:
        fields = sorted({name for sums in (*before, *after) for name in sums.get(kind, ())})

        def figures(row: Sequence[float], fields: Sequence[str] = fields) -> Mapping[str, float]:
            return measure(dict(zip(fields, map(int, row), strict=True)))

        tables = [np.array([[sums.get(kind, {}).get(name, 0) for name in fields] for sums in side], dtype=float) for side in (before, after)]
        first, second = (figures(table.sum(axis=0).tolist()) for table in tables)
        sampled = [[figures(row) for row in (drawn @ table).tolist()] for table in tables]
        for figure in sorted(first.keys() & second.keys()):
            lost = [one[figure] - two[figure] for one, two in zip(*sampled, strict=True) if figure in one and figure in two]
            if 2 * len(lost) >= DRAWS:
                yield Loss(kind, figure, first[figure], second[figure], *interval(np.array(lost), 0.95))


def rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The losses in a manifest's `hard` as a table, in per cent: a row for each suite and figure, over the kinds."""
    made: list[tuple[str, ...]] = []
    for suite, one in found.items():
        by_figure: dict[str, list[Mapping[str, float]]] = {}
        for _, figures in sorted(one.get("loss", {}).items()):
            for figure, cell in figures.items():
                by_figure.setdefault(figure, []).append(cell)
        for figure, cells in sorted(by_figure.items()):
            standard, own = (sum(cell[name] for cell in cells) / len(cells) for name in ("standard", "suite"))
            lost = sorted(cell["standard"] - cell["suite"] for cell in cells)
            sure = f"{sum(cell['low'] > 0 for cell in cells)} of {len(cells)}"
            made.append(
                (suite, figure, _percent(standard), _percent(own), _percent(standard - own), f"{_percent(lost[0])} to {_percent(lost[-1])}", sure)
            )
    return made


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".replace("-0.0", "0.0")


def harmless(found: Mapping[str, Any]) -> list[str]:
    """The suites that cost no kind of baseline anything that is sure: of none of its figures the interval lies above 0."""
    return [
        suite
        for suite, one in found.items()
        if one.get("units", 0) >= LEAST and one.get("loss") and all(cell["low"] <= 0 for figures in one["loss"].values() for cell in figures.values())
    ]
