"""Counts in bins of one width, in bounded memory whatever comes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Histogram:
    """Counts of values from 0 on, in bins of `width`; what lies above the last of `bins` bins counts in it."""

    width: float
    bins: int
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, value: float, number: int = 1) -> None:
        """Counts a value, which must be finite; one below 0 counts in the first bin."""
        # A ratio that ends on a bin's edge lies in the bin that begins there, whatever the floats say.
        place = min(max(int(value / self.width + 1e-9), 0), self.bins - 1)
        self.counts[place] = self.counts.get(place, 0) + number

    @property
    def total(self) -> int:
        """How many values were counted."""
        return sum(self.counts.values())

    def shares(self) -> Iterator[tuple[float, float, int]]:
        """(lower edge, share of all, count) of every bin up to the last that holds anything."""
        total = self.total
        for place in range(max(self.counts, default=-1) + 1):
            number = self.counts.get(place, 0)
            yield round(place * self.width, 6), number / total, number

    def quantile(self, share: float) -> float:
        """The value below which `share` of the values lie, to a bin's width, linear inside the bin; 0 of an empty histogram."""
        wanted, reached = share * self.total, 0
        for place in sorted(self.counts):
            number = self.counts[place]
            if reached + number >= wanted:
                return round((place + (wanted - reached) / number) * self.width, 4)
            reached += number
        return 0.0
