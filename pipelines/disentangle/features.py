"""Candidates of a message and the features of each (message, candidate) pair: causal, windowed, vectorised.

Everything about the message at position i of a `Frame` comes from the messages i - CONTEXT to i, never from later ones, and
never from where a block began. So a block of messages with CONTEXT messages in front gets the very
numbers that it gets inside the whole log: the result does not depend on the chunk size.

The candidates of a message are itself (= it starts a conversation) and those of the previous REACH messages that are near
or stand in a relation to it (same speaker, one addresses the other, both address the same person): about 20 in place of
101. Idea of the features: Kummerfeld et al. (ACL 2019), table 1 of the supplement; those here are our own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dialmill.pipelines.disentangle.frame import FLAGS, HASH_BITS, Frame
from numpy.typing import NDArray

NEAR = 12
"""Candidates nearer than this many talk messages are always kept."""
REACH = 100
"""The farthest candidate, in talk messages."""
HORIZON = 400
"""How many talk messages of context the features of a message look at."""
CONTEXT = HORIZON + REACH
"""Messages of context that a block needs in front: a candidate's own features look HORIZON back from the candidate."""
RELATED = 5
"""How many farther candidates of each relation are kept, the nearest first."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(slots=True)
class Pairs:
    """Candidate pairs of the messages first to last of a frame: p pairs, grouped by message, the nearest candidate first.

    message (p,) and candidate (p,): positions in the frame, equal for the self candidate, which opens each group;
    starts (g,): where each message's group begins, for `np.add.reduceat` and the like; g messages.
    """

    message: Ints
    candidate: Ints
    starts: Ints

    @property
    def sizes(self) -> Ints:
        """Candidates of each message, (g,)."""
        return np.diff(np.append(self.starts, len(self.message)))


def candidate_pairs(frame: Frame, first: int = 0) -> Pairs:
    """The candidate pairs of the messages from position `first` to the end of the frame."""
    n = len(frame)
    speaker, who = frame.speaker, frame.addressees
    one = np.where(who[:, 0] >= 0, who[:, 0], -2)
    two = np.where(who[:, 1] >= 0, who[:, 1], -3)
    rows: list[Ints] = [np.arange(first, n)]
    columns: list[Ints] = [np.arange(first, n)]
    counts = np.zeros((4, n), dtype=np.int64)
    for distance in range(1, min(REACH, n - 1) + 1):
        low = max(first, distance)
        if low >= n:
            break
        query, candidate = slice(low, n), slice(low - distance, n - distance)
        same = speaker[query] == speaker[candidate]
        to = (one[query] == speaker[candidate]) | (two[query] == speaker[candidate])
        back = (one[candidate] == speaker[query]) | (two[candidate] == speaker[query])
        both = one[candidate] == one[query]
        keep = np.zeros(n - low, dtype=bool) if distance > NEAR else np.ones(n - low, dtype=bool)
        for relation, count in zip((same, to, back, both), counts[:, query], strict=True):
            count += relation
            if distance > NEAR:
                keep |= relation & (count <= RELATED)
        found = np.flatnonzero(keep) + low
        rows.append(found)
        columns.append(found - distance)
    message, candidate_ = np.concatenate(rows), np.concatenate(columns)
    order = np.argsort(message, kind="stable")
    message, candidate_ = message[order], candidate_[order]
    starts = np.flatnonzero(np.diff(message, prepend=-1))
    return Pairs(message, candidate_, starts)


class Timeline:
    """Events of many groups (persons, threads, pairs of them) in time, to be asked for the last, the next or the number.

    `group` (e,) non-negative numbers, `at` (e,) positions below `size`. Questions are vectorised; a negative group has no events.
    """

    def __init__(self, group: Ints, at: Ints, size: int) -> None:
        self.size = size
        self._keys = np.sort(group[group >= 0] * size + at[group >= 0])

    def last(self, group: Ints, before: Ints, oldest: Ints) -> Ints:
        """The last event of a group before a position and not before `oldest`, else -1."""
        if not len(self._keys):
            return np.full(len(before), -1)
        found = self._keys[np.maximum(np.searchsorted(self._keys, group * self.size + before) - 1, 0)]
        at = found - group * self.size
        return np.where((group >= 0) & (at >= np.maximum(oldest, 0)) & (at < before), at, -1)

    def next(self, group: Ints, after: Ints, latest: Ints) -> Ints:
        """The first event of a group after a position and not after `latest`, else -1."""
        if not len(self._keys):
            return np.full(len(after), -1)
        place = np.searchsorted(self._keys, group * self.size + after, side="right")
        at = self._keys[np.minimum(place, len(self._keys) - 1)] - group * self.size
        return np.where((group >= 0) & (at <= np.minimum(latest, self.size - 1)) & (at > after), at, -1)

    def count(self, group: Ints, first: Ints, before: Ints) -> Ints:
        """How many events of a group lie at `first` or later, and before a position."""
        base = group * self.size
        found = np.searchsorted(self._keys, base + before) - np.searchsorted(self._keys, base + np.maximum(first, 0))
        return np.where(group >= 0, found, 0)


class History:
    """Who spoke and who addressed whom, to be asked for the last time before a message; answers are positions, -1 = none.

    Only events at most HORIZON messages back count.
    """

    def __init__(self, frame: Frame) -> None:
        n = len(frame)
        everyone = np.concatenate((frame.speaker, frame.addressees.ravel()))
        people, inverse = np.unique(everyone, return_inverse=True)
        self.people = len(people) + 1
        self.speaker: Ints = inverse[:n]
        self.addressees: Ints = np.where(frame.addressees >= 0, inverse[n:].reshape(frame.addressees.shape), -1)
        said = np.concatenate([np.arange(n)] * self.addressees.shape[1])
        target = self.addressees.T.ravel()
        said, target = said[target >= 0], target[target >= 0]
        self.spoken = Timeline(self.speaker, np.arange(n), n)
        self.received = Timeline(target, said, n)
        self._exchanges = Timeline(self.speaker[said] * self.people + target, said, n)
        self._addresses = Timeline(self.speaker[said], said, n)

    def spoke(self, person: Ints, before: Ints) -> Ints:
        """The last message by a person, before a position."""
        return self.spoken.last(person, before, before - HORIZON)

    def addressed(self, person: Ints, before: Ints) -> Ints:
        """The last message addressed to a person."""
        return self.received.last(person, before, before - HORIZON)

    def addresses(self, person: Ints, before: Ints) -> Ints:
        """The last message in which a person addressed anybody."""
        return self._addresses.last(person, before, before - HORIZON)

    def exchange(self, speaker: Ints, addressee: Ints, before: Ints) -> Ints:
        """The last message in which one person addressed another."""
        key = np.where((speaker >= 0) & (addressee >= 0), speaker * self.people + addressee, -1)
        return self._exchanges.last(key, before, before - HORIZON)


def token_overlap(frame: Frame, message: Ints, candidate: Ints, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Shared tokens of each pair: their number, the weight of the rarest, and the sum of weights over both texts' norm.

    `weight` (2**HASH_BITS,) is the rarity (inverse document frequency) of a hashed token.
    """
    pairs = len(message)
    size = np.diff(frame.indptr)
    count, rarest, total = np.zeros(pairs, np.float32), np.zeros(pairs, np.float32), np.zeros(pairs, np.float32)
    heavy = weight[frame.tokens]
    norm = np.sqrt(np.add.reduceat(np.append(heavy**2, 0.0), frame.indptr[:-1]) * (size > 0) + 1.0).astype(np.float32) if len(frame) else heavy
    # Messages that share a token: join on the token, inside each message's candidate window only.
    owner = np.repeat(np.arange(len(frame)), size)
    key = np.sort(owner << HASH_BITS | frame.tokens)
    lengths = size[candidate] * (candidate != message)
    pair = np.repeat(np.arange(pairs), lengths)
    offset = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    token = frame.tokens[np.repeat(frame.indptr[candidate], lengths) + offset]
    wanted = message[pair] << HASH_BITS | token
    place = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    hit = np.flatnonzero(key[place] == wanted) if len(key) else np.zeros(0, dtype=np.int64)
    pair, shared = pair[hit], weight[token[hit]]
    np.add.at(count, pair, np.float32(1))
    np.maximum.at(rarest, pair, shared)
    np.add.at(total, pair, shared**2)
    return count, rarest, total / (norm[message] * norm[candidate])


