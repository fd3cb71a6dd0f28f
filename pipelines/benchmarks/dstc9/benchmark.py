"""DSTC9 Track 1, Beyond Domain APIs (Kim et al. 2020): which turns seek knowledge, which snippet answers them, and what the system says.

Release files, in the layout of alexa/alexa-with-dstc9-track1-dataset, so that its checker and scorer run with ``--dataroot`` on either folder:
``release/data/{knowledge,output_schema}.json`` with ``train`` and ``val``, ``release/data_eval`` with ``test``; each split has `logs.json` and
`labels.json` in one order. The labels of test say in `source` where they come from: multiwoz, or sf_written and sf_spoken of the unseen side.
``release/data_ambiguous`` repeats the test instances whose question an entity spoken of earlier answers as well. ``release/few_shot`` and
``release/test_hard`` hold such data roots for the few-shot dialogues of train, with the whole of val, and for the hard ones of test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from dialmill.perturbers.insertion.knowledge import SEEKING, KnowledgeBase, own_base
from dialmill.perturbers.insertion.knowledge.perturber import is_held_out
from dialmill.pipelines.baselines.panel.snippets import known_of
from dialmill.pipelines.benchmarks.dstc9 import predictor
from dialmill.pipelines.benchmarks.dstc9.check import check_file, check_release, compare
from dialmill.pipelines.benchmarks.dstc9.instances import Instance, instances, sampled
from dialmill.pipelines.benchmarks.dstc9.kinds import KINDS, KNOWLEDGE, LABELS, LOGS, OUTPUT_SCHEMA, PREDICTIONS, RELATIVES
from dialmill.pipelines.benchmarks.dstc9.recipe import SEEN, Dstc9Recipe
from dialmill.pipelines.benchmarks.dstc9.scorer import Dstc9 as _Scorer
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext, SourceRecords
from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Item, Out, Stage
from dialmill.pipelines.core.subsets import FEW, HARD, in_subset, repeated
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue

DATA, EVAL, AMBIGUOUS = "release/data", "release/data_eval", "release/data_ambiguous"
_FOLDERS = {"train": f"{DATA}/train", "valid": f"{DATA}/val", "test": f"{EVAL}/test"}
_AMBIGUOUS = f"{AMBIGUOUS}/test"
#: What each data root has beside its splits.
_SHARED = {"knowledge.json": KNOWLEDGE, "output_schema.json": OUTPUT_SCHEMA}
#: The data roots of the subsets.
_SUBSET_ROOTS = {FEW: (DATA,), HARD: (EVAL, AMBIGUOUS)}


class Dstc9Track1(Benchmark):
    name = "dstc9-track1"
    about = "DSTC9 Track 1: knowledge-seeking turns on MultiWOZ (or any corpus), snippet selection, grounded answers; unseen and spoken test data"
    paper = "Kim et al. (2021), Beyond Domain APIs: Task-oriented Conversational Modeling with Unstructured Knowledge Access Track in DSTC9"

    panel = "snippets"
    task_categories, task_ids = ("text-retrieval", "text-generation"), ("document-retrieval", "dialogue-generation")
    kinds = KINDS
    relatives = RELATIVES
    # What follows a question is its answer, and that a turn was inserted shows beside the dialogue without it.
    answers_in_dialogues = True
    compared = (LABELS, PREDICTIONS)

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return Checked(*check_release(folder))

    def check_file(self, path: Path, schema: str, sound: Callable[[Path], bool]) -> Checked:
        return check_file(path, schema, sound)

    def compare(self, path: Path, schema: str, gold: Path) -> Checked:
        return compare(path, gold)

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def predictor(self) -> Predictor:
        return predictor

    def recipe(self) -> type[Recipe]:
        return Dstc9Recipe

    def check(self, job: Job) -> None:
        recipe = job.recipe
        assert isinstance(recipe, Dstc9Recipe)
        if SEEN not in recipe.suites:
            raise DialmillError(f"dstc9-track1 needs the suite {SEEN!r}, which train and val come from; suites are {', '.join(recipe.suites)}")

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        recipe = context.recipe
        assert isinstance(recipe, Dstc9Recipe)
        counted = context.counters.stage("instances")
        for place, record in enumerate(one for one in made.records if one.suite != "standard"):
            split = str(record.split)
            if record.suite != SEEN and split != "test":
                continue
            source = recipe.label_source(record) if split == "test" else None
            nbest = recipe.nbest if recipe.nbest and record.suite in recipe.spoken() else 0
            kept, number = _kept(record, recipe, context.seed, source, nbest)
            counted.entered += number
            if not any(SEEKING in turn.labels for turn in record.turns):
                context.counters.reject("instances", "dialogue_without_question", number)
                continue
            counted.out += len(kept)
            if len(kept) < number:
                context.counters.reject("instances", "not_sampled", number - len(kept))
            hide = context.hides_labels(record)
            at = made.order + bytes([place])
            # The official scripts want train and val in one data root.
            few = made.few or (recipe.few_shot and split == "valid")
            yield from repeated(_released(split, kept, at, hide), [FEW] if few else [])
            hard = [one for one in kept if one.turn in made.hard_turns.get(record.dialogue_id, ())]
            yield from (one._replace(path=in_subset(HARD, one.path)) for one in _released(split, hard, at, hide))

    def taught(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Dialogue:
        seen = next(suite.perturber for suite in recipe.suite_plan() if suite.name == SEEN)
        return seen.perturb(dialogue, seed)

    def judged_turns(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Sequence[int]:
        assert isinstance(recipe, Dstc9Recipe)
        return [one.turn for one in _kept(dialogue, recipe, seed, None, 0)[0]]

    def judged_pool(self, recipe: Recipe, language: str) -> Sequence[Any]:
        assert isinstance(recipe, Dstc9Recipe)
        base = recipe.bases()[1] or own_base(language)
        return known_of((snippet, entity.name) for entity in base.entities.values() for snippet in entity.snippets)

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        assert isinstance(job.recipe, Dstc9Recipe)
        languages = sorted({registry.get(one.source).language for one in job.inputs} & {"en", "zh"}) or ["en", "zh"]
        roots = [DATA, EVAL, AMBIGUOUS, *_subset_roots(job.recipe)]
        return [runner.apply("write knowledge", WriteKnowledge(job.recipe, languages), runner.create("data roots", roots))]

    def split_of(self, path: str) -> str | None:
        return next((split for split, folder in (*_FOLDERS.items(), ("test", _AMBIGUOUS)) if f"{folder}/" in path), None)

    def expected(self, recipe: Recipe) -> dict[str, str]:
        found = super().expected(recipe)
        val = [path for path in found if path.startswith(f"{_FOLDERS['valid']}/")] if recipe.few_shot else []
        found |= {in_subset(FEW, path): found[path] for path in val}
        return found | {f"{root}/{name}": schema for root in _subset_roots(recipe) for name, schema in _SHARED.items()}

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        found: dict[str, str] = {}
        for root in (DATA, EVAL, AMBIGUOUS):
            found |= {f"{root}/{name}": schema for name, schema in _SHARED.items()}
        for folder in (*_FOLDERS.values(), _AMBIGUOUS):
            hide = "labels/" if blind and folder.endswith("/test") else ""
            found[f"{folder}/logs.json"] = LOGS
            found[f"{hide}{folder}/labels.json"] = LABELS
        return found


def _subset_roots(recipe: Recipe) -> list[str]:
    """The data roots of the subsets that a recipe has."""
    return [in_subset(subset, root) for subset, roots in _SUBSET_ROOTS.items() if subset != FEW or recipe.few_shot for root in roots]


def _kept(record: Dialogue, recipe: Dstc9Recipe, seed: int, source: str | None, nbest: int) -> tuple[list[Instance], int]:
    """The instances of a record that are released, and how many it has. Of a blind one it is one: the log of the next has this one's answer."""
    found = list(instances(record, source, nbest, seed))
    if not any(SEEKING in turn.labels for turn in record.turns):
        return [], len(found)
    kept = sampled(found, record, recipe, seed)
    if kept and recipe.held_out_labels and record.split == "test":
        kept = [drawn(kept, seed, record.source_id, "instance")]
    return kept, len(found)


