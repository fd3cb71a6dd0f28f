"""What the Hub and catalogues read of an output folder: tags, configs over all that a build makes, and Croissant's description."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from dialmill.pipelines.candidates.examples import release_parts, release_path
from dialmill.pipelines.sinks.card import size_category

from .tools import DATA, manifest, plain


@pytest.fixture(scope="module")
def selection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A selection benchmark, whose release has examples that were cut from the conversations."""
    folder = tmp_path_factory.mktemp("card") / "out"
    plain("noesis-ubuntu", [DATA / "ubuntu_irc"], folder, "links=annotated")
    return folder


def _front(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    return found


def test_tags_say_language_size_and_task(raddle: Path, selection: Path, tmp_path: Path) -> None:
    front = _front(raddle)
    assert front["language"] == ["en"] and front["size_categories"] == ["n<1K"]
    assert front["task_categories"] == ["text-generation"] and front["task_ids"] == ["dialogue-modeling"]
    assert _front(selection)["task_categories"] == ["text-retrieval"] and _front(selection)["task_ids"] == ["utterance-retrieval"]
    plain("cgodial-fbd", [DATA / "flow"], tmp_path / "out", "train_size=60", "test_size=12", "hard_baselines=")
    flow = _front(tmp_path / "out")
    assert flow["language"] == ["zh"] and flow["task_ids"] == ["intent-classification"]


@pytest.mark.parametrize(("records", "category"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (99_999, "10K<n<100K"), (10**12, "n>1T")])
def test_sizes_are_the_hubs_classes(records: int, category: str) -> None:
    assert size_category(records) == category


def test_a_config_loads_the_examples_of_each_subtask(selection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    names = {config["config_name"] for config in _front(selection / "release")["configs"]}
    subtasks = {parts.subtask for one in manifest(selection)["outputs"] if one["records"] and (parts := release_parts(one["path"])) is not None}
    assert subtasks and {f"subtask_{number}" for number in subtasks} <= names
    number = min(subtasks)
    loaded = load_dataset(str(selection / "release"), f"subtask_{number}", cache_dir=str(tmp_path))
    for split, released in (("train", "train"), ("valid", "dev"), ("test", "test")):
        due = json.loads((selection / f"release/ubuntu_{released}_subtask_{number}.json").read_text("utf-8"))
        if due:
            assert [row["example-id"] for row in loaded[split].to_list()] == [one["example-id"] for one in due]


def test_the_card_says_how_each_config_is_loaded(selection: Path, raddle: Path) -> None:
    for folder in (selection, raddle):
        text = (folder / "README.md").read_text("utf-8")
        for inner in ("", "/release", "/few_shot"):
            card = folder / inner.lstrip("/") / "README.md"
            if card.exists():
                front = _front(card.parent)
                (line,) = [line for line in text.splitlines() if f'load_dataset("DIR{inner}"' in line]
                assert line.endswith(", ".join(one["config_name"] for one in front["configs"])) and front["size_categories"] == ["n<1K"]
    assert 'DIR/release"' in (selection / "README.md").read_text("utf-8")


def test_a_config_loads_the_examples_of_the_subsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hard test set is a split, the few-shot set a config; splits come in their order."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    plain("cgodial-rbd", [DATA / "ecd"], tmp_path / "out", "hard_share=0.5")
    release = tmp_path / "out/release"
    configs = {one["config_name"]: [data["split"] for data in one["data_files"]] for one in _front(release)["configs"]}
    assert configs == {"few_shot_subtask_1": ["train"], "subtask_1": ["train", "valid", "test", "test_hard"]}
    for config, split, path in (
        ("few_shot_subtask_1", "train", "few_shot/ecd_train_subtask_1.json"),
        ("subtask_1", "test_hard", "test_hard/ecd_test_subtask_1.json"),
        ("subtask_1", "test", "ecd_test_subtask_1.json"),
    ):
        loaded = load_dataset(str(release), config, cache_dir=str(tmp_path / "cache"))[split]
        due = json.loads((release / path).read_text("utf-8"))
        assert due and [row["example-id"] for row in loaded.to_list()] == [one["example-id"] for one in due]


def test_a_config_loads_the_few_shot_part(raddle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    loaded = load_dataset(str(raddle / "few_shot"), "standard", cache_dir=str(tmp_path))
    due = [json.loads(line) for line in (raddle / "few_shot/standard/train.jsonl").read_bytes().splitlines()]
    assert [row["dialogue_id"] for row in loaded["train"].to_list()] == [one["dialogue_id"] for one in due] and due


@pytest.mark.parametrize(("split", "case"), [("train", ""), ("valid", ""), ("test", ""), ("test", "_case1")])
def test_paths_of_examples_are_read_as_they_are_written(split: str, case: str) -> None:
    parts = release_parts(release_path("advising", split, 3, case))
    assert parts == ("advising", split + case, "3")
    assert release_parts("release/few_shot/ubuntu_train_subtask_1.json") is None and release_parts("release/test.json") is None


def test_croissant_describes_every_file_with_rows(raddle: Path, tmp_path: Path) -> None:
    described = json.loads((raddle / "croissant.json").read_text("utf-8"))
    files = {one["@id"]: one for one in described["distribution"]}
    due = {one["path"] for one in manifest(raddle)["outputs"] if one["records"] and one["path"] != "croissant.json"}
    assert due == set(files)
    for path, one in files.items():
        assert hashlib.sha256((raddle / path).read_bytes()).hexdigest() == one["sha256"]
    assert described["inLanguage"] == ["en"] and described["recordSet"]
    for one in described["recordSet"]:
        (path,) = {field["source"]["fileObject"]["@id"] for field in one["field"]}
        first = json.loads((raddle / path).read_text("utf-8").splitlines()[0])
        assert {field["source"]["extract"]["column"] for field in one["field"]} <= set(first)
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out", "suites=standard", "held_out_labels=true")
    assert "labels/" not in (tmp_path / "out/croissant.json").read_text("utf-8"), "digests of held-out labels are private"


def test_croissant_s_own_library_accepts_it(raddle: Path) -> None:
    library = pytest.importorskip("mlcroissant", reason="pip install mlcroissant, which no extra brings, to run its validation")
    dataset = library.Dataset(jsonld=str(raddle / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    rows = list(dataset.records(record_set="standard/test"))
    assert len(rows) == len((raddle / "dialogues/standard/test.jsonl").read_bytes().splitlines())
