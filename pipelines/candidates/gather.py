"""How a pool is gathered: every text goes to the part that holds its key, and each part, without repeats, is written into a file of its own. What
travels on is where the parts lie, and where the pool lies is a side input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload
from urllib.parse import quote

import msgspec
from dialmill.pipelines.candidates.pool import NOTHING, About, PoolInfo, shard_of, utterance
from dialmill.pipelines.core import files
from dialmill.pipelines.core.stage import Item, Stage, compress, decompress

#: Parts in which a pool is gathered: at least, at most, and bytes of input for each.
PARTS, _MOST_PARTS, _PART_BYTES = 32, 4096, 16 << 20


def parts_of(bytes_in: int) -> int:
    """Parts of the pool of an input of so many bytes; the pool doesn't depend on them."""
    return max(PARTS, min(_MOST_PARTS, bytes_in // _PART_BYTES))


def contribution(text: str, flags: int, weight: int = 0, about: About = NOTHING, pool: str = "", parts: int = PARTS) -> Iterable[tuple[str, Item]]:
    """What a text gives to the pool: one item, none if it is empty. See `pool.utterance`; `pool` names one of several, which has so many parts."""
    found = utterance(text, flags, weight, about)
    if found is not None:
        part = f"{found[0] * parts >> 61:04}"
        yield "utterance", (f"{pool}\t{part}" if pool else part, found[1])


class PoolShard(Stage):
    """All candidates with nearby keys into a part of their pool, each once, in a file below `folder`; where it lies, keyed by the pool's name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        said = list(element[1])
        shard, number = shard_of(said)
        counted = self.counters.stage("pool")
        counted.entered += len(said)
        counted.out += number
        if len(said) > number:
            self.counters.reject("pool", "same_candidate", len(said) - number)
        path = files.join(self.folder, "parts", "candidates", quote(element[0], safe=""))
        with files.create(path) as stream:
            stream.write(compress(shard))
        yield "main", (element[0].rpartition("\t")[0], msgspec.msgpack.encode((element[0], path)))


class PartFiles(Sequence[bytes]):
    """What `PoolShard` made of one pool, in the order of the parts' keys, for `pool.join_shards`: each is read when it is asked for.

    Args:
        values: the values of one key.
    """

    def __init__(self, values: Iterable[bytes]) -> None:
        self._places = sorted(msgspec.msgpack.decode(value, type=tuple[str, str]) for value in values)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> bytes: ...

    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...

    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [decompress(files.read_bytes(path)) for _, path in self._places[at]]
        return decompress(files.read_bytes(self._places[at][1]))


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
