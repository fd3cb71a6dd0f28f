"""Exported tasks are loaded and scored by inspect and lm-evaluation-harness; DIALMILL_HARNESSES names a Python that has both (.ci/slow makes one)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.pipelines.tools import DATA, call

SCRIPT = Path(__file__).with_name("harness_eval.py")
METRICS = {"dst": {"joint_goal_accuracy", "slot_f1"}, "next_action": {"exact_match", "act_f1"}}


@pytest.fixture(scope="module")
def python() -> str:
    """A Python that has the harnesses."""
    found = os.environ.get("DIALMILL_HARNESSES")
    if not found:
        pytest.skip("DIALMILL_HARNESSES names no Python with inspect_ai and lm_eval")
    return found


@pytest.mark.parametrize("corpus", ["multiwoz21", "risawoz"])
def test_a_model_that_is_right_scores_one_and_one_that_says_nothing_zero(python: str, corpus: str, tmp_path: Path) -> None:
    words = ("perturb", "--input", DATA / corpus, "--with", "typos", "--with", "disfluency+typos", "--output", tmp_path / "out", "--limit", 30)
    done = call(*words, "--export", "inspect,lm-eval", "--quiet")
    assert done.code == 0, done.err
    for harness in ("inspect", "lm-eval"):
        folder = tmp_path / "out" / "export" / harness / "disfluency+typos"
        for task, names in METRICS.items():
            for kind, score in (("right", 1.0), ("wrong", 0.0)):
                command = [python, str(SCRIPT), harness, str(folder), task, kind]
                ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
                assert ran.returncode == 0, ran.stderr[-2000:]
                found = json.loads(ran.stdout.strip().splitlines()[-1])
                assert {name: found[name] for name in names} == dict.fromkeys(names, score), (harness, task, kind)
