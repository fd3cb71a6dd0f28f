"""CGoDial's slot-based dialogues (Dai et al., EMNLP 2022, section 3.1): RiSAWOZ with external knowledge, out-of-scope turns and spoken noise.

Questions that no slot answers and out-of-scope turns are put into a dialogue once, so that all of its versions have them; the suite `standard` is
the dialogue as written, `spoken` what a recogniser makes of it read out, slightly reworded, three times: four versions in all. Release files, under
the names that CGoDial's loader reads: ``release/data/processed/data_for_damd.json``, ``slot_value_set.json`` beside it, and
``release/data/risawoz/{train,val,test}ListFile.json``; beside them ``trainFewShotListFile.json`` and, for the hard test set,
``hard_data_id_sorted.json``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from dialmill.perturbers import Chain, OptionError, Perturber, get
from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.benchmarks.cgodial import slots_release as slots
from dialmill.pipelines.benchmarks.cgodial.check import check_slots
from dialmill.pipelines.benchmarks.cgodial.flows import keyed, needs_written
from dialmill.pipelines.benchmarks.cgodial.slots_scorer import SlotBased as _Scorer
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext, SourceRecords
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Item, Out, Stage
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas.dialogue import STANDARD
from dialmill.schemas.kinds import ANY, FileKind

#: The suite whose variants are the versions besides the written one.
SPOKEN = "spoken"
DIALOGUES, SLOTS = "release/data/processed/data_for_damd.json", "release/data/processed/slot_value_set.json"
#: The versions of each turn of the dialogues of the hard test set, from the easiest to the hardest.
HARD = "release/data/risawoz/hard_data_id_sorted.json"
#: The ids of the few-shot dialogues of train.
FEW = "release/data/risawoz/trainFewShotListFile.json"
_LISTS = {split: f"release/data/risawoz/{name}ListFile.json" for split, name in (("train", "train"), ("valid", "val"), ("test", "test"))}


@dataclass(frozen=True)
class SlotRecipe(Recipe):
    """Keys of slot-based dialogues."""

    question_pairs: Annotated[
        str, Meta(description="a file of questions that external knowledge answers, with their answers; empty takes our own", examples=["pairs.json"])
    ] = ""
    question_chance: Annotated[
        float,
        Meta(ge=0, le=1, description="probability that a dialogue gets such a question; 0 for none", examples=[0.8], extra={"unit": "probability"}),
    ] = 0.5
    question_most: Annotated[int, Meta(ge=1, description="up to so many of them in a dialogue", examples=[3], extra={"unit": "questions"})] = 2
    held_out_share: Annotated[
        float,
        Meta(ge=0, lt=1, description="share of the questions that are met only in testing", examples=[0.2], extra={"unit": "share of questions"}),
    ] = 0.13
    oos_texts: Annotated[
        str, Meta(description='files of out-of-scope utterances, "|" between them; empty takes our own list', examples=["chat.txt"])
    ] = ""
    oos_chance: Annotated[
        float,
        Meta(
            ge=0, le=1, description="probability that a dialogue gets out-of-scope turns; 0 for none", examples=[0.3], extra={"unit": "probability"}
        ),
    ] = 0.6
    oos_most: Annotated[int, Meta(ge=1, description="up to so many of them in a dialogue", examples=[1], extra={"unit": "turns"})] = 2
    oos_answer: Annotated[str, Meta(description="what the system says to each", examples=["对不起，这个我不清楚。"])] = "抱歉，我不知道。"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.injected()

    def injected(self) -> Perturber | None:
        """The perturbers that put questions and out-of-scope turns in; None where both are off.

        Raises:
            UsageError: a file or an option that doesn't do.
        """
        links = []
        try:
            if self.question_chance:
                chosen = {"pairs": self.question_pairs, "chance": self.question_chance, "most": self.question_most, "held_out": self.held_out_share}
                links.append(get("questions").from_options(chosen))
            if self.oos_chance:
                texts = {"texts": self.oos_texts, "chance": self.oos_chance, "most": self.oos_most, "answer": self.oos_answer, "train_source": "*"}
                links.append(get("out_of_scope").from_options(texts))
        except OptionError as error:
            raise UsageError(str(error)) from None
        return Chain(tuple(links)) if links else None


class CgodialSbd(Benchmark):
    name = "cgodial-sbd"
    about = "CGoDial, slot-based: RiSAWOZ with questions for external knowledge, out-of-scope turns and spoken noise, in four versions"
    paper = "Dai et al. (2022), CGoDial: A Large-Scale Benchmark for Chinese Goal-oriented Dialog Evaluation"
    takes_records = True
    kinds = (
        FileKind("cgodial-sbd", ({ANY: {"log": ANY, "log_asr0": ANY}},), ("data_for_damd.json",)),
        FileKind("cgodial-slots", (), ("slot_value_set.json",)),
        FileKind("cgodial-hard-slots", (), ("hard_data_id_sorted.json",)),
        FileKind("cgodial-ids", (), ("*ListFile.json",)),
        FileKind("predictions-cgodial-sbd", ([{"dial_id": ANY, "turn_num": ANY, "bspn_gen": ANY}],)),
    )

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_slots(folder, manifest["recipe"])

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def predictor(self) -> Predictor:
        return turn_predictor

    def recipe(self) -> type[Recipe]:
        return SlotRecipe

    def check(self, job: Job) -> None:
        needs_written(self.name, job.recipe)
        for one in job.inputs:
            if one.source != "risawoz":
                raise InputError(one.shown, f"is of {one.source}, and cgodial-sbd reads RiSAWOZ", "see data/risawoz")

    def injected(self, recipe: Recipe) -> Perturber | None:
        assert isinstance(recipe, SlotRecipe)
        return recipe.injected()

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        order, extra = made.order, made.extra
        clean = next((one for one in made.records if one.suite == STANDARD), None)
        if clean is None:
            return
        matches = msgspec.msgpack.decode(extra, type=list[int | None])
        spoken = {one.variant: one for one in made.records if one.suite == SPOKEN}
        # A version that came out as an earlier one is as the dialogue was written.
        logs = {name: slots.turns(spoken.get(number, clean), matches) for number, name in enumerate(slots.VERSIONS, -1)}
        if context.hides_labels(clean):
            yield Out(f"labels/{DIALOGUES}", order, 1, keyed(clean.source_id, logs))
            logs = {name: [slots.blinded(turn) for turn in turns] for name, turns in logs.items()}
        yield Out(DIALOGUES, order, 1, keyed(clean.source_id, logs))
        yield Out(_LISTS[str(clean.split)], order, 1, msgspec.json.encode(clean.source_id))
        if made.few:
            yield Out(FEW, order, 1, msgspec.json.encode(clean.source_id))
        if made.hard:
            yield Out(HARD, order, 1, keyed(clean.source_id, slots.by_difficulty(clean, spoken)))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        seen = runner.apply("find slots", SeenSlots(), records)
        return [runner.apply("write slots", WriteSlots(), runner.group("bring slots together", seen.main))]

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        found = {DIALOGUES: "cgodial-sbd", SLOTS: "cgodial-slots", HARD: "cgodial-hard-slots", **dict.fromkeys(_LISTS.values(), "cgodial-ids")}
        return found | ({f"labels/{DIALOGUES}": "cgodial-sbd"} if blind else {})

    def expected(self, recipe: Recipe) -> dict[str, str]:
        return super().expected(recipe) | ({FEW: "cgodial-ids"} if recipe.few_shot else {})


class SeenSlots(Stage):
    """The slots of a dialogue's states and acts, keyed by domain."""

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        given = SplitDialogue.decode(element[1])
        if given.split is None:
            return
        found: dict[str, set[str]] = {}
        for turn in given.dialogue.turns:
            for domain, slot in [(one.domain, one.slot) for one in turn.state] + [(act.domain, str(act.slot)) for act in turn.acts if act.slot]:
                found.setdefault(domain, set()).add(slot)
        for domain, names in sorted(found.items()):
            yield "main", (domain, msgspec.msgpack.encode(sorted(names)))


class WriteSlots(Stage):
    """A domain with its slots, one entry of slot_value_set.json."""

    tags = ("out",)

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        names = {name for value in element[1] for name in msgspec.msgpack.decode(value, type=list[str])}
        yield "out", Out(SLOTS, element[0].encode(), 1, keyed(element[0], sorted(names))).item(1)
