"""Every dialogue into the records of its suites."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from dialmill.perturbers import Perturber, Skipped, Suite
from dialmill.perturbers.core import protected
from dialmill.perturbers.core.contract import Chain, Variant, draw_variants
from dialmill.perturbers.core.graphemes import shortened
from dialmill.perturbers.core.progress import advance
from dialmill.pipelines.core import files
from dialmill.pipelines.core.blind import published_suites
from dialmill.pipelines.core.params import complete_lineage
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.stages import pools, tuning, word_errors
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue
from dialmill.schemas.arrow import Params
from dialmill.schemas.dialogue import STANDARD


class Perturb(Stage):
    """The dialogue's records: itself in the suite `standard`, and its variants in every other suite that takes it.

    Side input: (the layout, where the pools of the perturbers and what they were tuned to lie).

    Args:
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
        params: the lineage options of each suite.
        folder: the output folder, where suites of speech leave their audio.
        needing: the names of the sources whose guarded values have to stay.
        together: whether all suites of a dialogue are made also where one of them alone is published.
    """

    tags = ("out",)

    def __init__(
        self,
        recipe: Recipe,
        seed: int,
        params: Mapping[str, Params],
        folder: str,
        needing: frozenset[str] = frozenset(),
        together: bool = False,
    ) -> None:
        self.recipe, self.seed, self.params, self.folder, self.needing, self.together = recipe, seed, params, folder, needing, together

    def setup(self) -> None:
        self.suites: list[Suite] | None = None
        self.tuned_on: dict[str, frozenset[str]] = {}

    def process(self, element: DialogueRecords, side: tuple[Layout, dict[str, str]] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        if self.suites is None:
            self.suites = [self._ready(suite, side[1]) for suite in self.recipe.suite_plan()]
        source, records = element.source, []
        published = self._published(source, element.split)
        if STANDARD in published and self.recipe.takes(STANDARD, element.split, source.domains):
            self.counters.stage(STANDARD).entered += 1
            records.append(source)
        for name, perturber in self.suites:
            count = self.recipe.takes(name, element.split, source.domains) if name in published else 0
            if not count:
                continue
            counted = self.counters.stage(name)
            counted.entered += 1
            counted.made += count - 1
            for variant, made in enumerate(made_variants(perturber, source, self.seed, count)):
                if isinstance(made, Variant) and source.source in self.needing and (hit := value_hit(source, made.record)) is not None:
                    made = Skipped(f"value_hit: {hit}")
                if isinstance(made, Skipped):
                    reason, _, evidence = made.reason.partition(": ")
                    self.counters.reject(name, reason)
                    if evidence:
                        self.counters.failures[f"{name}\n{reason}"] = shortened(
                            min(evidence, self.counters.failures.get(f"{name}\n{reason}", evidence)), 300, ""
                        )
                    yield element.reject(name, reason, evidence or source.turns[0].utterance, name, variant)
                    continue
                record = made.record
                advance(tuning.suite_label(name), sum(turn.speaker == "user" for turn in source.turns))
                self._count_turns(name, source, record)
                for event in made.events:
                    self.counters.count_event(name, element.split, event)
                word_errors.count(record, name, self.seed, self.counters.word_errors, self.tuned_on[name])
                record = record.replace(suite=name, dialogue_id=f"{source.source_id}/{name}/{variant}")
                records.append(complete_lineage(record, self.params[name]))
        yield "main", replace(element, records=tuple(records))

    def _published(self, source: Dialogue, split: str) -> Collection[str]:
        """The suites of a dialogue that are made: those that are published."""
        suites = self.recipe.suites
        if self.together or not self.recipe.held_out_labels:
            return suites
        taking = [name for name in suites if self.recipe.takes(name, split, source.domains)]
        inserting = [suite.name for suite in self.suites or () if _inserts(suite.perturber)]
        return published_suites(self.recipe, self.seed, source.source_id, split, taking, inserting)

    def _ready(self, suite: Suite, paths: dict[str, str]) -> Suite:
        """A suite whose perturber has its pools, is tuned, and keeps its audio where that is wanted."""
        found = tuning.of_suite(suite.name, paths)
        self.tuned_on[suite.name] = tuning.took_part(found)
        perturber: Perturber = pools.bind(suite.perturber, paths).with_tuning(found)
        if self.recipe.keep_audio:
            perturber = perturber.with_audio_dir(files.join(self.folder, "dialogues", suite.name, "audio"))
        return suite._replace(perturber=perturber)

    def _count_turns(self, suite: str, source: Dialogue, made: Dialogue) -> None:
        """Counts the user turns that a variant changed and those that it left alone, by reason."""
        users = sum(turn.speaker == "user" for turn in source.turns)
        counted = self.counters.stage(f"{suite} turns")
        counted.entered += users
        steps = made.lineage[len(source.lineage) :]
        skipped = {skip.turn: skip.reason for step in steps for skip in step.skipped}
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


def value_hit(source: Dialogue, made: Dialogue) -> str | None:
    """The first guarded value of a dialogue that a variant hasn't as it was, None where all are there."""
    own = (turn for turn in made.turns if not turn.inserted)
    for before, after in zip(source.turns, own, strict=False):
        if before.exact and (value := protected.lost(before.utterance, after.utterance, before.exact)) is not None:
            return value
    return None


def _inserts(perturber: Perturber) -> bool:
    return any(link.inserts for link in (perturber.links if isinstance(perturber, Chain) else (perturber,)))


def made_variants(perturber: Perturber, source: Dialogue, seed: int, count: int) -> Iterable[Variant | Skipped]:
    """The variants of one dialogue. A perturber that fails on it costs the variants that were still to come, not the run."""
    made = 0
    try:
        for variant in draw_variants(perturber, source, seed, count):
            yield variant
            made += 1
    except Exception as error:
        yield from [Skipped(f"perturber_failed: {type(error).__name__}: {error}")] * (count - made)
