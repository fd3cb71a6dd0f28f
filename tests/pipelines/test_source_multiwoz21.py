"""MultiWOZ 2.1: states, acts, spans, goals, and what is noted or refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.sources.multiwoz21 import MultiWoz21
from dialmill.schemas import Act, SlotName, SlotValues

from .source_tools import parse, read_data

SOURCE = MultiWoz21()


def _metadata(**semi: Any) -> dict[str, Any]:
    return {
        "hotel": {
            "book": {"booked": [], "people": "", "day": "", "stay": ""},
            "semi": {"area": "not mentioned", "name": "", "parking": "none"} | semi,
        },
        "train": {"book": {"booked": [], "people": ""}, "semi": {"leaveAt": "", "destination": "", "day": ""}},
    }


def _record() -> dict[str, Any]:
    booked = _metadata(area="east", name="elm house|oak house")
    booked["hotel"]["book"] |= {"people": "2", "booked": [{"name": "elm house", "reference": "7GAWK763"}]}
    booked["train"]["semi"]["leaveAt"] = "dontcare"
    return {
        "goal": {
            "hotel": {"info": {"area": "east"}, "fail_info": {"area": "north"}, "book": {"people": "2", "invalid": False}, "reqt": ["phone"]},
            "train": {"info": {"leaveAt": "09:00"}, "fail_book": {"day": "friday"}},
            "taxi": {},
            "message": ["You want a <span class='emphasis'>hotel</span>", "in the east &amp; a train."],
            "topic": {"hotel": True, "taxi": False},
        },
        "log": [
            {
                "text": "I want a hotel in the east , please .",
                "metadata": {},
                "dialog_act": {"Hotel-Inform": [["Area", "east"], ["Type", "hotel"]]},
                "span_info": [["Hotel-Inform", "Area", "east", 6, 6]],
            },
            {
                "text": "What price ?",
                "metadata": _metadata(area="east"),
                "dialog_act": {"Hotel-Request": [["Price", "?"]], "general-reqmore": [["none", "none"]]},
                "span_info": [],
            },
            {
                "text": "Elm House for 2 , and a train at any time",
                "metadata": {},
                "dialog_act": {
                    "Hotel-Inform": [["Name", "elm house"], ["People", "2"], ["Internet", "none"]],
                    "Train-Inform": [["Leave", "dontcare"]],
                },
                "span_info": [["Hotel-Inform", "Name", "elm house", 0, 1], ["Hotel-Inform", "People", "2", 3, 3]],
            },
            {
                "text": "Booked , 7GAWK763 .",
                "metadata": booked,
                "dialog_act": {"Booking-Book": [["Ref", "7GAWK763"]]},
                "span_info": [["Booking-Book", "Ref", "7GAWK763", 2, 2]],
            },
        ],
    }


def test_states_stand_on_user_turns() -> None:
    dialogue = parse(SOURCE, _record())
    assert [turn.speaker for turn in dialogue.turns] == ["user", "system", "user", "system"]
    assert [turn.state for turn in dialogue.turns[1::2]] == [(), ()]
    assert dialogue.turns[0].state == (SlotValues("hotel", "area", ("east",)),)
    assert dialogue.turns[2].state == (
        SlotValues("hotel", "book people", ("2",)),
        SlotValues("hotel", "area", ("east",)),
        SlotValues("hotel", "name", ("elm house", "oak house")),
        SlotValues("train", "leaveat", ("dontcare",)),
    )


def test_acts_and_spans_name_slots_as_states_do() -> None:
    dialogue = parse(SOURCE, _record())
    assert dialogue.turns[0].acts == (Act("inform", "hotel", "area", "east"), Act("inform", "hotel", "type", "hotel"))
    assert dialogue.turns[1].acts == (Act("request", "hotel", "pricerange"), Act("reqmore", "general"))
    assert dialogue.turns[2].acts == (
        Act("inform", "hotel", "name", "elm house"),
        Act("inform", "hotel", "book people", "2"),
        Act("inform", "hotel", "internet"),
        Act("inform", "train", "leaveat", "dontcare"),
    )
    assert dialogue.turns[3].acts == (Act("book", "booking", "ref", "7GAWK763"),)
    assert [(span.text, span.slot) for turn in dialogue.turns for span in turn.spans] == [
        ("east", "area"),
        ("Elm House", "name"),
        ("2", "book people"),
        ("7GAWK763", "ref"),
    ]
    assert dialogue.lineage == ()


def test_goal_and_domains() -> None:
    dialogue = parse(SOURCE, _record())
    goal = dialogue.goal
    assert goal is not None
    assert goal.text == "You want a hotel in the east & a train."
    assert goal.inform == (SlotValues("hotel", "area", ("east",)), SlotValues("train", "leaveat", ("09:00",)))
    assert goal.book == (SlotValues("hotel", "book people", ("2",)),)
    assert goal.fail == (SlotValues("hotel", "area", ("north",)), SlotValues("train", "book day", ("friday",)))
    assert goal.request == (SlotName("hotel", "phone"),)
    assert dialogue.domains == ("hotel", "train")


def test_domains_stand_in_order_of_the_talk() -> None:
    record = _record()
    record["log"][0]["dialog_act"] = {"Train-Inform": [["none", "none"]]}
    assert parse(SOURCE, record).domains == ("train", "hotel")
    del record["goal"]
    dialogue = parse(SOURCE, record)
    assert dialogue.domains == ("train", "hotel")
    assert dialogue.goal is None
    assert dialogue.lineage[0].reasons == ("goal_missing:1",)


def test_equal_states_are_one_object() -> None:
    record = _record()
    record["log"][3]["metadata"] = copy.deepcopy(record["log"][1]["metadata"])
    turns = parse(SOURCE, record).turns
    assert turns[0].state is turns[2].state


def test_a_dialogue_may_end_on_a_user_turn() -> None:
    record = _record()
    record["log"].append({"text": "Bye", "metadata": {}, "dialog_act": {"general-bye": [["none", "none"]]}, "span_info": []})
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[4].state is dialogue.turns[2].state
    assert dialogue.lineage[0].reasons == ("state_missing:1",)


def test_the_official_layout_keeps_acts_apart() -> None:
    """Acts of system turns counted from 1, no spans: values of acts, and what is new in the state, are looked for."""
    record = _record()
    for turn in record["log"]:
        del turn["dialog_act"], turn["span_info"]
    dialogue = parse(SOURCE, record, {"1": "No Annotation", "2": {"Booking-Book": [["Ref", "7GAWK763"]]}})
    assert [turn.acts for turn in dialogue.turns[:3]] == [(), (), ()]
    assert dialogue.turns[3].acts == (Act("book", "booking", "ref", "7GAWK763"),)
    assert [(span.text, span.slot) for turn in dialogue.turns for span in turn.spans] == [
        ("east", "area"),
        ("Elm House", "name"),
        ("2", "book people"),
        ("7GAWK763", "ref"),
    ]
    assert dialogue.lineage[0].reasons == ("acts_missing:1",)


def test_membership_is_an_outer_join() -> None:
    """The data has a, b and c, the acts a and c, a list b and d: nothing of the data is lost, what is missing is counted."""
    record = _record()
    for turn in record["log"]:
        del turn["dialog_act"]
    acts = {"1": {"Hotel-Request": [["Price", "?"]]}, "2": {"Booking-Book": [["Ref", "7GAWK763"]]}}
    files = {
        "data.json": {f"{name}.json": record for name in "abc"},
        "dialogue_acts.json": {"a": acts, "c": acts},
    }
    read = read_data(SOURCE, {name: json.dumps(content).encode() for name, content in files.items()} | {"valListFile.json": b"b.json\nd.json"})
    assert set(read.dialogues) == {"a", "b", "c"}
    assert read.absent == {"d"}
    assert [read.dialogues[name].split for name in "abc"] == [None, "valid", None]
    assert [bool(read.dialogues[name].lineage) for name in "abc"] == [False, True, False]
    assert read.dialogues["b"].lineage[0].reasons == ("acts_missing:2",)


def test_damaged_spans_are_moved_or_left_out_and_noted() -> None:
    record = _record()
    record["log"][0]["span_info"] = [
        ["Hotel-Inform", "Area", "east", 2, 2],  # off
        ["Hotel-Inform", "Type", "hotel", 40, 41],  # out of range
        ["Hotel-Inform", "Name", "elm house", 5, 3],  # starts after its end, and is not said
        ["Hotel-Inform", "Area", "?", 6, 6],  # no value
        ["Hotel-Inform", "Area", "east"],
        "Hotel-Inform",
        ["Hotel-Inform", "Area", "east", True, 6],
    ]
    dialogue = parse(SOURCE, record)
    assert [(span.text, span.slot) for span in dialogue.turns[0].spans] == [("hotel", "type"), ("east", "area")]
    assert dialogue.lineage[0].reasons == ("span_malformed:3", "span_mismatch:2", "span_moved:2")


def test_of_several_values_the_span_shows_the_one_that_is_said() -> None:
    record = _record()
    turn = record["log"][0]
    turn["text"] = "Table at 17:30 , or 16:30"
    turn["dialog_act"] = {"Restaurant-Inform": [["Time", "16:30|17:30"]]}
    turn["span_info"] = [["Restaurant-Inform", "Time", "16:30|17:30", 2, 2], ["Restaurant-Inform", "Time", "16:30|17:30", 5, 5]]
    parsed = parse(SOURCE, record).turns[0]
    assert [(span.text, span.value) for span in parsed.spans] == [("17:30", "17:30"), ("16:30", "16:30")]
    assert [act.value for act in parsed.acts] == ["16:30", "17:30"]


def test_acts_that_are_bare_strings_are_kept_and_noted() -> None:
    record = _record()
    record["log"][0]["dialog_act"] = {
        "Hotel-NoOffer": ["none"],
        "Taxi-Request-CrossDomain": ["destination"],
        "Hotel-Inform": [["Area", ["east", "west"]], []],
    }
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[0].acts == (
        Act("nooffer", "hotel"),
        Act("request-crossdomain", "taxi"),
        Act("inform", "hotel", "area", "east"),
        Act("inform", "hotel", "area", "west"),
        Act("inform", "hotel"),
    )
    assert dialogue.lineage[0].reasons == ("act_malformed:3",)


def test_swapped_slot_and_value_are_told_and_left() -> None:
    """Some copies of the corpus have slot and value in each other's place."""
    record = _record()
    record["log"][0]["dialog_act"] = {"Hotel-Inform": [["cheap", "pricerange"], ["Colour", "red"]]}
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[0].acts == (Act("inform", "hotel", "cheap", "pricerange"), Act("inform", "hotel", "colour", "red"))
    assert dialogue.lineage[0].reasons == ("slot_unknown:1", "slot_value_swapped:1")


