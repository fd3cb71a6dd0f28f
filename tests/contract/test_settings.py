"""Every key of every recipe: set to another value it changes what is made, or it is refused.

Two proofs. Of each recipe every key is set to another value: the run is refused, or a stage of this recipe's graph reads the key. And every key is
set in a small build, which then writes other bytes. A key that is added has to be entered in `SECTIONS`, with the other settings that give it an
effect, or in `GUARDS`, with the test that shows what it does.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from dialmill.perturbers.core import options
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.runners.plain import PlainRunner

from tests.contract.test_keys import _recipes
from tests.pipelines.tools import DATA, ROOT


class Section(NamedTuple):
    """Keys of a class of recipes, set in builds of a benchmark: key -> its setting, and the others that give it an effect.

    Args:
        kind: the class of recipes that the keys are of.
        settings: what makes every build of the section small.
    """

    kind: str
    benchmark: str
    inputs: Sequence[Path]
    settings: Sequence[str]
    keys: Mapping[str, Sequence[str]]


def _model(texts: Sequence[str]) -> list[float]:
    """A model for `offensive_model`: how likely each text is to offend."""
    return [0.9 if "hotel" in text else 0.5 if "train" in text else 0.0 for text in texts]


NOISY = ("suites=standard,typos", "perturbations.typos=typos")
JUDGED = ("clean=offensive", f"offensive_model={__name__}:_model")
KNOWN, NEW = (DATA / "dstc9_track1" / name for name in ("knowledge.json", "knowledge_eval.json"))
LEXICON, SENTENCES = (DATA / "dstc9_track2" / name for name in ("lexicon.tsv", "sentences.tsv"))
DATES = ("valid_from=2009-01-01", "test_from=2012-01-01")
ENTANGLED = ("form=dstc8", "subtasks=1,2")
#: What keeps a build of everything small.
SMALLER = {
    "raddle": ["limit=30", "hard_share=0"],
    "splits": ["limit=10", "hard_share=0"],
    "perturb": ["limit=10", "hard_share=0"],
    "dstc9-track1": ["limit=10", "hard_share=0", "suites=standard,knowledge"],
    "dstc9-track2": ["limit=10"],
    "dstc9-track4": ["candidates=5", "limit=10", "hard_share=0"],
    "noesis-advising": ["partials=20", "partials_each=10", "train_size=6", "valid_size=3", "test_size=3", "candidates=8", "hard_share=0"],
    "noesis-ubuntu": ["candidates=5", "pool_size=30", "hard_share=0"],
    "cgodial-fbd": ["suites=standard", "train_size=6", "valid_size=2", "test_size=2", "hard_share=0"],
    "cgodial-rbd": ["suites=standard", "hard_share=0"],
    "cgodial-sbd": ["suites=standard", "limit=10", "hard_share=0"],
}
SECTIONS = [
    Section(
        "Recipe",
        "splits",
        [DATA / "multiwoz21"],
        ["splits=hash", "hard_share=0"],
        {
            "simulated": ["simulated=reminder", "limit=20"],
            "splits": ["splits=keep"],
            "fractions": ["fractions.test=0.6"],
            "group_by": ["group_by=domain", "train_size=3"],
            "proportional": ["proportional=true", "train_size=40", "test_size=40"],
            "train_size": ["train_size=3"],
            "valid_size": ["valid_size=1"],
            "test_size": ["test_size=1"],
            "limit": ["limit=5"],
            "domains": ["domains=hotel"],
            "single_domain": ["single_domain=true"],
            "min_turns": ["min_turns=9"],
            "max_turns": ["max_turns=6"],
            "max_words": ["max_words=9"],
            "ascii_only": ["ascii_only=true"],
            "offensive_model": [JUDGED[1], "clean=offensive"],
            "offensive_threshold": ["offensive_threshold=0.4", *JUDGED],
            "perturbations": ["perturbations.typos=typos:rate=0.5", *NOISY, "limit=20"],
            "perturbed_splits": ["perturbed_splits=test", *NOISY, "limit=20"],
            "donors_from": ["donors_from=train", "suites=standard,paraphrase", "perturbations.paraphrase=paraphrase", "limit=30"],
            "typography": ["typography=join"],
            "variants": ["variants=2", *NOISY, "limit=20"],
            "suite_variants": ["suite_variants.typos.test=2", *NOISY, "limit=20"],
            "suite_domains": ["suite_domains.typos=hotel", *NOISY, "limit=20"],
            "few_shot": ["few_shot=0.5"],
            "hard_share": ["hard_share=0.8", "hard_share=0.2", "hard_baselines=words", "limit=30"],
            "hard_baselines": ["hard_baselines=words", "hard_baselines=neighbours", "hard_share=0.5", "limit=30"],
            "held_out_labels": ["held_out_labels=true", "limit=20"],
            "blind_suites": ["blind_suites=paired", "held_out_labels=true", *NOISY, "limit=20"],
        },
    ),
    Section(
        "Recipe",
        "splits",
        [DATA / "transcript"],
        ["hard_share=0"],
        {"require_acts": ["require_acts=true"], "require_system_end": ["require_system_end=true"]},
    ),
    Section("Recipe", "splits", [DATA / "simmc"], ["hard_share=0"], {"commercial": ["commercial=true"]}),
    Section("Recipe", "raddle", [DATA / "multiwoz21"], ["suites=standard", "hard_share=0"], {"suites": ["suites=standard,typos"]}),
    Section("RaddleRecipe", "raddle", [DATA / "multiwoz21"], ["suites=standard", "hard_share=0"], {"turns_form": ["turns_form=surface"]}),
    Section(
        "LogRecipe",
        "disentangle",
        [DATA / "ubuntu_irc"],
        [],
        {
            "links": ["links=annotated"],
            "min_confidence": ["min_confidence=0.7"],
            "opens_with_request": ["opens_with_request=true"],
            "bot_commands": ["bot_commands=drop"],
            "min_participants": ["min_participants=2"],
            "max_participants": ["max_participants=2"],
            "max_share": ["max_share=0.6"],
            "drop_bots": ["drop_bots=true"],
            "anonymise": ["anonymise=true"],
            "merge": ["merge=true"],
            "form": ["form=dstc7"],
            "valid_from": ["valid_from=2010-01-01", *DATES],
            "test_from": ["test_from=2011-01-01", *DATES],
        },
    ),
    Section(
        "LogRecipe",
        "noesis-ubuntu",
        [DATA / "ubuntu_irc"],
        ["candidates=5", "hard_share=0", "min_context=1", *ENTANGLED],
        {"entangled_lines": ["entangled_lines=5"], "stretch_lines": ["stretch_lines=5"]},
    ),
    Section(
        "UbuntuRecipe",
        "noesis-ubuntu",
        [DATA / "ubuntu_irc"],
        ["candidates=5", "hard_share=0", *ENTANGLED],
        {
            "drop_near_copies": ["drop_near_copies=valid", "near_copy=0.01"],
            "near_copy": ["near_copy=0.01"],
        },
    ),
    Section(
        "SelectionRecipe",
        "noesis-ubuntu",
        [DATA / "ubuntu_irc"],
        ["candidates=5", "hard_share=0", "pool_size=30"],
        {
            "subtasks": ["subtasks=1,2"],
            "candidates": ["candidates=6"],
            "pool_size": ["pool_size=40"],
            "none_share": ["none_share=0.7"],
            "distractors": ["distractors=similar"],
            "pool_scope": ["pool_scope=all"],
            "max_pool_share": ["max_pool_share=0.5"],
            "min_context": ["min_context=1"],
            "short_contexts": ["short_contexts=true"],
            "knowledge": [f"knowledge={DATA / 'README.md'}"],
        },
    ),
    Section(
        "AdvisingRecipe",
        "noesis-advising",
        [DATA / "advising"],
        ["partials=20", "partials_each=10", "train_size=6", "valid_size=3", "test_size=3", "candidates=8", "hard_share=0"],
        {
            "form": ["form=dstc8"],
            "partials": ["partials=10"],
            "partials_each": ["partials_each=1"],
            "test_cuts": ["test_cuts=2"],
            "overlap_share": ["overlap_share=0"],
            "min_rivals": ["min_rivals=20"],
            "correct": ["correct=1"],
        },
    ),
    Section(
        "Dstc9Recipe",
        "dstc9-track1",
        [DATA / "multiwoz21"],
        ["suites=standard,knowledge,unseen", "limit=12", "hard_share=0"],
        {
            "knowledge": [f"knowledge={KNOWN}"],
            "held_out": ["held_out=0.6"],
            "unseen_domains": ["unseen_domains=hotel"],
            "targets": ["targets.train=1"],
            "nontargets": ["nontargets.train=0.5"],
            "label_sources": ["label_sources.unseen=cambridge"],
        },
    ),
    Section(
        "Track2Recipe",
        "dstc9-track2",
        [DATA / "multiwoz21"],
        ["limit=10", f"lexicon={LEXICON}"],
        {
            "engine": ["engine=memory", "engine=table", f"sentences={SENTENCES}"],
        },
    ),
    Section(
        "Track3Recipe",
        "dstc9-track3",
        [DATA / "fed"],
        [],
        {"system_field": ["system_field=model"], "per_system": ["per_system=1"]},
    ),
    Section(
        "Track4Recipe",
        "dstc9-track4",
        [DATA / "simmc"],
        ["suites=standard", "candidates=5", "hard_share=0"],
        {"candidates": ["candidates=6"], "pool_scope": ["pool_scope=all"]},
    ),
    Section(
        "RetrievalRecipe",
        "cgodial-rbd",
        [DATA / "ecd"],
        ["suites=standard", "hard_share=0"],
        {
            "candidate_numbers": ["candidate_numbers.test=5"],
            "max_accuracy": ["max_accuracy=0.3"],
            "min_response": ["min_response=40"],
            "max_similarity": ["max_similarity=0.01"],
        },
    ),
    Section(
        "SlotRecipe",
        "cgodial-sbd",
        [DATA / "risawoz"],
        ["suites=standard", "limit=12", "hard_share=0"],
        {
            "question_pairs": [f"question_pairs={DATA / 'questions' / 'questions.json'}"],
            "question_chance": ["question_chance=0"],
            "question_most": ["question_most=1"],
            "held_out_share": ["held_out_share=0.6"],
            "oos_texts": [f"oos_texts={DATA / 'clinc' / 'data_full.json'}"],
            "oos_chance": ["oos_chance=0"],
            "oos_most": ["oos_most=1"],
            "oos_answer": ["oos_answer=不知道。"],
        },
    ),
    Section("AgentNoiseRecipe", "agent-noise", [DATA / "messages"], ["suites=standard"], {"failed_runs": ["failed_runs=true"]}),
]
#: Keys that need what our small corpora lack (records at fault, an engine, another file), and the tests that show what they do.
GUARDS = {
    "clean": "test_cleaning",
    "prompts": "test_wording_options",
    "max_failures": "test_effects",
    "keep_audio": "test_channel",
    "model": "test_translation",
    "lexicon": "test_translation",
    "sentences": "test_translation",
    "db": "test_knowledge",
    "bank": "test_knowledge",
    "replies": "test_dstc9_track3",
    "nbest": "test_dstc9",
    "noised": "test_cgodial_rbd",
    "undirected_start": "test_frame",
    "keep_common_answers": "test_noesis",
}


@functools.cache
def _made(benchmark: str, inputs: tuple[Path, ...], settings: tuple[str, ...]) -> dict[str, str]:
    """Every file that the graph of a build writes, by its digest; that of the recipe's plan beside it."""
    recipe = benchmarks.load_recipe(benchmark, None, settings)
    with tempfile.TemporaryDirectory() as folder:
        job = build.make_job(recipe, list(map(str, inputs)), f"{folder}/made", 1)
        build.graph(PlainRunner(), job, folder)
        files = [path for path in Path(folder).rglob("*") if path.is_file() and "counters" not in path.name]
        return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _without(settings: Iterable[str], others: Iterable[str]) -> list[str]:
    """The settings of keys that the others don't set."""
    names = {one.partition("=")[0] for one in others}
    return [one for one in settings if one.partition("=")[0] not in names]


