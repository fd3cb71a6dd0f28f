"""The pool of candidates: every distinct utterance once, in flat files that each worker maps into memory once.

A pool is sorted by the hash of its candidates' keys, so that it looks the same whoever built it, and is never held as Python objects: a million
utterances are about 200 MB of files, of which a worker's memory holds the pages it touches. Beside each candidate stands how often it could have
been the answer, in each split: distractors are drawn by that, as answers are.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from dialmill.pipelines.candidates.generic import kind_of
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, says_nothing, token_hashes
from dialmill.pipelines.core import files
from numpy.typing import NDArray

#: Flags of a candidate: the splits that say it, whether it is the answer of an example with the shared pool, and whether it is in that pool.
SPLIT_BITS = {"train": 1, "valid": 2, "test": 4}
ANSWER, SHARED = 16, 32
#: Said in a conversation that no split took.
EXTRA = 128
#: The columns of weights: the splits, and what no split took.
_WEIGHED = (*SPLIT_BITS.values(), EXTRA)
EVERY = sum(_WEIGHED)
#: What all places of one conversation that may be answers weigh together.
WEIGHT = 1 << 20

_TYPES: dict[str, Any] = {
    "key": np.uint64,  # (n,) key_hash, ascending
    "flags": np.uint8,  # (n,)
    "offset": np.uint64,  # (n + 1,) where texts begin in `text`
    "length": np.uint16,  # (n,) characters of the key
    "kind": np.uint8,  # (n,) the kind of a generic reply, 0 for none
    "act": np.uint8,  # (n,) what it does (asks, advises, ...), by a benchmark's own numbers; 0 where nobody said
    "theme_ptr": np.uint64,  # (n + 1,) where a candidate's themes begin in `theme`
    "theme": np.uint32,  # what candidates are about, ascending for each
    "weight": np.uint64,  # (n, 4) how often it could be the answer in train, valid, test, and elsewhere, times WEIGHT
    "indptr": np.uint64,  # (n + 1,) where a candidate's words begin in `word`
    "word": np.uint32,  # numbers of distinct words in `vocab`, ascending for each candidate
    "vocab": np.uint32,  # hashes of all words, ascending
    "df": np.uint32,  # how many candidates have a word
    "text": np.uint8,
}
#: Where candidates similar to a text are wanted: the candidates of each word.
_POSTINGS = {"post_ptr": np.uint64, "post": np.uint32}


class PoolInfo(msgspec.Struct, frozen=True):
    """Where a pool lies and what it holds."""

    folder: str
    size: int
    split_sizes: dict[str, int]
    shared: int


class About(NamedTuple):
    """What a candidate does, from 1 up, and what it is about: numbers below 2**32, ascending. Such numbers mean what a benchmark takes them for."""

    act: int = 0
    themes: tuple[int, ...] = ()


NOTHING = About()


def utterance(text: str, flags: int, weight: int = 0, about: About = NOTHING) -> tuple[int, bytes] | None:
    """What travels of one candidate: its `key_hash`, and bytes; None for one that says nothing.

    Args:
        weight: how often it could be the answer there, in units of 1 / WEIGHT conversations; 0 for what stands where no answer can.
        about: what it does and what it is about, where that is known.
    """
    if says_nothing(text):
        return None
    number = key_hash(candidate_key(text))
    return number, msgspec.msgpack.encode((number, flags, text, weight, about.act, about.themes))


_UTTERANCE = msgspec.msgpack.Decoder(tuple[int, int, str, int, int, tuple[int, ...]])


def shard_of(packed: Iterable[bytes]) -> tuple[bytes, int]:
    """Candidates, some several times, as the bytes of a part of the pool, and how many it holds: each once, sorted. Of equal ones the first in the
    alphabet stays, with the weight of all."""
    merged: dict[int, tuple[int, str, tuple[int, tuple[int, ...]]]] = {}
    weights: dict[int, list[int]] = {}
    for data in packed:
        number, flags, text, weight, act, themes = _UTTERANCE.decode(data)
        before = merged.get(number)
        about = (act, themes)
        merged[number] = (flags, text, about) if before is None else (flags | before[0], min(text, before[1]), max(about, before[2]))
        mine = weights.setdefault(number, [0] * len(_WEIGHED))
        for at, bit in enumerate(_WEIGHED):
            mine[at] += weight if flags & bit else 0
    order = sorted(merged)
    keys = [candidate_key(merged[number][1]) for number in order]
    texts = [merged[number][1].encode("utf-8", "surrogatepass") for number in order]
    tokens = [token_hashes(key) for key in keys]
    columns: dict[str, NDArray[Any]] = {
        "key": np.array(order, dtype=np.uint64),
        "flags": np.array([merged[number][0] for number in order], dtype=np.uint8),
        "bytes": np.array([len(text) for text in texts], dtype=np.uint64),
        "length": np.array([min(len(key), 65535) for key in keys], dtype=np.uint16),
        "kind": np.array([kind_of(key) for key in keys], dtype=np.uint8),
        "act": np.array([merged[number][2][0] for number in order], dtype=np.uint8),
        "themes": np.array([len(merged[number][2][1]) for number in order], dtype=np.uint64),
        "theme": np.array([theme for number in order for theme in merged[number][2][1]], dtype=np.uint32),
        "weight": np.array([weights[number] for number in order], dtype=np.uint64),
        "words": np.array([len(one) for one in tokens], dtype=np.uint64),
        "hashed": np.concatenate(tokens) if tokens else np.zeros(0, np.uint32),
    }
    data = msgspec.msgpack.encode({name: column.tobytes() for name, column in columns.items()} | {"text": b"".join(texts)})
    return data, len(order)


def join_shards(shards: Sequence[bytes], folder: str, pool_size: int | None, postings: bool) -> PoolInfo:
    """Parts in ascending order of their keys as the files of one pool in `folder`.

    Args:
        pool_size: how many candidates the shared pool takes, its examples' answers first; None for none.
        postings: whether `Pool.similar` will be asked.
    """
    parts = [msgspec.msgpack.decode(shard, type=dict[str, bytes]) for shard in shards]

    def joined(name: str, kind: Any) -> NDArray[Any]:
        return np.frombuffer(b"".join(part[name] for part in parts), dtype=kind)

    key, flags = joined("key", np.uint64), joined("flags", np.uint8).copy()
    weight = joined("weight", np.uint64).reshape(-1, len(_WEIGHED))
    shared = 0
    if pool_size is not None:
        answers = flags & ANSWER > 0
        # The keys are hashes, so the first ones are a random choice; what could be an answer goes before what couldn't.
        could = weight.sum(axis=1) > 0
        rest = np.concatenate([np.flatnonzero(~answers & could), np.flatnonzero(~answers & ~could)])[: max(0, pool_size - int(answers.sum()))]
        flags[answers] |= SHARED
        flags[rest] |= SHARED
        shared = int((flags & SHARED > 0).sum())
    vocab, word, df = np.unique(joined("hashed", np.uint32), return_inverse=True, return_counts=True)
    made = {
        "key": key,
        "flags": flags,
        "offset": np.concatenate((np.zeros(1, np.uint64), np.cumsum(joined("bytes", np.uint64), dtype=np.uint64))),
        "length": joined("length", np.uint16),
        "kind": joined("kind", np.uint8),
        "act": joined("act", np.uint8),
        "theme_ptr": np.concatenate((np.zeros(1, np.uint64), np.cumsum(joined("themes", np.uint64), dtype=np.uint64))),
        "theme": joined("theme", np.uint32),
        "weight": weight,
        "indptr": np.concatenate((np.zeros(1, np.uint64), np.cumsum(joined("words", np.uint64), dtype=np.uint64))),
        "word": word.astype(np.uint32),
        "vocab": vocab,
        "df": df.astype(np.uint32),
        "text": joined("text", np.uint8),
    }
    if postings:
        made["post"] = np.repeat(np.arange(len(key), dtype=np.uint32), joined("words", np.uint64).astype(np.int64))[np.argsort(word, kind="stable")]
        made["post_ptr"] = np.concatenate((np.zeros(1, np.uint64), np.cumsum(df, dtype=np.uint64)))
    for name, array in made.items():
        with files.create(files.join(folder, name)) as stream:
            stream.write(np.ascontiguousarray(array).data if array.size else b"")
    sizes = {split: int((flags & bit > 0).sum()) for split, bit in SPLIT_BITS.items()}
    return PoolInfo(folder, len(key), sizes, shared)


class Pool:
    """A pool on disk. Open it with `open_pool`."""

    def __init__(self, folder: str) -> None:
        self.columns: dict[str, NDArray[Any]] = {}
        for name, kind in (_TYPES | _POSTINGS).items():
            path = Path(folder, name)
            if path.exists():
                # As a plain array over the mapped file: numpy's own class for it costs a microsecond for each access.
                self.columns[name] = np.asarray(np.memmap(path, dtype=kind, mode="r")) if path.stat().st_size else np.zeros(0, kind)
        self.key, self.word, self.vocab = self.columns["key"], self.columns["word"], self.columns["vocab"]
        self.offset, self.indptr, self.length = self.columns["offset"], self.columns["indptr"], self.columns["length"]
        count = max(len(self.key), 1)
        # BM25's inverse document frequency, which stays above zero.
        df = self.columns["df"].astype(np.float64)
        self.idf = np.log1p((count - df + 0.5) / (df + 0.5))
        self.kind, self.act = self.columns["kind"], self.columns["act"]
        self.theme, self._theme_ptr = self.columns["theme"], self.columns["theme_ptr"]
        self._weight = self.columns["weight"].reshape(-1, len(_WEIGHED))
        self._members: dict[int, NDArray[np.uint32]] = {}
        self._likely: dict[int, NDArray[np.int64]] = {}

    def __len__(self) -> int:
        return len(self.key)

    def text(self, at: int) -> str:
        """The candidate at place `at`."""
        return bytes(self.columns["text"][int(self.offset[at]) : int(self.offset[at + 1])]).decode("utf-8", "surrogatepass")

    def find(self, number: int) -> int | None:
        """The place of the candidate with this `key_hash`."""
        at = int(np.searchsorted(self.key, np.uint64(number)))
        return at if at < len(self.key) and int(self.key[at]) == number else None

    def members(self, bits: int) -> NDArray[np.uint32]:
        """The places of all candidates with one of these flags, ascending."""
        if bits not in self._members:
            self._members[bits] = np.flatnonzero(self.columns["flags"] & bits).astype(np.uint32)
        return self._members[bits]

    def weight(self, bits: int) -> NDArray[np.float64]:
        """How often each candidate could be the answer in the splits with these flags, (n,)."""
        columns = [at for at, bit in enumerate(_WEIGHED) if bits & bit]
        found: NDArray[np.float64] = self._weight[:, columns].sum(axis=1).astype(np.float64)
        return found

    def likely(self, bits: int) -> NDArray[np.int64]:
        """The places of all candidates that could be an answer in the splits with these flags, ascending."""
        if bits not in self._likely:
            self._likely[bits] = np.flatnonzero(self.weight(bits) > 0).astype(np.int64)
        return self._likely[bits]

    def identity(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """What candidates are the same as for a set: generic replies by their kind (negative), all others by their place."""
        kind = self.kind[places].astype(np.int64)
        return np.where(kind > 0, -kind, places)

    def themes(self, at: int) -> NDArray[np.uint32]:
        """What the candidate at a place is about."""
        return self.theme[int(self._theme_ptr[at]) : int(self._theme_ptr[at + 1])]

    def theme_counts(self) -> NDArray[np.int64]:
        """How many themes each candidate has, (n,)."""
        pointers = self._theme_ptr.astype(np.int64)
        counts: NDArray[np.int64] = pointers[1:] - pointers[:-1]
        return counts

    def numbers(self, hashed: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The numbers of words in `vocab`, by their hashes, ascending; words that no candidate has are left out."""
        if not len(self.vocab):
            return np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(self.vocab, hashed), len(self.vocab) - 1)
        found: NDArray[np.int64] = at[self.vocab[at] == hashed]
        return found

    def words_of(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words of several candidates, one after another, and how many each has."""
        low = self.indptr[places].astype(np.int64)
        counts = self.indptr[places + 1].astype(np.int64) - low
        starts = np.cumsum(counts) - counts
        at = np.arange(int(counts.sum())) - np.repeat(starts - low, counts)
        return self.word[at].astype(np.int64), counts

    def overlaps(self, places: NDArray[np.int64], query: NDArray[np.int64], unknown: int = 0) -> NDArray[np.float64]:
        """The share of common words (Jaccard) of each of several candidates with a text, whose words have these numbers; `unknown` more have none."""
        word, counts = self.words_of(places)
        owner = np.repeat(np.arange(len(places)), counts)
        shared = np.bincount(owner[np.isin(word, query)], minlength=len(places))
        union: NDArray[np.float64] = np.maximum(counts + len(query) + unknown - shared, 1)
        return shared / union

    def similar(self, query: NDArray[np.int64], count: int, frequent: int = 20_000) -> NDArray[np.int64]:
        """The places of the `count` candidates most like a text by BM25 (k1 1.2, b 0.75, each word counted once), best first, ties by place.

        Words that more than `frequent` candidates have say little and are passed over.
        """
        ptr, post = self.columns["post_ptr"], self.columns["post"]
        df = self.columns["df"]
        used = [int(number) for number in query if df[number] <= frequent]
        if not used:
            return np.zeros(0, np.int64)
        hits = [post[int(ptr[number]) : int(ptr[number + 1])] for number in used]
        owner = np.concatenate(hits)
        weight = np.repeat(self.idf[used], [len(one) for one in hits])
        places, inverse = np.unique(owner, return_inverse=True)
        long = (self.indptr[places.astype(np.int64) + 1] - self.indptr[places.astype(np.int64)]).astype(np.float64)
        mean = len(self.word) / max(len(self.key), 1)
        score = np.bincount(inverse, weight) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * long / mean))
        best = np.lexsort((places, -np.round(score, 9)))[:count]
        return places[best].astype(np.int64)


@functools.lru_cache(maxsize=2)
def open_pool(folder: str) -> Pool:
    """The pool in a folder, opened once for each process; a remote one is copied to this machine first."""
    if files.is_remote(folder):
        local = tempfile.mkdtemp(prefix="dialmill-pool-")
        for path in files.list_files(folder):
            Path(local, path.rsplit("/", 1)[-1]).write_bytes(files.read_bytes(path))
        return Pool(local)
    return Pool(folder)
