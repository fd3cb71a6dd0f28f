"""The pool of candidates: every distinct utterance once, in flat files that each worker maps into memory once.

A pool is sorted by the hash of its candidates' keys, so that it looks the same whoever built it, and is never held as Python objects: a million
utterances are about 200 MB of files, of which a worker's memory holds the pages it touches. Beside each candidate stands how often it could have
been the answer, in each split: distractors are drawn by that, as answers are.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
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


class _Columns:
    """The files of a pool while they are written: columns by name, part after part."""

    def __init__(self, folder: str, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._streams: dict[str, Any] = {}

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Adds to a column."""
        if name not in self._streams:
            self._streams[name] = self._opened.enter_context(files.create(files.join(self._folder, name)))
        if array.size:
            self._streams[name].write(np.ascontiguousarray(array, dtype=(_TYPES | _POSTINGS)[name]).data)


class _Reached:
    """How far columns reach: pointers of a part as pointers of the whole."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}

    def pointers(self, name: str, lengths: NDArray[Any]) -> NDArray[np.uint64]:
        """Where the items of a part end, behind the parts before it; the very first pointer, 0, comes with the first part."""
        begun = name in self._at
        ends = np.cumsum(lengths, dtype=np.uint64) + np.uint64(self._at.get(name, 0))
        self._at[name] = int(ends[-1]) if len(ends) else self._at.get(name, 0)
        return ends if begun else np.concatenate((np.zeros(1, np.uint64), ends))


def join_shards(shards: Sequence[bytes], folder: str, pool_size: int | None, postings: bool) -> PoolInfo:
    """Parts in ascending order of their keys as the files of one pool in `folder`. One part at a time is unpacked; of the whole, the vocabulary and a
    byte or two for each candidate are in memory (with postings four bytes for each word as well).

    Args:
        shards: read twice; a sequence that makes its items when they are asked for does.
        pool_size: how many candidates the shared pool takes, its examples' answers first; None for none.
        postings: whether `Pool.similar` will be asked.
    """

    def parts() -> Iterator[Callable[[str, Any], NDArray[Any]]]:
        for shard in shards:
            part = msgspec.msgpack.decode(shard, type=dict[str, bytes])
            yield lambda name, kind, part=part: np.frombuffer(part[name], dtype=kind)  # type: ignore[misc]

    vocab, df = np.zeros(0, np.uint32), np.zeros(0, np.int64)
    all_flags, all_could = [np.zeros(0, np.uint8)], [np.zeros(0, np.bool_)]
    for column in parts():
        vocab, df = _counted(vocab, df, column("hashed", np.uint32))
        all_flags.append(column("flags", np.uint8))
        all_could.append(column("weight", np.uint64).reshape(-1, len(_WEIGHED)).sum(axis=1) > 0)
    flags = np.concatenate(all_flags)
    shared = 0 if pool_size is None else _share(flags, np.concatenate(all_could), pool_size)
    with ExitStack() as opened:
        made, reached, posted = _Columns(folder, opened), _Reached(), _Postings(df) if postings else None
        made.add("flags", flags)
        made.add("vocab", vocab)
        made.add("df", df)
        for column in parts():
            for name in ("key", "length", "kind", "act", "theme", "weight", "text"):
                made.add(name, column(name, _TYPES[name]))
            for name, lengths in (("offset", "bytes"), ("theme_ptr", "themes"), ("indptr", "words")):
                made.add(name, reached.pointers(name, column(lengths, np.uint64)))
            word = np.searchsorted(vocab, column("hashed", np.uint32)).astype(np.uint32)
            made.add("word", word)
            if posted is not None:
                posted.add(word, column("words", np.uint64).astype(np.int64))
        for name, kind in _TYPES.items():  # of a pool without parts
            made.add(name, np.zeros(1 if name in ("offset", "theme_ptr", "indptr") and not shards else 0, kind))
        if posted is not None:
            made.add("post", posted.post)
            made.add("post_ptr", posted.ptr)
    sizes = {split: int((flags & bit > 0).sum()) for split, bit in SPLIT_BITS.items()}
    return PoolInfo(folder, len(flags), sizes, shared)


def _counted(vocab: NDArray[np.uint32], df: NDArray[np.int64], hashed: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """A vocabulary, ascending, and how many candidates have each word, with the words of another part."""
    own, counts = np.unique(hashed, return_counts=True)
    both = np.union1d(vocab, own)
    sums = np.zeros(len(both), np.int64)
    sums[np.searchsorted(both, vocab)] += df
    sums[np.searchsorted(both, own)] += counts
    return both, sums


def _share(flags: NDArray[np.uint8], could: NDArray[np.bool_], pool_size: int) -> int:
    """Marks the candidates of the shared pool, and says how many they are. The keys are hashes, so the first ones are a random choice; what could be
    an answer goes before what couldn't."""
    answers = flags & ANSWER > 0
    rest = np.concatenate([np.flatnonzero(~answers & could), np.flatnonzero(~answers & ~could)])[: max(0, pool_size - int(answers.sum()))]
    flags[answers] |= SHARED
    flags[rest] |= SHARED
    return int((flags & SHARED > 0).sum())


class _Postings:
    """The candidates of each word, in the order in which parts come."""

    def __init__(self, df: NDArray[np.int64]) -> None:
        self.ptr = np.concatenate((np.zeros(1, np.uint64), np.cumsum(df, dtype=np.uint64)))
        self.post = np.zeros(int(self.ptr[-1]), np.uint32)
        self._next = self.ptr[:-1].astype(np.int64)
        self._candidates = 0

    def add(self, word: NDArray[np.uint32], counts: NDArray[np.int64]) -> None:
        """Adds the words of the candidates of a part, of which each has so many."""
        order = np.argsort(word, kind="stable")
        found, number = np.unique(word, return_counts=True)
        within = np.arange(len(word)) - np.repeat(np.cumsum(number) - number, number)
        owners = np.repeat(np.arange(self._candidates, self._candidates + len(counts), dtype=np.uint32), counts)
        self.post[np.repeat(self._next[found], number) + within] = owners[order]
        self._next[found] += number
        self._candidates += len(counts)


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
            with files.read(path) as stream, Path(local, path.rsplit("/", 1)[-1]).open("wb") as copied:
                shutil.copyfileobj(stream, copied, 8 << 20)
        return Pool(local)
    return Pool(folder)
