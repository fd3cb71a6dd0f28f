"""The candidates of one example: its answers, and distractors that are wrong for sure.

No distractor is empty, the same as another one, said in the example's own conversation (in any wording) or shown in its context, equal or nearly
equal to an answer, or another generic reply of one kind. Where the pool can't supply as many as wanted, there are fewer, and the counters say so:
none is repeated.

Distractors are drawn as answers come about: by how often they stand where an answer can, so that neither frequency nor length nor wording tells an
answer among them. That holds but for what can stand only once in a set: of a reply that is said all the time, every set would have one, and it would
be the answer more often than another. So of examples with such answers only a share is kept (`keep_share`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import NamedTuple

import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.generic import kind_of
from dialmill.pipelines.candidates.keys import NEAR, SHORT, candidate_key, key_hash, nearly_equal, token_hashes
from dialmill.pipelines.candidates.pool import EVERY, SPLIT_BITS, Pool
from dialmill.pipelines.candidates.rank import Rankers
from numpy.typing import NDArray

#: Similar distractors: a candidate that shares more of an answer's words may be right as well.
_DOUBTFUL = 0.5
#: The share of similar distractors that are neighbours of the context; the others are drawn like random ones, so that the answer, which may lie near
#: the context or far from it, is told by neither.
_NEAR_SHARE = 0.5
#: Neighbours looked at, as a multiple of what is wanted, and turns of the context that they are neighbours of.
_LOOKED_AT, _LAST = 10, 3
#: A similar distractor stands in no more than this multiple of its share of the sets: without a bound, some are neighbours of everything, and a
#: ranker by how seldom a candidate stands in the sets finds the answers.
_SLACK = 1.1
#: A similar distractor among so many of the best by two rankers, and above the answer by both, may be right as well.
_BEST = 3
#: Batches that are drawn by weight before what is left is taken in order.
_ROUNDS = 20


class Drawn(NamedTuple):
    """Places of distractors, in random order, and of those that were left out because they may be right as well."""

    places: list[int]
    also_right: list[int]


class Draw:
    """Draws distractors from a pool.

    Args:
        count: candidates of an example, answers included.
        similar: take neighbours of the context (BM25), as far as each has its share.
        own_split: take candidates of the example's split alone, where it has enough of them.
    """

    def __init__(self, pool: Pool, count: int, similar: bool, own_split: bool) -> None:
        self.pool, self.count, self.similar, self.own_split = pool, count, similar, own_split
        self._reach: dict[str, int] = {}
        self._weights: dict[int, NDArray[np.float64]] = {}
        self._cumulative: dict[int, NDArray[np.float64]] = {}
        self._shares: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        self._themes: dict[int, dict[int, NDArray[np.int64]]] = {}
        self._held: Counter[int] = Counter()
        self._expected = 0

    def expect(self, answers: Iterable[str]) -> None:
        """Counts the answers of all examples that will be drawn for: a candidate that is an answer stands in as many sets as one that isn't."""
        found = [self.pool.find(_number(answer)) for answer in answers]
        self._expected += len(found)
        self._held.update(at for at in found if at is not None)

    def reach(self, split: str) -> int:
        """The flags of the candidates that examples of a split may have."""
        if split not in self._reach:
            own = SPLIT_BITS[split]
            # A pool hardly larger than the wanted number would give all examples of the split the same candidates.
            enough = self.own_split and len(np.unique(self.pool.identity(self.pool.likely(own)))) >= 2 * self.count
            self._reach[split] = own if enough else EVERY
        return self._reach[split]

    def keep_share(self, split: str, answer: str) -> float:
        """The share of examples with this answer to keep, in (0, 1], so that it is the answer in no larger share of the sets that hold it than any
        other candidate is."""
        at = self.pool.find(_number(answer))
        if at is None:
            return 1.0
        bits = self.reach(split)
        if bits not in self._shares:
            self._shares[bits] = self._kept(self.pool.likely(bits), bits)
        known, shares = self._shares[bits]
        mine = int(self.pool.identity(np.array([at]))[0])
        place = int(np.searchsorted(known, mine))
        return float(shares[place]) if place < len(known) and known[place] == mine else 1.0

    def _kept(self, places: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(identities, ascending, and the share of each to keep)."""
        known, inverse = np.unique(self.pool.identity(places), return_inverse=True)
        said = np.bincount(inverse, self._weight(bits)[places], minlength=len(known))
        share = said / max(said.sum(), 1.0)
        if len(known) <= self.count:
            return known, share.min(initial=1.0) / np.maximum(share, 1e-12)
        # Drawn one after another until `count` differ: the number of draws that this takes, by bisection.
        low, high = float(self.count), float(self.count)
        while (1 - (1 - share) ** high).sum() < self.count and high < 1e12:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if (1 - (1 - share) ** middle).sum() < self.count else (low, middle)
        held = (1 - (1 - share) ** high) / np.maximum(share, 1e-12)
        return known, held / held.max(initial=1e-12)

    def distractors(self, rng: Rng, split: str, wanted: int, answers: Sequence[str], forbidden: Sequence[int], context: Sequence[str] = ()) -> Drawn:
        """Distractors, `wanted` of them or fewer.

        Args:
            answers: the texts that are right, given or not.
            forbidden: `key_hash` of everything said in the conversation or shown, in ascending order.
            context: what was said before the answer, for similar ones.
        """
        keys = [candidate_key(answer) for answer in answers]
        hashed = [token_hashes(key) for key in keys]
        numbers = [self.pool.numbers(one) for one in hashed]
        asked = [(key, known, len(one) - len(known)) for key, known, one in zip(keys, numbers, hashed, strict=True)]
        barred = np.array(forbidden, dtype=np.uint64)
        places = [at for at in (self.pool.find(_number(answer)) for answer in answers) if at is not None]
        first = places[0] if places else None
        spare = _BEST if self.similar else 0
        limit = _DOUBTFUL if self.similar else NEAR
        # An answer that is a generic reply stands for its kind.
        taken = dict.fromkeys((-kind for kind in map(kind_of, keys) if kind), -1)
        full = len(taken) + wanted + spare
        bits = self.reach(split)
        if self.similar:
            self._take(self._neighbours(context, bits, wanted), taken, len(taken) + round(_NEAR_SHARE * wanted) + spare, asked, barred, limit)
        for batch in self._batches(rng, bits, wanted + spare, first):
            if len(taken) >= full:
                break
            self._take(batch, taken, full, asked, barred, limit)
        found = [place for place in taken.values() if place >= 0]
        doubtful = self._doubtful(found, answers[0], context) if self.similar and answers and context else []
        left = [place for place in found if place not in doubtful][:wanted]
        self._held.update(left)
        rng.shuffle(left)
        return Drawn(left, doubtful)

    def _neighbours(self, context: Sequence[str], bits: int, wanted: int) -> NDArray[np.int64]:
        """The candidates most like the context, best first, that don't stand in their share of the sets yet."""
        said = [self.pool.numbers(token_hashes(candidate_key(text))) for text in context[-_LAST:]]
        if not said:
            return np.zeros(0, np.int64)
        near = self.pool.similar(np.unique(np.concatenate(said)), _LOOKED_AT * wanted)
        weight = self._weight(bits)
        near = near[weight[near] > 0]
        allowed = _SLACK * self.count * self._expected * weight[near] / max(weight.sum(), 1.0)
        held = np.array([self._held[place] for place in near.tolist()], dtype=np.float64)
        found: NDArray[np.int64] = near[held < allowed]
        return found

    def _doubtful(self, places: Sequence[int], answer: str, context: Sequence[str]) -> list[int]:
        """Distractors that two rankers of different kind put above the answer, and among the best."""
        texts = [answer, *(self.pool.text(place) for place in places)]
        ranks = Rankers(self.pool).scores(context, texts)
        suspects = set(range(1, len(texts)))
        for scores in ranks:
            best = sorted(range(1, len(texts)), key=lambda at: -scores[at])[:_BEST]
            suspects &= {at for at in best if scores[at] > scores[0]}
        return [places[at - 1] for at in sorted(suspects)]

    def _batches(self, rng: Rng, bits: int, wanted: int, answer: int | None) -> Iterator[NDArray[np.int64]]:
        """Places, a batch at a time: of the answer's topic first, then by how often they could be an answer, then the rest."""
        likely, weight = self.pool.likely(bits), self._weight(bits)
        if answer is not None and self.pool.topic[answer]:
            yield from self._about(rng, bits, int(self.pool.topic[answer]))
        if bits not in self._cumulative:
            self._cumulative[bits] = np.cumsum(weight[likely])
        yield from self._said(rng, likely, self._cumulative[bits], wanted)
        yield _in_order(rng, likely, weight[likely])
        rest = np.setdiff1d(self.pool.members(bits).astype(np.int64), likely)
        yield _in_order(rng, rest, np.ones(len(rest)))

    def _said(self, rng: Rng, places: NDArray[np.int64], cumulative: NDArray[np.float64], wanted: int) -> Iterator[NDArray[np.int64]]:
        """Places by how often they could be an answer, a batch at a time. Of two that are drawn the one is taken that stands in fewer sets for how
        often it is said, so that none stands in many more than its share."""
        if not len(places):
            return
        weight = np.diff(cumulative, prepend=0.0)
        seen: set[int] = set()
        for _ in range(_ROUNDS):
            drawn = np.searchsorted(cumulative, np.array([rng.random() * cumulative[-1] for _ in range(2 * wanted + 8)]), side="right").tolist()
            batch = []
            for one, other in zip(drawn[::2], drawn[1::2], strict=True):
                mine, theirs = (self._held[int(places[at])] / weight[at] for at in (one, other))
                taken = one if mine <= theirs else other
                if taken not in seen:
                    seen.add(taken)
                    batch.append(taken)
            yield places[np.array(batch, dtype=np.int64)]

    def _about(self, rng: Rng, bits: int, topic: int) -> Iterator[NDArray[np.int64]]:
        """Places of the same topic and act, then of the same topic, then of the same act."""
        if bits not in self._themes:
            likely = self.pool.likely(bits)
            held = self.pool.topic[likely].astype(np.int64)
            groups: dict[int, NDArray[np.int64]] = {}
            for shift, names in ((0, held), (1, held >> 8), (2, held & 255)):
                for name in np.unique(names).tolist():
                    groups[name * 3 + shift] = likely[names == name]
            self._themes[bits] = groups
        weight = self._weight(bits)
        for name in (topic * 3, (topic >> 8) * 3 + 1, (topic & 255) * 3 + 2):
            places = self._themes[bits].get(name)
            if places is not None:
                yield _in_order(rng, places, weight[places])

    def _weight(self, bits: int) -> NDArray[np.float64]:
        if bits not in self._weights:
            self._weights[bits] = self.pool.weight(bits)
        return self._weights[bits]

    def _take(
        self,
        places: NDArray[np.int64],
        taken: dict[int, int],
        full: int,
        asked: Sequence[tuple[str, NDArray[np.int64], int]],
        barred: NDArray[np.uint64],
        limit: float,
    ) -> None:
        """Adds the places that may be distractors by their identity, until there are as many as wanted."""
        good = ~np.isin(self.pool.key[places], barred)
        for key, query, unknown in asked:
            # Few are so alike, or so short, that a closer look is due.
            alike = self.pool.overlaps(places, query, unknown) >= limit
            if len(key) <= SHORT:
                alike |= abs(self.pool.length[places].astype(np.int64) - len(key)) <= 2
            for at in np.flatnonzero(good & alike):
                good[at] = not nearly_equal(key, candidate_key(self.pool.text(int(places[at]))), limit)
        mine = places[good]
        for place, identity in zip(mine.tolist(), self.pool.identity(mine).tolist(), strict=True):
            if len(taken) >= full:
                return
            taken.setdefault(identity, place)


def _number(text: str) -> int:
    return key_hash(candidate_key(text))


def _in_order(rng: Rng, places: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """All places in the order of drawing them by weight without putting back (Efraimidis and Spirakis, 2006)."""
    keys = [-log(1.0 - rng.random()) / max(one, 1e-9) for one in weight.tolist()]
    return places[np.argsort(np.array(keys), kind="stable")] if len(places) else places
