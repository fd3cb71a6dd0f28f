"""Candidates for every place of a file at once, so that nothing but the context tells the right one: each stands among the wrong ones of the other
places as often as it is right, for how many places there are.

Where each answer has a set of candidates (and none may be left out because it is said all the time, as `draw` does), a set that is drawn by weight
without putting back would hold what is said often too seldom. Here every set is a systematic sample with unequal probabilities: a candidate is in it
with exactly its share, certainly where the share is 1 or more. What is barred in the sets of its own conversation has the more of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.draw import lots
from dialmill.pipelines.candidates.generic import kind_of
from dialmill.pipelines.candidates.keys import candidate_key, nearly_equal
from dialmill.pipelines.candidates.pool import WEIGHT, Pool
from numpy.typing import NDArray

#: A set is no more than one in so many of the candidates that there are: where sets hold nearly all, what a set lacks would tell its answer.
_SHARE = 2
#: What a candidate has more for being barred elsewhere, at most.
_MOST_BARRED = 0.9
#: Samples that are drawn until a set is full; what is too near the answer is left out of the next one.
_ROUNDS = 20


class ProportionalDraw:
    """Draws wrong candidates from a pool.

    Args:
        pool: what candidates are drawn from.
        count: candidates of a set, the answer included, at most.
        bits: the flags of candidates that may be drawn.
        barred: for every set the `key_hash` of what its conversation says, which is in none of its sets but as the answer.
    """

    def __init__(self, pool: Pool, count: int, bits: int, barred: Iterable[Sequence[int]]) -> None:
        self.pool = pool
        self.places = pool.likely(bits)
        self.count = min(count, max(2, len(self.places) // _SHARE))
        sets = 0
        barring: Counter[int] = Counter()
        for one in barred:
            sets += 1
            barring.update(one)
        keys = pool.key[self.places]
        share = np.array([barring[int(key)] for key in keys], dtype=np.float64) / max(sets, 1)
        #: The key of a candidate by its place: most stand in many sets.
        self._keys: dict[int, str] = {}
        self._weight = pool.weight(bits)[self.places] / WEIGHT / (1 - np.minimum(share, _MOST_BARRED))

    def distractors(self, rng: Rng, answer: str, forbidden: Sequence[int]) -> list[int]:
        """The places of wrong candidates, `count` - 1 or fewer where there are no more, in random order.

        None is the answer or nearly so, or forbidden, and of generic replies ("yes", "ok") there is one of a kind, the answer's included.

        Args:
            answer: the right one.
            forbidden: `key_hash` of all that the conversation says, the answer's too.
        """
        key = candidate_key(answer)
        kinds = {kind_of(key)} - {0}
        free = ~np.isin(self.pool.key[self.places], np.array(forbidden, dtype=np.uint64))
        found: list[int] = []
        for _ in range(_ROUNDS):
            at = self._sample(rng, np.flatnonzero(free), self.count - 1 - len(found))
            if not len(at):
                break
            free[at] = False
            for place in self.places[at].tolist():
                other = self._key(place)
                kind = kind_of(other)
                if kind not in kinds and not nearly_equal(key, other):
                    found.append(place)
                    kinds |= {kind} - {0}
        rng.shuffle(found)
        return found

    def _key(self, place: int) -> str:
        found = self._keys.get(place)
        if found is None:
            found = self._keys[place] = candidate_key(self.pool.text(place))
        return found

    def _sample(self, rng: Rng, at: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        """So many of these numbers of candidates, each with the probability that is its share of the weight; all where there are no more."""
        if wanted <= 0 or len(at) <= wanted:
            return at[:wanted] if wanted <= 0 else at
        certain = np.zeros(len(at), dtype=bool)
        while True:
            rest = wanted - int(certain.sum())
            share = np.where(certain, 0.0, self._weight[at])
            share *= rest / max(float(share.sum()), 1e-12)
            more = ~certain & (share >= 1)
            if not more.any():
                break
            certain |= more
        order = np.argsort(lots(rng, len(at)), kind="stable")
        bounds = np.cumsum(share[order])
        marks = rng.random() + np.arange(rest)
        # Where rounding leaves the last mark beyond the last bound, it takes what comes last.
        taken = np.minimum(np.searchsorted(bounds, marks, side="right"), len(at) - 1)
        found: NDArray[np.int64] = at[np.union1d(order[taken], np.flatnonzero(certain))]
        return found