def _released(split: str, kept: Sequence[Instance], order: bytes, hide: bool) -> Iterator[Out]:
    """The pieces of instances in the files of a split; in test, again among the ambiguous ones."""
    yield from _pieces(_FOLDERS[split], kept, order, hide)
    if split == "test":
        yield from _pieces(_AMBIGUOUS, [one for one in kept if one.ambiguous], order, hide)


def _pieces(folder: str, kept: Sequence[Instance], order: bytes, hide: bool) -> Iterable[Out]:
    if kept:
        yield Out(f"{folder}/logs.json", order, len(kept), _joined([one.log for one in kept]))
        yield Out(f"{'labels/' if hide else ''}{folder}/labels.json", order, len(kept), _joined([one.label for one in kept]))


def _joined(items: Sequence[object]) -> bytes:
    return b",\n".join(msgspec.json.encode(item) for item in items)


class WriteKnowledge(Stage):
    """The knowledge base of a data root, and the JSON Schema of labels that the official checker reads there."""

    tags = ("out",)

    def __init__(self, recipe: Dstc9Recipe, languages: Sequence[str]) -> None:
        self.recipe, self.languages = recipe, languages

    def process(self, element: str, side: object = None) -> Iterable[tuple[str, Item]]:
        base = released_base(self.recipe, self.languages, not element.endswith("/data"))
        for place, (domain, entities) in enumerate(base.to_dict().items()):
            line = msgspec.json.encode(domain) + b": " + msgspec.json.encode(entities)
            yield "out", Out(f"{element}/knowledge.json", place.to_bytes(4, "big"), 1, line).item(1)
        for place, (key, value) in enumerate(output_schema(base.domains).items()):
            line = msgspec.json.encode(key) + b": " + msgspec.json.encode(value)
            yield "out", Out(f"{element}/output_schema.json", place.to_bytes(4, "big"), 1, line).item(1)


def released_base(recipe: Dstc9Recipe, languages: Sequence[str], test: bool) -> KnowledgeBase:
    """The snippets of a data root: for train and val without those that are held out for testing."""
    seen, new = recipe.bases()
    base = new if test else seen
    if base is None:
        base = KnowledgeBase(tuple(entity for language in languages for entity in own_base(language).entities.values()))
    if test or recipe.apart or not recipe.held_out:
        return base
    return base.part(frozenset((one.domain, one.entity_id, one.doc_id) for one in base.snippets() if not is_held_out(one, recipe.held_out)))


def output_schema(domains: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of labels and predictions, as the official release has it, with these domains."""
    snippet = {
        "type": "object",
        "properties": {
            "domain": {"type": "string", "enum": list(domains)},
            "entity_id": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["*"]}]},
            "doc_id": {"type": "integer"},
        },
        "required": ["domain", "entity_id", "doc_id"],
    }
    named = {"knowledge": {"type": "array", "minItems": 1, "items": snippet}, "response": {"type": "string", "minLength": 1}}
    return {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"target": {"type": "boolean"}},
            "required": ["target"],
            "if": {"properties": {"target": {"const": True}}},
            "then": {"properties": named, "required": ["knowledge", "response"]},
        },
    }
