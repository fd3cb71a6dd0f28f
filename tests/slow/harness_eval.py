"""Run by tests/slow/test_harnesses.py in an environment that has inspect_ai and lm_eval, and dialmill not: exported tasks with a model that answers
from a list. Prints the metrics as JSON.

    python harness_eval.py inspect|lm-eval FOLDER TASK right|wrong
"""

import json
import sys
from pathlib import Path

WRONG = "I can't say."
LIMIT = 6


def golds(folder, task):
    lines = (Path(folder) / f"{task}.test.jsonl").read_text("utf-8").splitlines()[:LIMIT]
    return [json.loads(line)["target"] for line in lines]


def inspect_metrics(folder, task, answers):
    import tiktoken
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, get_model

    class Words:
        """Counts tokens without the tables that tiktoken would download."""

        def encode(self, text, **options):
            return text.split()

        encode_ordinary = encode

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda name: Words()
    model = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", one) for one in answers])
    (log,) = evaluate(f"{folder}/tasks.py@{task}", model=model, limit=len(answers), display="none", max_connections=1, max_samples=1)
    assert log.status == "success", log.error
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def lm_eval_metrics(folder, task, answers):
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Listed(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return answers[: len(requests)]

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    name = next(line.split()[1] for line in (Path(folder) / f"{task}.yaml").read_text("utf-8").splitlines() if line.startswith("task:"))
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(model=Listed(), tasks=[name], task_manager=manager, limit=len(answers), bootstrap_iters=0)
    return {key.split(",")[0]: value for key, value in found["results"][name].items() if key.endswith(",none") and "stderr" not in key}


if __name__ == "__main__":
    harness, folder, task, kind = sys.argv[1:]
    right = golds(folder, task)
    answers = right if kind == "right" else [WRONG] * len(right)
    print(json.dumps({"inspect": inspect_metrics, "lm-eval": lm_eval_metrics}[harness](folder, task, answers)))
