"""What scoring costs in CPU seconds: 10,000 examples of 100 candidates, 7,000 turns of state tracking, and their bootstrap of 1,000 samples.

python -m tests.benchmarks.bench_score
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.scores import request as scoring_request
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.scoring.evaluate import evaluate
from dialmill.schemas import STANDARD, Dialogue, Turn
from dialmill.schemas.dialogue import SlotValues, encode

EXAMPLES, CANDIDATES = 10_000, 100
#: Dialogues and user turns in each: 7,000 turns a suite, which MultiWOZ's test set has.
DIALOGUES, TURNS = 1000, 7
SUITES = (STANDARD, "typos")


def ranking(folder: Path) -> Callable[[], Any]:
    """10,000 examples in the official form."""
    draw = random.Random(1)
    examples, guesses = [], []
    for number in range(EXAMPLES):
        ids = [f"{number:06d}{place:06d}" for place in range(CANDIDATES)]
        options = [{"candidate-id": one, "utterance": f"words of candidate {one}"} for one in ids]
        head = {"data-split": "test", "example-id": number, "messages-so-far": [{"speaker": "participant_1", "utterance": "hello"}]}
        examples.append(head | {"options-for-correct-answers": options[:1], "options-for-next": options, "scenario": 1})
        draw.shuffle(ids)
        ranked = [{"candidate-id": one, "confidence": 1 - place / CANDIDATES} for place, one in enumerate(ids)]
        guesses.append({"example-id": number, "candidate-ranking": ranked})
    (folder / "ubuntu_test_subtask_1.json").write_text(json.dumps(examples), "utf-8")
    (folder / "guesses.json").write_text(json.dumps(guesses), "utf-8")
    return lambda: evaluate(scoring_request("noesis-ubuntu", Settings(str(folder)), [str(folder / "guesses.json")]))


def tracking(folder: Path, suite: str) -> Callable[[], Any]:
    """States and responses of 7,000 turns a suite."""
    draw = random.Random(1)
    slots = [("hotel", f"slot{number}") for number in range(10)] + [("train", f"slot{number}") for number in range(10)]
    for name in SUITES:
        (folder / "dialogues" / name).mkdir(parents=True, exist_ok=True)
        with (folder / "dialogues" / name / "test.jsonl").open("wb") as gold, (folder / f"{name}.jsonl").open("w", encoding="utf-8") as guesses:
            for number in range(DIALOGUES):
                turns: list[Turn] = []
                state: dict[tuple[str, str], str] = {}
                for place in range(TURNS):
                    state[slots[draw.randrange(len(slots))]] = f"value {draw.randrange(5)}"
                    held = tuple(SlotValues(*slot, (value,)) for slot, value in state.items())
                    turns.append(Turn(2 * place, "user", f"i need value {place} please", state=held))
                    turns.append(Turn(2 * place + 1, "system", "there are four of them in the east . shall i book one for you ?"))
                    said = [{"domain": one.domain, "slot": one.slot, "values": list(one.values)} for one in held if draw.random() < 0.97]
                    record = {"dialogue_id": f"D{number}/{name}/0", "turn": 2 * place, "state": said, "delexicalised": "there are some in the east ."}
                    guesses.write(json.dumps(record) + "\n")
                one = Dialogue(
                    dialogue_id=f"D{number}/{name}/0", source="bench", source_id=f"D{number}", suite=name, split="test", turns=tuple(turns)
                )
                gold.write(encode(one) + b"\n")
    paths = folder / "guesses"
    paths.mkdir(exist_ok=True)
    for name in SUITES:
        (paths / f"{name}.jsonl").write_bytes((folder / f"{name}.jsonl").read_bytes())
    return lambda: evaluate(scoring_request("splits", Settings(str(folder)), [str(paths)], suite))


def main() -> None:
    """Prints a line for each."""
    for name, make in (
        ("10,000 examples x 100 candidates", ranking),
        ("7,000 turns", lambda folder: tracking(folder, STANDARD)),
        ("7,000 turns in 2 suites, with 1,000 bootstrap samples", lambda folder: tracking(folder, "all")),
    ):
        with tempfile.TemporaryDirectory() as folder:
            run = make(Path(folder))
            started = time.process_time()
            run()
            print(f"{name}: {time.process_time() - started:.2f} CPU s")


if __name__ == "__main__":
    main()
