"""tau2-bench's own tasks: those with a recorded history come out noisy with every other byte kept, all others are rejected with the reason."""

from __future__ import annotations

import json
from pathlib import Path

from dialmill.pipelines.core.stage import Reject

import dialmill as dm
from tests.pipelines.tools import call


def test_mock_tasks(real: Path, tmp_path: Path) -> None:
    path = real / "tau2" / "mock-tasks.json"
    words = ("perturb", "--input", path, "--with", "typos:rate=0.5", "--output", tmp_path / "out", "--export", "tau2", "--quiet")
    assert call(*words).code == 0
    given = {task["id"]: task for task in json.loads(path.read_text("utf-8"))}
    made = json.loads((tmp_path / "out" / "export" / "tau2" / "typos" / "tasks.json").read_text("utf-8"))
    assert {task["id"] for task in made} == {"update_task_with_message_history", "update_task_with_history_and_env_assertions"}
    for task in made:
        before, after = (one["initial_state"].pop("message_history") for one in (given[task["id"]], task))
        assert task == given[task["id"]] and before[1:] == after[1:]
        assert after[0]["content"] != before[0]["content"] and "project review" in after[0]["content"]


def test_tasks_without_histories_are_rejected(real: Path) -> None:
    for name, tasks in (("airline-tasks", 50), ("retail-tasks", 114), ("telecom-tasks_small", 20)):
        rejects: list[Reject] = []
        assert list(dm.read(real / "tau2" / f"{name}.json", rejects=rejects)) == []
        assert [one.reason for one in rejects] == ["no_history"] * tasks