MESSAGE_FEATURES = (
    "length",
    "how",
    "addressees",
    "age_addressee",
    "age_own",
    "gap_own",
    "age_to_me",
    "gap_to_me",
    "to_me_since_own",
    "own_addressed_same",
    "age_own_address",
    "pace",
    "speakers_near",
    "flags_question",
    "flags_wh",
    "flags_url",
    "flags_greeting",
    "flags_thanks",
    "flags_yes",
    "flags_no",
    "flags_command",
    "flags_bot",
    "flags_self_talk",
    "flags_anyone",
    "flags_continues",
    "flags_second",
    "start_score",
)
CANDIDATE_FEATURES = (
    "c_length",
    "c_how",
    "c_addressees",
    "c_age_own",
    "c_gap_own",
    "c_age_to",
    "c_question",
    "c_wh",
    "c_url",
    "c_greeting",
    "c_thanks",
    "c_command",
    "c_bot",
    "c_anyone",
    "c_continues",
    "c_second",
    "c_ends",
    "c_start_score",
)
PAIR_FEATURES = (
    "self",
    "distance",
    "lines",
    "gap",
    "gap_scaled",
    "same_speaker",
    "to",
    "back",
    "same_target",
    "to_other",
    "c_to_other",
    "last_of_candidate",
    "later_by_candidate",
    "later_by_me",
    "last_of_addressee",
    "own_last",
    "to_me_last",
    "versus_own",
    "versus_to_me",
    "versus_addressee",
    "exchange",
    "exchange_to",
    "exchange_back",
    "replies_to_candidate",
    "candidate_addressed_others",
    "shared",
    "rarest",
    "similar",
    "burst",
    "consecutive",
    "mention_age",
    "related_rank",
    "me_then_candidate",
)
NAMES = MESSAGE_FEATURES + CANDIDATE_FEATURES + PAIR_FEATURES