@pytest.mark.parametrize(("section", "key"), [pytest.param(one, key, id=f"{one.benchmark}-{key}") for one in SECTIONS for key in one.keys])
def test_a_key_that_is_set_changes_what_is_made(section: Section, key: str) -> None:
    setting, *others = section.keys[key]
    before = [*_without(section.settings, others), *others]
    settings = [*_without(before, [setting]), setting]
    assert setting.partition("=")[0].partition(".")[0] == key
    assert _made(section.benchmark, tuple(section.inputs), tuple(before)) != _made(section.benchmark, tuple(section.inputs), tuple(settings))


def _keys_of_classes() -> Iterator[tuple[str, str]]:
    """The keys of all recipes that are registered, each with the class that declares it."""
    for kind in {base for one in benchmarks.usable() for base in one.recipe().__mro__ if issubclass(base, Recipe)}:
        yield from ((kind.__name__, key) for key in options.names(kind) if key in kind.__annotations__)


def test_every_key_is_shown_to_have_an_effect() -> None:
    shown = {(one.kind, key) for one in SECTIONS for key in one.keys}
    lacking = {(kind, key) for kind, key in _keys_of_classes() if (kind, key) not in shown and key not in GUARDS and kind != "ExampleRecipe"}
    assert not lacking, "enter them in SECTIONS, with what gives them an effect"
    assert shown <= set(_keys_of_classes())
    tests = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(GUARDS.values()) <= tests and GUARDS.keys() <= {key for _, key in _keys_of_classes()}


