"""What perturbers find out on a sample of the corpus before they perturb it: the speech channel, how much noise gives the WER asked for.

The sample is the dialogues of the lowest seeded hashes, so that it depends neither on the order of the input nor on how it is spread over workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core import files
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.stages.items import ParsedDialogue, unpack_dialogue

#: Dialogues in the sample, and the file that holds what was found while a run lasts.
DIALOGUES = 240
FILE = "tuning.msgpack"


def wanted(recipe: Recipe) -> bool:
    """Whether a suite of the recipe is to be tuned."""
    return any(suite.perturber.tunable() for suite in recipe.suite_plan())


class RankDialogues(Stage):
    """Every dialogue with its rank."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        parsed = ParsedDialogue.decode(element[1])
        yield "main", (element[0], msgspec.msgpack.encode((key_number(self.seed, "tuning", parsed.fact.source_id), parsed.packed)))


class KeepSample:
    """Combiner: the `DIALOGUES` of the lowest ranks, packed, in their order."""

    def create(self) -> list[tuple[int, str, bytes]]:
        """None."""
        return []

    def add(self, state: list[tuple[int, str, bytes]], item: Item) -> list[tuple[int, str, bytes]]:
        """Adds a dialogue."""
        rank, packed = msgspec.msgpack.decode(item[1], type=tuple[int, bytes])
        state.append((rank, item[0], packed))
        return state if len(state) < 4 * DIALOGUES else sorted(state)[:DIALOGUES]

    def merge(self, states: Iterable[list[tuple[int, str, bytes]]]) -> list[tuple[int, str, bytes]]:
        """All of them."""
        return sorted((rank, name, packed) for state in states for rank, name, packed in state)[:DIALOGUES]

    def extract_output(self, state: list[tuple[int, str, bytes]]) -> list[bytes]:
        """The sample."""
        return [packed for _, _, packed in sorted(state)[:DIALOGUES]]


class Tune(Stage):
    """Tunes every suite that wants it and writes what was found into a file in `folder`; gives its path. Side input: the sample."""

    def __init__(self, folder: str, recipe: Recipe, seed: int) -> None:
        self.folder, self.recipe, self.seed = folder, recipe, seed

    def process(self, element: object, side: list[bytes] | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        dialogues = [unpack_dialogue(packed) for packed in side]
        suites = [suite for suite in self.recipe.suite_plan() if suite.perturber.tunable()]
        found = {suite.name: suite.perturber.tune(dialogues, self.seed) for suite in suites}
        path = files.join(self.folder, FILE)
        with files.create(path) as stream:
            stream.write(msgspec.msgpack.encode(found))
        yield "main", (FILE, path.encode())


def learn(runner: Runner, recipe: Recipe, seed: int, folder: str, parsed: Any) -> tuple[Any, list[Any]]:
    """The part of the graph that tunes: (where it lies, as `stages.pools.PoolPaths` takes it; counters)."""
    ranked = runner.apply("rank dialogues for tuning", RankDialogues(seed), parsed)
    sample = runner.combine("sample for tuning", KeepSample(), ranked.main)
    tuned = runner.apply("tune", Tune(folder, recipe, seed), runner.create("tuning", [0]), side=sample)
    return tuned.main, [ranked.counters, tuned.counters]


def read(folder: str) -> dict[str, dict[str, Any]]:
    """What the suites of a run found out, by suite; those that found nothing are left out."""
    path = files.join(folder, FILE)
    return {suite: found for suite, found in _read(path).items() if found} if files.size(path) is not None else {}


def _read(path: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = msgspec.msgpack.decode(files.read_bytes(path))
    return found


def took_part(found: Mapping[str, Any]) -> frozenset[str]:
    """The source ids of the dialogues that a suite was tuned on, from what it found out."""
    if "dialogues" in found:
        return frozenset(found["dialogues"])
    return frozenset[str]().union(*(took_part(one) for one in found.values()))


def of_suite(suite: str, paths: Mapping[str, str]) -> dict[str, Any]:
    """What a suite found out, empty where nothing was tuned."""
    return _read(paths[FILE]).get(suite, {}) if FILE in paths else {}
