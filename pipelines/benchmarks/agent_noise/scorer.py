"""agent-noise: the next action of an agent, exactly and argument by argument, clean and noisy in pairs.

Metrics in percent: `action_accuracy` (calls: every call with every argument right; an answer: that it was an answer), `kind_accuracy` (whether calls
were made where calls were due, and answers given where answers were), `call.exact`, `call.name` and `call.arguments` (of the targets that are calls:
all right; the names of the tools right; the share of the arguments right, one of a tool that wasn't called being wrong), `answer.kind` (of the
targets that are answers, how many were answered). Arguments are compared as JSON: 1 is 1.0, texts are equal to the letter. The order of several calls
doesn't matter. The words of an answer are not judged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from dialmill.pipelines.benchmarks.agent_noise.kinds import EXAMPLES, LABELS, PREDICTIONS
from dialmill.pipelines.core.actions import ANSWER, CALL
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, ratio
from dialmill.pipelines.scoring.predictions import check_ids, prediction_files, read_lines, unique

Example = Mapping[str, Any]
_BANDS = ((0, "unchanged"), (1, "1"), (3, "2-3"), (6, "4-6"))
_MORE = "7 and more"


class AgentNoise(Scorer):
    """Scores a prediction an example."""

    name = "agent-noise"
    about = "the agent's next action: exact calls, argument by argument, answers as such; paired by perturbation, strength and kind of action"
    scale = "percent"
    ranked: ClassVar[tuple[str, ...]] = ("action_accuracy", "call.exact", "call.arguments", "call.name", "kind_accuracy", "answer.kind")
    of_turns: ClassVar[tuple[str, ...]] = ranked

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        root = Path(settings.gold)
        folder = root / "release" if (root / "release").is_dir() else root
        if self.split == "test_hard":
            folder = folder / "test_hard"
        split = "test" if self.split == "test_hard" else self.split
        self._gold: dict[str, dict[str, Example]] = {}
        for path in sorted(folder.glob(f"*/{split}.jsonl")) if folder.is_dir() else ():
            if path.stat().st_size:
                self._gold[path.parent.name] = self._examples(path, root)
        if not self._gold:
            raise InputError(settings.gold, f"has no release/SUITE/{split}.jsonl with examples", "name a folder that `dialmill build` made")
        self._file = ""

    def _examples(self, path: Path, root: Path) -> dict[str, Example]:
        labels = root / "labels" / "release" / path.parent.name / path.name
        if not labels.is_file() or not labels.stat().st_size:
            return unique(((one["example_id"], one) for one in read_lines(path, EXAMPLES)), str(path), "example")
        held = {one["example_id"]: one for one in read_lines(labels, LABELS)}
        inputs = read_lines(path, f"{EXAMPLES}-inputs")
        return unique(((one["example_id"], {**one, **held[one["example_id"]]}) for one in inputs), str(path), "example")

    def suites(self) -> list[str]:
        return sorted(self._gold, key=lambda suite: (suite != self.clean, suite))

    def read(self, path: str) -> dict[str, Example]:
        self._file = path
        lines = (line for file in prediction_files(path, (".jsonl",)) for line in read_lines(file, PREDICTIONS))
        return unique(((line["example_id"], line) for line in lines), path, "example")

    def covered(self, guesses: dict[str, Example]) -> list[str]:
        found = [suite for suite in self.suites() if not guesses.keys().isdisjoint(self._gold[suite])]
        if not found:
            raise InputError(self._file, "predicts no example of the gold", "were the predictions made from another build, split or suite?")
        return found

    def units(self, suite: str, guesses: dict[str, Example] | None) -> Units:
        gold = self._gold[suite]
        if guesses is not None:
            known = [one for other in self._gold.values() for one in other]
            check_ids(list(gold), [one for one in guesses if one in gold or one not in known], self._file, "example")
        rows, keys = [], []
        strata: dict[str, list[str]] = {"action": [], "tool": [], "changed user turns": []}
        for name, example in gold.items():
            target = example["target"]
            rows.append(_row(target, said_by(example["target"] if guesses is None else guesses[name])))
            keys.append(Key(example["task"], example["variant"], f"{example['run']}:{example['place']}"))
            calls = [call["name"] for call in target.get("calls", ())]
            strata["action"].append(target["kind"])
            strata["tool"].append("+".join(sorted(set(calls))) or ANSWER)
            changed = example["changed_turns"]
            strata["changed user turns"].append(next((label for most, label in _BANDS if changed <= most), _MORE))
        columns = columns_of(rows)
        return Units(keys, columns, columns["right"] > 0 if rows else None, strata)

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "n" not in sums:
            return {}
        found = {"action_accuracy": ratio(sums["right"], sums["n"]), "kind_accuracy": ratio(sums["kind"], sums["n"])}
        if sums["calls"].any():
            found |= {f"call.{name}": ratio(sums[column], sums["calls"]) for name, column in (("exact", "exact"), ("name", "names"))}
        if sums["arguments"].any():
            found["call.arguments"] = ratio(sums["arguments_right"], sums["arguments"])
        if sums["answers"].any():
            found["answer.kind"] = ratio(sums["answered"], sums["answers"])
        return {name: 100 * value for name, value in found.items()}

    def counts(self, units: Units) -> dict[str, int]:
        sums = units.sums()
        return {"examples": len(units), "calls": int(sums.get("calls", 0)), "answers": int(sums.get("answers", 0))}

    def policy(self) -> dict[str, str]:
        return {
            "arguments": "compared as JSON values, texts to the letter; several calls in any order",
            "answers": "that the agent answered; not its words",
            "pairs": "a noisy prefix with the clean one of the same run and place; samples are drawn by task",
        }


_SUMS = ("n", "right", "kind", "calls", "exact", "names", "arguments", "arguments_right", "answers", "answered")


def said_by(guess: Example) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a prediction or target, each with its arguments by name; none for an answer."""
    message = guess.get("message")
    given = guess.get("calls") if not isinstance(message, dict) else message.get("tool_calls")
    found = []
    for call in given or ():
        inner = call.get("function", call)
        arguments = inner.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments) if arguments.strip() else {}
            except (ValueError, RecursionError):
                arguments = None  # What can't be read is no argument: the tool is named, and all else is wrong.
        found.append((str(inner.get("name")), arguments if isinstance(arguments, dict) else {"": arguments} if arguments is not None else {}))
    return found


