"""The mill itself: a parsed dialogue gets its split, its suites and their variants; every record is checked on the way out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from dialmill.perturbers import Perturber, Skipped, variants
from dialmill.perturbers.insertion.knowledge import fallback_from
from dialmill.perturbers.rewording.rewriter import lent_from
from dialmill.perturbers.typing.typography import Typography
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext, SourceRecords
from dialmill.pipelines.core.params import recipe_params
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, dialogue_order
from dialmill.pipelines.core.subsets import repeated
from dialmill.pipelines.stages import training_sample, tuning, word_errors
from dialmill.pipelines.stages.hard import hard_copy
from dialmill.pipelines.stages.items import ParsedDialogue, SplitDialogue
from dialmill.pipelines.stages.overlap import banded, signature
from dialmill.pipelines.stages.pools import bind
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue, Step
from dialmill.schemas.arrow import complete_options
from dialmill.schemas.dialogue import STANDARD, encode
from dialmill.schemas.validate import Validator, check_dialogue


class Mill(Stage):
    """One dialogue into all of its records. Side input: the `Layout` of the splits, and where what was written aside lies: the pools of the
    perturbers, and the lessons of the training split."""

    tags = ("out", "band", "record")

    def __init__(self, recipe: Recipe, seed: int, benchmark: Benchmark, shards: int, folder: str) -> None:
        self.recipe, self.seed, self.benchmark, self.shards, self.folder = recipe, seed, benchmark, shards, folder

    def setup(self) -> None:
        self.suites = self.recipe.suite_plan()
        self.first = self.benchmark.injected(self.recipe)
        self.params = recipe_params(self.recipe, self.first)
        self.validator = Validator("dialogue")
        self.bound = False

    def process(self, element: Item, side: tuple[Layout, dict[str, str]] | None = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        parsed = ParsedDialogue.decode(data)
        file, index, fact = parsed.file, parsed.index, parsed.fact
        assert side is not None
        layout, aside = side
        if not self.bound:
            found = {suite.name: tuning.of_suite(suite.name, aside) for suite in self.suites}
            self.suites = [suite._replace(perturber=self._bound(suite.name, suite.perturber, aside, found[suite.name])) for suite in self.suites]
            self.tuned_on = {name: tuning.took_part(one) for name, one in found.items()}
            self.baselines = training_sample.bind(aside, self.recipe)
            self.bound = True
        split, reason = layout.assign(fact, self.recipe)
        counted = self.counters.stage("split")
        counted.entered += 1
        if split is None:
            if self.benchmark.takes_records:
                yield "record", SplitDialogue(parsed.packed, parsed.extra, split).item(source_id)
            self.counters.reject("split", reason)
            evidence = ", ".join(parsed.dialogue.domains) if reason == "unseen_domain" else fact.group
            yield "out", Reject("split", reason, evidence, file, index, source_id).out().item(1)
            return
        counted.out += 1
        source = self._injected(parsed.dialogue.replace(split=split, dialogue_id=f"{source_id}/{STANDARD}/0"))
        standard = self._written(source, STANDARD)
        for band in banded(signature(standard, split)):
            yield "band", band
        self.emitted: list[Dialogue] = []
        self.hard: set[str] = set()
        self.few = split == "train" and bool(self.recipe.few_shot) and training_sample.is_few(self.baselines.few, self.seed, fact)
        if "standard" in self.recipe.suites and self.recipe.takes("standard", split, source.domains):
            self.counters.stage("standard").entered += 1
            yield from self._emit(standard, "standard", file, index)
        for name, perturber in self.suites:
            count = self.recipe.takes(name, split, source.domains)
            if not count:
                continue
            counted = self.counters.stage(name)
            counted.entered += 1
            counted.made += count - 1
            for variant, made in enumerate(self._variants(perturber, source, count)):
                if isinstance(made, Skipped):
                    reason, _, evidence = made.reason.partition(": ")
                    made = Skipped(reason)
                    self.counters.reject(name, made.reason)
                    evidence = evidence or source.turns[0].utterance
                    yield "out", Reject(name, made.reason, evidence, file, index, source_id, name, variant).out().item(1)
                    continue
                self._count_turns(name, source, made)
                word_errors.count(made, name, self.seed, self.counters.word_errors, self.tuned_on[name])
                made = self._written(made, name)
                made = made.replace(suite=name, dialogue_id=f"{source_id}/{name}/{variant}", lineage=self._complete(made, name))
                yield from self._emit(made, name, file, index)
        if self.emitted:
            together = SourceRecords(self.emitted, dialogue_order(source), parsed.extra, self.hard, self.few)
            for out in self.benchmark.release_together(together, ReleaseContext(self.recipe, self.seed, self.counters)):
                yield "out", out.item(self.shards)
        if self.benchmark.takes_records:
            yield "record", SplitDialogue(parsed.packed, parsed.extra, split, self.few, sorted(self.hard)).item(source_id)

    def _injected(self, source: Dialogue) -> Dialogue:
        """The dialogue with what the benchmark puts into it."""
        if self.first is None:
            return source
        made = self.first.perturb(source, self.seed)
        counted = self.counters.stage("inject turns")
        counted.entered += len(source.turns)
        counted.made += len(made.turns) - len(source.turns)
        counted.out += len(made.turns)
        return made.replace(suite=STANDARD, dialogue_id=source.dialogue_id, lineage=self._complete(made, STANDARD))

    def _complete(self, dialogue: Dialogue, suite: str) -> tuple[Step, ...]:
        """The lineage, every step of a suite with the same option keys, so that JSON lines and Parquet rows are equal."""
        return tuple(step.replace(params=complete_options(step.params, self.params[suite])) for step in dialogue.lineage)

    def _bound(self, suite: str, perturber: Perturber, aside: dict[str, str], found: dict[str, Any]) -> Perturber:
        """The perturber of a suite with its pools, tuned, and keeping its audio where that is wanted."""
        ready: Perturber = bind(perturber, aside).with_tuning(found)
        return ready.with_audio_dir(files.join(self.folder, "dialogues", suite, "audio")) if self.recipe.keep_audio else ready

    def _written(self, dialogue: Dialogue, suite: str) -> Dialogue:
        """A finished record in the typography of the recipe, the same for a source and its variants."""
        if self.recipe.typography == "keep" or dialogue.language not in Typography.languages:
            return dialogue
        made = Typography().once(dialogue, self.seed, dialogue.variant, 0)
        return made.replace(suite=dialogue.suite, dialogue_id=dialogue.dialogue_id, lineage=self._complete(made, suite))

    def _variants(self, perturber: Perturber, source: Dialogue, count: int) -> Iterable[Dialogue | Skipped]:
        """The variants of one dialogue. A perturber that fails on it costs the variants that were still to come, not the run."""
        made = 0
        try:
            for variant in variants(perturber, source, self.seed, count):
                yield variant
                made += 1
        except Exception as error:
            yield from [Skipped(f"perturber_failed: {type(error).__name__}: {error}")] * (count - made)

    def _count_turns(self, suite: str, source: Dialogue, made: Dialogue) -> None:
        users = sum(turn.speaker == "user" for turn in source.turns)
        counted = self.counters.stage(f"{suite} turns")
        counted.entered += users
        skipped = {skip.turn: skip.reason for step in made.lineage[len(source.lineage) :] for skip in step.skipped}
        # Inserted turns are none of the source's; where a step of a chain inserts some, the steps around it number the others differently.
        own = zip(
            source.turns, made.turns if len(made.turns) == len(source.turns) else [turn for turn in made.turns if not turn.inserted], strict=False
        )
        unchanged = [
            reason for old, new in own if old.speaker == "user" and new.original is None and (reason := skipped.get(new.turn, skipped.get(old.turn)))
        ]
        for reason in unchanged:
            self.counters.reject(f"{suite} turns", reason)
        counted.out += users - len(unchanged)
        for step in made.lineage[len(source.lineage) :]:
            for reason in step.reasons:
                lent = lent_from(reason)
                if lent is not None:
                    self.counters.note(f"{suite}: {source.split} turns worded as {lent or 'unsplit'} ones")
                if (why := fallback_from(reason)) is not None:
                    self.counters.note(f"{suite}: questions worded by rules in place of the model ({why.partition(': ')[0]})")

    def _emit(self, dialogue: Dialogue, suite: str, file: str, index: int) -> Iterable[tuple[str, Item]]:
        """A record into its files, if it holds to its schema; else it is rejected as our own fault."""
        order = dialogue_order(dialogue)
        problems = check_dialogue(dialogue)
        if not problems and not self.validator.is_valid(msgspec.to_builtins(dialogue)):
            problems = [str(problem) for problem in self.validator.errors(msgspec.to_builtins(dialogue))]
        if problems:
            self.counters.reject(suite, "invalid_record")
            yield (
                "out",
                Reject(suite, "invalid_record", "; ".join(problems[:3]), file, index, dialogue.source_id, suite, dialogue.variant).out().item(1),
            )
            return
        self.counters.stage(suite).out += 1
        self.emitted.append(dialogue)
        split = str(dialogue.split)
        records = [(split, dialogue)]
        if split == "test":
            counted = self.counters.stage("test_hard")
            counted.entered += 1
            hard = hard_copy(dialogue, self.recipe.hard_threshold, self.baselines)
            if isinstance(hard, str):
                self.counters.reject("test_hard", hard)
            else:
                counted.out += 1
                self.hard.add(dialogue.dialogue_id)
                records.append(("test_hard", hard))
        blind = self.recipe.held_out_labels and split == "test"
        for name, record in records:
            path = f"dialogues/{suite}/{name}.jsonl"
            if blind:
                yield "out", Out(f"labels/{path}", order, 1, encode(record)).item(self.shards)
                record = without_labels(record)
            yield "out", Out(path, order, 1, encode(record)).item(self.shards)
        subsets = [name for name, _ in records[1:]]
        if split == "train" and self.recipe.few_shot:
            counted = self.counters.stage("few_shot")
            counted.entered += 1
            if self.few:
                counted.out += 1
                subsets.append("few_shot")
                yield "out", Out(f"few_shot/{suite}/train.jsonl", order, 1, encode(dialogue)).item(self.shards)
            else:
                self.counters.reject("few_shot", "not_few_shot")
        for out in repeated(self.benchmark.release(dialogue, order, ReleaseContext(self.recipe, self.seed, self.counters)), subsets):
            yield "out", out.item(self.shards)


def without_labels(dialogue: Dialogue) -> Dialogue:
    """A test record as its solvers see it: utterances, and nothing that gives away labels or the unperturbed text."""
    turns = tuple(turn.replace(original=None, spans=(), acts=(), state=(), edits=(), labels=(), knowledge=()) for turn in dialogue.turns)
    return dialogue.replace(turns=turns, goal=None, lineage=())
