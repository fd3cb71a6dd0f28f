"""Schema-Guided Dialogue: acts in frames, spans without a value, states of several services."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources.sgd import SchemaGuided
from dialmill.schemas import Act, SlotValues

from .source_tools import parse, read_data

SOURCE = SchemaGuided()


def _action(act: str, slot: str = "", *values: str) -> dict[str, Any]:
    return {"act": act, "slot": slot, "values": list(values), "canonical_values": list(values)}


def _frame(service: str, actions: list[Any], slots: list[Any] | None = None, values: dict[str, list[str]] | None = None) -> dict[str, Any]:
    frame = {"service": service, "actions": actions, "slots": slots or []}
    return frame if values is None else frame | {"state": {"active_intent": "X", "requested_slots": [], "slot_values": values}}


def _span(slot: str, start: int, end: int) -> dict[str, Any]:
    return {"slot": slot, "start": start, "exclusive_end": end}


def _record() -> dict[str, Any]:
    eat = {"city": ["Ashcombe", "Ashcombe Town"], "price_range": ["cheap"]}
    return {
        "dialogue_id": "1_00000",
        "services": ["Restaurants_1", "RideSharing_1"],
        "turns": [
            {
                "speaker": "USER",
                "utterance": "Something cheap in Ashcombe.",
                "frames": [
                    _frame(
                        "Restaurants_1",
                        [
                            _action("INFORM", "city", "Ashcombe"),
                            _action("INFORM", "price_range", "cheap"),
                            _action("INFORM_INTENT", "intent", "Find"),
                        ],
                        [_span("city", 19, 27)],
                        eat,
                    )
                ],
            },
            {
                "speaker": "SYSTEM",
                "utterance": "Thai food, or Lao?",
                "frames": [
                    _frame("Restaurants_1", [_action("REQUEST", "cuisine", "Thai", "Lao")], [_span("cuisine", 0, 4), _span("cuisine", 14, 17)])
                ],
            },
            {
                "speaker": "USER",
                "utterance": "Neither, just a shared cab for 3. Thanks",
                "frames": [
                    _frame(
                        "RideSharing_1",
                        [_action("INFORM", "number_of_riders", "3"), _action("INFORM", "shared_ride", "True"), _action("THANK_YOU")],
                        [_span("number_of_riders", 31, 32)],
                        {"number_of_riders": ["3"], "shared_ride": ["True"]},
                    )
                ],
            },
        ],
    }


def test_acts() -> None:
    turns = parse(SOURCE, _record()).turns
    assert turns[0].acts == (
        Act("inform", "restaurants_1", "city", "Ashcombe"),
        Act("inform", "restaurants_1", "price_range", "cheap"),
        Act("inform_intent", "restaurants_1", "intent", "Find"),
    )
    assert turns[1].acts == (Act("request", "restaurants_1", "cuisine"),)
    assert turns[2].acts[1:] == (Act("inform", "ridesharing_1", "shared_ride", "True"), Act("thank_you", "ridesharing_1"))


def test_spans_have_the_value_of_their_act_and_closed_values_are_found() -> None:
    dialogue = parse(SOURCE, _record())
    assert [(turn.turn, span.start, span.text, span.slot) for turn in dialogue.turns for span in turn.spans] == [
        (0, 10, "cheap", "price_range"),
        (0, 19, "Ashcombe", "city"),
        (1, 0, "Thai", "cuisine"),
        (1, 14, "Lao", "cuisine"),
        (2, 31, "3", "number_of_riders"),
    ]
    assert dialogue.lineage == ()


def test_states_are_cumulative_over_services() -> None:
    turns = parse(SOURCE, _record()).turns
    before = (SlotValues("restaurants_1", "city", ("Ashcombe", "Ashcombe Town")), SlotValues("restaurants_1", "price_range", ("cheap",)))
    assert turns[0].state == before
    assert turns[2].state == (*before, SlotValues("ridesharing_1", "number_of_riders", ("3",)), SlotValues("ridesharing_1", "shared_ride", ("True",)))


def test_a_wrong_span_is_moved_or_left_out() -> None:
    record = _record()
    record["turns"][0]["frames"][0]["slots"] = [_span("city", 0, 9), _span("date", 10, 15), {"slot": "city"}]
    dialogue = parse(SOURCE, record)
    assert [span.text for span in dialogue.turns[0].spans] == ["cheap", "Ashcombe"]
    assert dialogue.lineage[0].reasons == ("span_malformed:1", "span_mismatch:1", "span_moved:1")


def test_what_is_odd_is_noted() -> None:
    record = _record()
    record["turns"][1]["frames"][0]["actions"] = ["REQUEST", {"act": "REQUEST"}]
    record["turns"][1]["frames"][0]["slots"] = []
    assert parse(SOURCE, record).lineage[0].reasons == ("act_malformed:2", "acts_missing:1")


def test_ids_and_splits_come_from_the_folder() -> None:
    """The ids of train, dev and test are the same."""
    content = json.dumps([_record()]).encode()
    read = read_data(SOURCE, {f"sgd/{part}/dialogues_001.json": content for part in ("train", "dev", "test")} | {"one.json": content})
    assert {key: dialogue.split for key, dialogue in read.dialogues.items()} == {
        "train/1_00000": "train",
        "dev/1_00000": "valid",
        "test/1_00000": "test",
        "1_00000": None,
    }


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("turns"), "missing_key", "turns"),
        (lambda r: r["turns"].clear(), "empty_dialogue", "turns"),
        (lambda r: r["turns"].pop(0), "odd_turn_order", "the system speaks first"),
        (lambda r: r["turns"][0].__setitem__("speaker", "BOT"), "wrong_type", "expected USER or SYSTEM, found 'bot'"),
        (lambda r: r["turns"][2]["frames"][0].pop("service"), "missing_key", "turns[2].frames[0].service"),
        (lambda r: r["turns"][2]["frames"][0]["state"].pop("slot_values"), "missing_key", "turns[2].frames[0].state.slot_values"),
        (lambda r: r["turns"][0]["frames"][0]["actions"][0].__setitem__("values", [{}]), "wrong_type", "turns[0].frames[0].actions"),
    ],
)
def test_what_is_refused_is_told_with_its_place(damage: Any, reason: str, evidence: str) -> None:
    record = _record()
    damage(record)
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, record)
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("dev/dialogues_001.json", json.dumps([_record()], indent=2), "dialogues"),
        ("schema.json", '[{"service_name": "Alarm_1"', "other"),
        ("schema.json", '[{"service_name": "hotel"', None),
        ("dev/dialogues_001.json", '[{"dialogue_id": "A.json", "services": ["hotel"], "turns": [{"frames": []}]}]', None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role
