"""Paired bootstrap: how sure a difference between two suites is (Efron and Tibshirani 1993; Berg-Kirkpatrick et al. 2012).

Dialogues are drawn, not turns: the turns of a dialogue depend on each other. Both suites get the same draw, so that what makes a dialogue
difficult in itself cancels out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core.units import Floats
from numpy.typing import NDArray

#: Decimals of what goes into score files: sums of floats differ in the last bits between machines.
DIGITS = 10


def draws(seed: int, sources: int, samples: int, *key: object) -> NDArray[np.float64]:
    """(samples, sources): how often each source is drawn in each sample. The same for the same seed and key, on every machine.

    Raw 64-bit numbers of PCG64 are used, which numpy keeps the same from version to version (its distributions it doesn't).
    """
    made = np.zeros((samples, sources))
    if sources:
        raw = np.random.PCG64(key_number(seed, "bootstrap@1", *key)).random_raw(samples * sources)
        # The upper half times n, shifted: a whole number below n without a division.
        drawn = ((raw >> np.uint64(32)) * np.uint64(sources)) >> np.uint64(32)
        rows = np.repeat(np.arange(samples, dtype=np.uint64), sources)
        made = np.bincount(rows * np.uint64(sources) + drawn, minlength=samples * sources).reshape(samples, sources).astype(float)
    return made


class Interval(NamedTuple):
    """The middle part of a bootstrap distribution."""

    low: float
    high: float


def interval(values: Floats, confidence: float) -> Interval:
    """The percentile interval of `values` (one a sample)."""
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return Interval(round(float(low), DIGITS), round(float(high), DIGITS))
