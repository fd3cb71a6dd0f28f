"""DSTC9 Track 2 (Gunasekara et al. 2020, section III): cross-lingual state tracking, MultiWOZ in Chinese and CrossWOZ in English.

The release has the layout of ConvLab-2's track: ``release/multiwoz_zh/{train,val,test}.json.zip``, each with NAME.json, and ``ontology-data.json``,
or ``release/crosswoz_en/``; suites beside `translated` stand below ``release/SUITE/``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
from dialmill.perturbers.translation import lexicon as lexicons
from dialmill.perturbers.translation.lexicon import Lexicon, Untranslated
from dialmill.perturbers.translation.perturber import Translate
from dialmill.pipelines.benchmarks.cross_lingual.recipe import Track2Recipe
from dialmill.pipelines.benchmarks.cross_lingual.release import CrossWozWriter, multiwoz
from dialmill.pipelines.benchmarks.cross_lingual.scorer import CrossLingual as CrossLingualScorer
from dialmill.pipelines.benchmarks.cross_lingual.sources import WHOLE
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext, SourceRecords
from dialmill.pipelines.core.counters import SHORTFALL
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.core.stage import Item, Out, Stage, decompress
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue
from dialmill.schemas.kinds import FileKind

ONTOLOGY = "dstc9-track2-ontology"
#: The suite that the official files are.
TRANSLATED = "translated"
#: Source -> (its folder in the release, its language, the language it is translated into, the schema of its files).
_FOLDERS = {"multiwoz21": ("multiwoz_zh", "en", "zh", "multiwoz21"), "crosswoz": ("crosswoz_en", "zh", "en", "crosswoz")}
_NAMES = {"train": "train", "valid": "val", "test": "test"}


class Dstc9Track2(Benchmark):
    name = "dstc9-track2"
    about = "DSTC9 Track 2: MultiWOZ in Chinese and CrossWOZ in English, labels by a lexicon and turns by an engine, in the official files"
    paper = "Gunasekara et al. (2020), Overview of the Ninth Dialog System Technology Challenge"
    kinds = (FileKind(ONTOLOGY, (), ("ontology-data.json",)),)
    takes_records = True

    def recipe(self) -> type[Recipe]:
        return Track2Recipe

    def scorer(self) -> type[Scorer]:
        return CrossLingualScorer

    def predictor(self) -> Predictor:
        return turn_predictor

    def source(self, source: Source, recipe: Recipe) -> Source:
        whole = WHOLE.get(source.name)
        return source if whole is None else whole()

    def check(self, job: Job) -> None:
        recipe = job.recipe
        assert isinstance(recipe, Track2Recipe)
        others = sorted({one.source for one in job.inputs} - set(_FOLDERS))
        if others:
            raise DialmillError(
                f"dstc9-track2 is made from multiwoz21 and crosswoz, not {', '.join(others)}; `perturb --with translate` takes any corpus"
            )
        if not recipe.lexicon:
            raise DialmillError(
                "dstc9-track2 needs the translations of labels: --set lexicon=vocab_dict.json, the official file, or a table of yours"
            )
        if "standard" in recipe.suites or TRANSLATED not in recipe.suites:
            raise DialmillError(f"suites of dstc9-track2 are translated ones, and {TRANSLATED!r} is one of them, not {', '.join(recipe.suites)}")
        for suite in recipe.suite_plan():
            if not any(isinstance(link, Translate) for link in getattr(suite.perturber, "links", (suite.perturber,))):
                raise DialmillError(f"suite {suite.name} isn't translated: begin it with translate, as in {suite.name}: translate+typos")
        for name in {one.source for one in job.inputs}:
            _lexicon(recipe, name)

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        recipe = context.recipe
        assert isinstance(recipe, Track2Recipe)
        raw = json.loads(decompress(made.extra))
        for record in made.records:
            folder, *_ = _FOLDERS[record.source]
            lexicon = _lexicon(recipe, record.source)
            if record.source == "multiwoz21":
                content: dict[str, Any] = multiwoz(record, raw, lexicon)
            else:
                writer = CrossWozWriter(lexicon)
                content = writer.dialogue(record, raw)
                if writer.missing:
                    context.counters.note(MISSING, writer.missing)
            path = f"{_root(record.suite)}/{folder}/{_NAMES[str(record.split)]}.json.zip"
            yield Out(path, made.order, 1, msgspec.json.encode(record.source_id) + b": " + msgspec.json.encode(content))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        assert isinstance(job.recipe, Track2Recipe)
        seen = runner.apply("translate seen values", SeenValues(job.recipe), records)
        written = runner.apply("write ontologies", WriteOntology(), runner.group("bring seen values together", seen.main))
        return [seen, written]

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        return {}

    def schema_of(self, path: str, blind: bool) -> str | None:
        if path.endswith("/ontology-data.json"):
            return ONTOLOGY
        return next((schema for folder, _, _, schema in _FOLDERS.values() if f"/{folder}/" in path), None)


#: The manifest's warning of values that are no labels of turns: a dialogue whose labels aren't in the lexicon is rejected.
MISSING = f"{SHORTFALL}values of goals and of search results that the lexicon doesn't have stay in the language of the source"


def _root(suite: str) -> str:
    return "release" if suite == TRANSLATED else f"release/{suite}"


def _lexicon(recipe: Track2Recipe, source: str) -> Lexicon:
    _, language, target, _ = _FOLDERS[source]
    return lexicons.load(recipe.lexicon, language, target)


class SeenValues(Stage):
    """The values of belief states, translated, keyed by corpus. Of test dialogues whose labels are held out it is the slots alone: values that only
    they have would be answers."""

    def __init__(self, recipe: Track2Recipe) -> None:
        self.recipe = recipe

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        given = SplitDialogue.decode(element[1])
        dialogue: Dialogue = given.dialogue
        hidden = self.recipe.held_out_labels and given.split == "test"
        lexicon = _lexicon(self.recipe, dialogue.source)
        found: dict[tuple[str, str, str | None], None] = {}
        for turn in dialogue.turns:
            for cell in turn.state:
                for value in cell.values:
                    try:
                        said = lexicon.value(cell.domain, cell.slot, value)
                        found[lexicon.domain(cell.domain), lexicon.slot(cell.slot), None if hidden else said] = None
                    except Untranslated:
                        continue  # its dialogue is rejected for it
        yield "main", (_FOLDERS[dialogue.source][0], msgspec.msgpack.encode(list(found)))


class WriteOntology(Stage):
    """The values of each slot, sorted, as ontology-data.json."""

    tags = ("out",)

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        folder, packed = element
        tree: dict[str, dict[str, set[str]]] = {}
        for one in packed:
            for domain, slot, value in msgspec.msgpack.decode(one):
                known = tree.setdefault(domain, {}).setdefault(slot, set())
                if value is not None:
                    known.add(value)
        for place, (domain, slots) in enumerate(sorted(tree.items())):
            listed = {slot: sorted(values) for slot, values in sorted(slots.items())}
            line = msgspec.json.encode(domain) + b": " + msgspec.json.encode(listed)
            yield "out", Out(f"release/{folder}/ontology-data.json", place.to_bytes(4, "big"), 1, line).item(1)
