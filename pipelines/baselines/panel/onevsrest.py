"""Many yes-or-no decisions at once: an averaged perceptron with a margin for each class, in whole numbers.

Whole numbers add up to the same in any order and on any machine, and need no matrix library, whose threads fight over a busy machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dialmill.perturbers.core.rng import Rng
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Whole = NDArray[np.int64]

#: Bits that averaged weights keep behind the point.
_BITS = 4


def targets_of(classes: Sequence[Sequence[int]], number: int) -> NDArray[np.int8]:
    """A row for each example: 1 for its classes, -1 for all others."""
    found = np.full((len(classes), number), -1, dtype=np.int8)
    for row, mine in enumerate(classes):
        found[row, list(mine)] = 1
    return found


def learn_sparse(examples: Sequence[Ids], targets: NDArray[np.int8], features: int, epochs: int, margin: int) -> Whole:
    """Weights, features x classes, from examples that are sets of features.

    Args:
        examples: the distinct features of each example.
        targets: see `targets_of`.
        features: how many features there are.
        epochs: how often each example is seen.
        margin: how far on its side a score must be to leave the weights alone.
    """
    number = targets.shape[1]
    now = np.zeros((features, number), dtype=np.int32)
    late = np.zeros((features, number), dtype=np.int64)
    order = list(range(len(examples)))
    step = 1
    for epoch in range(epochs):
        Rng("one-vs-rest", epoch, len(order)).shuffle(order)
        for at in order:
            ids, wanted = examples[at], targets[at]
            scores = now[ids].sum(axis=0)
            (columns,) = np.nonzero(scores * wanted < margin)
            if len(columns):
                cells = np.ix_(ids, columns)
                now[cells] += wanted[columns]
                late[cells] += wanted[columns].astype(np.int64) * step
            step += 1
    return _average(now, late, step)


def _average(now: NDArray[Any], late: NDArray[Any], step: int) -> Whole:
    """The average of the weights over all steps, in units of 2**-4."""
    return ((now.astype(np.int64) * step - late.astype(np.int64)) << _BITS) // step
