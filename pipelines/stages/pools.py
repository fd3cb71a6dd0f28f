"""Pools that perturbers need from the whole input: gathered from every parsed dialogue, merged by key, each written into a temporary file.

They are gathered before the filters, so that dialogues of several domains lend their wording to those of one. What is written depends on the set of
contributions alone, so that every engine writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec
from dialmill.perturbers.core.contract import Perturber, PoolRequest
from dialmill.perturbers.core.pools import Entry, PoolFile, table_bytes
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
    """The pieces of a dialogue of another corpus into its contributions."""

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source], wanted: Sequence[PoolRequest]) -> None:
        self.inputs, self.sources, self.wanted = inputs, sources, wanted

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        try:
            dialogue = parse_pieces(element[0], element[1], self.inputs, self.sources)
        except RecordError:
            self.counters.note("pool_record_unreadable")
            return
        if dialogue is not None:
            for item in contributions(self.wanted, dialogue, None):
                yield "main", item


class MergePools(Stage):
    """All contributions under one key into one. Side input: the `Layout`, which tells the split of each; a pool "train" takes that one alone."""

    def __init__(self, recipe: Recipe, wanted: Sequence[PoolRequest]) -> None:
        self.recipe = recipe
        self.wanted = {(request.pool.name, request.source): request for request in wanted}

    def process(self, element: tuple[str, Iterable[bytes]], side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        name, source, key = element[0].split("\n", 2)
        entries = []
        for value in element[1]:
            packed, data = msgspec.msgpack.decode(decompress(value), type=tuple[bytes, bytes])
            fact = msgspec.msgpack.decode(packed, type=Fact | None)
            split = None if fact is None else side.assign(fact, self.recipe)[0]
            if source != FROM_TRAIN or split == "train":
                entries.append(Entry(split or "", data))
        merged = self.wanted[name, source].pool.merge(entries)
        if merged is not None:
            yield "main", (f"{name}\n{source}", msgspec.msgpack.encode((key, merged)))


class WritePool(Stage):
    """One pool into its file in `folder`; gives the file's name."""

    def __init__(self, folder: str, wanted: Sequence[PoolRequest]) -> None:
        self.folder = folder
        self.names = {f"{request.pool.name}\n{request.source}": name for request, name in zip(wanted, pool_files(wanted), strict=True)}

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        path = files.join(self.folder, self.names[element[0]])
        with files.create(path) as stream:
            stream.write(table_bytes(msgspec.msgpack.decode(value, type=tuple[str, bytes]) for value in element[1]))
        yield "main", (element[0], path.encode())


def pool_files(wanted: Sequence[PoolRequest]) -> list[str]:
    """The names of the files of pools, in their order."""
    return [f"pool-{number}.table" for number in range(len(wanted))]


class PoolPaths:
    """Combiner: where the pools lie, by name and source on two lines."""

    def create(self) -> dict[str, str]:
        """No pool."""
        return {}

    def add(self, state: dict[str, str], item: tuple[str, bytes]) -> dict[str, str]:
        """Adds a pool."""
        state[item[0]] = item[1].decode()
        return state

    def merge(self, states: Iterable[dict[str, str]]) -> dict[str, str]:
        """All pools."""
        return {name: path for state in states for name, path in state.items()}

    def extract_output(self, state: dict[str, str]) -> dict[str, str]:
        """The pools."""
        return state


@lru_cache(maxsize=16)
def pool_file(path: str) -> PoolFile:
    """A pool as perturbers hold it, once per process: by its path where the file is local, else by its content."""
    return PoolFile.of_bytes(files.read_bytes(path)) if files.is_remote(path) else PoolFile.of_file(path)


def bind(perturber: Perturber, paths: Mapping[str, str]) -> Perturber:
    """The perturber with its pools."""
    found = {}
    for request in perturber.pools:
        path = paths.get(f"{request.pool.name}\n{request.source}")
        if path is not None:
            found[request.pool.name, request.source] = pool_file(path)
    return perturber.with_pools(found)
