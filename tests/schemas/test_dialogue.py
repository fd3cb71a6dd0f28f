"""The canonical record: one shape in Python, JSON and bytes."""

import json
from typing import Any

import msgspec
import pytest
from dialmill.perturbers import get
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Span, Step, Turn
from dialmill.schemas.dialogue import decode, encode, pack, unpack
from dialmill.schemas.validate import check_dialogue, dialogue_problems, validate_line, validate_record
from hypothesis import given

from tests.strategies import dialogues

#: The record of the design, a contract with everybody who reads our files.
CONTRACT = """
{"dialogue_id": "PMUL1635/typos/0", "source": "multiwoz21", "source_id": "PMUL1635", "suite": "typos", "variant": 0,
 "language": "en", "split": "test", "domains": ["hotel"],
 "turns": [
  {"turn": 0, "speaker": "user", "utterance": "i need a hotle in the east", "original": "I need a hotel in the east",
   "spans": [{"start": 22, "end": 26, "text": "east", "domain": "hotel", "slot": "area", "value": "east", "status": "kept"}],
   "acts":  [{"act": "inform", "domain": "hotel", "slot": "area", "value": "east"}],
   "state": [{"domain": "hotel", "slot": "area", "values": ["east"]}],
   "edits": [{"start": 0, "end": 1, "replacement": "i"}, {"start": 12, "end": 14, "replacement": "le"}],
   "labels": [], "knowledge": []}],
 "goal": null, "lineage": [{"step": "typos@1", "seed": 1, "params": {"rate": 0.1}, "outcome": "changed"}]}
"""


@given(dialogues())
def test_every_form_gives_back_the_record(dialogue: Dialogue) -> None:
    assert Dialogue.from_dict(dialogue.to_dict()) == dialogue
    assert decode(encode(dialogue)) == dialogue
    assert decode(encode(dialogue).decode()) == dialogue
    assert unpack(pack(dialogue)) == dialogue
    assert json.loads(encode(dialogue)) == dialogue.to_dict()


@given(dialogues())
def test_every_record_is_one_valid_line(dialogue: Dialogue) -> None:
    line = encode(dialogue)
    assert b"\n" not in line
    assert validate_line("dialogue", line) == []
    assert check_dialogue(dialogue) == []


def test_a_carried_turn_has_its_payload_alone() -> None:
    record = {"dialogue_id": "D/standard/0", "source": "messages", "source_id": "D", "turns": [{"turn": 0, "speaker": "other", "utterance": ""}]}
    turn = record["turns"][0]
    for change, sound in (
        ({"payload": "{}"}, True),
        ({}, False),
        ({"payload": "{}", "utterance": "hi"}, False),
        ({"payload": "{}", "labels": ["x"]}, True),
    ):
        found = check_dialogue(Dialogue.from_dict({**record, "turns": [{**turn, **change}]}))
        assert (found == []) == sound, (change, found)


def test_the_contract_holds() -> None:
    record = json.loads(CONTRACT)
    assert validate_record("dialogue", record) == []
    assert dialogue_problems(record) == []
    made = Dialogue.from_dict(record).to_dict()
    # The design shows version 1 of the record; version 2 has these fields too.
    turns = [{**turn, "role": None, "payload": None} for turn in record["turns"]]
    assert made == {**record, "turns": turns, "lineage": [{**record["lineage"][0], "skipped": [], "reasons": []}], "payload": None}

    def keys(value: object) -> object:
        if isinstance(value, dict):
            return [(key, keys(inner)) for key, inner in value.items() if key not in ("skipped", "reasons", "role", "payload")]
        return [keys(inner) for inner in value] if isinstance(value, list) else None

    assert keys(made) == keys(record), "fields stand in another order than in the design"


def test_records_are_immutable() -> None:
    dialogue = Dialogue.from_dict(json.loads(CONTRACT))
    for record, field in ((dialogue, "suite"), (dialogue.turns[0], "utterance"), (dialogue.turns[0].spans[0], "start")):
        with pytest.raises(AttributeError):
            setattr(record, field, "x")
    moved = dialogue.turns[0].replace(utterance="other")
    assert (moved.utterance, dialogue.turns[0].utterance) == ("other", "i need a hotle in the east")
    assert isinstance(dialogue.turns, tuple)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda record: record["turns"][0].update(speeker="user"), "$.turns[0]"),
        (lambda record: record["turns"][0]["spans"][0].update(offset=1), "$.turns[0].spans[0]"),
        (lambda record: record.update(idd=1), "idd"),
        (lambda record: record["turns"][0].pop("utterance"), "$.turns[0]"),
        (lambda record: record["turns"][0].update(turn=0.0), "$.turns[0].turn"),
        (lambda record: record.update(variant=True), "$.variant"),
        (lambda record: record["turns"][0].update(speaker="bot"), "$.turns[0].speaker"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(change: object, where: str) -> None:
    record = json.loads(CONTRACT)
    change(record)  # type: ignore[operator]
    with pytest.raises(msgspec.ValidationError) as refusal:
        Dialogue.from_dict(record)
    assert where in str(refusal.value)


def test_source_text() -> None:
    assert Turn(0, "user", "a").source_text == "a"
    assert Turn(0, "user", "a", original="b").source_text == "b"
    assert Span(0, 1, "a", "d", "s", "v").status == "kept"


def test_lists_become_tuples_so_that_untouched_text_is_untouched() -> None:
    said = Turn(0, "user", "hm ?", spans=[], acts=[Act("inform", "hotel", "area", "north")], state=[SlotValues("hotel", "area", ["north"])])  # type: ignore[arg-type]
    listed = Dialogue(dialogue_id="d", source="s", source_id="d", turns=[said], domains=["hotel"], lineage=[])  # type: ignore[arg-type]
    plain = Turn(0, "user", "hm ?", acts=(Act("inform", "hotel", "area", "north"),), state=(SlotValues("hotel", "area", ("north",)),))
    assert listed == Dialogue(dialogue_id="d", source="s", source_id="d", turns=(plain,), domains=("hotel",))
    assert isinstance(hash(listed), int)
    assert listed.replace(turns=[said]).turns == (said,)
    assert Goal(inform=[SlotValues("a", "b", ["c"])]).inform[0].values == ("c",)  # type: ignore[arg-type]
    assert Step("x@1", 1, None, "changed", [], ["why"]).reasons == ("why",)  # type: ignore[arg-type]
    step = get("typos")().perturb(listed.replace(turns=[Turn(0, "user", "?")]), seed=1).lineage[-1]
    assert (step.outcome, [skip.reason for skip in step.skipped]) == ("skipped", ["no_edit_possible"])


@pytest.mark.parametrize("wrong", ["north", {"a": 1}, 3, None])
def test_what_is_no_sequence_is_refused_with_what_is_expected(wrong: Any) -> None:
    with pytest.raises(TypeError, match="SlotValues: values must be a tuple or a list, not"):
        SlotValues("hotel", "area", wrong)
