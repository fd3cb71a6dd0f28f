"""The second pass: what the first pass's threads say about each of a message's best candidates.

The first pass gives every message a short list of candidates with probabilities; its best links make threads. The second
pass asks of each candidate: who takes part in its thread, who spoke last there, was my own last message there, does the
candidate itself reply to me, what do the next messages (at most AHEAD later) reply to.

Threads are cut by absolute position, never by chunk: those of the messages in epoch k (positions k * EPOCH on) use the
links of epochs k - 1 and k, and of AHEAD messages more. So the result does not depend on how a log is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dialmill.pipelines.disentangle.features import Floats, Ints, Timeline
from dialmill.pipelines.disentangle.frame import HASH_BITS, Frame

EPOCH = 500
"""Talk messages between two fixed cuts."""
AHEAD = 40
"""How many later messages the second pass may look at."""
SHORT = 6
"""Candidates of a message that reach the second pass; the self candidate is always one."""


@dataclass(slots=True)
class Shortlist:
    """The best candidates of n consecutive messages, best first.

    candidate (n, SHORT) positions, -1 where there are fewer; log_p (n, SHORT) natural logarithms of the first pass's
    probabilities, -inf there; features (n, SHORT, f) the first pass's features.
    """

    candidate: Ints
    log_p: Floats
    features: Floats


NAMES = (
    "log_p",
    "rank",
    "log_p_self",
    "log_p_best",
    "margin",
    "mass",
    "size",
    "root_age",
    "mine",
    "theirs",
    "addressees",
    "last_age",
    "is_last",
    "after",
    "last_by_me",
    "versus_mine",
    "participants",
    "own_here",
    "to_me_here",
    "addressee_here",
    "children",
    "my_children",
    "is_root",
    "root_mine",
    "root_addressee",
    "sure",
    "replies_to_me",
    "child_age",
    "next_mine",
    "next_to_me",
    "next_on_me",
    "next_here",
    "reply_age",
    "reply_theirs",
    "reply_speaker_here",
    "their_next",
    "their_next_to_me",
    "their_next_on_me",
    "to_me_next_theirs",
    "to_me_next_here",
    "mass_self_speaker",
    "active",
    "words_here",
    "rarest_here",
    "rarest_anywhere",
)
_OF_MESSAGE = frozenset(
    ("log_p", "rank", "log_p_self", "log_p_best", "margin", "next_mine", "next_to_me", "next_on_me", "reply_age", "active", "rarest_anywhere")
)
"""Features that the self candidate has too."""


def thread_features(frame: Frame, short: Shortlist, rarity: Floats, offset: int, first: int, stop: int) -> tuple[Ints, Ints, Floats]:
    """Second-pass features of the messages at positions first to stop of one epoch.

    `short` covers the frame's messages from position `offset` (where the epoch before begins) to the end of the
    frame, which lies at most AHEAD beyond `stop`. Returns message (p,) and slot in its short list (p,) of each pair,
    grouped by message, and the features (p, len(NAMES)), NaN where one does not apply.
    """
    n = len(short.candidate)
    speaker = frame.speaker[offset:]
    people, speaker = np.unique(speaker, return_inverse=True)
    who = np.searchsorted(people, frame.addressees[offset:])
    who = np.where((frame.addressees[offset:] >= 0) & (people[np.minimum(who, len(people) - 1)] == frame.addressees[offset:]), who, -1)
    candidate = np.where(short.candidate >= offset, short.candidate - offset, -1)
    here = np.arange(n)
    prob = np.exp(short.log_p)
    parent = np.where(candidate[:, 0] >= 0, candidate[:, 0], here)
    root = parent
    while True:
        jumped = root[root]
        if np.array_equal(jumped, root):
            break
        root = jumped
    wide = len(people) + 1
    by_person = Timeline(speaker, here, n)
    by_root = Timeline(root, here, n)
    by_both = Timeline(root * wide + speaker, here, n)
    firsts = by_both.last(root * wide + speaker, here, here * 0) < 0
    newcomers = Timeline(root[firsts], here[firsts], n)
    linked = here[parent != here]
    by_parent = Timeline(parent[linked], linked, n)
    by_parent_person = Timeline(parent[linked] * wide + speaker[linked], linked, n)
    stranger = linked[speaker[linked] != speaker[parent[linked]]]
    replies = Timeline(parent[stranger], stranger, n)
    received = Timeline(who.T.ravel(), np.tile(here, who.shape[1]), n)

    low, high = first - offset, stop - offset
    rows, slots = np.nonzero(candidate[low:high] >= 0)
    q = rows + low
    c = candidate[q, slots]
    starts = np.flatnonzero(np.diff(q, prepend=-1))
    zero, alone = q * 0, q == c
    me, them, addressee, thread = speaker[q], speaker[c], who[q, 0], root[c]
    limit = q + AHEAD

    def at(position: Ints, values: Ints) -> Ints:
        """Values at positions, -1 where a position is -1."""
        return np.where(position >= 0, values[np.maximum(position, 0)], -1)

    def inside(position: Ints) -> Floats:
        """Is the message at a position in the candidate's thread? NaN where there is none."""
        return np.where(position >= 0, root[np.maximum(position, 0)] == thread, np.nan).astype(np.float32)

    def on(position: Ints, target: Ints) -> Floats:
        """The probability that the message at a position replies to the target message, 0 without either."""
        row = np.maximum(position, 0)
        mass: Floats = np.where(candidate[row] == target[:, None], prob[row], np.float32(0)).sum(axis=1) * (position >= 0)
        return mass

    def thread_mass(position: Ints, without: Ints) -> Floats:
        """The probability that the message at a position replies into the candidate's thread, other than to `without`."""
        row = np.maximum(position, 0)
        options = candidate[row]
        good = (options >= 0) & (root[np.maximum(options, 0)] == thread[:, None]) & (options != without[:, None])
        mass: Floats = np.where(good, prob[row], np.float32(0)).sum(axis=1) * (position >= 0)
        return mass

    def speaker_mass(position: Ints, person: Ints) -> Floats:
        """The probability that the message at a position replies to a message by a person (itself does not count)."""
        options = candidate[position]
        good = (options >= 0) & (speaker[np.maximum(options, 0)] == person[:, None]) & (options != position[:, None])
        mass: Floats = np.where(good, prob[position], np.float32(0)).sum(axis=1)
        return mass

    def age(position: Ints) -> Floats:
        return np.where(position >= 0, np.abs(q - position), np.nan).astype(np.float32)

    def in_thread(person: Ints) -> Floats:
        """How many messages of the candidate's thread are by a person, NaN for nobody."""
        count = by_both.count(np.where(person >= 0, thread * wide + person, -1), zero, q)
        return np.where(person >= 0, count, np.nan).astype(np.float32)

    log_p = short.log_p[q, slots]
    is_self = candidate[low:high] == here[low:high, None]
    log_self = np.where(is_self, short.log_p[low:high], 0).sum(axis=1)[rows]
    best = short.log_p[q, 0]
    second = np.where(candidate.shape[1] > 1, short.log_p[q, np.where(slots == 0, 1, 0)], -20)
    own = by_person.last(me, q, zero)
    to_me = received.last(me, q, zero)
    theirs = by_person.last(addressee, q, zero)
    last = by_root.last(thread, q, zero)
    mine = by_both.last(thread * wide + me, q, zero)
    child = by_parent.last(c, q, zero)
    next_mine = by_person.next(me, q, limit)
    next_to_me = received.next(me, q, limit)
    reply = replies.next(q, q, limit)
    their_next = by_person.next(them, q, limit)
    reply_speaker = at(reply, speaker)
    to_me_speaker = at(next_to_me, speaker)
    recent = by_person.count(me, np.maximum(q - 50, 0), q)
    addressed_me = (who[np.maximum(their_next, 0)] == me[:, None]).any(axis=1) & (their_next >= 0)
    words_here, rarest_here = _words_in_threads(frame, offset, root, q, thread, rarity)
    rarest_anywhere = np.maximum.reduceat(np.where(alone, 0, rarest_here), starts)[np.cumsum(np.diff(q, prepend=-1) > 0) - 1]
    columns = [
        log_p,
        slots,
        log_self,
        best,
        log_p - np.maximum(second, -20),
        thread_mass(q, q),
        by_root.count(thread, zero, q),
        q - thread,
        by_both.count(thread * wide + me, zero, q),
        by_both.count(thread * wide + them, zero, q),
        in_thread(addressee),
        age(last),
        last == c,
        by_root.count(thread, c + 1, q),
        at(last, speaker) == me,
        np.where(mine >= 0, c - mine, np.nan),
        newcomers.count(thread, zero, q),
        inside(own),
        inside(to_me),
        inside(theirs),
        by_parent.count(c, zero, q),
        by_parent_person.count(c * wide + me, zero, q),
        parent[c] == c,
        speaker[thread] == me,
        np.where(addressee >= 0, speaker[thread] == addressee, np.nan),
        prob[c, 0],
        speaker_mass(c, me),
        age(child),
        age(next_mine),
        age(next_to_me),
        on(next_mine, q),
        thread_mass(next_mine, q),
        age(reply),
        np.where(reply >= 0, reply_speaker == them, np.nan),
        in_thread(reply_speaker),
        age(their_next),
        addressed_me,
        on(their_next, q),
        np.where(next_to_me >= 0, to_me_speaker == them, np.nan),
        in_thread(to_me_speaker),
        speaker_mass(q, me),
        recent,
        words_here,
        rarest_here,
        rarest_anywhere,
    ]
    out = np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)
    blank = np.array([name not in _OF_MESSAGE for name in NAMES])
    out[np.ix_(np.flatnonzero(alone), np.flatnonzero(blank))] = np.nan
    return q + offset, slots, out


def _words_in_threads(frame: Frame, offset: int, root: Ints, message: Ints, thread: Ints, rarity: Floats) -> tuple[Floats, Floats]:
    """How many tokens of each message occur earlier in each thread, and the rarity of the rarest; both (p,)."""
    size = np.diff(frame.indptr)[offset:]
    tokens = frame.tokens[frame.indptr[offset] :]
    begin = frame.indptr[offset:-1] - frame.indptr[offset]
    owner = np.repeat(np.arange(len(size)), size)
    known = Timeline(root[owner] << HASH_BITS | tokens, owner, len(size))
    lengths = size[message]
    pair = np.repeat(np.arange(len(message)), lengths)
    token = tokens[np.repeat(begin[message] - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(pair))]
    hit = known.count(thread[pair] << HASH_BITS | token, pair * 0, message[pair]) > 0
    pair, token = pair[hit], token[hit]
    count = np.bincount(pair, minlength=len(message)).astype(np.float32)
    rarest = np.zeros(len(message), np.float32)
    np.maximum.at(rarest, pair, rarity[token])
    return count, rarest
