"""How a pool is gathered: every text goes to the part that holds its key, each part has no repeats, and where the pool lies is a side input."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import overload

import msgspec
from dialmill.pipelines.candidates.pool import NOTHING, About, PoolInfo, shard_of, utterance
from dialmill.pipelines.core.stage import Item, Stage, compress, decompress

#: Parts in which a pool is gathered.
_POOL_SHARDS = 32


def contribution(text: str, flags: int, weight: int = 0, about: About = NOTHING, pool: str = "") -> Iterable[tuple[str, Item]]:
    """What a text gives to the pool: one item, none if it is empty. See `pool.utterance`; `pool` names one of several."""
    found = utterance(text, flags, weight, about)
    if found is not None:
        yield "utterance", (f"{pool}\t{found[0] * _POOL_SHARDS >> 61:03}" if pool else f"{found[0] * _POOL_SHARDS >> 61:03}", found[1])


class PoolShard(Stage):
    """All candidates with nearby keys into a part of their pool, each once; keyed by the pool's name."""

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        said = list(element[1])
        shard, number = shard_of(said)
        counted = self.counters.stage("pool")
        counted.entered += len(said)
        counted.out += number
        if len(said) > number:
            self.counters.reject("pool", "same_candidate", len(said) - number)
        yield "main", (element[0].rpartition("\t")[0], compress(msgspec.msgpack.encode((element[0], shard))))


class PackedParts(Sequence[bytes]):
    """What `PoolShard` made of one pool, in the order of the parts' keys, for `pool.join_shards`: each is unpacked when it is asked for.

    Args:
        values: the values of one key.
    """

    def __init__(self, values: Iterable[bytes]) -> None:
        self._values = sorted(values, key=_name_of)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, at: int) -> bytes: ...

    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...

    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [_part_of(value) for value in self._values[at]]
        return _part_of(self._values[at])


def _part_of(value: bytes) -> bytes:
    return msgspec.msgpack.decode(decompress(value), type=tuple[str, bytes])[1]


def _name_of(value: bytes) -> bytes:
    """The name of a part, which its packed form begins with: as MessagePack has a pair whose first is a short text."""
    head = zlib.decompressobj().decompress(value, 300)
    start, length = (3, head[2]) if head[1] == 0xD9 else (2, head[1] & 0x1F)
    return head[start : start + length]


class OnePool:
    """The one pool of a build, as a value for side inputs; None where nothing was said."""

    def create(self) -> PoolInfo | None:
        """Nothing yet."""
        return None

    def add(self, state: PoolInfo | None, item: Item) -> PoolInfo | None:
        """The pool."""
        return msgspec.msgpack.decode(item[1], type=PoolInfo)

    def merge(self, states: Iterable[PoolInfo | None]) -> PoolInfo | None:
        """The one that isn't None."""
        return next((state for state in states if state is not None), None)

    def extract_output(self, state: PoolInfo | None) -> PoolInfo | None:
        """The pool as workers get it."""
        return state
