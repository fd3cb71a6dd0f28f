"""CGoDial's slot-based dialogues (Dai et al., EMNLP 2022, section 3.1): RiSAWOZ with external knowledge, out-of-scope turns and spoken noise.

Questions that no slot answers and out-of-scope turns are put into a dialogue once, so that all of its versions have them; the suite `standard` is
the dialogue as written, `spoken` what a recogniser makes of it read out, slightly reworded, three times: four versions in all. Release files, under
the names that CGoDial's loader reads: ``release/data/processed/data_for_damd.json``, ``slot_value_set.json`` beside it, and
``release/data/risawoz/{train,val,test}ListFile.json``; beside them, for the hard test set, ``hard_data_id_sorted.json``. The published reader
trains on every dialogue that is neither of val nor of test, so the few-shot set is such a data folder again, ``release/few_shot/data``, with the few
dialogues and all of val and test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from dialmill.perturbers import Perturber
from dialmill.pipelines.benchmarks.cgodial.releases import IDS
from dialmill.pipelines.benchmarks.cgodial.sbd import release as slots
from dialmill.pipelines.benchmarks.cgodial.sbd.check import check_release
from dialmill.pipelines.benchmarks.cgodial.sbd.recipe import SlotRecipe
from dialmill.pipelines.benchmarks.cgodial.sbd.release import DIALOGUES, HARD, LISTS, SLOTS, SPOKEN
from dialmill.pipelines.benchmarks.cgodial.sbd.scorer import SlotScorer
from dialmill.pipelines.benchmarks.cgodial.sbd.slots import hard_id
from dialmill.pipelines.benchmarks.cgodial.sbd.stages import SeenSlots, WriteSlots
from dialmill.pipelines.benchmarks.cgodial.writing import keyed, needs_written
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext, SourceRecords
from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Out
from dialmill.pipelines.core.subsets import FEW, in_subset, repeated
from dialmill.schemas.dialogue import STANDARD
from dialmill.schemas.kinds import ANY, FileKind


class CgodialSbd(Benchmark):
    name = "cgodial-sbd"
    about = "CGoDial, slot-based: RiSAWOZ with questions for external knowledge, out-of-scope turns and spoken noise, in four versions"
    paper = "Dai et al. (2022), CGoDial: A Large-Scale Benchmark for Chinese Goal-oriented Dialog Evaluation"
    takes_records = True
    releases_suites_together = True
    kinds = (
        FileKind("cgodial-sbd", ({ANY: {"log": ANY, "log_asr0": ANY}},), ("data_for_damd.json",)),
        FileKind("cgodial-slots", (), ("slot_value_set.json",)),
        FileKind("cgodial-hard-slots", (), ("hard_data_id_sorted.json",)),
        IDS,
        FileKind("predictions-cgodial-sbd", ([{"dial_id": ANY, "turn_num": ANY, "bspn_gen": ANY}],)),
    )

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_release(folder, manifest["recipe"])

    def scorer(self) -> type[Scorer]:
        return SlotScorer

    def predictor(self) -> Predictor:
        return turn_predictor

    def recipe(self) -> type[Recipe]:
        return SlotRecipe

    def check(self, job: Job) -> None:
        needs_written(self.name, job.recipe)
        for one in job.inputs:
            if one.source != "risawoz":
                raise InputError(one.shown, f"holds {one.source} data, and cgodial-sbd reads RiSAWOZ", "see data/risawoz")

    def inserter(self, recipe: Recipe) -> Perturber | None:
        assert isinstance(recipe, SlotRecipe)
        return recipe.inserter()

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
            # All versions are the one that is published: together they would give the written words away.
            shown = drawn(made.records, context.seed, clean.source_id, "suite")
            logs = dict.fromkeys(logs, logs[slots.VERSIONS[0 if shown.suite == STANDARD else shown.variant + 1]])
            yield Out(f"labels/{DIALOGUES}", order, 1, keyed(clean.source_id, logs))
            logs = {name: [slots.blinded(turn) for turn in turns] for name, turns in logs.items()}
        pieces = [
            Out(DIALOGUES, order, 1, keyed(clean.source_id, logs)),
            Out(LISTS[str(clean.split)], order, 1, msgspec.json.encode(clean.source_id)),
        ]
        yield from repeated(pieces, [FEW] if context.recipe.few_shot and (made.few or clean.split != "train") else [])
        if made.hard:
            hide = "labels/" if context.hides_labels(clean) else ""
            yield Out(f"{hide}{HARD}", order, 1, keyed(hard_id(clean.source_id), slots.by_difficulty(clean, spoken)))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        seen = runner.apply("find slots", SeenSlots(), records)
        paths = [SLOTS, *([in_subset(FEW, SLOTS)] if job.recipe.few_shot else [])]
        return [runner.apply("write slots", WriteSlots(paths), runner.group("bring slots together", seen.main))]

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        hard = f"labels/{HARD}" if blind else HARD
        found = {DIALOGUES: "cgodial-sbd", SLOTS: "cgodial-slots", hard: "cgodial-hard-slots", **dict.fromkeys(LISTS.values(), "cgodial-ids")}
        return found | ({f"labels/{DIALOGUES}": "cgodial-sbd"} if blind else {})

    def expected(self, recipe: Recipe) -> dict[str, str]:
        found = super().expected(recipe)
        again = {DIALOGUES, SLOTS, *LISTS.values()} if recipe.few_shot else ()
        return found | {in_subset(FEW, path): found[path] for path in again}
