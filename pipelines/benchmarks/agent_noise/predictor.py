"""Light baselines of agent-noise: what the agent did in the training prefix whose last user message is most like this one's, or always an answer.

The nearest prefix's calls are made with this conversation's values: an argument that stood in that prefix's user texts takes what in this one's has
the same shape, said last; any other takes the value that it had in the last call with such an argument, if there was one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.baselines.rankers import ranker
from dialmill.pipelines.benchmarks.agent_noise.kinds import EXAMPLES, INPUTS, PREDICTIONS
from dialmill.pipelines.core.actions import CALL
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictions, Task
from dialmill.pipelines.scoring.predictions import read_lines
from dialmill.schemas.messages import text_of

BASELINES: tuple[str, ...] = ("nearest", "answer")
_TOKEN = re.compile(r"[^\s,;!?\"()]+")
_ANSWER = {"answer": ""}


def predict(task: Task) -> Predictions:
    """A line an example: the schema predictions-agent-noise."""
    nearest = task.baseline == BASELINES[0]
    known = [_Known(one) for one in _examples(task.gold, "standard", "train")] if nearest else []
    if nearest and not known:
        remedy = "build with --set splits=hash, or take --baseline answer"
        raise InputError(str(task.gold), "has no training runs, which the baseline nearest learns from", remedy)
    language = language_of(" ".join(one.asked for one in known[:50])) if known else "en"
    judge = ranker("bm25").fit((one.asked for one in known), language)
    made = []
    for suite in [task.suite] if task.suite else _suites(task.gold):
        for example in _examples(task.gold, suite, task.split):
            action = _ANSWER
            if nearest:
                asked = _asked(example)
                scores = judge.rank([asked], [one.asked for one in known], language)
                best = max(range(len(known)), key=lambda place: (scores[place], -place))
                action = known[best].applied(example)
            made.append(msgspec.json.encode({"example_id": example["example_id"], **action}))
    trained = f"{len(known)} prefixes of train" if nearest else "nothing"
    return Predictions(b"".join(line + b"\n" for line in made), PREDICTIONS, len(made), trained)


def _suites(gold: Path) -> list[str]:
    return sorted(path.name for path in (gold / "release").glob("*") if path.is_dir() and path.name not in ("few_shot", "test_hard"))


def _examples(gold: Path, suite: str, split: str) -> list[dict[str, Any]]:
    folder = gold / "release" / ("test_hard" if split == "test_hard" else "") / suite
    path = folder / f"{'test' if split == 'test_hard' else split}.jsonl"
    if not path.is_file():
        raise InputError(str(gold), f"has no {path.relative_to(gold)}", "name a folder that `dialmill build` made, and a split that it has")
    if not path.stat().st_size:
        return []
    first = msgspec.json.decode(path.read_bytes().split(b"\n", 1)[0])
    return read_lines(path, EXAMPLES if "target" in first else INPUTS)


def _texts(example: Mapping[str, Any]) -> list[str]:
    """The user's texts of an example."""
    return [text for message in example["messages"] if message.get("role") == "user" and (text := text_of(message)) is not None]


def _asked(example: Mapping[str, Any]) -> str:
    return next(iter(_texts(example)[-1:]), "")


def _passed(example: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, value) of the arguments of the calls so far, the last first."""
    for message in reversed(example["messages"]):
        for call in reversed(message.get("tool_calls") or ()):
            try:
                arguments = json.loads(call["function"]["arguments"])
            except (ValueError, KeyError, TypeError):
                continue
            yield from arguments.items() if isinstance(arguments, dict) else ()


def _shape(text: str) -> str:
    """Letters, digits and marks of a text by their kinds, runs as one."""
    kinds = ("9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char for char in text)
    return re.sub(r"(.)\1+", r"\1", "".join(kinds))


class _Known:
    """A training prefix with its action."""

    def __init__(self, example: Mapping[str, Any]) -> None:
        self.asked = _asked(example)
        self.said = " ".join(_texts(example))
        self.target = example["target"]

    def applied(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """The action with the values of another prefix."""
        if self.target["kind"] != CALL:
            return dict(_ANSWER)
        tokens = [match.group().rstrip(".:") for text in reversed(_texts(example)) for match in _TOKEN.finditer(text)]
        passed: dict[str, Any] = {}
        for name, value in _passed(example):
            passed.setdefault(name, value)
        calls = []
        for call in self.target["calls"]:
            arguments = {name: self._value(name, value, tokens, passed) for name, value in call["arguments"].items()}
            calls.append({"name": call["name"], "arguments": arguments})
        return {"calls": calls}

    def _value(self, name: str, value: Any, tokens: Sequence[str], passed: Mapping[str, Any]) -> Any:
        if isinstance(value, str) and value in self.said:
            alike = next((token for token in tokens if _shape(token) == _shape(value)), None)
            if alike is not None:
                return alike
        return passed.get(name, value)
