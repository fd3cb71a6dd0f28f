"""Tasks of tau2-bench with a recorded history (`initial_state.message_history`): the messages between user and agent before the simulation goes on.

The instructions of the user simulator are no part of a dialogue: noise in them would be smoothed away, or make the simulator err. Values of the
task (arguments of its actions and of the history's calls) are guarded, and a variant in which one doesn't stand as it was is rejected as `value_hit`:
the task could not be solved as it is graded. The dialogue's `payload` is the task, to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.messages import run_id, turns_of
from dialmill.pipelines.sources.peek import first_record, first_value
from dialmill.pipelines.sources.reading import dialogue_data, file_name, load_record
from dialmill.pipelines.sources.rows import raw_rows
from dialmill.schemas import Dialogue

STATE, HISTORY = "initial_state", "message_history"
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])


class Tau2(Source):
    """Tasks of tau2-bench."""

    name = "tau2"
    language = "en, zh, und"
    licence = "MIT"
    about = "tasks of tau2-bench (tasks.json): their recorded histories; the simulator's instructions are left alone"
    values_needed = True
    nothing_to_read = frozenset({"no_history"})

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(".json") or not isinstance(first_value(head), list):
            return None
        record = first_record(head)
        return "dialogues" if record is not None and "user_scenario" in record and "id" in record else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        for place, raw in raw_rows(path, data):
            yield run_id(raw) or f"{file_name(path)}:{place}", "dialogue", raw

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        data = dialogue_data(pieces)
        task = load_record(data)
        state = task.get(STATE) if isinstance(task, dict) else None
        messages = state.get(HISTORY) if isinstance(state, dict) else None
        if not isinstance(messages, list) or not messages:
            raise RecordError("no_history", f"the task has no {STATE}.{HISTORY}, and the simulator's instructions are left alone")
        raws = _RAW_LIST.decode(_RAW.decode(_RAW.decode(data)[STATE])[HISTORY])
        language, turns = turns_of(messages, raws, HISTORY, _actions(task))
        scenario = task.get("user_scenario")
        instructions = scenario.get("instructions") if isinstance(scenario, dict) else None
        domain = instructions.get("domain") if isinstance(instructions, dict) else None
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            domains=(domain.lower(),) if isinstance(domain, str) and domain else (),
            turns=turns,
            payload=data.decode("utf-8"),
        )


def _actions(task: dict[str, Any]) -> list[Any]:
    """The actions that solve a task, and what the agent has to tell the user, as an action too."""
    criteria = task.get("evaluation_criteria")
    if not isinstance(criteria, dict):
        return []
    actions, told = criteria.get("actions"), criteria.get("communicate_info")
    found = list(actions) if isinstance(actions, list) else []
    return [*found, {"name": "communicate", "arguments": json.dumps({"info": told})}] if isinstance(told, list) and told else found
