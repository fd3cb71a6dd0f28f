"""Predictions of a user's own models, which judge beside the kinds that come with dialmill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.baselines.ontology import Slot, canonical
from dialmill.pipelines.baselines.panel.seen import LABEL, UPDATE, Guess, Task
from dialmill.pipelines.core.errors import InputError
from dialmill.schemas.dialogue import class_labels
from dialmill.schemas.records import validate_line


class Prediction(msgspec.Struct, array_like=True):
    """What a user's own model says of a turn; null where it says nothing."""

    state: list[tuple[str, str, list[str]]] | None = None
    labels: list[str] | None = None


#: Dialogue id -> turn -> prediction.
Predictions = dict[str, dict[int, Prediction]]


def given_guesses(given: Mapping[int, Prediction], found: Sequence[Task]) -> tuple[dict[int, Guess], list[str], int | None]:
    """Predictions as guesses: what changes from one predicted state to the next is the update; with the aspects that they say anything of, and at how
    many turns whose labels don't contradict each other the whole state is right (None without states)."""
    guesses: dict[int, Guess] = {}
    state: dict[Slot, str] = {}
    joint = 0
    for task in found:
        said = given.get(task.turn)
        if said is None:
            continue
        update: dict[Slot, str] = {}
        if said.state is not None:
            now = {(domain, slot): canonical(values[0]) for domain, slot, values in said.state if values}
            update = {slot: value for slot, value in now.items() if state.get(slot) != value}
            state = now
            joint += (
                not task.right.doubtful
                and now.keys() == task.right.after.keys()
                and all(now[slot] in values for slot, values in task.right.after.items())
            )
        label = "|".join(class_labels(said.labels)) if said.labels is not None else ""
        guesses[task.turn] = Guess(update, frozenset(), label)
    states = any(one.state is not None for one in given.values())
    labels = any(one.labels is not None for one in given.values())
    return guesses, [*([UPDATE] if states else []), *([LABEL] if labels else [])], joint if states else None


def read_predictions(path: str, data: bytes) -> Predictions:
    """A user's prediction file: JSON lines of the schema predictions-state or predictions-labels.

    Raises:
        InputError: a line is of neither schema; the message has its number, what is wrong and the remedy.
    """
    found: Predictions = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        schema = "predictions-state" if b'"state"' in line else "predictions-labels"
        problems = validate_line(schema, line)
        if problems:
            raise InputError(f"{path}, line {number}", f"is no prediction: {problems[0]}", f"see the schema {schema}")
        record: dict[str, Any] = msgspec.json.decode(line)
        state = [(cell["domain"], cell["slot"], cell["values"]) for cell in record["state"]] if "state" in record else None
        found.setdefault(record["dialogue_id"], {})[record["turn"]] = Prediction(state, record.get("labels"))
    return found
