"""What metrics are computed from: one row a turn or example, whose columns are summed.

Every metric of every benchmark here is a function of column sums (a ratio of counts, an F-measure, BLEU from its n-gram counts), so that a subset, a
stratum and a bootstrap sample are all one thing: other weights on the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: Column or metric -> numbers of any one shape.
Sums = Mapping[str, Floats]


class Key(NamedTuple):
    """Which row this is. Rows of two suites with the same source and place are a pair; rows of one source are drawn together."""

    source: str
    variant: int
    place: str


@dataclass(frozen=True)
class Units:
    """The rows of one suite.

    Args:
        keys: one a row.
        columns: name -> one number a row, all of one length.
        right: for each row whether the system is right as a whole (what consistency counts); None where the benchmark has no such thing.
        strata: kind of stratum ("domain") -> the label of each row ("" for none).
    """

    keys: Sequence[Key]
    columns: Mapping[str, Floats]
    right: NDArray[np.bool_] | None = None
    strata: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def sums(self) -> dict[str, Floats]:
        """The columns summed over all rows."""
        return {name: np.asarray(column.sum()) for name, column in self.columns.items()}

    def by_source(self, sources: Mapping[str, int], rows: NDArray[np.intp] | None = None) -> Floats:
        """(sources, columns): the columns summed over the rows of each source; rows of other sources are left out.

        Args:
            sources: source -> its number.
            rows: the rows to take, all if None. A row may come twice.
        """
        numbers = np.fromiter((sources.get(key.source, -1) for key in self.keys), np.intp, len(self.keys))
        table = np.column_stack(list(self.columns.values())) if self.columns else np.zeros((len(self.keys), 0))
        if rows is not None:
            numbers, table = numbers[rows], table[rows]
        kept = numbers >= 0
        made = np.zeros((len(sources), table.shape[1]))
        np.add.at(made, numbers[kept], table[kept])
        return made


def ratio(part: ArrayLike, whole: ArrayLike, empty: float = 0.0) -> Floats:
    """`part / whole`, and `empty` where `whole` is 0."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    there = whole != 0
    return np.where(there, part / np.where(there, whole, 1.0), empty)


def f_measure(precision: ArrayLike, recall: ArrayLike) -> Floats:
    """The harmonic mean of the two, 0 where both are 0."""
    precision, recall = np.asarray(precision, float), np.asarray(recall, float)
    return ratio(2 * precision * recall, precision + recall)


def columns_of(rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Rows of named numbers as columns; a name that a row lacks is 0 there."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: np.fromiter((row.get(name, 0.0) for row in rows), float, len(rows)) for name in names}
