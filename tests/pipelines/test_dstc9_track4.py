"""DSTC9 Track 4: the official files to the byte, pools by their rules, API calls, and what is published where labels are held out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.benchmarks.simmc import release
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, nearly_equal
from dialmill.pipelines.cli.verify import verify_folder
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.sources.simmc import Simmc

from tests.pipelines.source_tools import parse
from tests.pipelines.tools import DATA, call, plain

CORPUS = DATA / "simmc"
NAMES = {"train": "train", "valid": "dev", "test": "devtest"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("track4") / "out"
    plain("dstc9-track4", [CORPUS], folder, "suites=standard,typos")
    return folder


def _load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _dialogues(path: Path) -> dict[int, dict[str, Any]]:
    return {one["dialogue_idx"]: one for one in _load(path)["dialogue_data"]}


@pytest.mark.parametrize("name", NAMES.values())
def test_the_unperturbed_file_is_the_corpus_own(name: str, built: Path) -> None:
    path = built / "release" / f"simmc2_dials_dstc10_{name}.json"
    assert _dialogues(path) == _dialogues(CORPUS / path.name)
    assert {key: value for key, value in _load(path).items() if key != "dialogue_data"} == {
        "split": name,
        "year": 2021,
        "version": "simmc_2_dstc10",
        "domain": "fashion/furniture",
    }
    # Our own source reads it back.
    assert Simmc().role(path.name, path.read_text("utf-8")[:5_000]) == "dialogues"


def test_a_suite_has_its_texts_and_all_else_as_it_came(built: Path) -> None:
    clean = _dialogues(CORPUS / "simmc2_dials_dstc10_devtest.json")
    noisy = _dialogues(built / "release/typos/simmc2_dials_dstc10_devtest.json")
    assert noisy and noisy.keys() <= clean.keys()
    changed = 0
    for name, dialogue in noisy.items():
        for mine, its in zip(dialogue["dialogue"], clean[name]["dialogue"], strict=True):
            changed += mine["transcript"] != its["transcript"]
            assert mine | {"transcript": ""} == its | {"transcript": ""}
    assert changed
    assert not (built / "release/typos/simmc2_dials_dstc10_train.json").exists(), "the track has no perturbed training data"


def _pools(folder: Path, name: str) -> Iterator[tuple[int, int, list[str], int]]:
    """Dialogue, turn, candidates, the place of the right one."""
    document = _load(folder / f"simmc2_dials_dstc10_{name}_retrieval_candidates.json")
    domains = {key: one["domain"] for key, one in _dialogues(folder / f"simmc2_dials_dstc10_{name}.json").items()}
    for dialogue in document["retrieval_candidates"]:
        pool = document["system_transcript_pool"][domains[dialogue["dialogue_idx"]]]
        for turn in dialogue["retrieval_candidates"]:
            yield dialogue["dialogue_idx"], turn["turn_idx"], [pool[place] for place in turn["retrieval_candidates"]], turn["gt_index"]


@pytest.mark.parametrize("name", NAMES.values())
def test_every_turn_has_a_pool_that_keeps_the_rules(name: str, built: Path) -> None:
    dialogues = _dialogues(built / "release" / f"simmc2_dials_dstc10_{name}.json")
    asked = []
    for dialogue, number, candidates, right in _pools(built / "release", name):
        entries = dialogues[dialogue]["dialogue"]
        keys = [candidate_key(text) for text in candidates]
        numbers = list(map(key_hash, keys))
        asked.append((dialogue, number))
        assert len(set(numbers)) == len(numbers) > 3
        own = [key_hash(candidate_key(entry["system_transcript"])) for entry in entries]
        assert numbers[right] == own[number] and set(own) & set(numbers) == {numbers[right]}
        assert not any(nearly_equal(key, keys[right]) for place, key in enumerate(keys) if place != right)
    assert asked == [(name, entry["turn_idx"]) for name, one in dialogues.items() for entry in one["dialogue"]]


def test_right_candidates_stand_anywhere(built: Path) -> None:
    places = [right / len(candidates) for _, _, candidates, right in _pools(built / "release", "train")]
    assert 0.35 < sum(places) / len(places) < 0.65


def test_the_call_of_2_x_is_what_the_assistant_does(built: Path) -> None:
    calls = {one["dialog_id"]: one["actions"] for one in _load(built / "release/simmc2_dials_dstc10_train_api_calls.json")}
    for name, dialogue in _dialogues(CORPUS / "simmc2_dials_dstc10_train.json").items():
        for action, entry in zip(calls[name], dialogue["dialogue"], strict=True):
            frame = entry["system_transcript_annotated"]
            assert (action["turn_idx"], action["action"]) == (entry["turn_idx"], frame["act"])
            args = (action["action_supervision"] or {"args": {}})["args"]
            assert args.get("objects", []) == frame["act_attributes"]["objects"]
            assert not any(slot.startswith("Object ID") for slot in args), "what the search gave is no argument"


def test_verify_finds_a_pool_that_breaks_a_rule(built: Path, tmp_path: Path) -> None:
    assert verify_folder(str(built)).problems == []
    path = built / "release/simmc2_dials_dstc10_train_retrieval_candidates.json"
    manifest = _load(built / "manifest.json")
    before = path.read_bytes()
    dialogue = next(iter(_dialogues(built / "release/simmc2_dials_dstc10_train.json").values()))
    document = json.loads(before)
    pool = document["system_transcript_pool"][dialogue["domain"]]
    mine = next(one for one in document["retrieval_candidates"] if one["dialogue_idx"] == dialogue["dialogue_idx"])["retrieval_candidates"]
    twice, other, moved = mine[0], mine[1], mine[2]
    twice["retrieval_candidates"][(twice["gt_index"] + 1) % 4] = twice["retrieval_candidates"][twice["gt_index"]]
    place = (other["gt_index"] + 1) % 4
    other["retrieval_candidates"][place] = next(at for at, text in enumerate(pool) if text == dialogue["dialogue"][0]["system_transcript"])
    moved["gt_index"] = (moved["gt_index"] + 1) % 4
    try:
        path.write_text(json.dumps(document), "utf-8")
        found = benchmarks.get("dstc9-track4").check_release(built, manifest).problems
    finally:
        path.write_bytes(before)
    told = "\n".join(found)
    assert "occurs twice" in told and "another reply of the dialogue" in told and "gt_index is not the place of the response" in told


def test_held_out_labels_are_in_no_public_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    plain("dstc9-track4", [CORPUS], out, "suites=standard,typos", "held_out_labels=true")
    assert verify_folder(str(out)).problems == []
    corpus = _dialogues(CORPUS / "simmc2_dials_dstc10_devtest.json")
    shown: dict[int, dict[str, Any]] = {}
    for suite in ("", "typos/"):
        path = f"release/{suite}simmc2_dials_dstc10_devtest.json"
        if (out / path).exists():
            public = _dialogues(out / path)
            assert not public.keys() & shown.keys(), "one suite of each dialogue"
            shown |= public
            for name, dialogue in _dialogues(out / "labels" / path).items():
                _is_asked(public[name], dialogue, corpus[name])
    assert shown.keys() == corpus.keys()
    public_pools = _load(out / "release/simmc2_dials_dstc10_devtest_retrieval_candidates.json")["retrieval_candidates"]
    whole = _load(out / "labels/release/simmc2_dials_dstc10_devtest_retrieval_candidates.json")["retrieval_candidates"]
    for bare, told in zip(public_pools, whole, strict=True):
        (turn,), (full,) = bare["retrieval_candidates"], told["retrieval_candidates"]
        assert "gt_index" not in turn and "gt_index" in full and turn["turn_idx"] == len(shown[bare["dialogue_idx"]]["dialogue"]) - 1
    asked = {dialogue["dialogue"][len(shown[name]["dialogue"]) - 1]["system_transcript"] for name, dialogue in corpus.items()}
    listed = _load(out / "release/simmc2_dials_dstc10_devtest_retrieval_candidates.json")["system_transcript_pool"]
    assert {text for texts in listed.values() for text in texts} <= asked, "what other splits say, or histories show, is known to be wrong"
    assert not (out / "release/simmc2_dials_dstc10_devtest_api_calls.json").exists()
    assert not list((out / "dialogues").glob("*/test.jsonl")) or all(not one.read_text() for one in (out / "dialogues").glob("*/test.jsonl"))


def _is_asked(public: Mapping[str, Any], labels: Mapping[str, Any], corpus: Mapping[str, Any]) -> None:
    """The inputs end with the user, have no label, and the labels are those of the last entry."""
    last = len(public["dialogue"]) - 1
    assert "mentioned_object_ids" not in public and public["scene_ids"] == corpus["scene_ids"]
    for number, entry in enumerate(public["dialogue"]):
        assert entry.keys() <= {"turn_idx", "transcript", "system_transcript"} and ("system_transcript" in entry) == (number < last)
    assert ["transcript_annotated" in entry for entry in labels["dialogue"]] == [False] * last + [True]
    assert labels["dialogue"][last]["transcript_annotated"] == corpus["dialogue"][last]["transcript_annotated"]


def test_files_of_every_edition() -> None:
    for edition in ("1.0", "2.0", "2.1"):
        for part in ("", "_api_calls", "_retrieval_candidates"):
            path = release.release_path(edition, "fashion", "valid", part, "typos")  # type: ignore[arg-type]
            assert release.release_parts(path) == (edition, "fashion" if edition == "1.0" else "", "valid", part)
    assert release.release_path("1.0", "furniture", "test") == "release/furniture/furniture_devtest_dials.json"
    assert release.release_parts("release/few_shot/README.md") is None


def _old() -> dict[str, Any]:
    entry = {
        "turn_idx": 0,
        "domain": "furniture",
        "transcript": "Show me a blue sofa.",
        "system_transcript": "Here is one.",
        "belief_state": [{"act": "DA:REQUEST:GET:SOFA", "slots": [["furniture-color", "blue"]]}],
        "visual_objects": {},
    }
    return {"dialogue": [entry], "dialogue_idx": 8, "domains": ["furniture"]}


def test_1_0_has_files_of_its_domain_and_its_own_calls(tmp_path: Path) -> None:
    """From its documentation: no file of it was at hand."""
    calls = [{"dialog_id": 8, "actions": [{"turn_idx": 0, "action": "SearchDatabase", "action_supervision": {"args": {"color": "blue"}}}]}]
    record = {"split": "train", "version": "1.0", "domain": "furniture", "dialogue_data": [_old()]}
    (tmp_path / "furniture_train_dials.json").write_text(json.dumps(record), "utf-8")
    (tmp_path / "furniture_train_dials_api_calls.json").write_text(json.dumps(calls), "utf-8")
    plain("dstc9-track4", [tmp_path], tmp_path / "out", "suites=standard", "splits=keep", "hard_baselines=")
    assert _load(tmp_path / "out/release/furniture/furniture_train_dials.json")["dialogue_data"] == [_old()]
    assert _load(tmp_path / "out/release/furniture/furniture_train_dials_api_calls.json") == calls
    pool = _load(tmp_path / "out/release/furniture/furniture_train_dials_retrieval_candidates.json")
    assert pool["system_transcript_pool"] == ["Here is one."]


def test_replaced_values_are_replaced_in_the_labels() -> None:
    record = {
        "dialogue": [
            {
                "turn_idx": 0,
                "transcript": "A Fernhill coat?",
                "system_transcript": "None by Fernhill.",
                "transcript_annotated": {"act": "REQUEST:GET", "act_attributes": {"slot_values": {"brand": "Fernhill"}, "objects": [3]}},
                "system_transcript_annotated": {"act": "INFORM:GET", "act_attributes": {"slot_values": {"brand": "Fernhill"}}},
            }
        ],
        "dialogue_idx": 1,
        "domain": "fashion",
    }
    dialogue = parse(Simmc(), record)
    user, system = dialogue.turns
    state = tuple(cell.replace(values=("Low Tide",)) for cell in user.state)
    moved = dialogue.replace(turns=(user.replace(utterance="A Low Tide coat?", state=state), system.replace(utterance="None by Low Tide.")))
    found = release.entries(moved)
    line = json.loads(release.written(found[0], release.moved_values(found)))
    assert (line["transcript"], line["system_transcript"]) == ("A Low Tide coat?", "None by Low Tide.")
    for side in ("transcript_annotated", "system_transcript_annotated"):
        assert line[side]["act_attributes"]["slot_values"] == {"brand": "Low Tide"}
    assert json.loads(release.calls(moved, found, release.moved_values(found)))["actions"][0]["action_supervision"]["args"] == {"brand": "Low Tide"}


def test_what_it_cannot_be_built_from_is_refused(tmp_path: Path) -> None:
    for words, told in (
        ((DATA / "multiwoz21",), "is made from simmc, not multiwoz21"),
        ((CORPUS, "--set", "suites=typos"), "needs the suite 'standard'"),
        ((CORPUS, "--set", "suites=standard,ood", "--set", "perturbations.ood=out_of_scope"), "inserts turns"),
    ):
        result = call("build", "dstc9-track4", "--output", tmp_path / "out", "--input", *words)
        assert result.code and told in result.err, result.err
    with pytest.raises(DialmillError):
        plain("dstc9-track4", [CORPUS], tmp_path / "out", "suites=typos")
