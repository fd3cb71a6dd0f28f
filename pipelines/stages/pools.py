"""Pools that perturbers need from the whole input: gathered from every parsed dialogue, merged by key, written into temporary files, shard by shard.

They are gathered before the filters, so that dialogues of several domains lend their wording to those of one. What is written depends on the set of
contributions alone, so that every engine writes the same bytes. No worker has a whole pool: contributions to one key are combined as they come, a
shard holds the keys of one hash, and a perturber opens the shards that it looks keys up in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from dialmill.perturbers.core.contract import Perturber, PoolRequest
from dialmill.perturbers.core.pools import Entry, Merging, PoolFile, PoolTable, table_bytes
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.core.stage import Item, Stage, compress, decompress
from dialmill.pipelines.stages.read import parse_pieces
from dialmill.pipelines.stages.split import Fact, Layout
from dialmill.schemas import Dialogue

#: What a pool may be gathered from besides a path.
FROM_INPUT, FROM_TRAIN = "input", "train"


def requests(recipe: Recipe) -> list[PoolRequest]:
    """The pools that the suites of a recipe need, each once."""
    found = {(request.pool.name, request.source): request for suite in recipe.suite_plan() for request in suite.perturber.pools}
    return [found[key] for key in sorted(found)]


def contributions(wanted: Sequence[PoolRequest], dialogue: Dialogue, fact: Fact | None) -> Iterable[Item]:
    """What a dialogue gives to the pools, keyed by pool, source and key. `fact` tells its split later; None for a dialogue of another corpus."""
    packed = msgspec.msgpack.encode(fact)
    for request in wanted:
        for key, data in request.pool.entries(dialogue):
            yield f"{request.pool.name}\n{request.source}\n{key}", compress(msgspec.msgpack.encode((packed, data)))


class GatherFrom(Stage):
    """The pieces of a dialogue of another corpus into its contributions. Side input: the `Offsets` of ranges, or None."""

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source], wanted: Sequence[PoolRequest]) -> None:
        self.inputs, self.sources, self.wanted = inputs, sources, wanted

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        try:
            offsets = side if isinstance(side, dict) else None
            dialogue = parse_pieces(element[0], element[1], self.inputs, self.sources, offsets)
        except RecordError:
            self.counters.note("pool_record_unreadable")
            return
        if dialogue is not None:
            for item in contributions(self.wanted, dialogue, None):
                yield "main", item


class MarkSplits(Stage):
    """Contributions with the split of their dialogue, and the number of what they were asked for by: (number, split, data). Side input: the `Layout`;
    a pool "train" takes that split alone."""

    def __init__(self, recipe: Recipe, wanted: Sequence[PoolRequest]) -> None:
        self.recipe = recipe
        self.numbers = {(request.pool.name, request.source): number for number, request in enumerate(wanted)}

    def process(self, element: Item, side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        name, source, _ = element[0].split("\n", 2)
        packed, data = msgspec.msgpack.decode(decompress(element[1]), type=tuple[bytes, bytes])
        fact = msgspec.msgpack.decode(packed, type=Fact | None)
        split = None if fact is None else side.assign(fact, self.recipe)[0]
        if source != FROM_TRAIN or split == "train":
            yield "main", (element[0], msgspec.msgpack.encode((self.numbers[name, source], split or "", data)))


#: What is known of one key: the number of its request, and what of it is merged.
_Merged = tuple[int, bytes | None]
_MARKED = msgspec.msgpack.Decoder(tuple[int, str, bytes])
_MERGED = msgspec.msgpack.Decoder(_Merged)


class MergeKey:
    """Combiner of all contributions under one key, which are never all in memory. States are empty, packed, or under way."""

    def __init__(self, wanted: Sequence[PoolRequest]) -> None:
        self.wanted = wanted

    def create(self) -> Any:
        """Nothing yet."""
        return None

    def add(self, state: Any, item: bytes) -> Any:
        """Adds a contribution."""
        number, split, data = _MARKED.decode(item)
        if not isinstance(state, tuple):
            state = (number, Merging(self.wanted[number].pool, None if state is None else _MERGED.decode(state)[1]))
        state[1].add(Entry(split, data))
        return state

    def merge(self, states: Iterable[Any]) -> bytes | None:
        """All of them, packed."""
        found: tuple[int, Merging] | None = None
        for state in states:
            if state is None:
                continue
            number, merged = (state[0], state[1].result()) if isinstance(state, tuple) else _MERGED.decode(state)
            if found is None:
                found = (number, Merging(self.wanted[number].pool))
            found[1].add_merged(merged)
        return None if found is None else msgspec.msgpack.encode((found[0], found[1].result()))

    def extract_output(self, state: Any) -> bytes:
        """What is merged; empty where the pool leaves it out."""
        packed = self.merge([state])
        return (b"" if packed is None else _MERGED.decode(packed)[1]) or b""


#: Bytes of input whose pools make a shard, about, and shards at most.
_SHARD_BYTES, _MOST_SHARDS = 64 << 20, 4096


def shards_of(bytes_in: int) -> int:
    """Shards of each pool of an input of so many bytes."""
    return max(1, min(_MOST_SHARDS, bytes_in // _SHARD_BYTES))


def shard_of(key: str, shards: int) -> int:
    """The shard that has a key, if any has."""
    return crc32(key.encode("utf-8", "surrogatepass")) % shards


class KeyShards(Stage):
    """What is merged of each key, by pool and shard."""

    def __init__(self, shards: int) -> None:
        self.shards = shards

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        name, source, key = element[0].split("\n", 2)
        if element[1]:
            yield "main", (f"{name}\n{source}\n{shard_of(key, self.shards)}", msgspec.msgpack.encode((key, element[1])))


class WritePool(Stage):
    """One shard of a pool into its file below `folder`; gives where it lies (see `PoolPaths`)."""

    def __init__(self, folder: str, wanted: Sequence[PoolRequest], shards: int) -> None:
        self.folder, self.shards = folder, shards
        self.numbers = {f"{request.pool.name}\n{request.source}": number for number, request in enumerate(wanted)}

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        pool, shard = element[0].rsplit("\n", 1)
        path = files.join(self.folder, "parts", f"pool-{self.numbers[pool]}", f"{int(shard):04d}.table")
        content = table_bytes(msgspec.msgpack.decode(value, type=tuple[str, bytes]) for value in element[1])
        with files.create(path) as stream:
            stream.write(content)
        lies = Shards(self.shards, {int(shard): (path, blake2b(content, digest_size=16).hexdigest())})
        yield "main", (pool, lies.packed())


class Shards(msgspec.Struct, frozen=True):
    """Where a pool lies: in how many shards, and for those that have any key their path and the digest of their content."""

    number: int
    held: dict[int, tuple[str, str]]

    def packed(self) -> bytes:
        """As it travels: in ASCII."""
        return msgspec.json.encode(Shards(self.number, dict(sorted(self.held.items()))))

    def pool(self) -> ShardedPool:
        """As perturbers hold it."""
        held = sorted(self.held.items())
        digest = blake2b(repr([(shard, one) for shard, (_, one) in held]).encode(), digest_size=16).hexdigest()
        return ShardedPool(digest, shards=tuple((shard, path) for shard, (path, _) in held), number=self.number)


@dataclass(frozen=True)
class ShardedPool(PoolFile):
    """A pool in shards, which are opened when a key is looked up in them.

    Args:
        shards: the number of each shard that there is, and its path, local or remote.
        number: of shards, with those that have no key.
    """

    # Compared as well: what was opened for a run opens further shards later, and those of an earlier run are gone.
    shards: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    number: int = 1

    def open(self) -> PoolTable:
        return _opened(self)


@lru_cache(maxsize=16)
def _opened(pool: ShardedPool) -> PoolTable:
    return _ShardedTable(pool)


class _ShardedTable(PoolTable):
    """Looks keys up in shards. A local one is mapped where it lies, a remote one copied to this machine first, when it is asked for."""

    def __init__(self, pool: ShardedPool) -> None:
        self._number, self._paths = pool.number, dict(pool.shards)
        self._tables: dict[int, PoolTable] = {}
        self._copies: tempfile.TemporaryDirectory[str] | None = None

    def __len__(self) -> int:
        return sum(len(self._table(shard)) for shard in self._paths)

    def get(self, key: str) -> bytes | None:
        shard = shard_of(key, self._number)
        return self._table(shard).get(key) if shard in self._paths else None

    def _table(self, shard: int) -> PoolTable:
        if shard not in self._tables:
            path = self._paths[shard]
            if files.is_remote(path):
                if self._copies is None:
                    self._copies = tempfile.TemporaryDirectory(prefix="dialmill-pool-")
                copied = Path(self._copies.name, f"{shard}.table")
                copied.write_bytes(files.read_bytes(path))
                path = str(copied)
            self._tables[shard] = PoolTable.open(path)
        return self._tables[shard]


class PoolPaths:
    """Combiner: where the prepared files lie, by name: a path, or the `Shards` of a pool by its name and source on two lines."""

    def create(self) -> dict[str, list[str]]:
        """Nothing."""
        return {}

    def add(self, state: dict[str, list[str]], item: tuple[str, bytes]) -> dict[str, list[str]]:
        """Adds a file, or a shard."""
        state.setdefault(item[0], []).append(item[1].decode())
        return state

    def merge(self, states: Iterable[dict[str, list[str]]]) -> dict[str, list[str]]:
        """All of them."""
        merged: dict[str, list[str]] = {}
        for state in states:
            for name, lies in state.items():
                merged.setdefault(name, []).extend(lies)
        return merged

    def extract_output(self, state: dict[str, list[str]]) -> dict[str, str]:
        """Where they lie."""
        return {name: _together(lies) if "\n" in name else lies[-1] for name, lies in state.items()}


def _together(some: Iterable[str]) -> str:
    found = [msgspec.json.decode(lies, type=Shards) for lies in some]
    return Shards(found[0].number, {shard: one for shards in found for shard, one in shards.held.items()}).packed().decode()


@lru_cache(maxsize=16)
def _pool_at(lies: str) -> PoolFile:
    return msgspec.json.decode(lies, type=Shards).pool()


def pool_in(paths: Mapping[str, str], name: str, source: str) -> PoolFile | None:
    """A pool as perturbers hold it, once per process; None where it has nothing."""
    lies = paths.get(f"{name}\n{source}")
    return None if lies is None else _pool_at(lies)


def bind(perturber: Perturber, paths: Mapping[str, str]) -> Perturber:
    """The perturber with its pools."""
    found = {(request.pool.name, request.source): pool_in(paths, request.pool.name, request.source) for request in perturber.pools}
    return perturber.with_pools({key: pool for key, pool in found.items() if pool is not None})
