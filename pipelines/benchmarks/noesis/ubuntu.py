"""NOESIS Ubuntu: next-utterance selection from IRC logs, as in DSTC7 Task 1 (Gunasekara et al. 2019) and DSTC8 Track 2 (Kim et al. 2019).

Release files: ``release/ubuntu_{train,dev,test}_subtask_N.json``, ground truth beside them as ``.targets.tsv`` (for the official metrics) and
``ubuntu_responses_subtask_N.tsv`` (as distributed for test), ``ubuntu_pool_subtask_2.tsv`` (the shared pool), ``ubuntu_manuals.jsonl``;
``release/few_shot`` and ``release/test_hard`` repeat the examples of these subsets, with the same candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.benchmarks.noesis import kinds, manuals
from dialmill.pipelines.benchmarks.noesis.check import check_release
from dialmill.pipelines.benchmarks.noesis.recipe import UbuntuRecipe
from dialmill.pipelines.benchmarks.noesis.release import release_files, schema_of, split_of
from dialmill.pipelines.benchmarks.noesis.scorer import NoesisUbuntu as _Scorer
from dialmill.pipelines.benchmarks.noesis.stages import contribution, example_shards, packed_example, selection, subsets_of
from dialmill.pipelines.benchmarks.shared import ranking_predictor
from dialmill.pipelines.candidates import pool
from dialmill.pipelines.candidates.cuts import cut
from dialmill.pipelines.candidates.examples import Example, example_number, release_path
from dialmill.pipelines.candidates.keys import hashes
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Benchmark, Job
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, decompress, dialogue_order
from dialmill.pipelines.core.subsets import subset_files
from dialmill.pipelines.disentangle.dialogues import Line
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue

POOL = "release/ubuntu_pool_subtask_2.tsv"
MANUALS = "release/ubuntu_manuals.jsonl"


class NoesisUbuntu(Benchmark):
    name = "noesis-ubuntu"
    about = "DSTC7 Task 1 and DSTC8 Track 2, Ubuntu: conversations taken out of IRC logs, the next utterance among candidates"
    paper = "Gunasekara et al. (2019), DSTC7 Task 1: Noetic End-to-End Response Selection"
    takes_records = True
    kinds = kinds.KINDS

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return Checked(*check_release(folder, manifest))

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def predictor(self) -> Predictor:
        return ranking_predictor

    def recipe(self) -> type[Recipe]:
        return UbuntuRecipe

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        recipe = job.recipe
        assert isinstance(recipe, UbuntuRecipe) and recipe.form != "plain"
        made = runner.apply("cut conversations", CutConversations(recipe, job.seed, example_shards(sum(one.size for one in job.inputs))), records)
        none_scenarios = frozenset({4} if recipe.form == "dstc7" else {1, 2})
        shared = (2, POOL) if recipe.form == "dstc7" and 2 in recipe.subtasks else None
        outputs = selection(runner, job, folder, made, recipe, recipe.form, none_scenarios, shared)
        if recipe.knowledge:
            found = manuals.pages(recipe.knowledge)
            outputs.append(runner.apply("read manual pages", ReadManuals(), runner.create("manual pages", found)))
        return outputs

    def expected(self, recipe: Recipe) -> dict[str, str]:
        assert isinstance(recipe, UbuntuRecipe) and recipe.form != "plain"
        found = release_files("ubuntu", recipe.subtasks, ("",), recipe.form, recipe.held_out_labels)
        found |= subset_files(found, recipe.few_shot, self.split_of)
        if recipe.form == "dstc7" and 2 in recipe.subtasks:
            found[POOL] = ""
        return found | ({MANUALS: kinds.MANUALS} if recipe.knowledge else {})

    def split_of(self, path: str) -> str | None:
        return split_of(path)

    def schema_of(self, path: str, blind: bool) -> str | None:
        return schema_of(path)


class CutConversations(Stage):
    """A conversation into one example for each subtask, and its helpers' utterances into the pool."""

    tags = ("out", "example", "utterance")

    def __init__(self, recipe: UbuntuRecipe, seed: int, shards: int) -> None:
        self.recipe, self.seed, self.shards = recipe, seed, shards

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        given = SplitDialogue.decode(data)
        split, extra, subsets = given.split, given.extra, subsets_of(given)
        dialogue = given.dialogue
        cuts = {subtask: cut(dialogue, self.seed, subtask, self.recipe.min_context) for subtask in self.recipe.subtasks}
        helpers = [turn for turn in dialogue.turns if turn.speaker == "system"]
        bits = pool.EXTRA if split is None else pool.SPLIT_BITS[split]
        for turn in helpers:
            answer = split is not None and turn.turn == cuts.get(2)
            yield from contribution(turn.utterance, bits | (pool.ANSWER if answer else 0))
        if split is None:
            return
        counted = self.counters.stage("examples")
        counted.entered += 1
        if None in cuts.values():
            self.counters.reject("examples", "no_cut")
            yield "out", Reject("examples", "no_cut", "nobody answers the one who asks", source_id=source_id).out().item(1)
            return
        counted.out += len(cuts)
        counted.made += len(cuts) - 1
        forbidden = hashes(turn.utterance for turn in dialogue.turns)
        for subtask, at in cuts.items():
            assert at is not None
            messages, speaker = self._messages(dialogue, at, subtask, extra)
            # Subtask 5 reuses the files of subtask 1, so its examples have the same numbers and with them the same candidates.
            number = example_number(self.seed, source_id, 1 if subtask == 5 else subtask)
            one = Example(
                number, dialogue_order(dialogue), split, subtask, messages, [dialogue.turns[at].utterance], [], forbidden, speaker, b"", subsets
            )
            yield packed_example(release_path("ubuntu", split, subtask), one, self.shards)

    def _messages(self, dialogue: Dialogue, at: int, subtask: int, extra: bytes) -> tuple[list[tuple[str, str, str, str]], str]:
        """The context (speaker, utterance, date, time), and who gives the answer."""
        if self.recipe.form == "dstc7":
            names = {"user": "participant_1", "system": "participant_2"}
            return [(names[turn.speaker], turn.utterance, "", "") for turn in dialogue.turns[:at]], "participant_2"
        speaker = dialogue.turns[at].labels[0]
        if subtask == 2:
            lines = msgspec.msgpack.decode(decompress(extra), type=list[Line])
            return [(line.speaker, line.text, line.date, line.time) for line in lines], speaker
        found = []
        for turn in dialogue.turns[:at]:
            date, _, time = turn.labels[1].rpartition(" ")
            found.append((turn.labels[0], turn.utterance, date, time))
        return found, speaker


class ReadManuals(Stage):
    """A manual page into its line of the knowledge file."""

    tags = ("out",)

    def process(self, element: str, side: object = None) -> Iterable[tuple[str, Item]]:
        try:
            data = files.read_bytes(element)
            page = manuals.read(element, data)
        except InputError as error:
            self.counters.faults.append(str(error))
            return
        shown = element.replace("\\", "/").rsplit("/", 1)[-1]
        self.counters.inputs.append(
            {
                "path": f"manuals/{shown}",
                "sha256": hashlib.sha256(data).hexdigest(),
                "bytes": len(data),
                "records": None,
                "licence": None,
                "source": None,
                "role": "other",
            }
        )
        line = msgspec.json.encode({"name": page.name, "section": page.section, "text": page.text})
        yield "out", Out(MANUALS, b"\0" + f"{page.name}\0{page.section}\0{shown}".encode("utf-8", "surrogatepass"), 1, line).item(1)
