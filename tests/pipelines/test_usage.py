"""Wrong usage (2), unusable outputs (1), and what the commands print: --dry-run, --json, --quiet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks.plain.splits import Splits

from .test_bad_input import refused
from .tools import DATA, call, corpus, hashes, manifest, spawn, talk

INPUT = ("--input", DATA / "multiwoz21")

USAGE: dict[str, tuple[list[object], tuple[str, ...]]] = {
    "no command": ([], ("usage",)),
    "unknown command": (["bake"], ("bake",)),
    "unknown benchmark": (["build", "radle", *INPUT, "--output", "OUT"], ("radle", "raddle", "splits")),
    "perturb is no benchmark": (["build", "perturb", *INPUT, "--output", "OUT"], ("raddle",)),
    "no input": (["build", "raddle", "--output", "OUT"], ("--input",)),
    "input without a value": (["build", "raddle", "--input", "--output", "OUT"], ("--input",)),
    "no output": (["build", "raddle", *INPUT], ("--output",)),
    "a lexicon that isn't there": (["build", "dstc9-track2", *INPUT, "--output", "OUT", "--set", "lexicon=no.tsv"], ("lexicon", "no.tsv")),
    "sentences that a table needs": (
        ["build", "dstc9-track2", *INPUT, "--output", "OUT", "--set", "engine=table", "--set", "lexicon=data/dstc9_track2/lexicon.tsv"],
        ("engine=table needs sentence pairs", "sentences=pairs.tsv", "engine=none"),
    ),
    "unknown flag": (["build", "raddle", *INPUT, "--output", "OUT", "--sed", "3"], ("--sed",)),
    "seed": (["build", "raddle", *INPUT, "--output", "OUT", "--seed", "one"], ("--seed", "one")),
    "seed of 65 bits": (["build", "raddle", *INPUT, "--output", "OUT", "--seed", str(2**63)], ("--seed", "64 bits")),
    "unknown format": (["build", "raddle", *INPUT, "--output", "OUT", "--format", "woz"], ("woz", "multiwoz21")),
    "unknown recipe file": (["build", "raddle", *INPUT, "--output", "OUT", "--recipe", "nowhere.yaml"], ("nowhere.yaml", "No such file")),
    "perturb without with": (["perturb", *INPUT, "--output", "OUT"], ("--with",)),
    "unknown perturber": (["perturb", *INPUT, "--output", "OUT", "--with", "typoos"], ("typoos", "typos")),
    "unknown version": (["perturb", *INPUT, "--output", "OUT", "--with", "typos@99"], ("typos@99", "typos@3")),
    "unknown option": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:raet=0.1"], ("raet", "rate", "style")),
    "option of the wrong type": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:rate=much"], ("rate", "much")),
    "option out of range": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:rate=7"], ("rate",)),
    "option without value": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:rate"], ("option=value",)),
    "empty with": (["perturb", *INPUT, "--output", "OUT", "--with", ""], ("typos",)),
    "broken chain": (["perturb", *INPUT, "--output", "OUT", "--with", "typos+"], ("typos",)),
    "two suites of one name": (["perturb", *INPUT, "--output", "OUT", "--with", "typos", "--with", "typos:rate=0.2"], ("name=",)),
    "suite called standard": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:name=standard"], ("standard",)),
    "suite that leaves the folder": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:name=../../x"], ("../../x",)),
    "suite with a blank": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:name=a b"], ("a b",)),
    "suite called as a stage": (["perturb", *INPUT, "--output", "OUT", "--with", "typos:name=split"], ("split",)),
    "no variants": (["perturb", *INPUT, "--output", "OUT", "--with", "typos", "--variants", "0"], ("variants",)),
    "list of what": (["list", "benchmark"], ("benchmarks", "sources", "perturbers", "engines", "schemas")),
    "validate with an unknown schema": (["validate", "x.json", "--schema", "dialog"], ("dialog", "dialogue", "manifest")),
    "show of an id at random": (["show", "OUT", "--id", "x", "--random", "2"], ("--id", "--random")),
    "show of none": (["show", "OUT", "--random", "0"], ("1 or more",)),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_is_2_with_one_message(name: str, tmp_path: Path) -> None:
    words, said = USAGE[name]
    result = call(*(tmp_path / "out" if word == "OUT" else word for word in words))
    refused(result, *said, code=2)
    assert list(tmp_path.iterdir()) == [], "nothing written"


SETTINGS = {
    "unknwon=1": ("unknwon", "train_size", "suites"),
    "train_size": ("key=value",),
    "train_size=-1": ("train_size", "at least 0"),
    "train_size=many": ("train_size", "many"),
    "train_size.hotel=-3": ("train_size",),
    "train_size.hotel=x": ("train_size", "x"),
    "fractions=train=0,valid=0,test=0": ("fractions",),
    "fractions=train=-1": ("fractions",),
    "fractions=train=nan": ("fractions", "nan"),
    "fractions=lots": ("fractions",),
    "fractions.dev=0.1": ("dev", "train, valid and test"),
    "splits=random": ("splits", "auto, official, hash"),
    "suites=typoes": ("typoes", "standard", "typos"),
    "suites=": ("suites",),
    "suites=typos,typos": ("suites",),
    "perturbed_splits=dev": ("dev",),
    "single_domain=maybe": ("single_domain", "true or false"),
    "hard_share=inf": ("hard_share",),
    "perturbations.typos=typos:rate=9": ("rate",),
    "perturbations.typos=tpyos": ("tpyos", "typos"),
    "variants=0": ("variants",),
    "max_words=2.5": ("max_words",),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_wrong_setting_says_what_would_be_right(setting: str, tmp_path: Path) -> None:
    refused(call("build", "raddle", *INPUT, "--output", tmp_path / "out", "--set", setting), *SETTINGS[setting], code=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("train_sise: 3", ("train_sise", "train_size")),
        ("train_size: [1, 2]", ("train_size",)),
        ("train_size: 2.5", ("train_size",)),
        ("suites: {a: 1}", ("suites",)),
        ("- a\n- b", ("keys and values",)),
        ("a: [", ("is not YAML",)),
        ("single_domain: 3", ("single_domain",)),
        ("domains: [1]", ("domains",)),
        ("\x00", ("YAML",)),
    ],
)
def test_a_wrong_recipe_file_says_what_would_be_right(text: str, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    refused(call("build", "raddle", *INPUT, "--output", tmp_path / "out", "--recipe", tmp_path / "mine.yaml"), *words, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_recipe_file_replaces_keys_and_settings_come_last(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("train_size: 3\ntest_size: {hotel: 1}\nsuites: [standard]\n")
    words = ["--recipe", tmp_path / "mine.yaml", "--set", "train_size=2", "--set", "test_size.train=1"]
    done = call("build", "raddle", *INPUT, "--output", tmp_path / "out", "--quiet", *words)
    assert done == (0, "", "")
    made = manifest(tmp_path / "out")["recipe"]
    # A mapping adds to the packaged one.
    sizes = {"attraction": 100, "train": 1, "hotel": 1, "restaurant": 200, "reminder": 400}
    assert (made["train_size"], made["test_size"], made["suites"], made["group_by"]) == (2, sizes, ["standard"], "domain")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--direct_num_worker=2"], ("--direct_num_worker=2",)),
        (["--direct_num_workers=two"], ("direct_num_workers", "two")),
        (["--direct_running_mode=fast"], ("fast", "multi_processing")),
        (["--runner=Fast"], ("Fast", "FnApiRunner")),
        (["nonsense"], ("nonsense",)),
    ],
)
def test_unknown_beam_options_are_refused(options: list[str], words: tuple[str, ...], tmp_path: Path) -> None:
    result = call("build", "splits", *INPUT, "--output", tmp_path / "out", "--quiet", "--", *options)
    refused(result, *words, code=2)
    assert len(result.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_kept_unless_dialmill_made_it_and_may_overwrite(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = corpus(tmp_path / "in", {f"d{number}": talk(number) for number in range(3)})
    command = ("build", "splits", "--input", source, "--output", out, "--quiet")
    assert call(*command).code == 0
    before = (out / "manifest.json").read_bytes()
    refused(call(*command), str(out), "exists already", "--overwrite")
    assert call(*command, "--overwrite").code == 0
    assert (out / "manifest.json").read_bytes() == before
    # A manifest of somebody else's is no licence to delete.
    for manifest_text in (None, '{"name": "my web app"}', "not even JSON"):
        theirs = tmp_path / "theirs"
        theirs.mkdir(exist_ok=True)
        (theirs / "precious.txt").write_text("mine")
        if manifest_text is not None:
            (theirs / "manifest.json").write_text(manifest_text)
        refused(call(*command[:5], theirs, "--quiet", "--overwrite"), str(theirs), "dialmill didn't write it")
        assert (theirs / "precious.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert call(*command[:5], tmp_path / "empty", "--quiet").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "in", "out", "theirs"]


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", {"d1": talk(1)})
    (tmp_path / "file").write_text("mine")
    command = ("build", "splits", "--input", source, "--quiet", "--output")
    refused(call(*command, tmp_path / "file"), "is a file")
    refused(call(*command, tmp_path / "file/below/out"), "can't be written")
    refused(call(*command, tmp_path / ("n" * 300)), "can't be written")
    refused(call(*command, "/"), "/")
    if Path("/proc/self").exists():
        refused(call(*command, "/proc/out"), "/proc/out", "can't be written")
    refused(call(*command, tmp_path / "out", "--json", tmp_path / "no/such/folder.json"), "folder.json", "can't be written")
    refused(call(*command, tmp_path / "out", "--json", tmp_path), "can't be written")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "in"]


def test_an_output_that_holds_the_input_is_refused_even_with_overwrite(tmp_path: Path) -> None:
    source = corpus(tmp_path / "work" / "in", {"d1": talk(1)})
    refused(call("build", "splits", "--input", source, "--output", source, "--overwrite"), "dialmill didn't write it")
    out = tmp_path / "out"
    assert call("build", "splits", "--input", source, "--output", out, "--quiet").code == 0
    moved = source.rename(out / "in")
    refused(call("build", "splits", "--input", moved / "data.json", "--output", out, "--overwrite"), "holds the input")
    assert (moved / "data.json").exists()


def test_an_output_inside_the_input_folder_is_not_read_as_input(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", {"d1": talk(1), "d2": talk(2)})
    command = ("build", "raddle", "--input", source, "--output", source / "made/raddle", "--quiet")
    assert call(*command).code == 0
    before = (source / "made/raddle/manifest.json").read_bytes()
    assert call(*command, "--overwrite").code == 0
    assert (source / "made/raddle/manifest.json").read_bytes() == before
    assert [item["path"] for item in json.loads(before)["inputs"]] == ["data.json"]


def test_a_link_as_output_stays_a_link(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", {"d1": talk(1)})
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for more in ([], ["--overwrite"]):
        assert call("build", "splits", "--input", source, "--output", tmp_path / "link", "--quiet", *more).code == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real/manifest.json").exists()


def test_a_dry_run_prints_recipe_inputs_and_graph_and_writes_nothing(tmp_path: Path) -> None:
    result = call("build", "raddle", *INPUT, "--output", tmp_path / "new/out", "--dry-run", "--set", "train_size=7")
    assert result.code == 0
    for word in ("train_size: 7", "data.json: multiwoz21, dialogues", "graph:", "read files", "perturbing", "write parts"):
        assert word in result.out
    assert list(tmp_path.iterdir()) == []
    refused(call("build", "raddle", "--input", tmp_path / "gone", "--output", tmp_path / "out", "--dry-run"), "does not exist")


def test_json_is_all_that_is_printed_and_quiet_prints_nothing(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", {"d1": talk(1)})
    command = ("build", "splits", "--input", source, "--output", tmp_path / "out", "--overwrite")
    spoken = call(*command)
    assert "written:" in spoken.out and "warning:" in spoken.err and "train_size" not in spoken.err
    result = call(*command, "--json", "-")
    assert json.loads(result.out) == manifest(tmp_path / "out")
    assert call(*command, "--json", tmp_path / "made.json", "--quiet") == (0, "", "")
    assert json.loads((tmp_path / "made.json").read_text("utf-8")) == manifest(tmp_path / "out")


def test_a_process_of_its_own_prints_nothing_stray(tmp_path: Path) -> None:
    """No warnings of Beam, jieba or others; Chinese text on a terminal that can't show it."""
    done = spawn("perturb", "--input", DATA / "risawoz", "--with", "typos", "--output", tmp_path / "out", "--quiet")
    assert done == (0, "", "")
    shown = spawn("show", tmp_path / "out", "--id", "Car_goal_1-22_v2###91102", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert shown.code == 0 and shown.err == "" and "\\u" in shown.out


def test_a_reader_that_stops_early_is_no_error() -> None:
    import subprocess
    import sys

    from .tools import ROOT, environment

    command = f"{sys.executable} -m dialmill.pipelines.cli.main list | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "benchmarks:\n", "")


def test_an_unknown_schema_of_a_release_is_an_error_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Splits, "release_files", lambda *_: {"release/all.jsonl": "dialog", "release/table.tsv": ""})
    monkeypatch.setattr(build, "graph", lambda *_: pytest.fail("the run began"))
    result = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out")
    assert result.code == 1 and "'dialog' for release/all.jsonl" in result.err and "table.tsv" not in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_sample_is_an_input(tmp_path: Path) -> None:
    for name, source in (("a", "sample:multiwoz21"), ("b", DATA / "multiwoz21")):
        assert call("build", "splits", "--input", source, "--output", tmp_path / name, "--quiet").code == 0
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    unknown = call("build", "splits", "--input", "sample:multiwoz99", "--output", tmp_path / "c")
    assert unknown.code == 1 and "multiwoz21" in unknown.err and "multiwoz99" in unknown.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(shell: str) -> None:
    made = call("completion", shell)
    assert made.code == 0, made.err
    for word in ("perturb", "predict-baseline", "overwrite", "gold"):
        assert word in made.out


def test_the_recipe_is_printed_where_it_is_asked_for(tmp_path: Path) -> None:
    words = ["build", "splits", "--input", "sample:multiwoz21", "--overwrite", "--output", tmp_path / "out"]
    assert "train_size" not in call(*words).err
    assert "train_size" in call(*words, "-v").err
    assert "train_size" in call(*words, "--dry-run").out
