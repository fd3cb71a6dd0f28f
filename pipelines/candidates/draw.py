"""The candidates of one example: its answers, and distractors that are wrong for sure.

No distractor is empty, the same as another one, said in the example's own conversation (in any wording) or shown in its context, equal or nearly
equal to an answer, or another generic reply of one kind. Where the pool can't supply as many as wanted, there are fewer, and the counters say so:
none is repeated.

Distractors are drawn as answers come about: by how often they stand where an answer can, so that neither frequency nor length nor wording tells an
answer among them. What is said all the time would stand in most of the sets. So each candidate has its share of the sets, `most` of them at most
(a generic reply shares it with its kind), or what an even use of too small a pool comes to; and of the examples whose answer is said more often than
that only as many are kept (`keep_share`) as leave it the answer as often as any other candidate of a set. Every shard of a file keeps to the share by
itself, so that the file does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.generic import KINDS, kind_of
from dialmill.pipelines.candidates.keys import NEAR, SHORT, candidate_key, key_hash, nearly_equal, token_hashes
from dialmill.pipelines.candidates.pool import EVERY, SPLIT_BITS, WEIGHT, Pool
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
#: What a candidate of a pool that is too small for the wanted share may have of the sets, as a multiple of what an even use comes to: the candidates
#: of an example are not free, so some room is needed.
_ROOM = 1.25
#: A similar distractor among so many of the best by two rankers, and above the answer by both, may be right as well.
_BEST = 3
#: Batches that are drawn by weight before what is left is taken in order.
_ROUNDS = 20
#: Where more of a file's answers than this share are not said in its split, candidates come from all splits.
_FOREIGN = 0.05
#: Candidates of a pool at most of which each place's barred ones are kept: a byte for each.
_LOOKED_UP = 20_000
#: Places that are looked at together.
_CHUNK = 2_000


class Drawn(NamedTuple):
    """Places of distractors, in random order, and of those that were left out because they may be right as well."""

    places: list[int]
    also_right: list[int]


class _Asked(NamedTuple):
    """What a distractor is held against: the answers (key, known words, number of unknown words), what is barred, how alike is too alike."""

    answers: list[tuple[str, NDArray[np.int64], int]]
    barred: NDArray[np.uint64]
    limit: float


class _Shares(NamedTuple):
    """How the candidates of some splits are drawn: their places, the weight of each, the sums of these, and by slot the share of examples to keep."""

    places: NDArray[np.int64]
    weight: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    keep: NDArray[np.float64]


class Draw:
    """Draws distractors from a pool. What is the same for a set (see `Pool.identity`) has a slot: candidates by their places, kinds behind them.

    Args:
        count: candidates of an example, answers included.
        similar: take neighbours of the context (BM25), as far as each has its share.
        own_split: take candidates of the example's split alone, where it has enough of them.
        most: the largest share of the sets in which a candidate, or a kind of generic replies, may stand, in (0, 1].
    """

    def __init__(self, pool: Pool, count: int, similar: bool, own_split: bool, most: float = 1.0) -> None:
        self.pool, self.count, self.similar, self.own_split, self.most = pool, count, similar, own_split, most
        #: Sets that went beyond a candidate's share for want of others.
        self.beyond = 0
        self._reach: dict[str, int] = {}
        self._shares: dict[int, _Shares] = {}
        self._counted: dict[int, int] = {}
        self._by_theme: dict[int, dict[int, NDArray[np.int64]]] = {}
        self._kin: dict[tuple[int, int], list[NDArray[np.int64]]] = {}
        self._open: dict[tuple[object, ...], NDArray[np.bool_]] = {}
        kind = pool.kind.astype(np.int64)
        self._slots = np.where(kind > 0, len(pool) + kind, np.arange(len(pool)))
        #: Whether conversations are cut at the same places many times over: then what a place bars is looked up.
        self._repeats = bool(pool.act.any()) and len(pool) <= _LOOKED_UP
        self._held = np.zeros(len(pool) + KINDS + 1, dtype=np.int64)
        self._expected = 0
        self._quota = np.iinfo(np.int64).max

    def expect(self, split: str, answers: Iterable[str], sets: int | None = None) -> None:
        """Counts the answers of all examples of a shard that will be drawn for: what is an answer stands in as many sets as what isn't.

        Args:
            sets: how many sets there will be, those without an answer too; by default one for each answer.
        """
        found = [slot for slot in map(self._slot, answers) if slot is not None]
        np.add.at(self._held, np.array(found, dtype=np.int64), 1)
        self._expected += len(found) if sets is None else sets
        if found and self.own_split:
            own = self.pool.members(SPLIT_BITS[split])
            foreign = sum(slot < len(self.pool) and not self._is_among(own, slot) for slot in found)
            if foreign > _FOREIGN * len(found):
                # A test set that is cut from training conversations as well: their answers would stand in one set each, and no other.
                self._reach[split] = EVERY
        bits = self.reach(split)
        fair = self._expected * self.fair_share(bits)
        self._quota = max(int(self._expected * self.most + 1e-9), int(np.ceil(fair - 1e-9)) if fair > self._expected * self.most else 1)

    @staticmethod
    def _is_among(places: NDArray[np.uint32], place: int) -> bool:
        at = int(np.searchsorted(places, place))
        return at < len(places) and int(places[at]) == place

    def fair_share(self, bits: int) -> float:
        """The share of the sets that a candidate with these flags has at most where all are used alike, with some room."""
        return min(1.0, _ROOM * self.count / max(self.candidates(bits), 1))

    def candidates(self, bits: int) -> int:
        """How many different candidates with these flags could be an answer, a kind of generic replies counted once."""
        if bits not in self._counted:
            self._counted[bits] = len(np.unique(self._slots[self.pool.likely(bits)]))
        return self._counted[bits]

    @property
    def most_held(self) -> int:
        """The sets that hold the candidate, or kind, of the most sets so far, expected answers included."""
        return int(self._held.max(initial=0))

    def reach(self, split: str) -> int:
        """The flags of the candidates that examples of a split may have."""
        if split not in self._reach:
            own = SPLIT_BITS[split]
            # A pool hardly larger than the wanted number would give all examples of the split the same candidates.
            enough = self.own_split and self.candidates(own) >= 2 * self.count
            self._reach[split] = own if enough else EVERY
        return self._reach[split]

    def keep_share(self, split: str, answer: str) -> float:
        """The share of examples with this answer to keep, in (0, 1], so that it is the answer in no larger share of the sets that hold it than a
        candidate that was said once is."""
        slot = self._slot(answer)
        return 1.0 if slot is None else float(self._drawn_by(self.reach(split)).keep[slot])

    def _drawn_by(self, bits: int) -> _Shares:
        if bits not in self._shares:
            places = self.pool.likely(bits)
            weight = self.pool.weight(bits)[places]
            slots = self._slots[places]
            said = np.bincount(slots, weight, minlength=len(self._held))
            most = max(self.most, self.fair_share(bits)) / self.count
            level = _level(said[said > 0], most)
            held = np.minimum(said, level) / np.where(said > 0, said, 1.0)
            keep = np.where(said > 0, np.minimum(held / min(1.0, level / WEIGHT), 1.0), 1.0) if level else np.ones(len(said))
            drawn = weight * held[slots]
            self._shares[bits] = _Shares(places, drawn, np.cumsum(drawn), keep)
        return self._shares[bits]

    def distractors(
        self,
        rng: Rng,
        split: str,
        wanted: int,
        answers: Sequence[str],
        forbidden: Sequence[int],
        context: Sequence[str] = (),
    ) -> Drawn:
        """Distractors, `wanted` of them or fewer.

        Args:
            answers: the texts that are right, given or not.
            forbidden: `key_hash` of everything said in the conversation or shown, in ascending order.
            context: what was said before the answer, for similar ones.
        """
        keys = [candidate_key(answer) for answer in answers]
        hashed = [token_hashes(key) for key in keys]
        numbers = [self.pool.numbers(one) for one in hashed]
        known = [(key, number, len(one) - len(number)) for key, number, one in zip(keys, numbers, hashed, strict=True)]
        asked = _Asked(known, np.array(forbidden, dtype=np.uint64), _DOUBTFUL if self.similar else NEAR)
        places = [at for at in (self.pool.find(_number(answer)) for answer in answers) if at is not None]
        spare = _BEST if self.similar else 0
        # An answer that is a generic reply stands for its kind.
        taken = dict.fromkeys((len(self.pool) + kind for kind in map(kind_of, keys) if kind), -1)
        full = len(taken) + wanted + spare
        bits = self.reach(split)
        if self.similar:
            self._take(self._neighbours(context, bits, wanted), taken, len(taken) + round(_NEAR_SHARE * wanted) + spare, asked)
        if places and self.pool.act[places[0]]:
            self._take_related(rng, bits, places[0], taken, full, asked)
        for batch in self._batches(rng, bits, wanted + spare):
            if len(taken) >= full:
                break
            self._take(batch, taken, full, asked)
        if len(taken) < full:
            self._take_left(rng, bits, taken, full, asked)
        found = [place for place in taken.values() if place >= 0]
        doubtful = self._doubtful(found, answers[0], context) if self.similar and answers and context else []
        left = [place for place in found if place not in doubtful][:wanted]
        self._held[self._slots[np.array(left, dtype=np.int64)]] += 1
        rng.shuffle(left)
        return Drawn(left, doubtful)

    def _slot(self, text: str) -> int | None:
        """The slot of an answer; None where the pool doesn't know it."""
        key = candidate_key(text)
        kind = kind_of(key)
        return len(self.pool) + kind if kind else self.pool.find(key_hash(key))

    def _neighbours(self, context: Sequence[str], bits: int, wanted: int) -> NDArray[np.int64]:
        """The candidates most like the context, best first, that don't stand in their share of the sets yet."""
        said = [self.pool.numbers(token_hashes(candidate_key(text))) for text in context[-_LAST:]]
        if not said:
            return np.zeros(0, np.int64)
        near = self.pool.similar(np.unique(np.concatenate(said)), _LOOKED_AT * wanted)
        places, weight, cumulative, _ = self._drawn_by(bits)
        if not len(places):
            return np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(places, near), len(places) - 1)
        near, at = near[places[at] == near], at[places[at] == near]
        allowed = _SLACK * self.count * self._expected * weight[at] / max(float(cumulative[-1]), 1.0)
        found: NDArray[np.int64] = near[self._held[self._slots[near]] < allowed]
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

    def _batches(self, rng: Rng, bits: int, wanted: int) -> Iterator[NDArray[np.int64]]:
        """Places, a batch at a time, by how often they could be an answer; those with the fewest sets for it in the end."""
        drawn = self._drawn_by(bits)
        yield from self._said(rng, drawn, wanted)
        yield self._in_turn(rng, drawn.places, drawn.weight)

    def _take_left(self, rng: Rng, bits: int, taken: dict[int, int], full: int, asked: _Asked) -> None:
        """Takes what has had its share already, and then what is never an answer: that it isn't could be learned."""
        drawn = self._drawn_by(bits)
        before = len(taken)
        self._take(self._in_turn(rng, drawn.places, drawn.weight), taken, full, asked, bound=False)
        self.beyond += len(taken) > before
        rest = np.setdiff1d(self.pool.members(bits).astype(np.int64), drawn.places)
        self._take(self._in_turn(rng, rest, np.ones(len(rest))), taken, full, asked)

    def _said(self, rng: Rng, drawn: _Shares, wanted: int) -> Iterator[NDArray[np.int64]]:
        """Places by how often they could be an answer, a batch at a time. Of two that are drawn the one is taken that stands in fewer sets for how
        often it is said, so that none stands in many more than its share."""
        places, weight, cumulative, _ = drawn
        if not len(places):
            return
        for _ in range(_ROUNDS):
            marks = lots(rng, 2 * wanted + 8) * cumulative[-1]
            found = np.minimum(np.searchsorted(cumulative, marks, side="right"), len(places) - 1)
            one, other = found[::2], found[1::2]
            mine, theirs = (self._held[self._slots[places[at]]] / weight[at] for at in (one, other))
            yield places[np.where(mine <= theirs, one, other)]

    def _in_turn(self, rng: Rng, places: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """All places, those that stand in the fewest sets for their weight first, in random order where these are equal."""
        ties = lots(rng, len(places))
        found: NDArray[np.int64] = places[np.argsort((self._held[self._slots[places]] + ties) / np.maximum(weight, 1e-9), kind="stable")]
        return found

    def _take_related(self, rng: Rng, bits: int, answer: int, taken: dict[int, int], full: int, asked: _Asked) -> None:
        """Takes what is about the answer's themes, the more the sooner, and of these what does the same first. Half of what is missing then does the
        same about something else: the other half is anything, or what is seldom said would hardly ever be a distractor."""
        places, weight, _, _ = self._drawn_by(bits)
        # Where all candidates together are too few for the bound, those about one thing are all the more.
        bound = self.fair_share(bits) <= self.most
        *related, rest = self._related(bits, answer)
        for found in related:
            self._take(self._in_turn(rng, places[found], weight[found]), taken, full, asked, bound)
            if len(taken) >= full:
                return
        self._take(self._in_turn(rng, places[rest], weight[rest]), taken, (len(taken) + full) // 2, asked)

    def _related(self, bits: int, answer: int) -> list[NDArray[np.int64]]:
        """What is about an answer's themes, the likeliest first, and last what only does the same: as indexes of what is drawn. It is kept, as many
        examples have one answer."""
        if (bits, answer) not in self._kin:
            places = self._drawn_by(bits).places
            alike, does = self._likeness(bits, self.pool.themes(answer)), self.pool.act[places] == self.pool.act[answer]
            levels = [level for level in np.unique(alike)[::-1].tolist() if level > 0]
            found = [np.flatnonzero((alike == level) & group) for level in levels for group in (does, ~does)]
            self._kin[bits, answer] = [*found, np.flatnonzero((alike == 0) & does)]
        return self._kin[bits, answer]

    def _likeness(self, bits: int, themes: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The share of common themes (Jaccard) of each candidate that could be an answer, 1 where neither has any."""
        places = self._drawn_by(bits).places
        counts = self.pool.theme_counts()[places]
        if bits not in self._by_theme:
            groups: dict[int, list[int]] = {}
            for at, place in enumerate(places.tolist()):
                for theme in self.pool.themes(place).tolist():
                    groups.setdefault(theme, []).append(at)
            self._by_theme[bits] = {theme: np.array(found, dtype=np.int64) for theme, found in groups.items()}
        shared = np.zeros(len(places))
        for theme in themes.tolist():
            found = self._by_theme[bits].get(theme)
            if found is not None:
                shared[found] += 1
        union = counts + len(themes) - shared
        return np.where(union > 0, shared / np.maximum(union, 1), 1.0)

    def _take(self, places: NDArray[np.int64], taken: dict[int, int], full: int, asked: _Asked, bound: bool = True) -> None:
        """Adds the places that may be distractors by their slots, until there are as many as wanted; with `bound`, those that have not had their
        share of the sets."""
        for first in range(0, len(places), _CHUNK):
            if len(taken) >= full:
                return
            some = places[first : first + _CHUNK]
            if bound:
                some = some[self._held[self._slots[some]] < self._quota]
            for place in some[self._allowed(some, asked)].tolist():
                if len(taken) >= full:
                    return
                taken.setdefault(int(self._slots[place]), place)

    def _allowed(self, places: NDArray[np.int64], asked: _Asked) -> NDArray[np.bool_]:
        """Which places are not barred, and not too much like an answer."""
        if not self._repeats:
            return self._judged(places, asked)
        key = (asked.limit, asked.barred.tobytes(), *sorted(key for key, _, _ in asked.answers))
        if key not in self._open:
            self._open[key] = self._judged(np.arange(len(self.pool)), asked)
        return self._open[key][places]

    def _judged(self, places: NDArray[np.int64], asked: _Asked) -> NDArray[np.bool_]:
        good = ~np.isin(self.pool.key[places], asked.barred)
        for key, query, unknown in asked.answers:
            # Few are so alike, or so short, that a closer look is due.
            alike = self.pool.overlaps(places, query, unknown) >= asked.limit
            if len(key) <= SHORT:
                alike |= abs(self.pool.length[places].astype(np.int64) - len(key)) <= 2
            for at in np.flatnonzero(good & alike):
                good[at] = not nearly_equal(key, candidate_key(self.pool.text(int(places[at]))), asked.limit)
        return good


def _number(text: str) -> int:
    return key_hash(candidate_key(text))


def _level(said: NDArray[Any], most: float) -> float:
    """The bound on what is said, so that each has at most this share of what is left of all together."""
    if not len(said):
        return 0.0
    low, high = float(said.min()), float(said.max())
    if high <= most * said.sum():
        return high
    if most * len(said) <= 1:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if most * np.minimum(said, middle).sum() > middle else (low, middle)
    return low


def lots(rng: Rng, number: int) -> NDArray[np.float64]:
    """So many numbers in [0, 1), from one draw (splitmix64)."""
    state = np.arange(1, number + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(rng.below(1 << 53))
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: NDArray[np.float64] = ((state ^ (state >> np.uint64(31))) >> np.uint64(11)) / float(1 << 53)
    return found
