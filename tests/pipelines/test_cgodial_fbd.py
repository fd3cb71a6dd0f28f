"""Flow-based dialogues: from flow files and agent logs to the files that CGoDial's loader reads."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources import registry
from dialmill.schemas.flow import REJECTED
from dialmill.schemas.validate import Validator

from tests.pipelines.source_tools import parse
from tests.pipelines.tools import DATA, call, hashes, manifest, plain, records

SIMULATED, REAL = "selected_simu_data.jsonasr.json", "real_data.jsonasr.json"
LOG = [
    {"sys_response": "您好，寄件还是查件？", "sys_action": "开场", "usr_query": "查件", "usr_intent": "查件", "asr_results": ["差件", "查见"]},
    {"sys_response": "单号是多少？", "sys_action": "问单号", "usr_query": "", "usr_intent": "拒识", "asr_results": ["喂"]},
    {"sys_response": "单号是多少？", "sys_action": "问单号"},
]


@pytest.fixture(scope="module")
def flows(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two of our flows with fewer walks."""
    folder = tmp_path_factory.mktemp("flows")
    paths = [folder / "parcel.yaml", folder / "clinic.yaml"]
    for path in paths:
        text = (DATA / "flow" / path.name).read_text("utf-8")
        path.write_text(text.replace("{train: 60, valid: 20, test: 20}", "{train: 20, valid: 6, test: 10}"), "utf-8")
    return paths


@pytest.fixture(scope="module")
def built(flows: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fbd") / "out"
    plain("cgodial-fbd", flows, out)
    return out


def _load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_the_release_is_what_the_loader_reads(built: Path) -> None:
    """The reading of flow_based_dialog's loader: ids of a split, turns with transcripts, the classes from int2act.json."""
    for name in ("parcel", "clinic"):
        folder = built / "release" / "data" / name
        assert sorted(path.name for path in folder.iterdir()) == sorted(
            ["train_ids.json", "train_few_shot_ids.json", "dev_ids.json", "test_ids.json", "int2act.json", SIMULATED, REAL]
        )
        dialogues, actions = _load(folder / SIMULATED), _load(folder / "int2act.json")
        assert _load(folder / REAL) == {}
        classes = {"拒识", *actions}
        ids = {split: _load(folder / f"{split}_ids.json") for split in ("train", "dev", "test")}
        assert sorted(one for listed in ids.values() for one in listed) == sorted(dialogues)
        assert [len(ids[split]) for split in ("train", "dev", "test")] == [20, 6, 10]
        for turns in dialogues.values():
            assert "sys_response" in turns[0]
            for turn, following in pairwise(turns):
                assert turn["usr_intent"] in classes and 2 <= len(turn["asr_results"]) <= 3
                expected = turn["sys_action"] if turn["usr_intent"] == "拒识" else actions[turn["usr_intent"]]
                assert following["sys_action"] == expected
    heard = [turn for turns in dialogues.values() for turn in turns if "usr_query" in turn]
    assert sum(text != turn["usr_query"] for turn in heard for text in turn["asr_results"]) > 0.3 * 3 * len(heard)


def test_the_hard_test_set_names_a_version_of_each_turn(built: Path) -> None:
    hard = {one.source_id for suite in ("standard", "asr") for one in records(built, suite, "test_hard")}
    marks = _load(built / "release" / "data" / "hard_data_id.json")
    assert set(marks) == hard and hard
    logs = {name: turns for flow in ("parcel", "clinic") for name, turns in _load(built / "release" / "data" / flow / SIMULATED).items()}
    for name, versions in marks.items():
        assert len(versions) == len(logs[name])
        for version, turn in zip(versions, logs[name], strict=True):
            assert (version is None) == ("usr_query" not in turn)
            assert version in (None, "origin") or len(turn["asr_results"]) > int(version[4:])


def test_the_record_names_the_nodes(built: Path) -> None:
    found = records(built)
    assert {dialogue.domains for dialogue in found} == {("parcel",), ("clinic",)}
    for dialogue in found:
        for turn in dialogue.turns:
            assert turn.speaker == ("user" if turn.turn % 2 else "system")
            assert turn.labels[0].startswith("node:") and (f"node:{REJECTED}" in turn.labels) == ("oos" in turn.labels)
    noisy = records(built, "asr")
    assert {(one.source_id, one.variant) for one in noisy} <= {(one.source_id, variant) for one in found for variant in range(3)}
    clean = {one.source_id: [turn.labels for turn in one.turns] for one in found}
    assert all([turn.labels for turn in one.turns] == clean[one.source_id] for one in noisy)


def test_books_balance_and_verify_and_validate_say_so(built: Path) -> None:
    assert call("verify", built).code == 0 and call("validate", built / "release").code == 0
    stages = {stage["name"]: stage for stage in manifest(built)["stages"]}
    assert stages["read"]["in"] == 72 and stages["asr"]["in"] + stages["asr"]["made"] == 216 and stages["asr"]["out"] >= 210
    assert manifest(built)["overlap"].get("train/test", {}).get("exact", 0) == 0


def test_our_own_release_is_read_as_a_log(built: Path, tmp_path: Path) -> None:
    plain("cgodial-fbd", [built / "release"], tmp_path / "again", "suites=standard")
    before, after = built / "release" / "data" / "clinic", tmp_path / "again" / "release" / "data" / "clinic"
    assert _load(after / REAL) == _load(before / SIMULATED) and _load(after / SIMULATED) == {}
    for name in ("train_ids.json", "dev_ids.json", "test_ids.json", "int2act.json"):
        assert sorted(_load(after / name)) == sorted(_load(before / name))


def test_test_labels_can_be_held_out(flows: list[Path], tmp_path: Path) -> None:
    plain("cgodial-fbd", flows[:1], tmp_path / "out", "suites=standard", "held_out_labels=true")
    folder = tmp_path / "out" / "release" / "data" / "parcel"
    dialogues, test = _load(folder / SIMULATED), set(_load(folder / "test_ids.json"))
    assert all(("usr_intent" in turn) == (name not in test) for name, turns in dialogues.items() for turn in turns if "usr_query" in turn)
    labels = _load(tmp_path / "out" / "labels" / "release" / "data" / "parcel" / SIMULATED)
    assert set(labels) == test and all("usr_intent" in turn for turns in labels.values() for turn in turns if "usr_query" in turn)
    assert call("verify", tmp_path / "out").code == 0


def test_beam_and_plain_calls_give_the_same_bytes(flows: list[Path], built: Path, tmp_path: Path) -> None:
    result = call("build", "cgodial-fbd", "--input", *reversed(flows), "--output", tmp_path / "out", "--quiet")
    assert result.code == 0, result.err
    assert hashes(tmp_path / "out", "release", "dialogues") == hashes(built, "release", "dialogues")


def test_a_log_is_read_with_what_it_lacks() -> None:
    dialogue = parse(registry.get("flow"), {"scenario": "gov", "log": LOG})
    assert [(turn.speaker, turn.utterance) for turn in dialogue.turns] == [
        ("system", "您好，寄件还是查件？"),
        ("user", "查件"),
        ("system", "单号是多少？"),
        ("user", "喂"),
        ("system", "单号是多少？"),
    ]
    assert dialogue.turns[1].labels == ("node:查件",) and dialogue.turns[3].labels == ("node:拒识", "oos")
    assert dialogue.lineage[0].reasons == ("query_from_transcript:1",)
    assert all(Validator("cgodial-fbd").is_valid({"a": [turn]}) for turn in LOG)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ([], "empty_dialogue"),
        ([{"usr_query": " "}], "empty_dialogue"),
        ([{"sys_response": "a"}, {"sys_response": "b"}], "odd_turn_order"),
        ([{"sys_response": 1}], "wrong_type"),
        ([{"usr_query": "a", "asr_results": "a"}], "wrong_type"),
        (["a"], "wrong_type"),
    ],
)
def test_a_broken_log_is_refused_with_a_reason(log: list[Any], reason: str) -> None:
    with pytest.raises(RecordError) as refusal:
        parse(registry.get("flow"), {"scenario": "gov", "log": log})
    assert refusal.value.reason == reason


