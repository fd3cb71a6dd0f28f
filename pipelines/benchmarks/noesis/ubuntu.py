"""NOESIS Ubuntu: next-utterance selection from IRC logs, as in DSTC7 Task 1 (Gunasekara et al. 2019) and DSTC8 Track 2 (Kim et al. 2019).

Release files: ``release/ubuntu_{train,dev,test}_subtask_N.json``, ground truth beside them as ``.targets.tsv`` (for the official metrics) and
``ubuntu_responses_subtask_N.tsv`` (as distributed for test), ``ubuntu_pool_subtask_2.tsv`` (the shared pool), ``ubuntu_manuals.jsonl``;
``release/few_shot`` and ``release/test_hard`` repeat the examples of these subsets, with the same candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.benchmarks.noesis import kinds, manuals
from dialmill.pipelines.benchmarks.noesis.benchmark import Noesis
from dialmill.pipelines.benchmarks.noesis.copies import CompareCopies, Copy, Eligible, GatherCopies, GatherEligible, ListEligible, SendBands, divide
from dialmill.pipelines.benchmarks.noesis.recipe import UbuntuRecipe
from dialmill.pipelines.benchmarks.noesis.release import release_files
from dialmill.pipelines.benchmarks.noesis.scorer import NoesisUbuntu as _Scorer
from dialmill.pipelines.benchmarks.noesis.stages import example_shards, packed_example, selection, subsets_of
from dialmill.pipelines.candidates import pool
from dialmill.pipelines.candidates.cuts import cut, places
from dialmill.pipelines.candidates.examples import Example, example_number, release_path
from dialmill.pipelines.candidates.gather import contribution, parts_of
from dialmill.pipelines.candidates.keys import candidate_key, hashes
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, decompress, dialogue_order
from dialmill.pipelines.core.subsets import subset_files
from dialmill.pipelines.disentangle.dialogues import Around
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue

POOL = "release/ubuntu_pool_subtask_2.tsv"
MANUALS = "release/ubuntu_manuals.jsonl"


class NoesisUbuntu(Noesis):
    name = "noesis-ubuntu"
    about = "DSTC7 Task 1 and DSTC8 Track 2, Ubuntu: conversations taken out of IRC logs, the next utterance among candidates"

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def recipe(self) -> type[Recipe]:
        return UbuntuRecipe

    def judged_turns(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Sequence[int]:
        assert isinstance(recipe, UbuntuRecipe)
        cuts = {cut(dialogue, seed, subtask, recipe.min_context, recipe.short_contexts) for subtask in recipe.subtasks}
        return sorted(at for at in cuts if at is not None)

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        recipe = job.recipe
        assert isinstance(recipe, UbuntuRecipe) and recipe.form != "plain"
        listed = runner.apply("list conversations", ListEligible(recipe.min_context, recipe.short_contexts, recipe.drop_near_copies), records)
        eligible = runner.combine("gather the list of conversations", GatherEligible(), listed.main)
        sent = runner.apply("look for near copies", SendBands(recipe.drop_near_copies), records, side=eligible)
        compared = runner.apply("compare near copies", CompareCopies(recipe.near_copy), runner.group("bring near copies together", sent.main))
        copies = runner.combine("gather near copies", GatherCopies(), compared.main)
        bytes_in = sum(one.size for one in job.inputs)
        cutting = CutConversations(recipe, job.seed, example_shards(bytes_in, recipe), parts_of(bytes_in))
        made = runner.apply("cut conversations", cutting, records, side=runner.zip_side_inputs("conversations and near copies", eligible, copies))
        none_scenarios = recipe.unanswered[recipe.form]
        shared = (2, POOL) if recipe.form == "dstc7" and 2 in recipe.subtasks else None
        outputs = selection(runner, job, folder, made, recipe, recipe.form, none_scenarios, shared)
        if recipe.knowledge:
            found = manuals.pages(recipe.knowledge)
            outputs.append(runner.apply("read manual pages", ReadManuals(), runner.create("manual pages", found)))
        return outputs

    def expected(self, recipe: Recipe) -> dict[str, str]:
        assert isinstance(recipe, UbuntuRecipe) and recipe.form != "plain"
        found = release_files("ubuntu", recipe.subtasks, ("",), recipe.form, recipe.held_out_labels, recipe.distractors == "similar")
        found |= subset_files(found, recipe.few_shot, self.split_of)
        if recipe.form == "dstc7" and 2 in recipe.subtasks:
            found[POOL] = ""
        return found | ({MANUALS: kinds.MANUALS} if recipe.knowledge else {})


class CutConversations(Stage):
    """A conversation into its examples, and its helpers' utterances into the pool. Side input: what is decided over all conversations (`copies`).

    A training conversation gives an example for each subtask, one of valid and test for one of them alone.
    """

    tags = ("out", "example", "utterance")

    def __init__(self, recipe: UbuntuRecipe, seed: int, shards: Mapping[str, int], parts: int) -> None:
        self.recipe, self.seed, self.shards, self.parts = recipe, seed, shards, parts
        self._divided: dict[str, int] | None = None

    def process(self, element: Item, side: tuple[Eligible, dict[str, Copy]] | None = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        assert side is not None
        eligible, copies = side
        given = SplitDialogue.decode(data)
        split, dialogue = given.split, given.dialogue
        around = msgspec.msgpack.decode(decompress(given.extra), type=Around) if self.recipe.shows_channel else None
        possible = places(dialogue, self.recipe.min_context, self.recipe.short_contexts)
        refused = None if split is None else self._refusal(source_id, possible, copies)
        if refused is not None and refused[0] == "near_copy":
            self._count(0, refused[0])
            yield "out", Reject("examples", *refused, source_id=source_id).out().item(1)
            return
        subtasks = self._subtasks(source_id, split, eligible, copies, around) if split is not None and refused is None else []
        chosen = {subtask: cut(dialogue, self.seed, subtask, self.recipe.min_context, self.recipe.short_contexts) for subtask in subtasks}
        if split == "test" and self.recipe.held_out_labels and chosen:
            # The candidates of two subtasks have the answer in common, and the context of one may show that of another.
            only = drawn(sorted(chosen), self.seed, source_id, "subtask")
            chosen = {only: chosen[only]}
        shown = [subtask for subtask, at in chosen.items() if at is not None and self._is_shown(dialogue, at, subtask, around)]
        chosen = {subtask: at for subtask, at in chosen.items() if subtask not in shown}
        bits = pool.EXTRA if split is None else pool.SPLIT_BITS[split]
        for turn in dialogue.turns:
            if turn.speaker == "system":
                answer = pool.ANSWER if turn.turn == chosen.get(2) else 0
                weight = pool.WEIGHT // len(possible) if turn.turn in possible else 0
                yield from contribution(turn.utterance, bits | answer, weight, parts=self.parts)
        if split is None:
            return
        if refused is None and not chosen and shown:
            refused = "answer_shown", "the lines of the channel before its answer say the same"
        if refused is None and not chosen:
            refused = "shown_elsewhere", "its stretch of the channel, or the lines before its answer, show it in another example"
        self._count(len(chosen), refused[0] if refused else "")
        if refused is not None:
            yield "out", Reject("examples", *refused, source_id=source_id).out().item(1)
            return
        said = [turn.utterance for turn in dialogue.turns]
        for subtask, at in chosen.items():
            assert at is not None
            messages, speaker = self._messages(dialogue, at, subtask, around)
            # What the context shows is no distractor, whoever said it.
            forbidden = hashes([*said, *(text for _, text, _, _ in messages)])
            # Subtask 5 reuses the files of subtask 1, so its examples have the same numbers and with them the same candidates.
            number = example_number(self.seed, source_id, 1 if subtask == 5 else subtask)
            answers, subsets = [dialogue.turns[at].utterance], subsets_of(given, at)
            one = Example(number, dialogue_order(dialogue), split, subtask, messages, answers, [], forbidden, speaker, b"", subsets)
            yield packed_example(release_path("ubuntu", split, subtask), one, self.shards)

    def _is_shown(self, dialogue: Dialogue, at: int, subtask: int, around: Around | None) -> bool:
        """Whether the channel, which may be shown in place of the conversation, says the same as an answer before it."""
        if around is None or subtask != 2:
            return False
        return candidate_key(dialogue.turns[at].utterance) in {candidate_key(line.text) for line in around.lines}

    def _refusal(self, source_id: str, possible: Sequence[int], copies: Mapping[str, Copy]) -> tuple[str, str] | None:
        """Why a conversation gives no example, None if it does."""
        if not possible:
            return "no_cut", f"nobody answers the one who asks after {self.recipe.min_context} turns or more; short_contexts=true takes fewer"
        copy = copies.get(source_id)
        if copy is not None:
            return "near_copy", f"{copy.likeness:.2f} of its word trigrams are those of {copy.train_id} in train; at most {self.recipe.near_copy:g}"
        return None

    def _count(self, made: int, refused: str) -> None:
        counted = self.counters.stage("examples")
        counted.entered += 1
        if refused:
            self.counters.reject("examples", refused)
            return
        counted.out += made
        counted.made += made - 1

    def _subtasks(self, source_id: str, split: str, eligible: Eligible, copies: Mapping[str, Copy], around: Around | None) -> list[int]:
        """The subtasks that a conversation serves."""
        if around is not None and split != "train":
            # Subtask 2 shows the channel: what stands in its stretches is shown to its examples.
            free = around.subtask if around.fits and not (around.subtask == 2 and around.shown) else None
            return [subtask for subtask in self.recipe.subtasks if subtask == free]
        if around is not None:
            return [subtask for subtask in self.recipe.subtasks if subtask != 2 or around.fits]
        if split == "train":
            return list(self.recipe.subtasks)
        if self._divided is None:
            self._divided = {}
            for ids in eligible.ids.values():
                self._divided |= divide([one for one in ids if one not in copies], self.recipe.groups, self.seed)
        return [subtask for subtask in self.recipe.subtasks if (1 if subtask == 5 else subtask) == self._divided[source_id]]

    def _messages(self, dialogue: Dialogue, at: int, subtask: int, around: Around | None) -> tuple[list[tuple[str, str, str, str]], str]:
        """The context (speaker, utterance, date, time), and who gives the answer."""
        if self.recipe.form == "dstc7":
            names = {"user": "participant_1", "system": "participant_2"}
            return [(names[turn.speaker], turn.utterance, "", "") for turn in dialogue.turns[:at]], "participant_2"
        speaker = dialogue.turns[at].labels[0]
        if subtask == 2:
            assert around is not None
            return [(line.speaker, line.text, line.date, line.time) for line in around.lines], speaker
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