def test_turns_without_acts_are_noted() -> None:
    record = _record()
    record["log"][0]["dialog_act"] = {}
    record["log"][1]["dialog_act"] = "No Annotation"
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[0].acts == dialogue.turns[1].acts == ()
    assert dialogue.lineage[0].reasons == ("acts_missing:2",)


def test_metadata_on_a_user_turn_with_lists_as_values() -> None:
    """As in TITAN: what the system turn after it says counts, lists are values."""
    record = _record()
    record["log"][2]["metadata"] = {"hotel": {"semi": {"area": ["west"]}, "book": {"booked": []}}}
    record["log"][3]["metadata"]["hotel"]["semi"] |= {"area": ["east"], "stars": 4, "parking": True, "name": []}
    dialogue = parse(SOURCE, record)
    state = {(entry.domain, entry.slot): entry.values for entry in dialogue.turns[2].state}
    assert state["hotel", "area"] == ("east",)
    assert state["hotel", "stars"] == ("4",)
    assert state["hotel", "parking"] == ("yes",)
    assert ("hotel", "name") not in state
    assert dialogue.lineage[0].reasons == ("user_metadata:1",)


def test_the_text_is_never_touched() -> None:
    record = _record()
    text = " It\u9225\u6a9a at\tthe  caf\u8068\n"
    record["log"][0]["text"] = text
    record["log"][1]["metadata"]["hotel"]["semi"]["name"] = "caf\u8068 jello"
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[0].utterance == text
    assert SlotValues("hotel", "name", ("caf\u00e9 jello",)) in dialogue.turns[0].state


