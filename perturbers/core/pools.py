"""What a perturber needs from the whole input: a pool, gathered dialogue by dialogue, merged by key, and looked up by key.

A `Pool` says what a dialogue contributes and how contributions merge; `PoolTable` is the merged pool as one sorted file. The pipeline gathers and
merges on its own engine, in shards by key, and gets the same entries as `build_table`, which does it in this process. A perturber holds a pool as a
`PoolFile`: a value that compares by content and travels to other processes.
"""

from __future__ import annotations

import mmap
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, NamedTuple

from dialmill.schemas import Dialogue

_MAGIC = b"dialmill pool 1\n"
_COUNT = struct.Struct("<Q")
_PLACE = struct.Struct("<QII")  # where the key stands, its length, the length of what follows it


class Entry(NamedTuple):
    """What a dialogue contributes to a pool, and the split that the dialogue is in ("" for none)."""

    split: str
    data: bytes


class Pool(ABC):
    """A kind of pool. Stateless: instances are equal if their classes are."""

    name: ClassVar[str]

    @abstractmethod
    def entries(self, dialogue: Dialogue) -> Iterable[tuple[str, bytes]]:
        """What a dialogue contributes: keys and data."""

    @abstractmethod
    def merge(self, entries: Iterable[Entry]) -> bytes | None:
        """The entries of one key as one, whatever their order: sorted, without repetitions, a bounded number. None leaves the key out."""

    @abstractmethod
    def join(self, merged: Iterable[bytes]) -> bytes:
        """What `merge` made of parts of the entries of one key, one or more, as what it makes of all of them: a key that every dialogue contributes
        to is never in memory whole."""


class Merging:
    """The entries of one key while they come in: some wait, the others are merged. Two are equal in the end however entries came to them.

    Args:
        pool: whose entries they are.
        merged: what was merged before, None for nothing.
    """

    #: Entries that wait, at most.
    MOST = 512

    def __init__(self, pool: Pool, merged: bytes | None = None) -> None:
        self.pool, self._merged, self._waiting = pool, [] if merged is None else [merged], list[Entry]()

    def add(self, entry: Entry) -> None:
        """Adds an entry."""
        self._waiting.append(entry)
        if len(self._waiting) >= self.MOST:
            self.result()

    def add_merged(self, merged: bytes | None) -> None:
        """Adds the `result` of another part."""
        if merged is not None:
            self._merged.append(merged)
            if len(self._merged) > 8:
                self.result()

    def result(self) -> bytes | None:
        """All that was added, merged; None where the pool leaves it out."""
        if self._waiting:
            made = self.pool.merge(self._waiting)
            self._merged += [] if made is None else [made]
            self._waiting = []
        if len(self._merged) > 1:
            self._merged = [self.pool.join(self._merged)]
        return self._merged[0] if self._merged else None


class PoolTable:
    """A merged pool: sorted keys with their data, in one block of bytes that is looked up where it lies (a mapped file takes no memory)."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        if data[: len(_MAGIC)] != _MAGIC:
            raise ValueError("this is no pool file")
        self._data = data
        self._count = int(_COUNT.unpack_from(data, len(_MAGIC))[0])
        self._base = len(_MAGIC) + _COUNT.size

    @classmethod
    def open(cls, path: str) -> PoolTable:
        """A table in a local file.

        Raises:
            OSError: it can't be opened.
            ValueError: it is no pool file.
        """
        with Path(path).open("rb") as stream:
            return cls(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))

    def __len__(self) -> int:
        return self._count

    def get(self, key: str) -> bytes | None:
        """The data of a key, None where the pool has none."""
        wanted = key.encode("utf-8", "surrogatepass")
        data, low, high = self._data, 0, self._count
        while low < high:
            middle = (low + high) // 2
            start, length, size = _PLACE.unpack_from(data, self._base + middle * _PLACE.size)
            found = data[start : start + length]
            if found == wanted:
                return data[start + length : start + length + size]
            if found < wanted:
                low = middle + 1
            else:
                high = middle
        return None


def table_bytes(items: Iterable[tuple[str, bytes]]) -> bytes:
    """Merged entries as the content of a pool file; keys must differ, their order doesn't matter."""
    pairs = sorted((key.encode("utf-8", "surrogatepass"), data) for key, data in items)
    reached = len(_MAGIC) + _COUNT.size + len(pairs) * _PLACE.size
    places = []
    for key, data in pairs:
        places.append(_PLACE.pack(reached, len(key), len(data)))
        reached += len(key) + len(data)
    return b"".join([_MAGIC, _COUNT.pack(len(pairs)), *places, *(part for pair in pairs for part in pair)])


@dataclass(frozen=True)
class PoolFile:
    """A merged pool as a perturber holds it: equal to another with the same content, pickled as what it is, opened once per process on first use.

    Args:
        digest: of the content (BLAKE2b, 16 bytes, hexadecimal).
        path: the local file that holds it; "" for a pool in memory.
        data: the content of a pool in memory.
    """

    digest: str
    path: str = field(default="", compare=False)
    data: bytes = field(default=b"", compare=False, repr=False)

    @classmethod
    def of_file(cls, path: str) -> PoolFile:
        """The pool in a local file.

        Raises:
            OSError: it can't be read.
        """
        sha = blake2b(digest_size=16)
        with Path(path).open("rb") as stream:
            while block := stream.read(1 << 20):
                sha.update(block)
        return cls(sha.hexdigest(), path)

    @classmethod
    def of_bytes(cls, data: bytes) -> PoolFile:
        """A pool in memory, from the content of a pool file."""
        return cls(blake2b(data, digest_size=16).hexdigest(), data=data)

    @classmethod
    def of_dialogues(cls, pool: Pool, dialogues: Iterable[Dialogue]) -> PoolFile:
        """The pool of some dialogues, gathered in this process and held in memory."""
        return cls.of_bytes(table_content(pool, dialogues))

    def open(self) -> PoolTable:
        """The table, the same object for equal pools as long as it is in use."""
        return _opened(self)


@lru_cache(maxsize=16)
def _opened(pool: PoolFile) -> PoolTable:
    return PoolTable(pool.data) if pool.data else PoolTable.open(pool.path)


def build_table(pool: Pool, dialogues: Iterable[Dialogue]) -> PoolTable:
    """The pool of some dialogues, in memory."""
    return PoolTable(table_content(pool, dialogues))


def table_content(pool: Pool, dialogues: Iterable[Dialogue]) -> bytes:
    """The pool of some dialogues as the content of a pool file."""
    groups: dict[str, list[Entry]] = {}
    for dialogue in dialogues:
        for key, data in pool.entries(dialogue):
            groups.setdefault(key, []).append(Entry(dialogue.split or "", data))
    merged = ((key, pool.merge(entries)) for key, entries in groups.items())
    return table_bytes((key, data) for key, data in merged if data is not None)
