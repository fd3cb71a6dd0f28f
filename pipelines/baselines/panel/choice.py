"""From the verdicts of several baselines to the hard set, and the measure of whether it is hard for one that had no say.

What is chosen among are units: a record, or one turn of it. Each kind of baseline has for each aspect of a unit (the update of the state, say) an
error from 0 on. Errors are z-scored for each kind and aspect, averaged over aspects and then over families of kinds; what units of the same length
have on average is taken off, shrunk to the mean of all where such units are few; the units with the highest rest are hard.

The check leaves each family out, chooses again without it, and measures it: on all units, on the hard ones, and on random subsets with as many units
of each length as the hard ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np
from dialmill.perturbers.core.rng import key_number
from numpy.typing import NDArray

#: Errors are whole numbers in units of one millionth.
ONE = 1_000_000
#: Random subsets that a check draws.
DRAWS = 400
#: A unit of more user turns than this counts as one of so many.
_MOST_TURNS = 8
#: Units that are added to each length with the mean of all.
_PSEUDO = 4

Numbers = NDArray[np.float64]
#: The weights of aspects that all count once.
EQUAL: Mapping[str, int] = MappingProxyType({})


class Unit(msgspec.Struct, array_like=True, frozen=True):
    """Something that may be hard.

    Args:
        id: its name; equal scores are ordered by a hash of it.
        stratum: the share of hard ones is taken of each stratum.
        turns: its user turns.
        length: the step of its mean length in characters.
        errors: kind -> aspect -> error.
        sums: kind -> what `Measure` needs, to be summed up over units.
    """

    id: str
    stratum: str
    turns: int
    length: int
    errors: dict[str, dict[str, int]]
    sums: dict[str, dict[str, int]]


#: Sums over units -> figures by name, 0 to 1, more is better.
Measure = Callable[[Mapping[str, int]], Mapping[str, float]]


class Checked(NamedTuple):
    """A figure of a kind that had no say: on all units, on the hard ones, and the bounds and mean of 95 % of the draws."""

    kind: str
    figure: str
    test: float
    hard: float
    low: float
    mean: float
    high: float

    @property
    def below(self) -> bool:
        """Whether the hard units are harder than chance and length make them."""
        return self.hard < self.low


def length_step(texts: Sequence[str], language: str) -> int:
    """The step of the mean length of some utterances: 25 characters of English, 10 of Chinese."""
    return sum(map(len, texts)) // max(len(texts), 1) // (10 if language == "zh" else 25)


def cells_of(units: Sequence[Unit]) -> list[tuple[str, int, int]]:
    """What a unit is compared with others by: stratum, user turns, length."""
    return [(unit.stratum, min(unit.turns, _MOST_TURNS), unit.length) for unit in units]


def scores(units: Sequence[Unit], families: Mapping[str, str], without: str | None = None, weights: Mapping[str, int] = EQUAL) -> Numbers:
    """How hard each unit is, beyond what its length lets one expect; in standard deviations.

    Args:
        units: in an order that depends on nothing but themselves.
        families: kind -> family; families count alike, whatever their number of kinds.
        without: a family that has no say.
        weights: aspect -> how often it counts, once where it isn't named.
    """
    kinds = sorted(kind for kind, family in families.items() if family != without)
    total, having = np.zeros(len(units)), np.zeros(len(units))
    for family in sorted({families[kind] for kind in kinds}):
        part, said = np.zeros(len(units)), np.zeros(len(units))
        for kind in (one for one in kinds if families[one] == family):
            mine, there = _kind_score(units, kind, weights)
            part += mine
            said += there
        total += np.divide(part, said, out=np.zeros(len(units)), where=said > 0)
        having += said > 0
    mean = np.divide(total, having, out=np.zeros(len(units)), where=having > 0)
    cells = cells_of(units)
    numbers: dict[tuple[str, int, int], list[int]] = {}
    for at, cell in enumerate(cells):
        numbers.setdefault(cell, []).append(at)
    strata: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        strata.setdefault(unit.stratum, []).append(at)
    overall = {stratum: _mean(mean, places) for stratum, places in strata.items()}
    expected = np.zeros(len(units))
    for cell, places in numbers.items():
        expected[places] = (_sum(mean, places) + _PSEUDO * overall[cell[0]]) / (len(places) + _PSEUDO)
    # Rounded, so that no order of additions decides between two units.
    return np.where(having > 0, np.round(mean - expected, 9), -np.inf)


def _kind_score(units: Sequence[Unit], kind: str, weights: Mapping[str, int]) -> tuple[Numbers, NDArray[np.bool_]]:
    """The z-scored errors of a kind, averaged over aspects by their weights, and which units it says anything of."""
    aspects = sorted({aspect for unit in units for aspect in unit.errors.get(kind, ())})
    total, having = np.zeros(len(units)), np.zeros(len(units))
    for aspect in aspects:
        places = [at for at, unit in enumerate(units) if aspect in unit.errors.get(kind, ())]
        errors = np.array([units[at].errors[kind][aspect] for at in places], dtype=np.int64)
        # Whole numbers up to the last step: the same on every machine.
        number, one = len(errors), int(errors.sum())
        spread = sum(int(error) * int(error) for error in errors.tolist()) * number - one * one
        if spread > 0:
            total[places] += weights.get(aspect, 1) * (errors * number - one) / float(np.sqrt(float(spread)))
        having[places] += weights.get(aspect, 1)
    return np.divide(total, having, out=np.zeros(len(units)), where=having > 0), having > 0


def _sum(values: Numbers, places: Sequence[int]) -> float:
    return float(sum(values[places].tolist()))


def _mean(values: Numbers, places: Sequence[int]) -> float:
    return _sum(values, places) / max(len(places), 1)


def hardest(units: Sequence[Unit], found: Numbers, share: float) -> list[int]:
    """The places of the hard units: in each stratum the given share with the highest scores; none that no kind says anything of."""
    strata: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        if found[at] > -np.inf:
            strata.setdefault(unit.stratum, []).append(at)
    chosen: list[int] = []
    for _, places in sorted(strata.items()):
        order = sorted(places, key=lambda at: (-found[at], key_number("hard", units[at].id), units[at].id))
        chosen += order[: int(share * len(places) + 0.5)]
    return sorted(chosen)


def check(units: Sequence[Unit], families: Mapping[str, str], share: float, measure: Measure, weights: Mapping[str, int] = EQUAL) -> list[Checked]:
    """Whether the hard set is hard for a kind that had no say in it, for every kind."""
    if not units or len(set(families.values())) < 2:
        return []
    cells = cells_of(units)
    names = {cell: number for number, cell in enumerate(sorted(set(cells)))}
    cell = np.array([names[one] for one in cells], dtype=np.int64)
    draws = _Draws(units, cell)
    found: list[Checked] = []
    for family in sorted(set(families.values())):
        hard = np.array(hardest(units, scores(units, families, family, weights), share), dtype=np.int64)
        if not len(hard):
            continue
        quota = np.bincount(cell[hard], minlength=len(names))
        masks = draws.subsets(quota)
        for kind in sorted(one for one in families if families[one] == family):
            fields = sorted({name for unit in units for name in unit.sums.get(kind, ())})
            if fields:
                table = np.array([[unit.sums.get(kind, {}).get(name, 0) for name in fields] for unit in units], dtype=np.int64)
                found += _compared(kind, fields, table, hard, masks, measure)
    return found


def _compared(
    kind: str, fields: Sequence[str], table: NDArray[np.int64], hard: NDArray[np.int64], masks: NDArray[np.bool_], measure: Measure
) -> Iterable[Checked]:
    """The figures of one kind."""

    def figures(rows: NDArray[np.int64]) -> Mapping[str, float]:
        return measure(dict(zip(fields, rows.tolist(), strict=True)))

    test, mine = figures(table.sum(axis=0)), figures(table[hard].sum(axis=0))
    drawn = [figures(table[mask].sum(axis=0)) for mask in masks]
    for name in sorted(test.keys() & mine.keys()):
        # A subset without a turn of the kind that is counted has no such figure.
        values = sorted(one[name] for one in drawn if name in one)
        if 2 * len(values) < len(drawn):
            continue
        low, high = values[int(0.025 * len(values))], values[int(0.975 * len(values)) - 1]
        yield Checked(kind, name, test[name], mine[name], low, sum(values) / len(values), high)


class _Draws:
    """Random subsets of some units with a given number from each cell; the numbers behind them are the same whatever is asked for."""

    def __init__(self, units: Sequence[Unit], cell: NDArray[np.int64]) -> None:
        names = "\n".join(sorted(unit.id for unit in units))
        # Raw numbers of PCG64, whose stream NumPy promises to keep.
        raw = np.random.PCG64(key_number("draws", names)).random_raw(DRAWS * len(units)).reshape(DRAWS, len(units))
        self.cell = cell
        self._order = np.lexsort((raw, np.broadcast_to(cell, raw.shape)), axis=1)

    def subsets(self, quota: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask over the units for each draw."""
        ordered = np.sort(self.cell)
        starts = np.searchsorted(ordered, np.arange(len(quota)))
        taken = np.arange(len(ordered)) - starts[ordered] < quota[ordered]
        masks = np.zeros(self._order.shape, dtype=bool)
        np.put_along_axis(masks, self._order, np.broadcast_to(taken, masks.shape), axis=1)
        return masks
