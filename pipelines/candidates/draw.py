"""The candidates of one example: its answers, and distractors that are wrong for sure.

No distractor is empty, the same as another one, said in the example's own conversation (in any wording), or equal or nearly equal to an
answer (cases B06 and B09). Where the pool can't supply as many as wanted, there are fewer, which is counted: none is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.keys import NEAR, SHORT, candidate_key, nearly_equal, token_hashes
from dialmill.pipelines.candidates.pool import EXTRA, SPLIT_BITS, Pool
from numpy.typing import NDArray

#: Similar distractors: a candidate that shares more of an answer's words may be right as well.
_DOUBTFUL = 0.5
#: Neighbours looked at, as a multiple of what is wanted.
_LOOKED_AT = 4


class Draw:
    """Draws distractors from a pool.

    Args:
        count: candidates of an example, answers included.
        similar: take the neighbours of context and answer (BM25) before random ones.
        own_split: take candidates of the example's split alone, where it has enough of them.
    """

    def __init__(self, pool: Pool, count: int, similar: bool, own_split: bool) -> None:
        self.pool, self.count, self.similar, self.own_split = pool, count, similar, own_split

    def reach(self, split: str) -> int:
        """The flags of the candidates that examples of a split may have."""
        every = sum(SPLIT_BITS.values()) | EXTRA
        if not self.own_split:
            return every
        own = SPLIT_BITS[split]
        # A pool hardly larger than the wanted number would give all examples of the split the same candidates.
        return own if len(self.pool.members(own)) >= 2 * self.count else every

    def distractors(self, rng: Rng, split: str, wanted: int, answers: Sequence[str], forbidden: Sequence[int], context: str = "") -> list[int]:
        """The places of distractors in random order, `wanted` of them or fewer.

        Args:
            answers: the texts that are right, given or not.
            forbidden: `key_hash` of everything said in the conversation, in ascending order.
            context: the last words before the answer, for similar ones.
        """
        keys = [candidate_key(answer) for answer in answers]
        hashed = [token_hashes(key) for key in keys]
        numbers = [self.pool.numbers(one) for one in hashed]
        asked = [(key, known, len(one) - len(known)) for key, known, one in zip(keys, numbers, hashed, strict=True)]
        barred = np.array(forbidden, dtype=np.uint64)
        taken: dict[int, None] = {}
        if self.similar:
            query = np.unique(np.concatenate([*numbers, self.pool.numbers(token_hashes(candidate_key(context)))]))
            near = self.pool.similar(query, _LOOKED_AT * wanted)
            flags = self.pool.columns["flags"][near] & self.reach(split)
            self._take(near[flags > 0], taken, wanted, asked, barred, _DOUBTFUL)
        for places in self._random(rng, split, wanted):
            if len(taken) >= wanted:
                break
            self._take(places, taken, wanted, asked, barred, NEAR)
        found = list(taken)
        if self.similar:
            rng.shuffle(found)
        return found

    def _random(self, rng: Rng, split: str, wanted: int) -> Iterator[NDArray[np.int64]]:
        """Places in random order, a batch at a time; each place once."""
        members = self.pool.members(self.reach(split))
        if len(members) <= 8 * wanted:
            order = list(range(len(members)))
            rng.shuffle(order)
            yield members[np.array(order, dtype=np.int64)].astype(np.int64)
            return
        seen: set[int] = set()
        while len(seen) < len(members) // 2:
            batch = [place for place in (rng.below(len(members)) for _ in range(wanted + 8)) if not (place in seen or seen.add(place))]  # type: ignore[func-returns-value]
            yield members[np.array(batch, dtype=np.int64)].astype(np.int64)

    def _take(
        self,
        places: NDArray[np.int64],
        taken: dict[int, None],
        wanted: int,
        asked: Sequence[tuple[str, NDArray[np.int64], int]],
        barred: NDArray[np.uint64],
        limit: float,
    ) -> None:
        """Adds the places that may be distractors, until there are as many as wanted."""
        good = ~np.isin(self.pool.key[places], barred)
        for key, query, unknown in asked:
            # Few are so alike, or so short, that a closer look is due.
            alike = self.pool.overlaps(places, query, unknown) >= limit
            if len(key) <= SHORT:
                alike |= abs(self.pool.length[places].astype(np.int64) - len(key)) <= 2
            for at in np.flatnonzero(good & alike):
                good[at] = not nearly_equal(key, candidate_key(self.pool.text(int(places[at]))), limit)
        for place in places[good].tolist():
            if len(taken) >= wanted:
                return
            taken[place] = None
