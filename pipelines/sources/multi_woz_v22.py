"""MultiWOZ 2.2 as the Hugging Face hub has it (`multi_woz_v22`): a row a dialogue, its lists of turns, frames and acts as columns.

``turns`` is one record of lists: `turn_id`, `speaker` (0 the user, 1 the system), `utterance`, `frames` and `dialogue_acts`. Read back into the
corpus' own form, which `multiwoz22` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.multiwoz22 import MultiWoz22
from dialmill.pipelines.sources.peek import first_record
from dialmill.pipelines.sources.reading import bare_id, dialogue_data, file_name, load_record, official_split, split_of_name
from dialmill.pipelines.sources.rows import read_rows
from dialmill.schemas import Dialogue

_SPEAKERS = {"0": "USER", "1": "SYSTEM", "user": "USER", "system": "SYSTEM"}


class MultiWozHub(Source):
    """MultiWOZ 2.2 of the Hugging Face hub."""

    name = "multi_woz_v22"
    language = "en"
    licence = "Apache-2.0"
    about = "MultiWOZ 2.2 as the Hugging Face hub has it: Parquet or JSON lines, a row a dialogue of lists"

    def role(self, path: str, head: str) -> Role | None:
        record = first_record(head) if path.endswith((".parquet", ".jsonl", ".json")) else None
        turns = record.get("turns") if record else None
        return "dialogues" if isinstance(turns, dict) and {"turn_id", "utterance", "speaker"} <= turns.keys() else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        split = split_of_name(path)
        for row in read_rows(path, data):
            named = row.fields.get("dialogue_id")
            source_id = bare_id(named) if isinstance(named, str) and named.strip() else f"{file_name(path)}:{row.place}"
            yield source_id, "dialogue", row.raw or msgspec.json.encode(row.fields)
            if split:
                yield source_id, "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        row = load_record(dialogue_data(pieces))
        try:
            record, acts = _own_form(row)
        except (AttributeError, KeyError, TypeError, IndexError) as error:
            raise RecordError("wrong_type", f"not of the form of multi_woz_v22: {type(error).__name__}: {error}") from None
        own = [Piece("dialogue", 0, 0, msgspec.json.encode(record)), Piece("acts", 0, 0, msgspec.json.encode(acts))]
        return MultiWoz22().parse(source_id, own).replace(source=self.name, split=official_split(pieces))


def _own_form(row: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row as the corpus has it: the dialogue, and its acts by turn."""
    turns, acts = [], {}
    for turn in _zipped(row["turns"]):
        turn_id = str(turn["turn_id"])
        frames = [_frame(frame) for frame in _zipped(turn.get("frames"))]
        speaker = _SPEAKERS.get(str(turn["speaker"]).lower(), turn["speaker"])
        turns.append({"turn_id": turn_id, "speaker": speaker, "utterance": turn["utterance"], "frames": frames})
        told = turn.get("dialogue_acts")
        if told:
            acts[turn_id] = _acts(told)
    return {"dialogue_id": row["dialogue_id"], "services": row.get("services") or [], "turns": turns}, acts


def _zipped(value: Any) -> list[Mapping[str, Any]]:
    """A record of lists as a list of records; a list of records as it is."""
    if not value:
        return []
    if isinstance(value, list):
        return value
    length = max((len(column) for column in value.values() if column is not None), default=0)
    return [{name: column[at] for name, column in value.items() if column is not None and at < len(column)} for at in range(length)]


def _frame(frame: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"service": frame["service"], "slots": [_slot(slot) for slot in _zipped(frame.get("slots"))]}
    state = frame.get("state")
    # The system's turns have frames with an empty state, which says nothing.
    if state and (state.get("active_intent") or state.get("slots_values") or state.get("slot_values")):
        values = state.get("slots_values") or state.get("slot_values") or {}
        if "slots_values_name" in values:
            values = dict(zip(values["slots_values_name"], values["slots_values_list"], strict=False))
        made["state"] = {"slot_values": {name: one for name, one in values.items() if one}}
    return made


def _slot(slot: Mapping[str, Any]) -> dict[str, Any]:
    if slot.get("copy_from") or slot.get("start") is None or slot["start"] < 0:
        return {"slot": slot["slot"], "copy_from": slot.get("copy_from") or ""}
    return {name: slot[name] for name in ("slot", "value", "start", "exclusive_end")}


def _acts(told: Mapping[str, Any]) -> dict[str, Any]:
    label = told.get("dialog_act") or {}
    found = {
        name: [[one["slot_name"], one["slot_value"]] for one in _zipped(slots)]
        for name, slots in zip(label.get("act_type") or [], label.get("act_slots") or [], strict=False)
    }
    names = ("act_type", "act_slot_name", "act_slot_value", "span_start", "span_end")
    return {"dialog_act": found, "span_info": [[span[name] for name in names] for span in _zipped(told.get("span_info"))]}