def _drop(turn: int) -> Any:
    return lambda record: record["log"].pop(turn)


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("log"), "missing_key", "log"),
        (lambda r: r["log"].clear(), "empty_dialogue", "log"),
        (lambda r: r["log"][2].pop("text"), "missing_key", "log[2].text"),
        (lambda r: r["log"][2].pop("metadata"), "missing_key", "log[2].metadata"),
        (lambda r: r["log"].__setitem__(1, 7), "wrong_type", "log[1]: expected an object, found a number"),
        (lambda r: r["log"][1].__setitem__("text", None), "wrong_type", "log[1].text: expected a string, found null"),
        (lambda r: r["log"][1].__setitem__("dialog_act", 3), "wrong_type", "log[1].dialog_act"),
        (lambda r: r["log"][1]["dialog_act"].__setitem__("Hotel-Request", "Price"), "wrong_type", "log[1].dialog_act.Hotel-Request"),
        (lambda r: r["log"][1].__setitem__("span_info", {}), "wrong_type", "log[1].span_info"),
        (lambda r: r["log"][3]["metadata"]["hotel"].__setitem__("semi", []), "wrong_type", "log[3].metadata.hotel.semi"),
        (lambda r: r["log"][3]["metadata"]["hotel"]["semi"].__setitem__("area", {}), "wrong_type", "log[3].metadata.hotel.semi.area"),
        (lambda r: r["goal"].__setitem__("hotel", "yes"), "wrong_type", "goal.hotel"),
        (lambda r: r["goal"]["hotel"].__setitem__("reqt", [3]), "wrong_type", "goal.hotel.reqt"),
        (lambda r: r["goal"].__setitem__("message", [3]), "wrong_type", "goal.message"),
        (_drop(0), "odd_turn_order", "log[0]"),
        (_drop(1), "odd_turn_order", "log[0] carries no belief state and log[1] none"),
        (lambda r: r["log"].insert(1, r["log"][0]), "odd_turn_order", "log[1]"),
        (lambda r: r["log"].append(r["log"][3]), "odd_turn_order", "log[3] and log[4]"),
        (lambda r: r["log"].__delitem__(slice(0, 3)), "odd_turn_order", "the system speaks first"),
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
        ("data.json", '{"A.json": {"goal": {}, "log": [{"text": "x", "metadata": {}}]}}', "dialogues"),
        ("x/my copy.json", '{"A": {"log" : [{"text": "x"', "dialogues"),
        ("val.json.zip!val.json", '{"A": {"goal": {"taxi": {', "dialogues"),
        ("data.json", "", "dialogues"),
        ("data.json", "{}", "dialogues"),
        ("valListFile", "A\nB", "splits"),
        ("a\\testListFile.json", "A.json", "splits"),
        ("trainListFile.txt", "A.json", "splits"),
        ("dialogue_acts.json", "{", "acts"),
        ("db/hotel_db.json", "[{", "other"),
        ("ontology.json", "{", "other"),
        ("dialogues_001.json", '[{"dialogue_id": "A.json", "turns": []}]', None),
        ("notes.json", '{"text": 1}', None),
        ("README.md", "# log", None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role


@pytest.mark.parametrize(("name", "split"), [("val.json", "valid"), ("x.zip!train.json", "train"), ("test.json", "test"), ("data.json", None)])
def test_parts_name_their_split(name: str, split: str | None) -> None:
    read = read_data(SOURCE, {name: json.dumps({"A.json": _record()}).encode()})
    assert read.dialogues["A"].split == split


def test_a_list_against_a_part() -> None:
    read = read_data(SOURCE, {"val.json": json.dumps({"A": _record()}).encode(), "testListFile": b"A"})
    assert read.rejects["A"].reason == "conflicting_splits"


def test_a_file_that_is_cut_off() -> None:
    data = json.dumps({"A": _record()}).encode()[:-40]
    with pytest.raises(InputError, match="cut off"):
        read_data(SOURCE, {"data.json": data})


def test_a_repeated_id_gives_two_pieces() -> None:
    record = json.dumps(_record())
    assert read_data(SOURCE, {"data.json": f'{{"A.json": {record}, "A.json": {record}}}'.encode()}).repeated == 1


@pytest.mark.parametrize(
    ("answer", "act", "conflict"),
    [
        ("I am sorry , it is fully booked for those days .", "Booking-Book", True),
        ("Unfortunately that booking was unsuccessful .", "Booking-NoBook", True),
        ("My apologies , that did not go through . Another day ?", "Booking-NoBook", True),
        ("It is booked after all , your reference number is STNWW1AB .", "Booking-NoBook", False),
        ("I am afraid they have no vacancies on sunday .", "Hotel-Inform", True),
        ("Sorry , that is sold out .", "Hotel-Inform", True),
        ("I could n't get you a room there .", "Hotel-Inform", True),
        ("It seems the hotel is full . Can I try a different day ?", "Hotel-Inform", True),
        ("My apologies , I 'm not able to make that reservation .", "Hotel-Inform", True),
        ("There does n't seem to be any availability at 19:45 . Another day ?", "Restaurant-Inform", True),
        ("I wasn't able to book that one .", "Hotel-Inform", True),
        ("Sorry , they are all booked for that stay .", "Hotel-Inform", True),
        ("I 'm afraid they could not accommodate that .", "Hotel-Inform", True),
        ("There are no tables for 7 available at 15:15 .", "Hotel-Inform", True),
        ("You are all booked at the acorn house .", "Hotel-Inform", False),
        ("There is internet , and no parking available . Which day ?", "Hotel-Inform", False),
        ("It is full of charm , and has a full english breakfast .", "Hotel-Inform", False),
        ("You 're fully booked , your reference number is G2WE88ND .", "Booking-Book", False),
        ("Booked ! Anything else ?", "Booking-Book", False),
    ],
)
def test_a_booking_that_fails_against_the_goal_is_told(answer: str, act: str, conflict: bool) -> None:
    record = _record()
    record["goal"] = {"hotel": {"info": {"area": "east"}, "fail_info": {}, "book": {"people": "2", "invalid": True}, "fail_book": {}}}
    record["log"][-1 if len(record["log"]) % 2 == 0 else -2] |= {"text": answer, "dialog_act": {act: [["none", "none"]]}, "span_info": []}
    dialogue = parse(SOURCE, record)
    assert any(reason.startswith("goal_text_conflict") for step in dialogue.lineage for reason in step.reasons) is conflict


def test_another_booking_that_succeeds_is_not_the_one_that_failed() -> None:
    record = _record()
    book = {"people": "2", "invalid": True}
    record["goal"] = {name: {"info": {}, "fail_info": {}, "book": dict(book), "fail_book": {}} for name in ("hotel", "restaurant")}
    said = [
        ("A room at the acorn .", {"Hotel-Inform": [["Name", "acorn"]]}),
        ("It is fully booked .", {"Booking-NoBook": [["none", "none"]]}),
        ("And a table at pizza hut .", {"Restaurant-Inform": [["Name", "pizza hut"]]}),
        ("Done , the reference number is G2WE88ND .", {"Booking-Book": [["Ref", "G2WE88ND"]]}),
    ]
    record["log"] = [{**record["log"][at], "text": text, "dialog_act": acts, "span_info": []} for at, (text, acts) in enumerate(said)]
    notes = {reason.split(":")[0] for step in parse(SOURCE, record).lineage for reason in step.reasons}
    assert "goal_text_conflict" in notes
