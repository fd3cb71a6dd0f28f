"""A setting without effect is an error that says why; one that is set to what it was anyway is none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from dialmill.perturbers import OptionError, names, parse
from dialmill.perturbers import get as get_perturber
from dialmill.perturbers.core import options
from dialmill.perturbers.core.effects import Naming, Never
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.errors import UsageError

from tests.pipelines.tools import DATA, call, corpus, manifest, plain, records, talk


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["perturb", "--with", "typos", "--set", "test_size=2"], "test_size has no effect: it takes effect with splits=auto"),
        (["build", "raddle", "--set", "perturbations.typo=typos:rate=0.9"], "the suite 'typo' is not made"),
        (["build", "raddle", "--set", "suite_variants.typo.test=3"], "expected SUITE.SPLIT|'typo"),
        (["build", "raddle", "--set", "domains=hotel"], "'ood' takes attraction alone"),
        (["build", "splits", "--set", "variants=3"], "makes no perturbed suite"),
        (["build", "splits", "--set", "keep_audio=true"], "makes no perturbed suite"),
        (["build", "splits", "--set", "group_by=domain"], "no size is set"),
        (["build", "splits", "--set", "splits=official", "--set", "fractions.test=0.5"], "fractions has no effect"),
        (["build", "raddle", "--set", "suites=standard,typos", "--set", "donors_from=train"], "no suite takes its wording from other turns"),
        (["build", "raddle", "--set", "prompts.paraphrase=Hey"], "paraphrase with engine=llm"),
        (["perturb", "--with", "paraphrase:model=x"], "model=x has no effect"),
        (["perturb", "--with", "knowledge:prompt=hello"], "prompt=hello has no effect"),
        (["perturb", "--with", "speech:engine=text,voices=2"], "voices=2 has no effect"),
        (["perturb", "--with", "speech:noise=none,spread=1"], "spread=1 has no effect"),
        (["perturb", "--with", "typos+speech:fillers=0.5"], "fillers=0.5 has no effect: it takes effect with output=plain"),
        (["perturb", "--with", "disfluency:values=follow"], "values=follow has no effect"),
        (["perturb", "--with", "out_of_scope:train_source=nowhere"], "there is no source 'nowhere'"),
        (["perturb", "--with", "speech:engine=text", "--set", "keep_audio=true"], "no suite is spoken with audio"),
        (["build", "splits", "--set", "hard_share=0", "--set", "hard_baselines=words"], "hard_share is 0"),
        (["build", "splits", "--set", "hard_baselines=", "--set", "hard_share=0.1"], "hard_baselines is empty"),
        (["build", "splits", "--set", "max_failures=0.2"], "makes no perturbed suite"),
        (["build", "cgodial-sbd", "--set", "oos_chance=0", "--set", "oos_most=3"], "oos_most has no effect"),
        (["build", "cgodial-rbd", "--set", "suites=standard", "--set", "noised=customer"], "no suite is spoken"),
        (["build", "dstc9-track1", "--set", "nbest=5", "--set", "suites=standard,knowledge"], "no suite is spoken"),
        (["build", "dstc9-track1", "--set", "label_sources.spoken=x", "--set", "suites=standard,knowledge"], "'spoken' is not made"),
        (["build", "noesis-ubuntu", "--set", "form=dstc8", "--set", "pool_size=500"], "pool_size has no effect"),
        (["build", "noesis-ubuntu", "--set", "subtasks=1", "--set", "none_share=0.5"], "none_share has no effect"),
        (["build", "noesis-ubuntu", "--set", "links=annotated", "--set", "min_confidence=0.5"], "links=predicted"),
        (["build", "noesis-ubuntu", "--set", "drop_near_copies=", "--set", "near_copy=0.7"], "near_copy has no effect"),
        (["build", "noesis-ubuntu", "--set", "stretch_lines=100"], "no file shows the channel"),
        (["build", "noesis-advising", "--set", "pool_size=500"], "pool_size has no effect"),
        (["build", "noesis-advising", "--set", "subtasks=1", "--set", "correct=3"], "correct has no effect"),
        (["disentangle", "--set", "entangled_lines=10"], "no file shows the channel"),
        (["perturb", "--with", "typos", "--set", "suites=standard"], "suites has no effect: --with of this command says it"),
        (["perturb", "--with", "typos", "--variants", "2", "--set", "variants=3"], "variants has no effect: --variants of this command says it"),
        (["build", "raddle", "--set", "fractions.test=0.5"], "fractions has no effect: proportional=true"),
        (["build", "splits", "--set", "train_size.hotel=3"], "names groups, and group_by is none"),
        (["build", "splits", "--set", "perturbations=noisy:typos"], "the suite 'noisy' is not made"),
        (["build", "raddle", "--set", "suites=standard", "--set", "suite_domains=typos:hotel"], "the suite 'typos' is not made"),
        (["build", "dstc9-track1", "--set", "suites=standard,knowledge", "--set", "label_sources=spoken:x"], "'spoken' is not made"),
        (["build", "splits", "--limit", "5", "--set", "limit=7"], "limit is set twice, to 7 and to 5"),
        (["perturb", "--with", "typos:rate=0.1,rate=0.3"], "rate is set twice, to 0.1 and to 0.3"),
        (["build", "splits", "--json", "-"], "--json has no effect with --dry-run"),
        (["build", "noesis-advising", "--set", "short_contexts=true"], "it takes effect with min_context"),
        (["build", "noesis-advising", "--set", "partials=0", "--set", "partials_each=9"], "it takes effect with partials"),
        (["build", "dstc9-track2", "--set", "hard_share=0.1"], "hard_baselines is empty"),
    ],
)
def test_what_changes_nothing_is_refused(command: list[str], why: str, tmp_path: Path) -> None:
    said = call(*command, "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--dry-run")
    assert said.code == 2
    assert any(one in said.err for one in why.split("|")), said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", benchmarks.names())
def test_a_key_set_to_its_default_is_no_error(name: str, tmp_path: Path) -> None:
    recipe = benchmarks.load_recipe(name)
    settings = []
    for option in options.options(type(recipe)):
        value = getattr(recipe, option.name)
        if value and not isinstance(value, dict):
            settings.append(f"{option.name}={options.written(value)}")
    assert benchmarks.load_recipe(name, None, settings) == recipe
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(recipe.to_dict()))), "utf-8")
    assert benchmarks.load_recipe(name, str(tmp_path / "r.yaml")) == recipe


def test_a_file_with_fewer_suites_than_the_packaged_recipe(tmp_path: Path) -> None:
    """Entries of suites that are not made drop out; mappings add to the packaged ones."""
    file = tmp_path / "r.yaml"
    file.write_text("suites: [standard, typos, heavy]\nperturbations: {heavy: 'typos:rate=0.6'}\n", "utf-8")
    recipe = benchmarks.load_recipe("raddle", str(file))
    assert set(recipe.suite_variants) == set() and set(recipe.suite_domains) == {"typos"}
    assert recipe.perturbations["typos"] == benchmarks.load_recipe("raddle").perturbations["typos"]
    assert [suite.name for suite in recipe.suite_plan()] == ["typos", "heavy"]


@pytest.mark.parametrize("name", names())
def test_options_say_truly_what_they_need(name: str) -> None:
    """An option that depends on another names an option and values that there are, and is refused without them."""
    kind = get_perturber(name)
    known = {option.name: option for option in options.options(kind)}
    for option in known.values():
        for other, needed in option.needs.items():
            assert other in known
            values = () if isinstance(needed, Never) else needed.values
            assert isinstance(needed, Naming) or all(options.read(other, known[other].kind, value) == value for value in values)
            if not needed.holds(known[other].default) and isinstance(option.example, str | int | float):
                with pytest.raises(OptionError, match="has no effect"):
                    parse(f"{name}:{option.name}={options.written(option.example)}")


def test_a_limited_run_takes_the_same_sample_each_time(tmp_path: Path) -> None:
    made = {}
    for name, command in (("a", ["--limit", "7"]), ("b", ["--limit", "7"]), ("c", ["--limit", "9"])):
        done = call("perturb", "--input", DATA / "multiwoz21", "--with", "typos", "--output", tmp_path / name, "--quiet", *command)
        assert done.code == 0, done.err
        lines = [json.loads(line) for path in (tmp_path / name / "dialogues/standard").glob("*.jsonl") for line in path.read_text().splitlines()]
        made[name] = {line["source_id"] for line in lines}
    assert len(made["a"]) == 7 and made["a"] == made["b"] and made["a"] < made["c"] and len(made["c"]) == 9
    rejected = [json.loads(line) for line in (tmp_path / "a/rejects/split.jsonl").read_text().splitlines()]
    assert {one["reason"] for one in rejected} == {"over_limit"}
    with pytest.raises(UsageError, match="limit"):
        benchmarks.load_recipe("splits", None, ["limit=0"])


def test_a_run_of_which_nothing_is_left_fails(tmp_path: Path) -> None:
    words = ["build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--quiet"]
    filtered = call(*words, "--set", "min_turns=999")
    assert filtered.code == 1 and "passed the filters" in filtered.err and "min_turns=N takes them" in filtered.err
    assert not (tmp_path / "out").exists()


def test_a_suite_that_is_mostly_lost_to_failures_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the engine is out of order")

    monkeypatch.setattr("dialmill.perturbers.typing.typos.Typos.draw", broken)
    words = ["perturb", "--input", DATA / "multiwoz21", "--with", "typos", "--output", tmp_path / "out", "--quiet"]
    said = call(*words)
    assert said.code == 1 and "suite typos lost" in said.err and "out of order" in said.err and "max_failures" in said.err
    assert not (tmp_path / "out").exists()
    assert call(*words, "--set", "max_failures=1").code == 0


def test_a_run_of_which_every_perturbed_suite_is_empty_fails(tmp_path: Path) -> None:
    words = ["perturb", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--with", "questions"]
    alone = call(*words)
    assert alone.code == 1 and re.search(r"suite questions: all 63 records were left out: 63 language_not_supported", alone.err)
    assert not (tmp_path / "out").exists()
    both = call(*words, "--with", "typos")
    assert both.code == 0 and "warning: suite questions is empty: all 63 records" in both.err
    assert manifest(tmp_path / "out")["warnings"][0].startswith("suite questions is empty")


def test_a_suite_for_which_the_input_has_no_dialogue_is_told(tmp_path: Path) -> None:
    settings = ("suites=standard,typos", "perturbations.typos=typos", "suite_domains.typos=bus")
    words = [word for setting in settings for word in ("--set", setting)]
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", *words)
    assert done.code == 0 and "suite typos is empty: the input has no dialogue about bus alone (suite_domains)" in done.err


def test_a_split_that_was_asked_for_and_is_empty_is_the_first_warning(tmp_path: Path) -> None:
    few = corpus(tmp_path / "in", {f"D{number}": talk(number) for number in range(3)})
    done = call("build", "splits", "--input", few, "--output", tmp_path / "out", "--set", "splits=hash")
    empty = [split for split in ("train", "valid", "test") if not records(tmp_path / "out", "standard", split)]
    assert done.code == 0 and empty
    told = manifest(tmp_path / "out")["warnings"]
    assert [one.split(":")[0] for one in told[: len(empty)]] == [f"split {split} is empty" for split in empty]
    settings = [word for part in ("train=1", "valid=0", "test=0") for word in ("--set", f"fractions.{part}")]
    whole = call("build", "splits", "--input", few, "--output", tmp_path / "all", "--set", "splits=hash", *settings)
    assert whole.code == 0 and "is empty" not in whole.err, "nobody asked for the others"


def test_a_threshold_that_costs_much_is_named(tmp_path: Path) -> None:
    dialogues = {f"D{number}": talk(number)[: 2 if number % 4 == 0 else 4] for number in range(24)}
    long = corpus(tmp_path / "in", dialogues)
    done = call("build", "splits", "--input", long, "--output", tmp_path / "out", "--set", "min_turns=3")
    assert done.code == 0 and "of 24 dialogues thresholds left out: 6 too_few_turns (min_turns=N takes them)" in done.err


@pytest.mark.parametrize(
    ("name", "source", "settings", "why"),
    [
        ("splits", "multiwoz21", ["fractions.test=0.5"], "the input has official lists of its splits"),
        ("splits", "multiwoz21", ["splits=hash", "group_by=domain", "test_size.hotl=3"], "no dialogue is of the group 'hotl'; the groups are"),
        ("raddle", "multiwoz21", ["suites=standard", "splits=hash", "valid_size=5"], "into train and test alone; set proportional=false"),
        ("splits", "transcript", ["domains=hotel"], "say nothing of their domains"),
        ("splits", "transcript/test.txt", ["splits=keep", "few_shot=0.5"], "no dialogue is in the training split"),
        ("splits", "risawoz", ["typography=join"], "typography has no effect"),
        ("disentangle", "ubuntu_irc", ["hard_share=0.1"], "no baselines judge what is hard in disentangle"),
    ],
)
def test_what_the_input_leaves_without_effect_is_refused(name: str, source: str, settings: list[str], why: str, tmp_path: Path) -> None:
    quick = [] if name == "disentangle" else ["hard_share=0"]
    with pytest.raises(UsageError, match="has no effect") as refusal:
        plain(name, [DATA / source], tmp_path / "out", *quick, *settings)
    assert why in str(refusal.value)
    assert not (tmp_path / "out").exists()


def test_a_domain_that_no_dialogue_is_about_is_told(tmp_path: Path) -> None:
    made = plain("splits", [DATA / "multiwoz21"], tmp_path / "out", "hard_share=0", "domains=hotel,restuarant")
    assert "domains: no dialogue that passes the filters is about restuarant" in made["warnings"]


def test_the_recipe_says_how_many_variants_a_perturbed_suite_has(tmp_path: Path) -> None:
    """--variants has no default of its own that would outweigh the recipe."""
    words = ["perturb", "--input", DATA / "multiwoz21", "--with", "typos", "--output", tmp_path / "out", "--quiet", "--limit", "5"]
    done = call(*words, "--set", "variants=3", "--set", "hard_share=0")
    assert done.code == 0 and len(records(tmp_path / "out", "typos")) == 15, done.err


def test_a_file_of_which_fewer_suites_are_taken_is_no_error(tmp_path: Path) -> None:
    """Entries of a file count as set, unless the command line takes fewer suites of it."""
    file = tmp_path / "r.yaml"
    file.write_text("suites: [standard, heavy]\nperturbations: {heavy: 'typos:rate=0.6', light: 'typos:rate=0.01'}\n", "utf-8")
    with pytest.raises(UsageError, match=r"perturbations\.light has no effect: the suite 'light' is not made"):
        benchmarks.load_recipe("raddle", str(file))
    assert benchmarks.load_recipe("raddle", str(file), ["suites=standard"]).suites == ["standard"]


def test_a_run_whose_only_suite_is_empty_fails(tmp_path: Path) -> None:
    said = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--set", "suite_domains=standard:bus")
    assert said.code == 1 and "nothing would be made: suite standard: the input has no dialogue about bus alone" in said.err
