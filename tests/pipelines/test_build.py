"""Whole runs over the embedded corpora, through the command line and Beam: what lies in an output folder, and that it is right."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from dialmill.perturbers import Perturber, parse
from dialmill.perturbers.typing.typos import Typos
from dialmill.schemas.arrow import read_rows
from dialmill.schemas.records import validate_line
from dialmill.schemas.validate import check_dialogue, validate_file

from .tools import DATA, SPLIT_FILES, call, manifest, plain, records, rejects


def _suites(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "dialogues").iterdir())


def test_layout_is_as_designed(folder: Path) -> None:
    made = manifest(folder)
    assert _suites(folder) == sorted(made["recipe"]["suites"])
    for suite in _suites(folder):
        names = {path.name for path in (folder / "dialogues" / suite).iterdir()}
        assert names == {f"{split}.{form}" for split in SPLIT_FILES for form in ("jsonl", "parquet")}
    top = {path.name for path in folder.iterdir()}
    known = {"README.md", "croissant.json", "manifest.json", "report.html", "dialogues", "few_shot", "release", "rejects"}
    assert {"README.md", "manifest.json", "report.html", "dialogues"} <= top <= known
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"manifest.json"}
    assert files == {item["path"] for item in made["outputs"]}
    hidden = [path.name for path in folder.parent.iterdir() if path.name.startswith(".")]
    assert hidden == [], "a run leaves nothing beside its folder"


def test_manifest_is_valid_and_the_counts_are_consistent(folder: Path) -> None:
    assert validate_file(folder / "manifest.json", "manifest").ok
    made = manifest(folder)
    assert made["stages"]
    for stage in made["stages"]:
        assert stage["in"] + stage["made"] == stage["out"] + sum(stage["rejected"].values()), stage
    counts = {stage["name"]: stage for stage in made["stages"]}
    assert counts["read"]["in"] == sum(item["records"] for item in made["inputs"])
    assert counts["filter"]["in"] == counts["read"]["out"] and counts["split"]["in"] == counts["filter"]["out"]
    for suite in _suites(folder):
        assert len(records(folder, suite)) == counts[suite]["out"]
        assert len(rejects(folder, suite)) == sum(counts[suite]["rejected"].values())
    for stage_name in ("read", "filter", "split"):
        assert len(rejects(folder, stage_name)) == sum(counts[stage_name]["rejected"].values())
    for item in made["inputs"]:
        assert item["licence"] and len(item["sha256"]) == 64
    assert made["recipe"]["benchmark"] == made["benchmark"] and made["seed"] == 1


def test_every_record_is_valid_and_says_where_it_stands(folder: Path) -> None:
    for suite in _suites(folder):
        for split in SPLIT_FILES:
            for line in (folder / "dialogues" / suite / f"{split}.jsonl").read_bytes().splitlines():
                assert validate_line("dialogue", line) == []
            for record in records(folder, suite, split):
                assert check_dialogue(record) == []
                assert record.dialogue_id == f"{record.source_id}/{suite}/{record.variant}"
                assert (record.suite, record.split) == (suite, split.removesuffix("_hard"))


def test_jsonl_and_parquet_hold_equal_rows(folder: Path) -> None:
    for path in sorted((folder / "dialogues").rglob("*.jsonl")):
        assert [json.loads(line) for line in path.read_bytes().splitlines()] == list(read_rows(path.with_suffix(".parquet")))


def test_test_hard_is_in_test_and_says_why(folder: Path) -> None:
    number = 0
    for suite in _suites(folder):
        test = {record.dialogue_id: record for record in records(folder, suite, "test")}
        for hard in records(folder, suite, "test_hard"):
            number += 1
            assert hard.replace(lineage=hard.lineage[:-1]) == test[hard.dialogue_id]
            assert hard.lineage[-1].step.startswith("test_hard@") and len(hard.lineage[-1].reasons) >= 2
    if "typos" in _suites(folder):
        assert number


def test_no_source_stands_in_two_splits_and_variants_follow_it(folder: Path) -> None:
    splits: dict[str, set[str | None]] = defaultdict(set)
    for suite in _suites(folder):
        for record in records(folder, suite):
            splits[record.source_id].add(record.split)
    assert splits and all(len(found) == 1 for found in splits.values())


def test_variants_differ_from_their_source_and_lead_back_to_it(folder: Path) -> None:
    source = {record.source_id: record for record in records(folder)}
    for suite in set(_suites(folder)) - {"standard"}:
        seen = set()
        for record in records(folder, suite):
            origin = source[record.source_id]
            texts = tuple(turn.utterance for turn in record.turns)
            assert texts != tuple(turn.utterance for turn in origin.turns)
            assert (record.source_id, texts) not in seen, "two variants are equal"
            seen.add((record.source_id, texts))
            own = [turn for turn in record.turns if not turn.inserted]
            assert [turn.source_text for turn in own] == [turn.utterance for turn in origin.turns]
            relabelled = any(step.step.startswith("entities@") for step in record.lineage)
            assert relabelled == ([turn.state for turn in own] != [turn.state for turn in origin.turns])
            assert relabelled or [turn.acts for turn in own] == [turn.acts for turn in origin.turns]
            assert any(step.outcome == "changed" for step in record.lineage)


def test_card_says_how_far_typos_are_from_natural_typing(folder: Path) -> None:
    card = (folder / "README.md").read_text("utf-8")
    suites = manifest(folder)["recipe"]["perturbations"]
    rates = [step.rate for name in manifest(folder)["recipe"]["suites"] if name in suites for step in _steps(parse(suites[name]).perturber)]
    assert card.count("left in the typed turns of MultiWOZ") == len(rates)
    for rate in rates:
        assert f"typos at rate {rate:g} hit {1000 * rate:g} of 1,000 words, some {1000 * rate / 0.4:,.0f} times" in card


def _steps(perturber: Perturber) -> list[Typos]:
    return [link for link in getattr(perturber, "links", (perturber,)) if isinstance(link, Typos)]


def test_card_has_a_config_for_each_suite(folder: Path) -> None:
    front = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    made = {item["path"]: item["records"] for item in manifest(folder)["outputs"]}
    suites = manifest(folder)["recipe"]["suites"]
    assert [config["config_name"] for config in front["configs"]][: len(suites)] == suites
    assert [config.get("default", False) for config in front["configs"]].index(True) == 0
    for config in front["configs"][: len(suites)]:
        for part in config["data_files"]:
            assert part["path"] == f"dialogues/{config['config_name']}/{part['split']}.parquet" and made[part["path"]]
    assert front["license"] == ("cc-by-nc-4.0" if "risawoz" in str(manifest(folder)["inputs"]) else "mit")


@pytest.mark.parametrize(("name", "suite", "split"), [("raddle", "typos", "test"), ("perturbed", "noisy", "train")])
def test_datasets_loads_the_folder_and_single_files(
    name: str, suite: str, split: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    folder: Path = request.getfixturevalue(name)
    due = [json.loads(line) for line in (folder / "dialogues" / suite / f"{split}.jsonl").read_bytes().splitlines()]
    assert due
    loaded = load_dataset(str(folder), suite, cache_dir=str(tmp_path))
    assert loaded[split].to_list() == due
    for kind, form in (("json", "jsonl"), ("parquet", "parquet")):
        path = folder / "dialogues" / suite / f"{split}.{form}"
        rows = load_dataset(kind, data_files=str(path), split="train", cache_dir=str(tmp_path)).to_list()
        assert [row["dialogue_id"] for row in rows] == [row["dialogue_id"] for row in due]
        assert [[turn["utterance"] for turn in row["turns"]] for row in rows] == [[turn["utterance"] for turn in row["turns"]] for row in due]


def test_raddle_release_holds_the_turns_of_the_records(raddle: Path) -> None:
    for suite in ("standard", "typos"):
        for domain in ("attraction", "hotel", "restaurant", "train"):
            path = raddle / "release" / suite / f"{domain}.test.soloist.json"
            assert validate_file(path, "soloist").ok
            items = json.loads(path.read_bytes())
            due = [record for record in records(raddle, suite, "test") if record.domains == (domain,)]
            assert {item["name"] for item in items} == {record.source_id for record in due}
            assert len(items) == sum(
                turn.speaker == "user" and answer.speaker == "system"
                for record in due
                for turn, answer in zip(record.turns, record.turns[1:], strict=False)
            )
            said = {" ".join(turn.utterance.lower().split()) for record in due for turn in record.turns if turn.speaker == "user"}
            assert all(item["history"][-1].removeprefix("user : ") in said for item in items)
    assert (raddle / "release/standard/hotel.train.soloist.json").exists()
    assert not (raddle / "release/typos/hotel.train.soloist.json").exists(), "perturbed copies are test sets"


def test_raddle_can_hold_the_test_labels_out(tmp_path: Path) -> None:
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out", "held_out_labels=true", "blind_suites=paired")
    assert call("verify", tmp_path / "out").code == 0
    for suite in ("standard", "typos"):
        for record in records(tmp_path / "out", suite, "test"):
            assert record.lineage == () and record.goal is None
            assert all(turn == turn.replace(original=None, spans=(), acts=(), state=(), edits=()) for turn in record.turns)
        inputs = json.loads((tmp_path / f"out/release/{suite}/hotel.test.soloist.json").read_bytes())
        labels = json.loads((tmp_path / f"out/labels/release/{suite}/hotel.test.soloist.json").read_bytes())
        assert [item["name"] for item in inputs] == [item["name"] for item in labels]
        assert inputs and {key for item in inputs for key in item} == {"history", "name"}
        assert {key for item in labels for key in item} == {"belief", "kb", "reply", "name"}
    train = json.loads((tmp_path / "out/release/standard/hotel.train.soloist.json").read_bytes())
    assert {"belief", "reply"} <= train[0].keys()


def test_perturb_makes_one_suite_for_each_chain(perturbed: Path) -> None:
    made = manifest(perturbed)
    assert made["recipe"]["suites"] == ["standard", "noisy", "typos+typos"]
    assert {record.variant for record in records(perturbed, "noisy")} == {0, 1}
    for record in records(perturbed, "typos+typos"):
        assert [step.step for step in record.lineage if step.step != "read@1"] == ["typos@3", "typos@3"]
    # Every step of a suite has the same options, so that the Parquet column is one struct.
    assert len({tuple(step.params) for record in records(perturbed, "typos+typos") for step in record.lineage if step.params}) == 1


def test_perturb_keeps_the_split_of_the_source(perturbed: Path) -> None:
    counts = {split: len(records(perturbed, "standard", split)) for split in ("train", "valid", "test")}
    assert counts == {"train": 20, "valid": 7, "test": 8}


def test_perturb_of_a_source_without_splits_is_test(tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_bytes((DATA / "multiwoz21/data.json").read_bytes())
    assert call("perturb", "--input", data, "--with", "typos", "--output", tmp_path / "out", "--quiet").code == 0
    assert len(records(tmp_path / "out", "typos", "test")) == len(records(tmp_path / "out", "standard", "test")) == 63


def test_clean_copies_are_the_same_whatever_runs_beside_them(raddle: Path, tmp_path: Path) -> None:
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "alone", "suites=standard")
    for split in SPLIT_FILES:
        path = f"dialogues/standard/{split}.jsonl"
        assert (tmp_path / "alone" / path).read_bytes() == (raddle / path).read_bytes()


def test_records_with_every_kind_of_character_reach_both_forms(tmp_path: Path) -> None:
    from .tools import corpus

    texts = ["nul \x00 , unit \x1f , line \u2028 \x85 next", 'tab\tand\nline "quoted" \\ back', "🙂 café e\u0301 𠮷 \u200b", "ok"]
    corpus(tmp_path / "in", {'odd/id "x"\t🙂': texts, "###": texts, "../x": texts})
    plain("splits", [tmp_path / "in"], tmp_path / "out")
    found = records(tmp_path / "out")
    assert sorted(record.source_id for record in found) == sorted(['odd/id "x"\t🙂', "###", "../x"])
    assert all([turn.utterance for turn in record.turns] == texts for record in found)
    assert call("verify", tmp_path / "out").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"], "an id never becomes a path"
    assert call("show", tmp_path / "out", "--id", 'odd/id "x"\t🙂').code == 0


def test_many_shards_join_to_the_same_records(raddle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialmill.pipelines.core.benchmark.SHARD_BYTES", 50_000)
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out")
    for path in sorted(raddle.rglob("*.json*")):
        if path.name != "manifest.json":
            assert (tmp_path / "out" / path.relative_to(raddle)).read_bytes() == path.read_bytes(), path
    assert call("verify", tmp_path / "out").code == 0, "and the Parquet files hold them"
