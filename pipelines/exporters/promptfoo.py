"""Suites as test files of promptfoo: the same questions as inspect's and lm-eval's, each with its answer and a scorer in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialmill.pipelines.core.exporter import ExportFile, Suite, text_file
from dialmill.pipelines.exporters.harness import HarnessExporter, Instructions, Sample, about_sample, module, prompt, sample_id
from dialmill.pipelines.exporters.writing import dump

#: What promptfoo runs without being told more: the test split, and no split where there is none of it.
_RUN = "test"


class PromptfooExporter(HarnessExporter):
    """Tests of promptfoo."""

    name = "promptfoo"
    about = "promptfoo tests: promptfoo eval -c SUITE/promptfooconfig.yaml -r PROVIDER; the same questions as lm-eval's"

    def line(self, task: str, sample: Sample, suite: Suite, instructions: Instructions) -> dict[str, Any]:
        return {
            "description": f"{task} {sample_id(sample, suite)}",
            "vars": {"prompt": prompt(task, sample, instructions), "target": sample.target},
            "assert": [{"type": "python", "value": f"file://score.py:{task}"}],
            "metadata": {"id": sample_id(sample, suite), "task": task, **about_sample(sample, suite)},
        }

    def code(self, suite: Suite, made: list[tuple[str, str]]) -> Iterator[ExportFile]:
        if not made:
            return
        yield text_file("score.py", module("promptfoo_score.txt"))
        tests = [f"{task}.{split}.jsonl" for task, split in made if split == _RUN] or [f"{task}.{split}.jsonl" for task, split in made]
        title = dump(f"dialmill, suite {suite.name}: what is asked of a model that is given the dialogue").decode()
        yield text_file(
            "promptfooconfig.yaml",
            f"description: {title}\n"
            "prompts:\n- '{{prompt}}'\n"
            "# promptfoo's echo answers nothing right; name the model that is to be tested: promptfoo eval -c promptfooconfig.yaml -r PROVIDER\n"
            "providers:\n- echo\n"
            "tests:\n" + "".join(f"- file://{name}\n" for name in tests),
        )