def test_a_flow_that_is_no_tree_stops_the_run(tmp_path: Path) -> None:
    bad = (DATA / "flow" / "parcel.yaml").read_text("utf-8").replace("next: 问时效", "next: [问时效, 网点说明]")
    (tmp_path / "bad.yaml").write_text(bad, "utf-8")
    result = call("build", "cgodial-fbd", "--input", tmp_path / "bad.yaml", "--output", tmp_path / "out")
    assert result.code == 1 and "bad.yaml: is no dialogue flow" in result.err and "nodes.今天取件.next" in result.err
    assert not (tmp_path / "out").exists()
    assert call("validate", tmp_path / "bad.yaml").code == 1


def test_other_sources_are_refused(tmp_path: Path) -> None:
    result = call("build", "cgodial-fbd", "--input", DATA / "risawoz", "--output", tmp_path / "out")
    assert result.code == 1 and "reads dialogue flows and agent logs" in result.err


@pytest.mark.parametrize(("benchmark", "data"), [("cgodial-fbd", "flow"), ("cgodial-sbd", "risawoz")])
def test_a_release_needs_the_written_dialogues(benchmark: str, data: str, tmp_path: Path) -> None:
    words = ("build", benchmark, "--input", DATA / data, "--output", tmp_path / "out", "--set")
    suite = "spoken" if benchmark == "cgodial-sbd" else "asr"
    result = call(*words, f"suites={suite}")
    assert result.code == 2 and "needs the suite 'standard'" in result.err and not (tmp_path / "out").exists()


def test_sizes_of_the_recipe_override_those_of_the_flows(flows: list[Path], tmp_path: Path) -> None:
    plain("cgodial-fbd", flows, tmp_path / "out", "suites=standard", "train_size=25", "test_size.parcel=3", "hard_baselines=")
    sizes = {
        split: [sum(flow in one.domains for one in records(tmp_path / "out", "standard", split)) for flow in ("parcel", "clinic")]
        for split in ("train", "test")
    }
    assert sizes == {"train": [25, 25], "test": [3, 10]}, "more than the file's 20, fewer than its 10, and its own where nothing is said"
