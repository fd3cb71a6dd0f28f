"""MultiWOZ 2.2: frames, character spans, acts from another file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources.multiwoz22 import MultiWoz22
from dialmill.schemas import Act, SlotValues

from .source_tools import parse, read_data

SOURCE = MultiWoz22()


def _frame(service: str, slots: list[Any] | None = None, **values: list[Any]) -> dict[str, Any]:
    named = {f"{service}-{slot}": value for slot, value in values.items()}
    return {"actions": [], "service": service, "slots": slots or [], "state": {"active_intent": "NONE", "requested_slots": [], "slot_values": named}}


def _record() -> dict[str, Any]:
    name = {"slot": "restaurant-name", "value": "Elm House", "start": 11, "exclusive_end": 20}
    copied = {"slot": "taxi-destination", "copy_from": "restaurant-name", "value": ["elm house"]}
    return {
        "dialogue_id": "A.json",
        "services": ["taxi", "restaurant"],
        "turns": [
            {
                "turn_id": "0",
                "speaker": "USER",
                "utterance": "I want the Elm House please",
                "frames": [_frame("taxi"), _frame("restaurant", [name], name=["elm house", "the elm house"])],
            },
            {"turn_id": "1", "speaker": "SYSTEM", "utterance": "For how many?", "frames": []},
            {
                "turn_id": "2",
                "speaker": "USER",
                "utterance": "For 4, and a taxi there",
                "frames": [_frame("restaurant", name=["elm house"], bookpeople=["4"]), _frame("taxi", [copied], destination=["elm house"])],
            },
        ],
    }


def _acts() -> dict[str, Any]:
    inform = {"Restaurant-Inform": [["name", "Elm House"]]}
    return {
        "0": {"dialog_act": inform, "span_info": [["Restaurant-Inform", "name", "Elm House", 11, 20]]},
        "1": {"dialog_act": {"Booking-Request": [["bookpeople", "?"]]}, "span_info": []},
        "2": {"dialog_act": {"Restaurant-Inform": [["bookpeople", "4"]]}, "span_info": [["Restaurant-Inform", "bookpeople", "4", 4, 5]]},
    }


def test_states_of_all_services_in_one_order() -> None:
    turns = parse(SOURCE, _record(), _acts()).turns
    assert turns[0].state == (SlotValues("restaurant", "name", ("elm house", "the elm house")),)
    assert turns[1].state == ()
    assert turns[2].state == (
        SlotValues("restaurant", "name", ("elm house",)),
        SlotValues("restaurant", "bookpeople", ("4",)),
        SlotValues("taxi", "destination", ("elm house",)),
    )


def test_a_service_without_a_frame_keeps_its_state_and_a_dropped_slot_is_dropped() -> None:
    record = _record()
    record["turns"][2]["frames"].pop(0)
    assert parse(SOURCE, record).turns[2].state[0] == SlotValues("restaurant", "name", ("elm house", "the elm house"))
    record = _record()
    record["turns"][2]["frames"] = [_frame("restaurant")]
    assert parse(SOURCE, record).turns[2].state == ()


def test_spans_of_frames_and_acts_are_one() -> None:
    dialogue = parse(SOURCE, _record(), _acts())
    assert [(turn.turn, span.start, span.end, span.text, span.slot) for turn in dialogue.turns for span in turn.spans] == [
        (0, 11, 20, "Elm House", "name"),
        (2, 4, 5, "4", "bookpeople"),
    ]
    assert dialogue.lineage == ()
    assert dialogue.domains == ("restaurant", "taxi")


def test_acts_are_joined_by_turn_and_missing_ones_noted() -> None:
    acts = _acts()
    del acts["2"]
    dialogue = parse(SOURCE, _record(), acts)
    assert dialogue.turns[1].acts == (Act("request", "booking", "bookpeople"),)
    assert dialogue.turns[2].acts == ()
    assert dialogue.lineage[0].reasons == ("acts_missing:1",)
    assert parse(SOURCE, _record()).lineage[0].reasons == ("acts_missing:3",)


def test_damaged_spans_are_moved_or_left_out_and_noted() -> None:
    record = _record()
    slots = [
        {"slot": "restaurant-name", "value": "Elm House", "start": 20, "exclusive_end": 11},
        {"slot": "restaurant-area", "value": "east", "start": 0, "exclusive_end": 4},
        {"slot": "restaurant-area", "value": "east"},
        3,
    ]
    record["turns"][0]["frames"][1]["slots"] = slots
    dialogue = parse(SOURCE, record, _acts())
    assert [span.text for span in dialogue.turns[0].spans] == ["Elm House"]
    assert dialogue.lineage[0].reasons == ("span_malformed:2", "span_mismatch:1", "span_moved:1")


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("turns"), "missing_key", "turns"),
        (lambda r: r.pop("dialogue_id"), "missing_key", "dialogue_id"),
        (lambda r: r["turns"].clear(), "empty_dialogue", "turns"),
        (lambda r: r["turns"][1].pop("speaker"), "missing_key", "turns[1].speaker"),
        (lambda r: r["turns"][1].__setitem__("speaker", "WIZARD"), "wrong_type", "wizard"),
        (lambda r: r["turns"][1].__setitem__("speaker", "USER"), "odd_turn_order", "turns[1]: two user turns in a row"),
        (lambda r: r["turns"].pop(0), "odd_turn_order", "turns[0]: the system speaks first"),
        (lambda r: r["turns"][2].__setitem__("turn_id", "0"), "odd_turn_order", "turns[2].turn_id is 0 after 1"),
        (lambda r: r["turns"][2].__setitem__("turn_id", []), "wrong_type", "turns[2].turn_id"),
        (lambda r: r["turns"][0].pop("utterance"), "missing_key", "turns[0].utterance"),
        (lambda r: r["turns"][0].__setitem__("frames", None), "wrong_type", "turns[0].frames"),
        (lambda r: r["turns"][0]["frames"][1].pop("service"), "missing_key", "turns[0].frames[1].service"),
        (lambda r: r["turns"][0]["frames"][1]["state"].pop("slot_values"), "missing_key", "turns[0].frames[1].state.slot_values"),
        (
            lambda r: r["turns"][0]["frames"][1]["state"]["slot_values"].__setitem__("restaurant-name", {}),
            "wrong_type",
            "turns[0].frames[1].state.slot_values.restaurant-name",
        ),
    ],
)
def test_what_is_refused_is_told_with_its_place(damage: Any, reason: str, evidence: str) -> None:
    record = _record()
    damage(record)
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, record, _acts())
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


def test_folders_name_the_split_and_acts_without_data_are_absent() -> None:
    files = {
        "MultiWOZ_2.2/dev/dialogues_001.json": [_record()],
        "MultiWOZ_2.2/train/dialogues_017.json": [_record() | {"dialogue_id": "B.json"}, {"services": ["taxi"], "turns": []}],
        "copy.json": [_record() | {"dialogue_id": "C.json"}],
        "dialog_acts.json": {"A.json": _acts(), "SNG01862.json": _acts()},
    }
    read = read_data(SOURCE, {name: json.dumps(content).encode() for name, content in files.items()})
    assert {name: dialogue.split for name, dialogue in read.dialogues.items()} == {"A": "valid", "B": "train", "C": None}
    assert read.absent == {"SNG01862"}
    assert read.rejects["dialogues_017.json#1"].reason == "missing_key"
    assert not read.dialogues["A"].lineage


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("dialogues_001.json", '[{"dialogue_id": "A.json", "turns": [{"frames": []}]}]', "dialogues"),
        ("x.json", '[\n {"turns": [{"frames": [{"service": "hotel"', "dialogues"),
        ("dialogues_001.json", '[{"dialogue_id": "1_00000", "services": ["Hotels_2"], "turns": []}]', None),
        ("dialog_acts.json", '{"A.json": {"0": {"dialog_act": {}}}}', "acts"),
        ("dialog_acts.json", '{"a.json": {"0": {"hotel": {}}}}', None),
        ("schema.json", '[{"service_name": "hotel"', "other"),
        ("data.json", '{"A.json": {"log": []}}', None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role