def _plain(value: Any) -> str:
    """A JSON value as a text that is equal for equal values."""
    return json.dumps(_numbers(value), sort_keys=True, ensure_ascii=True)


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _row(target: Example, said: list[tuple[str, dict[str, Any]]]) -> dict[str, float]:
    row = dict.fromkeys(_SUMS, 0.0)
    due = said_by(target)
    row["n"], row["kind"] = 1, bool(due) == bool(said)
    if target["kind"] != CALL:
        return row | {"answers": 1, "answered": not said, "right": not said}
    row["calls"] = 1
    row["names"] = Counter(name for name, _ in due) == Counter(name for name, _ in said)
    row["exact"] = row["right"] = Counter((name, _plain(one)) for name, one in due) == Counter((name, _plain(one)) for name, one in said)
    left = list(said)
    for name, arguments in due:
        row["arguments"] += len(arguments)
        # Of several calls of one tool, the one that has most arguments in common.
        best = max((one for one in left if one[0] == name), key=lambda one: _common(arguments, one[1]), default=None)
        if best is not None:
            left.remove(best)
            row["arguments_right"] += _common(arguments, best[1])
    return row


def _common(due: dict[str, Any], said: dict[str, Any]) -> int:
    return sum(name in said and _plain(said[name]) == _plain(value) for name, value in due.items())
