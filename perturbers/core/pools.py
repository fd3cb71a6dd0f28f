"""What a perturber needs from the whole input: a pool, gathered dialogue by dialogue, merged by key, and looked up by key.

A `Pool` says what a dialogue contributes and how contributions merge; `PoolTable` is the merged pool as one sorted file. The pipeline gathers and
merges on its own engine and gets the same file as `build_table`, which does it in this process.
"""

from __future__ import annotations

import mmap
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
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


def build_table(pool: Pool, dialogues: Sequence[Dialogue] | Iterable[Dialogue]) -> PoolTable:
    """The pool of some dialogues, in memory."""
    groups: dict[str, list[Entry]] = {}
    for dialogue in dialogues:
        for key, data in pool.entries(dialogue):
            groups.setdefault(key, []).append(Entry(dialogue.split or "", data))
    merged = ((key, pool.merge(entries)) for key, entries in groups.items())
    return PoolTable(table_bytes((key, data) for key, data in merged if data is not None))
