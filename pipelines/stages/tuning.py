"""What perturbers find out on a sample of the corpus before they perturb it: the speech channel, how much noise gives the WER asked for. And what
takes long is told to the user before it begins.

The sample is the dialogues of the lowest seeded hashes, so that it depends neither on the order of the input nor on how it is spread over workers; of
these a suite gets no more user turns than it has itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from dialmill.perturbers import Suite
from dialmill.perturbers.core.progress import begin, notice
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core import files
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.stages.items import ParsedDialogue, unpack_dialogue
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue

#: Dialogues in the sample, and the file that holds what was found while a run lasts.
DIALOGUES = 240
FILE = "tuning.msgpack"
#: The languages that a suite may take long for.
_LANGUAGES = ("en", "zh")


def _suites(recipe: Recipe) -> list[Suite]:
    """The suites that are to be tuned or take long."""
    return [one for one in recipe.suite_plan() if one.perturber.tunable() or any(map(one.perturber.takes_long, _LANGUAGES))]


def wanted(recipe: Recipe) -> bool:
    """Whether a suite of the recipe is to be tuned, or takes so long that it is to be told."""
    return bool(_suites(recipe))


class Sample(msgspec.Struct):
    """Dialogues in the order of their ranks, packed, and the user turns of each suite by language ("speech\ten")."""

    dialogues: list[tuple[int, str, bytes]] = []
    turns: dict[str, int] = {}


class RankDialogues(Stage):
    """Every dialogue with its rank and the user turns that the suites have of it. Side input: the layout."""

    def __init__(self, recipe: Recipe, seed: int, suites: Sequence[str]) -> None:
        self.recipe, self.seed, self.suites = recipe, seed, suites

    def process(self, element: Item, side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        parsed = ParsedDialogue.decode(element[1])
        split, _ = side.assign(parsed.fact, self.recipe)
        turns = {}
        if split is not None:
            dialogue = parsed.dialogue
            users = sum(turn.speaker == "user" for turn in dialogue.turns)
            for suite in self.suites:
                taken = self.recipe.takes(suite, split, dialogue.domains)
                if taken:
                    turns[f"{suite}\t{dialogue.language}"] = taken * users
        rank = key_number(self.seed, "tuning", parsed.fact.source_id)
        yield "main", (element[0], msgspec.msgpack.encode(Sample([(rank, element[0], parsed.packed)], turns)))


class KeepSample:
    """Combiner: the `DIALOGUES` of the lowest ranks, and the turns of all."""

    def create(self) -> Sample:
        """None."""
        return Sample()

    def add(self, state: Sample, item: Item) -> Sample:
        """Adds a dialogue."""
        _add(state, msgspec.msgpack.decode(item[1], type=Sample))
        if len(state.dialogues) >= 4 * DIALOGUES:
            state.dialogues = sorted(state.dialogues)[:DIALOGUES]
        return state

    def merge(self, states: Iterable[Sample]) -> Sample:
        """All of them."""
        merged = Sample()
        for state in states:
            _add(merged, state)
        merged.dialogues = sorted(merged.dialogues)[:DIALOGUES]
        return merged

    def extract_output(self, state: Sample) -> Sample:
        """The sample."""
        return Sample(sorted(state.dialogues)[:DIALOGUES], state.turns)


def _add(state: Sample, other: Sample) -> None:
    state.dialogues.extend(other.dialogues)
    for key, number in other.turns.items():
        state.turns[key] = state.turns.get(key, 0) + number


class Tune(Stage):
    """Tunes every suite that wants it and writes what was found into a file in `folder`; gives its path. Side input: the `Sample`."""

    def __init__(self, folder: str, recipe: Recipe, seed: int) -> None:
        self.folder, self.recipe, self.seed = folder, recipe, seed

    def process(self, element: object, side: Sample | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        dialogues = [unpack_dialogue(packed) for _, _, packed in side.dialogues]
        found = {}
        under_way: dict[str, int] = {}
        for name, perturber in _suites(self.recipe):
            turns = {language: side.turns.get(f"{name}\t{language}", 0) for language in _LANGUAGES}
            for language, number in turns.items():
                if number and perturber.takes_long(language):
                    seconds = perturber.seconds_per_turn([one for one in dialogues if one.language == language], self.seed)
                    notice(told(name, number, seconds))
                    under_way[name] = under_way.get(name, 0) + number
            if perturber.tunable():
                found[name] = perturber.tune(within(dialogues, turns), self.seed)
        for name, number in under_way.items():
            begin(suite_label(name), number, "turns")  # which the perturbing stage carries on
        path = files.join(self.folder, FILE)
        with files.create(path) as stream:
            stream.write(msgspec.msgpack.encode(found))
        yield "main", (FILE, path.encode())


def suite_label(name: str) -> str:
    """What the progress line calls the perturbing of a suite that takes long."""
    return f"suite {name}"


def told(suite: str, turns: int, seconds: float) -> str:
    """What a user is told before a suite that takes long: "suite speech: about 1,200 turns x 0.2 s = 4 min of audio; engine=text takes seconds"."""
    total = turns * seconds
    length = f"{total:.0f} s" if total < 90 else f"{total / 60:.0f} min" if total < 5400 else f"{total / 3600:.1f} h"
    audio = f"about {turns:,} turns x {seconds:.1f} s = {length} by audio, and as much again at most for tuning"
    return f"suite {suite}: {audio}; engine=text takes seconds"


def within(dialogues: Iterable[Dialogue], turns: Mapping[str, int]) -> list[Dialogue]:
    """The first dialogues that together have no more user turns of a language than `turns` says; one at least of each language that has any."""
    found: list[Dialogue] = []
    taken: dict[str, int] = {}
    for dialogue in dialogues:
        users = sum(turn.speaker == "user" for turn in dialogue.turns)
        before = taken.get(dialogue.language, 0)
        most = turns.get(dialogue.language, 0)
        if most and (not before or before + users <= most):
            found.append(dialogue)
            taken[dialogue.language] = before + users
    return found


def learn(runner: Runner, recipe: Recipe, seed: int, folder: str, parsed: Any, layout: Any) -> tuple[Any, list[Any]]:
    """The part of the graph that tunes: (where it lies, as `stages.pools.PoolPaths` takes it; counters)."""
    names = [suite.name for suite in _suites(recipe)]
    ranked = runner.apply("choose a sample for tuning", RankDialogues(recipe, seed, names), parsed, side=layout)
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
