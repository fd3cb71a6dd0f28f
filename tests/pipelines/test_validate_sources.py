"""`dialmill validate` on the files of every source: a schema of its own, or how much the source reads; many paths, patterns and zips at once."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from dialmill.pipelines.sources import registry

from .tools import DATA, call

#: Sources whose files are read by others, or that have no corpus in data/.
_WITHOUT_DATA = {"dialmill"}
#: Sources whose files a benchmark's schema is for.
_ANOTHER_SCHEMA = {"fed": "fed-ratings"}


@pytest.mark.parametrize("name", sorted(set(registry.names()) - _WITHOUT_DATA))
def test_every_source_validates_or_says_that_it_has_no_schema(name: str) -> None:
    result = call("validate", DATA / name)
    assert result.code == 0, result.err
    beside = ("side file", "not checked", "nothing here")
    dialogues = [line for line in result.out.splitlines() if not any(word in line for word in beside)]
    assert dialogues
    for line in dialogues:
        own = f"({name})" in line or f"({_ANOTHER_SCHEMA.get(name)})" in line or any(f"({kind.schema})" in line for kind in registry.get(name).kinds)
        assert own, f"{line}: a file of {name} is told as one"
        assert " records are valid" in line or ("no schema for this source" in line and " 0 records" not in line)


def test_one_layout_of_two_corpora_is_told_apart() -> None:
    schema_guided = call("validate", DATA / "sgd/dev/dialogues_001.json")
    multiwoz = call("validate", DATA / "multiwoz22/dev/dialogues_001.json")
    assert schema_guided.out.rstrip().endswith("(sgd)") and multiwoz.out.rstrip().endswith("(multiwoz22)")


def test_many_paths_and_patterns(tmp_path: Path) -> None:
    result = call("validate", DATA / "sgd/*/dialogues_*.json", DATA / "clinc", DATA / "ecd/test.txt", "--json", tmp_path / "found.json", "--quiet")
    assert result.code == 0 and result.out == ""
    checked = json.loads((tmp_path / "found.json").read_text("utf-8"))["checked"]
    assert len(checked) == 5 and sum("(sgd)" in line for line in checked) == 3
    missed = call("validate", DATA / "sgd/*/nothing_*.json")
    assert missed.code == 1 and "matches no file" in missed.err


def test_a_fault_in_one_of_many_counts(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('[{"dialogue_id": "1", "services": ["A_1"], "turns": [{"speaker": "me", "utterance": "", "frames": []}]}]')
    result = call("validate", DATA / "clinc", tmp_path / "bad.json")
    assert result.code == 1 and "bad.json" in result.err and "speaker" in result.err


def test_what_a_source_cannot_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("0\t你好\t在的\n0\t你好\t好的\n", "utf-8")
    result = call("validate", tmp_path / "test.txt")
    assert result.code == 1 and "no_right_response" in result.err


def test_the_files_of_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.write(DATA / "convlab/dialogues.json", "data/dialogues.json")
        archive.writestr("data/ontology.json", json.dumps({"domains": {"hotel": {"slots": {"area": {"is_categorical": True}}}}}))
        archive.writestr("data/rows.json", "[1]")
    result = call("validate", tmp_path / "data.zip")
    assert result.code == 0, result.err
    assert "data.zip!data/dialogues.json: " in result.out and "(convlab)" in result.out and "rows.json: not checked" in result.out
    shutil.copy(DATA / "clinc/data_full.json", tmp_path)
    both = call("validate", tmp_path)
    assert both.code == 0 and "(convlab)" in both.out and "(clinc)" in both.out


def test_the_goals_of_multiwoz_are_no_file_of_another_corpus(tmp_path: Path) -> None:
    (tmp_path / "goal_of_each_dials.json").write_text('{"mul0005.json": {"hotel": {"info": {"area": "west"}}}}')
    result = call("validate", tmp_path / "goal_of_each_dials.json")
    assert "dialogue_data" not in result.out + result.err and "multiwoz21" in result.out + result.err


#: Files that look like one of a known kind and are none: what is told of them.
_RELATIVES = (
    (
        "en_fewshot.json",
        [{"dialogue_id": "a#1", "dialogue": [{"user_utterance": ["Hi", {}], "system_utterance": ["Yes?", {}], "belief_state": {}}]}],
        "X-RiSAWOZ",
    ),
    ("test.json", {"144": {"log": [{"text": "\u4f60\u597d"}, {"text": "\u5728\u7684"}]}}, "DSTC9 Track 2"),
    ("test.json", {"397": {"messages": [{"content": "Hello", "role": "usr"}, {"content": "Hi", "role": "sys"}]}}, "DSTC9 Track 2"),
    ("few_shot.jsonl", {"messages_display": "user: Hi\nassistant: Hello"}, "tau-bench"),
    (
        "labels.json",
        [{"target": False}, {"target": True, "knowledge": [{"domain": "hotel", "doc_type": "review", "doc_id": 1}], "response": "Yes."}],
        "DSTC11",
    ),
)


@pytest.mark.parametrize(("name", "content", "about"), _RELATIVES, ids=[one[2] + str(at) for at, one in enumerate(_RELATIVES)])
def test_what_looks_like_a_known_kind_and_is_none_is_told_by_name(name: str, content: object, about: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    for path in (tmp_path / name, tmp_path):
        result = call("validate", path)
        assert result.code == 0 and result.err == "" and about in result.out and "not checked" in result.out
    if about != "DSTC11":
        named = call("clean", "--input", tmp_path / name, "--output", tmp_path / "out")
        assert named.code == 1 and about in named.err and name in named.err


def test_turns_without_states_beside_others_are_multiwoz_with_a_fault(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text('{"a": {"log": [{"text": "Hi"}, {"text": "Yes?", "metadata": {}}]}}', "utf-8")
    result = call("validate", tmp_path / "data.json")
    assert result.code == 1 and "metadata" in result.err


def test_lines_of_somebody_else_are_not_held_to_our_schema(tmp_path: Path) -> None:
    (tmp_path / "slots.jsonl").write_text('{"slurp_id": 1, "sentence": "wake me up"}\n' * 3, "utf-8")
    result = call("validate", tmp_path / "slots.jsonl")
    assert result.code == 1 and "no known kind" in result.err and "dialogue_id" not in result.err
    (tmp_path / "own.jsonl").write_text('{"dialogue_id": "a"}\n', "utf-8")
    result = call("validate", tmp_path / "own.jsonl")
    assert result.code == 1 and "turns" in result.err


def test_tasks_without_a_history_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text('[{"id": "1", "user_scenario": {"instructions": "You want a lamp."}, "initial_state": null}]', "utf-8")
    result = call("validate", tmp_path / "tasks.json")
    assert result.code == 0 and "1 with nothing to read (no_history" in result.out
    made = call("clean", "--input", tmp_path / "tasks.json", "--output", tmp_path / "out")
    assert made.code == 1 and "no_history 1" in made.err and "another format" not in made.err


def test_the_one_file_of_a_zip_is_read_through_its_source(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "runs.json.zip", "w") as archive:
        archive.writestr("runs.json", json.dumps([{"task_id": 0, "traj": [{"role": "user", "content": "Hi, book a flight"}]}]))
    for path in (tmp_path / "runs.json.zip", tmp_path):
        result = call("validate", path)
        assert result.code == 0 and "(messages), 1 records read" in result.out, result.err
