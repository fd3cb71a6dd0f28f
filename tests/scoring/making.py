"""Small golds and predictions for the tests of scoring."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.scores import request as scoring_request
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.scoring.evaluate import evaluate
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import SlotValues, encode

State = Mapping[str, str]


def slots(state: State) -> tuple[SlotValues, ...]:
    """ "hotel area" -> "east" as a state."""
    return tuple(SlotValues(*name.split(" ", 1), tuple(value.split("|"))) for name, value in state.items())


def dialogue(name: str, states: Iterable[State], suite: str = "standard", variant: int = 0, language: str = "en", **turn: Any) -> Dialogue:
    """A dialogue with a user turn for each state and an answer to each."""
    turns: list[Turn] = []
    for state in states:
        turns.append(Turn(len(turns), "user", "i need a hotel", state=slots(state), **turn))
        turns.append(Turn(len(turns), "system", "there are four of them in the east"))
    return Dialogue(
        dialogue_id=f"{name}/{suite}/{variant}",
        source="test",
        source_id=name,
        suite=suite,
        variant=variant,
        split="test",
        language=language,
        turns=tuple(turns),
    )


def write_gold(folder: Path, dialogues: Iterable[Dialogue]) -> Path:
    """An output folder with these dialogues."""
    for one in dialogues:
        path = folder / "dialogues" / one.suite / f"{one.split}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            stream.write(encode(one) + b"\n")
    return folder


def own(one: Dialogue) -> list[dict[str, Any]]:
    """The gold's own predictions."""
    return [
        {
            "dialogue_id": one.dialogue_id,
            "turn": turn.turn,
            "state": [{"domain": entry.domain, "slot": entry.slot, "values": list(entry.values)} for entry in turn.state],
            "response": one.turns[turn.turn + 1].utterance,
            "labels": list(turn.labels),
        }
        for turn in one.turns
        if turn.speaker == "user"
    ]


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def score(benchmark: str, gold: Path, predictions: Path, suite: str | None = None, **settings: Any) -> dict[str, Any]:
    """The score file."""
    return evaluate(scoring_request(benchmark, Settings(str(gold), **settings), [str(predictions)], suite))