def _another(option: options.Option, value: Any) -> str | None:
    """A value of an option besides the one that it has, as a user writes it; None where only the example of a file is known."""
    if isinstance(value, bool):
        return options.written(not value)
    found = [one for one in (*options.alternatives(option.kind), option.example) if one is not None and one != value]
    return options.written(found[0]) if found else None


class _Reads:
    """Which keys of a recipe are read while a run is planned and carried out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: set[str] = set()
        keys = frozenset(key for _, key in _keys_of_classes())

        def read(recipe: Recipe, name: str) -> Any:
            if name in keys:
                self.names.add(name)
            return object.__getattribute__(recipe, name)

        monkeypatch.setattr(Recipe, "__getattribute__", read)


#: Benchmark -> inputs and settings of a build in which the keys that have an effect are read.
RUNS = {name: (inputs, [*settings, *SMALLER.get(name, ())]) for name, (inputs, settings) in _recipes().items()}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_key_is_read_by_the_run_or_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, settings = RUNS[name]
    recipe = benchmarks.load_recipe(name, None, settings)
    accepted = set()
    for option in options.options(type(recipe)):
        value = _another(option, getattr(recipe, option.name))
        setting = f"{option.name}={value}"
        try:
            benchmarks.load_recipe(name, None, [*_without(settings, [setting]), setting])
            accepted.add(option.name)
        except (DialmillError, options.OptionError):
            continue
    with monkeypatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        reads = _Reads(patched)
        job = build.make_job(recipe, list(map(str, inputs)), f"{folder}/made", 1)
        build.graph(PlainRunner(), job, folder)
        reads.names.add("max_failures")  # once the graph has run
    assert accepted - reads.names == set(), "set to another value they are accepted, and no stage reads them"
    assert len(accepted) > 15