def _flag(flags: Ints, name: str) -> Floats:
    return (flags >> FLAGS.index(name) & 1).astype(np.float32)


def _age(position: Ints, now: Ints) -> Floats:
    """Messages since a position, NaN where there is none."""
    return np.where(position >= 0, now - position, np.nan).astype(np.float32)


def pair_features(frame: Frame, pairs: Pairs, rarity: Floats, starters: Floats) -> Floats:
    """The features of pairs, (p, len(NAMES)) float32, NaN where one does not apply.

    `rarity` and `starters` (2**HASH_BITS,) weigh hashed tokens: how rare, and how much they speak for a new conversation.
    """
    if not len(pairs.message):
        return np.zeros((0, len(NAMES)), dtype=np.float32)
    n, history = len(frame), History(frame)
    here = np.arange(n)
    speaker, who, flags, minute = history.speaker, history.addressees, frame.flags, frame.minute
    first = who[:, 0]
    own = history.spoke(speaker, here)
    to_me = history.addressed(speaker, here)
    own_address = history.addresses(speaker, here)
    addressee_last = history.spoke(first, here)

    def gap(position: Ints) -> Floats:
        """Minutes since a position, NaN where there is none."""
        return np.where(position >= 0, minute - minute[np.maximum(position, 0)], np.nan).astype(np.float32)

    back = np.maximum(here - 20, 0)
    pace = ((minute - minute[back]) / np.maximum(here - back, 1)).astype(np.float32)
    new_voice = np.zeros(n, np.float32)
    for step in range(1, 11):
        voice = np.flatnonzero(here >= step)
        new_voice[voice] += own[voice - step + 1] < voice - 10
    size = np.diff(frame.indptr)
    start = (np.add.reduceat(np.append(starters[frame.tokens], np.float32(0)), frame.indptr[:-1]) * (size > 0)).astype(np.float32)
    targets = (who >= 0).sum(axis=1).astype(np.float32)
    how = frame.how.astype(np.float32)
    length = frame.length.astype(np.float32)
    same_as_own = np.where((own >= 0) & (first >= 0), first[np.maximum(own, 0)] == first, np.nan).astype(np.float32)
    message_columns = [
        length,
        how,
        targets,
        _age(addressee_last, here),
        _age(own, here),
        gap(own),
        _age(to_me, here),
        gap(to_me),
        history.received.count(speaker, np.maximum(own, here - HORIZON), here).astype(np.float32),
        same_as_own,
        _age(own_address, here),
        pace,
        new_voice,
        *(
            _flag(flags, f)
            for f in (
                "question",
                "wh",
                "url",
                "greeting",
                "thanks",
                "yes",
                "no",
                "command",
                "bot",
                "self_talk",
                "anyone",
                "continues",
                "second_person",
            )
        ),
        start,
    ]
    candidate_columns = [
        length,
        how,
        targets,
        _age(own, here),
        gap(own),
        _age(to_me, here),
        *(_flag(flags, f) for f in ("question", "wh", "url", "greeting", "thanks", "command", "bot", "anyone", "continues", "second_person")),
        _flag(flags, "ends_colon") + 2 * _flag(flags, "ellipsis"),
        start,
    ]
    q, c = pairs.message, pairs.candidate
    out = np.empty((len(NAMES), len(q)), dtype=np.float32)
    out[: len(message_columns)] = np.stack(message_columns)[:, q]
    alone = q == c
    block = np.stack(candidate_columns)[:, c]
    block[:, alone] = np.nan
    out[len(message_columns) : len(message_columns) + len(candidate_columns)] = block
    out[len(message_columns) + len(candidate_columns) :] = _pair_columns(frame, history, q, c, rarity, own, to_me, addressee_last)
    return np.ascontiguousarray(out.T)


