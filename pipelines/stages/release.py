"""The benchmark's own published format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext, SourceRecords
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Stage, dialogue_order
from dialmill.pipelines.core.subsets import FEW, HARD, repeated
from dialmill.pipelines.stages.items import DialogueRecords, SplitDialogue


class Release(Stage):
    """What the records of a dialogue contribute to the benchmark's release files, and the dialogue itself on the output "record" where the benchmark
    needs many at a time.

    Args:
        benchmark: whose format it is.
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
        shards: into how many parts each file is written.
        side_files: the input's files that no source reads.
    """

    tags = ("out", "record")

    def __init__(self, benchmark: Benchmark, recipe: Recipe, seed: int, shards: int, side_files: tuple[str, ...] = ()) -> None:
        self.benchmark, self.recipe, self.seed, self.shards, self.side_files = benchmark, recipe, seed, shards, side_files

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        context = ReleaseContext(self.recipe, self.seed, self.counters, self.side_files)
        few = [FEW] if element.few else []
        for record in element.records:
            subsets = [HARD] if record.dialogue_id in element.hard else few
            for out in repeated(self.benchmark.release(record, dialogue_order(record), context), subsets):
                yield "out", out.item(self.shards)
        parsed, hard = element.parsed, element.hard.keys()
        if element.records:
            together = SourceRecords(element.records, dialogue_order(element.source), parsed.extra, hard, element.few, element.hard_turns)
            for out in self.benchmark.release_together(together, context):
                yield "out", out.item(self.shards)
        if self.benchmark.takes_records:
            turns = {name: sorted(mine) for name, mine in sorted(element.hard_turns.items())}
            texts: dict[str, list[str]] = {}
            for record in element.records:
                if record.suite in self.benchmark.wanted_suites:
                    texts.setdefault(record.suite, [turn.utterance for turn in record.turns])
            split_dialogue = SplitDialogue(parsed.packed, parsed.extra, element.split, element.few, sorted(hard), turns, texts)
            yield "record", split_dialogue.item(element.source.source_id)
