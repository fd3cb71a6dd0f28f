"""Exported tasks are loaded and scored by inspect, lm-evaluation-harness and promptfoo. DIALMILL_HARNESSES names a Python that has the first two,
DIALMILL_PROMPTFOO the command of the third; .ci/slow installs them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.pipelines.tools import DATA, call

SCRIPT = Path(__file__).with_name("harness_eval.py")
AGENTS = {"agent_action": {"action_accuracy", "argument_accuracy"}}
METRICS = {"dst": {"joint_goal_accuracy", "slot_f1"}, "next_action": {"exact_match", "act_f1"}}


@pytest.fixture(scope="module")
def python() -> str:
    """A Python that has the harnesses."""
    found = os.environ.get("DIALMILL_HARNESSES")
    if not found:
        pytest.skip("DIALMILL_HARNESSES names no Python with inspect_ai and lm_eval")
    return found


@pytest.mark.parametrize("corpus", ["multiwoz21", "risawoz", "messages"])
def test_a_model_that_is_right_scores_one_and_one_that_says_nothing_zero(python: str, corpus: str, tmp_path: Path) -> None:
    words = ("perturb", "--input", DATA / corpus, "--with", "typos", "--with", "disfluency+typos", "--output", tmp_path / "out", "--limit", 30)
    done = call(*words, "--export", "inspect,lm-eval", "--quiet")
    assert done.code == 0, done.err
    for harness in ("inspect", "lm-eval"):
        folder = tmp_path / "out" / "export" / harness / "disfluency+typos"
        for task, names in (AGENTS if corpus == "messages" else METRICS).items():
            for kind, score in (("right", 1.0), ("wrong", 0.0)):
                command = [python, str(SCRIPT), harness, str(folder), task, kind]
                ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
                assert ran.returncode == 0, ran.stderr[-2000:]
                found = json.loads(ran.stdout.strip().splitlines()[-1])
                assert {name: found[name] for name in names} == dict.fromkeys(names, score), (harness, task, kind)


#: A provider of promptfoo that answers from the test's own variables, or says nothing of use.
_PROVIDER = """def call_api(prompt, options, context):
    return {"output": context["vars"]["target"] if options["config"].get("right") else "I can't say."}
"""


@pytest.mark.parametrize("corpus", ["multiwoz21", "risawoz"])
def test_promptfoo_takes_the_tests_and_scores_them(corpus: str, tmp_path: Path) -> None:
    promptfoo = os.environ.get("DIALMILL_PROMPTFOO")
    if not promptfoo:
        pytest.skip("DIALMILL_PROMPTFOO names no promptfoo")
    words = ("perturb", "--input", DATA / corpus, "--with", "typos", "--output", tmp_path / "out", "--limit", 20, "--export", "promptfoo", "--quiet")
    done = call(*words)
    assert done.code == 0, done.err
    folder = tmp_path / "out" / "export" / "promptfoo" / "typos"
    (tmp_path / "model.py").write_text(_PROVIDER, "utf-8")
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config")}
    environment = os.environ | quiet

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([promptfoo, *command], capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False)

    checked = run("validate", "-c", "promptfooconfig.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tests = sum(len((folder / f"{task}.test.jsonl").read_text("utf-8").splitlines()) for task in METRICS)
    for right in (True, False):
        config = (folder / "promptfooconfig.yaml").read_text("utf-8")
        provider = f"providers:\n- id: file://{tmp_path}/model.py\n  config: {{right: {str(right).lower()}}}\n"
        (folder / "answered.yaml").write_text(config.replace("providers:\n- echo\n", provider), "utf-8")
        run("eval", "-c", "answered.yaml", "--no-cache", "--no-table", "--no-progress-bar", "-o", str(tmp_path / "found.json"))
        found = json.loads((tmp_path / "found.json").read_text("utf-8"))["results"]
        assert found["stats"]["errors"] == 0
        assert (found["stats"]["successes"], found["stats"]["failures"]) == ((tests, 0) if right else (0, tests))
        assert set(found["prompts"][0]["metrics"]["namedScores"]) == set().union(*METRICS.values())
