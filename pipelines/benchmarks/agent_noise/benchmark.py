"""Agents under certified noise, replayed: the prefixes of recorded runs that succeeded, clean and noisy in pairs.

A prefix ends with a message of the user's, and its target is what the agent of the run did next: calls of tools with their arguments, or an answer.
The noisy prefix differs from the clean one in the user's texts alone, and every value that a target needs and the user gave stands in it as it was;
one that doesn't (where values are followed) is left out of all suites and counted. Pairs by replay, not by task: two live runs of one task are two
conversations.

Release files: ``release/SUITE/SPLIT.jsonl``, a prefix a line: `messages` as OpenAI's API takes them, `tools` where the run has them, `target`, and
`needs`: the values of the target with who gave them. With held-out labels the targets of test stand in ``labels/release/SUITE/test.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.benchmarks.agent_noise import predictor
from dialmill.pipelines.benchmarks.agent_noise.kinds import EXAMPLES, INPUTS, KINDS, LABELS
from dialmill.pipelines.benchmarks.agent_noise.scorer import AgentNoise as _Scorer
from dialmill.pipelines.core.actions import Needed, Prefix, chat_messages, needed, prefixes, rest_of, succeeded, task_of
from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext, SourceRecords
from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Out
from dialmill.pipelines.core.subsets import FEW, HARD, repeated
from dialmill.schemas import STANDARD, Dialogue

_SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class AgentNoiseRecipe(Recipe):
    """Keys of agent-noise."""

    failed_runs: Annotated[bool, Meta(description="runs that missed their reward are taken too; runs that name no reward always are")] = False


class AgentNoise(Benchmark):
    name = "agent-noise"
    about = "agents under certified noise, replayed: paired clean and noisy prefixes of recorded runs, the agent's next action as target"

    task_categories, task_ids = ("text-generation",), ("dialogue-modeling",)
    kinds = KINDS
    takes_carried = True
    # A run has all the actions, and so has a longer prefix of it; and a noisy prefix is nothing without its clean pair.
    answers_in_dialogues, releases_suites_together = True, True

    def recipe(self) -> type[Recipe]:
        return AgentNoiseRecipe

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def predictor(self) -> Predictor:
        return predictor

    def assess(self, dialogue: Dialogue, extra: bytes, recipe: Recipe, seed: int) -> tuple[Dialogue, int | None]:
        assert isinstance(recipe, AgentNoiseRecipe)
        if not recipe.failed_runs and succeeded(dialogue) is False:
            raise RecordError("run_failed", "its reward isn't whole; --set failed_runs=true takes such runs too")
        if next(prefixes(dialogue), None) is None:
            raise RecordError("no_action", "no message of the user's is followed by an action of the agent's: is it a run of an agent?")
        return dialogue, None

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        counted = context.counters.stage("prefixes")
        clean = next((record for record in made.records if record.suite == STANDARD), None)
        if clean is None:
            return
        every = [(prefix, needed(clean, prefix)) for prefix in prefixes(clean)]
        speakers = [turn.speaker for turn in clean.turns]
        alike = [record for record in made.records if [turn.speaker for turn in record.turns] == speakers]
        # A prefix is in all suites or in none, so that every suite is paired with the clean one as a whole.
        found = [(prefix, needs) for prefix, needs in every if all(_certified(clean, record, prefix, needs) for record in alike)]
        counted.entered += len(every) * len(made.records)
        suites = {name for name in context.recipe.suites if context.recipe.takes(name, clean.split or "", clean.domains)}
        if suites > {record.suite for record in made.records}:
            # One of them could not be made of this run (none of its words can be misspelt, say).
            context.counters.reject("prefixes", "missing_in_a_suite", len(every) * len(made.records))
            return
        if len(alike) < len(made.records):
            context.counters.reject("prefixes", "turns_inserted", len(every) * (len(made.records) - len(alike)))
        if len(found) < len(every):
            context.counters.reject("prefixes", "needed_value_lost", (len(every) - len(found)) * len(alike))
        if found and context.hides_labels(clean):
            # The same one in every suite: what the agent did stands in each longer one.
            context.counters.reject("prefixes", "answers_another", (len(found) - 1) * len(alike))
            found = [drawn(found, context.seed, clean.source_id, "prefix")]
            if context.recipe.blind_suites == "single":
                # Two suites of one run show each other's words.
                context.counters.reject("prefixes", "in_another_suite", len(alike) - 1)
                alike = [drawn(alike, context.seed, clean.source_id, "suite")]
        counted.out += len(found) * len(alike)
        for place, record in enumerate(alike if found else ()):
            hidden = context.hides_labels(record)
            examples = [_example(clean, record, prefix, needs) for prefix, needs in found]
            lines = b"\n".join(msgspec.json.encode(about if hidden else about | label) for about, label in examples)
            pieces = [Out(f"release/{record.suite}/{record.split}.jsonl", made.order + bytes([place]), len(examples), lines)]
            if hidden:
                labels = b"\n".join(msgspec.json.encode({"example_id": about["example_id"]} | label) for about, label in examples)
                pieces.append(pieces[0]._replace(path=f"labels/{pieces[0].path}", line=labels))
            yield from repeated(pieces, [*([FEW] if made.few else []), *([HARD] if record.dialogue_id in made.hard else [])])

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        found = {}
        for suite in suites:
            for split in _SPLITS:
                hidden = blind and split == "test"
                found[f"release/{suite}/{split}.jsonl"] = INPUTS if hidden else EXAMPLES
                if hidden:
                    found[f"labels/release/{suite}/{split}.jsonl"] = LABELS
        return found

    def split_of(self, path: str) -> str | None:
        return path.rpartition("/")[2].removesuffix(".jsonl")


def _certified(clean: Dialogue, record: Dialogue, prefix: Prefix, needs: Iterable[Needed]) -> bool:
    """Whether every value that the user gives for a target stands in the user's texts of a record as often as in the clean ones."""
    given = [need.value for need in needs if need.given_by == "user"]
    if record.suite == STANDARD or not given:
        return True
    was, now = ("\n".join(turn.utterance for turn in one.turns[: prefix.last] if turn.speaker == "user") for one in (clean, record))
    return all(now.count(value) >= was.count(value) for value in given)


def _example(clean: Dialogue, record: Dialogue, prefix: Prefix, needs: Iterable[Needed]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The line of a prefix, and its labels apart."""
    turns = list(zip(clean.turns[: prefix.last], record.turns, strict=False))
    about: dict[str, Any] = {
        "example_id": f"{record.dialogue_id}:{prefix.last}",
        "run": record.source_id,
        "task": task_of(clean),
        "suite": record.suite,
        "variant": record.variant,
        "place": prefix.last,
        "changed_turns": sum(old.utterance != new.utterance for old, new in turns),
        "messages": [msgspec.Raw(message.encode()) for message in chat_messages(record, prefix.last)],
    }
    tools = rest_of(clean).get("tools")
    if isinstance(tools, list) and tools:
        about["tools"] = tools
    label = {"target": prefix.action.to_dict(), "needs": [{"argument": one.name, "value": one.value, "given_by": one.given_by} for one in needs]}
    return about, label
