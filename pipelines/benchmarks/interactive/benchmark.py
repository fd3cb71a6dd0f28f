"""DSTC9 Track 3 (Gunasekara et al. 2020, section IV): interactive evaluation of dialogue, prepared for raters.

From logs of several systems, any source whose records keep a field that names the system: offensive conversations out, four turns at least, an equal
number of each system, drawn by a seeded hash. The release is for raters and blind to the systems: ``release/turn_level.json`` and
``dialogue_level.json`` (items in FED's form), ``questionnaire.json``, and ``key.json``, which says which system each item is of; keep it from raters.
Ratings that the input has (FED's form) stand in ``ratings.json``. With held-out labels these last two are in ``labels/release/``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Annotated, Any, ClassVar

import msgspec
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.benchmarks.interactive import predictor, scorer
from dialmill.pipelines.benchmarks.interactive.items import Item, items_of, rated_item, system_of
from dialmill.pipelines.benchmarks.interactive.kinds import ITEMS, KEY, KINDS, QUESTIONS, RATINGS
from dialmill.pipelines.benchmarks.interactive.questionnaire import DIALOGUE, LEVELS, TURN, questions
from dialmill.pipelines.core.benchmark import Benchmark, Job
from dialmill.pipelines.core.counters import SHORTFALL
from dialmill.pipelines.core.errors import DialmillError, RecordError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import OwnScoring
from dialmill.pipelines.core.stage import Item as Packed
from dialmill.pipelines.core.stage import Out, Stage
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import STANDARD

_LOG = "log"
Place = tuple[int, str]


@dataclass(frozen=True)
class Track3Recipe(Recipe):
    """Keys of DSTC9 Track 3."""

    system_field: Annotated[str, Meta(description="the field of a record that names the system that spoke", examples=["model"])] = "system"
    per_system: Annotated[
        int,
        Meta(ge=1, description="conversations of each system, at most; all systems have as many", examples=[100], extra={"unit": "conversations"}),
    ] = 200
    replies: Annotated[
        int,
        Meta(ge=0, description="replies of each conversation that are rated by themselves, besides the whole of it", examples=[3]),
    ] = 1

    relaxed_by: ClassVar[Mapping[str, str]] = {**Recipe.relaxed_by, "no_system": "system_field=NAME"}


class Dstc9Track3(Benchmark):
    name = "dstc9-track3"
    about = "DSTC9 Track 3: logs of several systems cleaned, an equal number of each, as FED's items and questionnaire for raters"
    paper = "Gunasekara et al. (2020), Overview of the Ninth Dialog System Technology Challenge"
    kinds = KINDS
    takes_records = True
    takes_carried = True
    panel = ""

    def recipe(self) -> type[Recipe]:
        return Track3Recipe

    def own_scoring(self) -> OwnScoring:
        return scorer

    def predictor(self) -> Predictor:
        return predictor

    def check(self, job: Job) -> None:
        if job.recipe.suites != [STANDARD]:
            raise DialmillError(f"dstc9-track3 is made of the conversations as they were: suites=standard, not {','.join(job.recipe.suites)}")

    def assess(self, dialogue: Dialogue, extra: bytes, recipe: Recipe, seed: int) -> tuple[Dialogue, int | None]:
        assert isinstance(recipe, Track3Recipe)
        if system_of(dialogue, recipe.system_field) is None:
            raise RecordError("no_system", f"its record has no field {recipe.system_field!r} that names the system")
        if not any(turn.speaker == "system" for turn in dialogue.turns):
            raise RecordError("no_reply", dialogue.turns[0].utterance)
        return dialogue, None

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        recipe = job.recipe
        assert isinstance(recipe, Track3Recipe)
        named = runner.apply("name the systems", NameSystems(recipe, job.seed), records)
        drawn = runner.combine("draw as many of each system", DrawEqually(recipe.per_system), named.main)
        written = runner.apply("write items for raters", WriteItems(recipe, job.seed, job.shards), records, side=drawn)
        asked = runner.apply("write the questionnaire", WriteQuestions(recipe.per_system), runner.create("levels", list(LEVELS)), side=drawn)
        return [named, written, asked]

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        hidden = "labels/" if blind else ""
        return {
            **{f"release/{level}_level.json": ITEMS for level in LEVELS},
            "release/questionnaire.json": QUESTIONS,
            f"{hidden}release/key.json": KEY,
            f"{hidden}release/ratings.json": RATINGS,
        }


class Drawn(msgspec.Struct):
    """What was drawn: (kind of record, system) -> the last place of those that are taken; and how many there were."""

    last: dict[str, dict[str, Place]] = {}
    have: dict[str, dict[str, int]] = {}

    def has(self, kind: str, system: str, place: Place) -> bool:
        """Whether a conversation is among those drawn."""
        return place <= self.last[kind][system]


def _kind_of(extra: bytes) -> str:
    """Whether a record is a conversation of a log, or an item for raters already, of a level: each kind is drawn from by itself."""
    given = rated_item(extra)
    return _LOG if given is None else TURN if isinstance(given.get("response"), str) else DIALOGUE


def _place(seed: int, system: str, source_id: str) -> Place:
    return key_number(seed, "draw@1", system, source_id), source_id


class NameSystems(Stage):
    """The place of a conversation among those of its system, keyed by kind and system."""

    tags = ()

    def __init__(self, recipe: Track3Recipe, seed: int) -> None:
        self.recipe, self.seed = recipe, seed

    def process(self, element: Packed, side: object = None) -> Iterable[tuple[str, Packed]]:
        made = SplitDialogue.decode(element[1])
        system = system_of(made.dialogue, self.recipe.system_field)
        if made.split is not None and system is not None:
            yield "main", (f"{_kind_of(made.extra)}\t{system}", msgspec.msgpack.encode(_place(self.seed, system, element[0])))


class DrawEqually:
    """The lowest places of each system, as many of each as the smallest has, `wanted` at most. A combiner whose memory grows with what is drawn."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def create(self) -> dict[str, tuple[int, list[Place]]]:
        """Nothing yet."""
        return {}

    def add(self, state: dict[str, tuple[int, list[Place]]], item: Packed) -> dict[str, tuple[int, list[Place]]]:
        """Adds a conversation."""
        return self._join(state, item[0], 1, [msgspec.msgpack.decode(item[1], type=Place)])

    def merge(self, states: Iterable[dict[str, tuple[int, list[Place]]]]) -> dict[str, tuple[int, list[Place]]]:
        """All of them."""
        merged = self.create()
        for state in states:
            for key, (number, places) in state.items():
                self._join(merged, key, number, places)
        return merged

    def _join(self, state: dict[str, tuple[int, list[Place]]], key: str, number: int, places: list[Place]) -> dict[str, tuple[int, list[Place]]]:
        before, kept = state.get(key, (0, []))
        kept = [*kept, *places]
        state[key] = (before + number, nsmallest(self.wanted, kept) if len(kept) > 2 * self.wanted + 64 else kept)
        return state

    def extract_output(self, state: dict[str, tuple[int, list[Place]]]) -> Drawn:
        """What is drawn."""
        drawn = Drawn({}, {})
        for key, (number, _) in sorted(state.items()):
            kind, _, system = key.partition("\t")
            drawn.have.setdefault(kind, {})[system] = number
        for kind, counts in drawn.have.items():
            size = min(self.wanted, *counts.values())
            drawn.last[kind] = {system: nsmallest(size, state[f"{kind}\t{system}"][1])[-1] for system in counts}
        return drawn