def _pair_columns(frame: Frame, history: History, q: Ints, c: Ints, rarity: Floats, own: Ints, to_me: Ints, addressee_last: Ints) -> Floats:
    """The features of the pair itself, (len(PAIR_FEATURES), p)."""
    speaker, who, minute, line = history.speaker, history.addressees, frame.minute, frame.line
    me, them = speaker[q], speaker[c]
    first_q, first_c = who[q, 0], who[c, 0]
    alone = q == c
    same = me == them
    to = (who[q] == them[:, None]).any(axis=1)
    back = (who[c] == me[:, None]).any(axis=1)
    same_target = (first_q >= 0) & (first_q == first_c)
    to_other = (first_q >= 0) & ~to
    c_to_other = (first_c >= 0) & ~back
    later = history.spoken.count(them, c + 1, q)
    mine = history.spoken.count(me, c + 1, q)
    gap = (minute[q] - minute[c]).astype(np.float32)
    back20 = np.maximum(q - 20, 0)
    pace = (minute[q] - minute[back20] + 1) / (q - back20 + 1)
    out_to, out_back = history.exchange(me, them, q), history.exchange(them, me, q)
    exchange = np.maximum(out_to, out_back)
    count, rarest, similar = token_overlap(frame, q, c, rarity)
    related = (same | to | back | same_target) & ~alone
    before = np.cumsum(related) - related
    group = np.flatnonzero(np.diff(q, prepend=-1))
    rank = before - np.repeat(before[group], np.diff(np.append(group, len(q))))
    previous_by_me = history.spoke(me, c)
    columns = [
        alone,
        q - c,
        line[q] - line[c],
        gap,
        gap / pace,
        same,
        to,
        back,
        same_target,
        to_other,
        c_to_other,
        later == 0,
        later,
        mine,
        (c == addressee_last[q]) & ~alone,
        c == own[q],
        c == to_me[q],
        np.where(own[q] >= 0, c - own[q], np.nan),
        np.where(to_me[q] >= 0, c - to_me[q], np.nan),
        np.where(addressee_last[q] >= 0, c - addressee_last[q], np.nan),
        np.where(exchange >= 0, q - exchange, np.nan),
        np.where(out_to >= 0, c - out_to, np.nan),
        np.where(out_back >= 0, c - out_back, np.nan),
        history.received.count(them, c + 1, q),
        history.addresses(them, q) > c,
        count,
        rarest,
        similar,
        same & (c == q - 1),
        same & (mine == 0) & (gap <= 1),
        np.where(first_q >= 0, _age(history.spoke(first_q, c), c), np.nan),
        rank,
        _age(previous_by_me, c),
    ]
    out = np.stack([np.asarray(column, dtype=np.float32) for column in columns])
    keep = [PAIR_FEATURES.index(name) for name in ("self", "to_other")]
    blank = np.setdiff1d(np.arange(len(out)), keep)
    out[np.ix_(blank, np.flatnonzero(alone))] = np.nan
    return out
