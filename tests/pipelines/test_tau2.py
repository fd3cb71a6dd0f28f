"""tau2-bench's tasks: their recorded histories are perturbed, every other byte stays, and a task whose values are hit is rejected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.exporters.registry import names

import dialmill as dm
from tests.pipelines.tools import DATA, call

TASKS = DATA / "tau2" / "tasks.json"


def _perturbed(output: Path, *words: object) -> list[dict[str, Any]]:
    """The tasks of the one suite that is made."""
    result = call("perturb", "--format", "tau2", "--input", TASKS, *words, "--output", output, "--export", "tau2", "--quiet")
    assert result.code == 0, result.err
    (path,) = (path for path in (output / "export" / "tau2").glob("*/tasks.json") if path.parent.name != "standard")
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def test_histories_are_noisy_and_all_else_is_the_source(tmp_path: Path) -> None:
    given = {task["id"]: task for task in json.loads(TASKS.read_text("utf-8"))}
    made = _perturbed(tmp_path / "out", "--with", "typos:rate=0.6,style=chat")
    assert {task["id"] for task in made} == given.keys()
    changed = 0
    for task in made:
        source = given[task["id"]]
        before, after = (one["initial_state"].pop("message_history") for one in (source, task))
        assert task == source and len(before) == len(after)
        needed = source["evaluation_criteria"]["actions"][0]["arguments"]["item"]
        for old, new in zip(before, after, strict=True):
            changed += old != new
            assert old == new or (old["role"] == "user" and {**old, "content": 0} == {**new, "content": 0})
            assert new.get("content", "").count(needed) == old.get("content", "").count(needed)
    assert changed > 20
    splits = json.loads((tmp_path / "out" / "export" / "tau2" / "typos" / "split_tasks.json").read_text("utf-8"))
    assert splits == {"base": [task["id"] for task in made], "test": [task["id"] for task in made]}
    clean = json.loads((tmp_path / "out" / "export" / "tau2" / "standard" / "tasks.json").read_text("utf-8"))
    assert {task["id"]: task for task in clean} == {task["id"]: task for task in json.loads(TASKS.read_text("utf-8"))}


def test_tasks_as_they_stand_in_the_file_come_back_to_the_byte(tmp_path: Path) -> None:
    _perturbed(tmp_path / "out", "--with", "typos")
    text, written = TASKS.read_text("utf-8"), (tmp_path / "out" / "export" / "tau2" / "standard" / "tasks.json").read_text("utf-8")
    for record in dm.read(TASKS):
        assert record.payload is not None and record.payload in text and record.payload in written


def test_variants_have_ids_of_their_own(tmp_path: Path) -> None:
    made = _perturbed(tmp_path / "out", "--with", "typos:rate=0.5", "--variants", 2)
    assert len({task["id"] for task in made}) == len(made) == 40 and all(task["id"][-2:] in ("~0", "~1") for task in made)


@pytest.mark.parametrize("spec", ["typos:rate=1,values=follow", "speech:engine=text,wer=0.6"])
def test_a_task_whose_values_are_hit_is_rejected(spec: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    result = call("perturb", "--input", TASKS, "--with", f"{spec},name=hit", "--output", output, "--export", "tau2", "--quiet")
    assert result.code == 0, result.err
    needed = {task["id"]: task["evaluation_criteria"]["actions"][0]["arguments"]["item"] for task in json.loads(TASKS.read_text("utf-8"))}
    for task in json.loads((output / "export" / "tau2" / "hit" / "tasks.json").read_text("utf-8")):
        assert needed[task["id"]] in task["initial_state"]["message_history"][0]["content"]
    stage = next(one for one in json.loads((output / "manifest.json").read_text("utf-8"))["stages"] if one["name"] == "hit")
    assert stage["out"] + sum(stage["rejected"].values()) == 20 and stage["rejected"].keys() <= {"value_hit", "no_edit_possible"}


def test_values_that_are_hit_are_named(tmp_path: Path) -> None:
    task = json.loads(TASKS.read_text("utf-8"))[0]
    for value in ("lamp", "Please"):
        task["evaluation_criteria"]["actions"].append({"action_id": value, "name": "f", "arguments": {"x": value}})
    task["initial_state"]["message_history"][0]["content"] = "Please send me the lamp"
    others = json.loads(TASKS.read_text("utf-8"))[1:]
    (tmp_path / "tasks.json").write_text(json.dumps([*others, *({**task, "id": f"t{n}"} for n in range(12))]), "utf-8")
    words = ("--with", "typos:rate=1,values=follow,name=hit", "--set", "max_failures=1", "--output", tmp_path / "out", "--quiet")
    result = call("perturb", "--input", tmp_path / "tasks.json", *words)
    rejects = [json.loads(line) for line in (tmp_path / "out" / "rejects" / "hit.jsonl").read_text("utf-8").splitlines()] if result.code == 0 else []
    assert result.code == 0 and rejects and {one["reason"] for one in rejects} == {"value_hit"} and rejects[0]["evidence"] in ("lamp", "Please")


def test_tasks_without_a_history_are_rejected_and_their_instructions_left_alone(tmp_path: Path) -> None:
    fresh = {"id": 7, "user_scenario": {"instructions": "You want to buy a lamp."}, "initial_state": None, "evaluation_criteria": {"actions": []}}
    (tmp_path / "tasks.json").write_text(json.dumps([fresh, *json.loads(TASKS.read_text("utf-8"))[:2]]), "utf-8")
    rejects: list[Any] = []
    assert len(list(dm.read(tmp_path / "tasks.json", rejects=rejects))) == 2
    assert [(one.source_id, one.reason) for one in rejects] == [("7", "no_history")] and "tau2" in names()