class WriteItems(Stage):
    """The items of the conversations that were drawn, the key, and the ratings that they came with. Side input: `Drawn`."""

    tags = ("out",)

    def __init__(self, recipe: Track3Recipe, seed: int, shards: int) -> None:
        self.recipe, self.seed, self.shards = recipe, seed, shards

    def process(self, element: Packed, side: Drawn | None = None) -> Iterable[tuple[str, Packed]]:
        made = SplitDialogue.decode(element[1])
        dialogue = made.dialogue
        system = system_of(dialogue, self.recipe.system_field)
        if side is None or made.split is None or system is None:
            return
        counted = self.counters.stage("draw")
        counted.entered += 1
        if not side.has(_kind_of(made.extra), system, _place(self.seed, system, element[0])):
            self.counters.reject("draw", "not_drawn")
            return
        counted.out += 1
        given = (rated_item(made.extra) or {}).get("annotations")
        for item in items_of(dialogue, made.extra, self.recipe.replies, self.recipe.min_turns, self.seed):
            for out in self._pieces(item, system, dialogue.source_id, given):
                yield "out", out.item(self.shards)

    def _pieces(self, item: Item, system: str, source_id: str, given: Any) -> Iterable[Out]:
        # By a hash, so that the order tells raters nothing of the systems.
        order = key_number(self.seed, "order@1", item.id).to_bytes(8, "big") + item.id.encode("utf-8", "surrogatepass")
        hidden = "labels/" if self.recipe.held_out_labels else ""
        yield Out(f"release/{item.level}_level.json", order, 1, msgspec.json.encode(item))
        about = {"system": system, "source_id": source_id, "level": item.level}
        yield Out(f"{hidden}release/key.json", order, 1, msgspec.json.encode(item.id) + b": " + msgspec.json.encode(about))
        if isinstance(given, dict):
            rated = {**msgspec.to_builtins(item), "system": system, "annotations": given}
            yield Out(f"{hidden}release/ratings.json", order, 1, msgspec.json.encode(rated))


class WriteQuestions(Stage):
    """The questions of a level; with the first one, what the input had fewer of than was wanted. Side input: `Drawn`."""

    tags = ("out",)

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def process(self, element: str, side: Drawn | None = None) -> Iterable[tuple[str, Packed]]:
        line = msgspec.json.encode(element) + b": " + msgspec.json.encode(questions(element))
        yield "out", Out("release/questionnaire.json", bytes([LEVELS.index(element)]), 1, line).item(1)
        if side is None or element != LEVELS[0]:
            return
        for kind, counts in sorted(side.have.items()):
            system, least = min(counts.items(), key=lambda item: (item[1], item[0]))
            what = "conversations" if kind == _LOG else f"items of the {kind} level"
            if least < self.wanted:
                self.counters.note(f"{SHORTFALL}{what}: {least:,} of each of {len(counts)} systems, not {self.wanted:,}: {system} has no more")
            if len(counts) == 1:
                self.counters.note(f"{SHORTFALL}{what}: all are of one system ({system}), so that there is nothing to compare")
