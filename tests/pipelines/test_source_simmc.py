"""SIMMC: frames to acts, states and labels, words that point at objects, and everything else carried through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.perturbers.core import registry as perturbers
from dialmill.perturbers.core.contract import Perturber
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.sources import simmc_words
from dialmill.pipelines.sources.simmc import Simmc
from dialmill.pipelines.stages.perturb import value_hit
from dialmill.schemas import Act, Dialogue, SlotValues

import dialmill as dm
from tests.pipelines.tools import DATA

from .source_tools import parse

SOURCE = Simmc()


def _frame(act: str, slots: dict[str, Any] | None = None, requests: list[str] | None = None, objects: list[int] | None = None) -> dict[str, Any]:
    return {"act": act, "act_attributes": {"slot_values": slots or {}, "request_slots": requests or [], "objects": objects or []}}


def _record() -> dict[str, Any]:
    return {
        "dialogue": [
            {
                "turn_idx": 0,
                "system_transcript": "The grey one costs $64.50, the other is by Otter & Wick.",
                "system_transcript_annotated": _frame("INFORM:GET", {"Object ID: 4": {"price": 64.5}, "brand": "Otter & Wick"}, ["price"], [4, 9]),
                "transcript": "What does the grey pair of pants second from the left cost? Show me trousers in black and white too.",
                "transcript_annotated": {
                    **_frame(
                        "ASK:GET", {"type": "trousers", "color": "white, black", "sleeveLength": "", "availableSizes": ["S", "XL"]}, ["price"], [4]
                    ),
                    "disambiguation_label": 1,
                    "disambiguation_candidates": [4, 7],
                },
                "camera": {"pitch": 1.50, "é": [1e3, None]},
            },
            {"turn_idx": 1, "transcript": "Thanks, what's in store?", "transcript_annotated": _frame("REQUEST:GET", {"size": "S"})},
        ],
        "dialogue_idx": 12,
        "domain": "fashion",
        "mentioned_object_ids": [4, 9],
        "scene_ids": {"0": "shop_1"},
    }


def test_a_frame_becomes_acts_a_state_and_labels_of_objects() -> None:
    user, system, last = parse(SOURCE, _record()).turns
    assert user.acts == (
        Act("ask:get", "fashion"),
        Act("inform", "fashion", "type", "trousers"),
        Act("inform", "fashion", "color", "white, black"),
        Act("inform", "fashion", "availablesizes", "S"),
        Act("inform", "fashion", "availablesizes", "XL"),
        Act("request", "fashion", "price"),
    )
    assert user.state == (
        SlotValues("fashion", "availablesizes", ("S", "XL")),
        SlotValues("fashion", "color", ("white, black",)),
        SlotValues("fashion", "type", ("trousers",)),
    )
    assert user.labels == ("object:4", "disambiguation:1", "candidate_object:4", "candidate_object:7", "guarded")
    assert system.labels == ("object:4", "object:9") and Act("inform", "fashion", "price", "64.5") in system.acts
    assert last.labels == () and last.speaker == "user"


def test_values_and_words_that_point_at_objects_are_found() -> None:
    user, system, last = parse(SOURCE, _record()).turns
    assert [(span.slot, span.text, span.value) for span in user.spans] == [
        ("object_look", "grey", "grey"),
        ("type", "pants", "trousers"),
        ("object_order", "second", "second"),
        ("object_place", "left", "left"),
        ("object", "trousers", "trousers"),
        ("color", "black and white", "white, black"),
    ]
    assert [(span.text, span.value) for span in system.spans] == [("64.50", "64.5"), ("Otter & Wick", "Otter & Wick")]
    assert last.spans == (), "the s of what's is no size"


@pytest.mark.parametrize(
    ("slot", "value", "text", "found"),
    [
        ("size", "S", "Let's see it in S.", "S"),
        ("size", "S", "Let's see something small", "small"),
        ("size", "S", "I'd need size s, please", "s"),
        ("size", "S", "an extra small one", None),
        ("size", "XS", "an extra-small one", "extra-small"),
        ("customerReview", "good", "anything with great customer reviews", "great"),
        ("customerReview", "good", "a great jacket", None),
        ("color", "dark grey", "in dark gray", "dark gray"),
        ("price", "152", "It's $152.00.", "152.00"),
        ("price", "152", "It's $1,152.00.", None),
        ("price", "15", "It's $15.25.", None),
        ("type", "blouse", "on the top row", None),
    ],
)
def test_a_value_is_found_as_people_write_it(slot: str, value: str, text: str, found: str | None) -> None:
    place = simmc_words.find(text, slot, value, ())
    assert (None if place is None else text[place[0] : place[1]]) == found


def test_marks_and_orders_point_at_objects() -> None:
    text = "Put <OBJ_3> and OBJECT_12 beside the 3rd one, not object id: 7"
    assert [text[start:end] for start, end, _ in simmc_words.references(text, ())] == ["<OBJ_3>", "OBJECT_12", "beside", "3rd", "object id: 7"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the dirty green hat and grey hat on the left", {"dirty green hat": "thing", "grey hat": "thing", "left": "place"}),
        (
            "the black, white and violet one above the back left wall",
            {"black, white and violet": "look", "above": "relation", "back left wall": "place"},
        ),
        ("third from the right, second brown one", {"third": "order", "right": "place", "second brown": "look"}),
        ("I'll take both, whatever hangs there", {}),
    ],
)
def test_words_that_point_are_told_apart_by_what_they_say(text: str, found: dict[str, str]) -> None:
    assert {text[start:end]: kind for start, end, kind in simmc_words.references(text, ())} == found


def test_what_belongs_to_the_pictures_is_carried_through_to_the_byte() -> None:
    entries = ['{"turn_idx": 0,  "transcript": "Hi, the \\u0065nd one?", "camera": {"pitch": 1.50,"z":[1e3]}, "system_transcript": "Yes."}']
    head = '{"dialogue": [%s], "dialogue_idx": 3, "scene_ids": {"0":  "a"} , "visual": [1.0, 2.50]}'
    data = (head % ", ".join(entries)).encode()
    dialogue = SOURCE.parse("3", [Piece("dialogue", 0, 0, data)])
    assert [turn.payload for turn in dialogue.turns] == [entries[0], None]
    assert dialogue.payload == '{"dialogue_idx":3,"scene_ids":{"0":  "a"},"visual":[1.0, 2.50]}'


def _old() -> dict[str, Any]:
    return {
        "dialogue": [
            {
                "turn_idx": 0,
                "domain": "furniture",
                "transcript": "Do you have this one in blue?",
                "system_transcript": "Yes, here is a blue sofa.",
                "belief_state": [
                    {"act": "DA:ASK:CHECK:SOFA.color", "slots": [["furniture-O", "OBJECT_2"], ["furniture-color", "blue"]]},
                    {"act": "DA:REQUEST:GET:SOFA", "slots": []},
                ],
                "system_belief_state": [{"act": "DA:INFORM:GET:SOFA", "slots": [["furniture-O", "OBJECT_5"]]}],
                "visual_objects": {"OBJECT_2": {"color": ["red"]}},
            }
        ],
        "dialogue_idx": 8,
        "dialogue_coref_map": {"112": 2},
        "domains": ["furniture"],
    }


def test_the_form_of_simmc_1_0() -> None:
    """From its documentation: no file of it was at hand."""
    calls = b'[{"dialog_id": 8, "actions": [{"turn_idx": 0, "action": "SearchDatabase", "action_supervision": {"args": {"color": "blue"}}}]}]'
    data = json.dumps({"split": "dev", "version": "1.0", "domain": "furniture", "dialogue_data": [_old()]}).encode()
    assert SOURCE.role("furniture_dev_dials_api_calls.json", calls.decode()) == "acts"
    made = [*SOURCE.pieces("dialogues", "furniture_dev_dials.json", data), *SOURCE.pieces("acts", "x/furniture_dev_dials_api_calls.json", calls)]
    assert {name for name, _, _ in made} == {"furniture-8"}
    dialogue = SOURCE.parse("furniture-8", [Piece(kind, 0, 0, content) for _, kind, content in made])
    user, system = dialogue.turns
    assert (dialogue.split, dialogue.domains, user.labels) == ("valid", ("furniture",), ("object:2",))
    assert user.state == (SlotValues("furniture", "furniture-color", ("blue",)),)
    assert [act.act for act in user.acts] == ["da:ask:check:sofa.color", "inform", "da:request:get:sofa"]
    assert [(span.slot, span.text) for span in user.spans] == [("furniture-color", "blue")] and system.labels == ("object:5",)
    assert json.loads(dialogue.payload or "")["api_calls"]["actions"][0]["action"] == "SearchDatabase"


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("a/simmc2_dials_dstc10_dev_retrieval_candidates.json", '{"system_transcript_pool": ["x"], "retrieval_candidates": []}', "other"),
        ("shop_1_scene.json", '{"scenes": [{"objects": []}]}', "other"),
        ("simmc2_dials_dstc10_dev.json", '{"dialogue_data": [{"dialogue": [{"turn_idx": 0, "transcript": "Hi"', "dialogues"),
        ("simmc2_dials_dstc10_dev.json", '[{"transcript": "Hi"}]', None),
    ],
)
def test_roles(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError, match="no array"):
        list(SOURCE.pieces("dialogues", "x.json", b'{"dialogue_data": {"transcript": 1}}'))
    record = _record()
    record["dialogue"][0]["system_transcript"] = " "
    with pytest.raises(RecordError) as silent:
        parse(SOURCE, record)
    assert silent.value.reason == "odd_turn_order"
    record = _record()
    record["dialogue"][0]["transcript_annotated"]["act_attributes"]["objects"] = [[4]]
    with pytest.raises(RecordError) as odd:
        parse(SOURCE, record)
    assert odd.value.reason == "wrong_type"


def _every_perturber() -> list[Perturber]:
    """Every registered perturber that needs no other corpus, values staying as they are."""
    found = []
    for name in perturbers.names():
        kind = perturbers.get(name)
        fields = kind.__dataclass_fields__
        options = {"values": "protect"} if "values" in fields else {}
        found.append(kind.from_options(options | ({"engine": "text"} if name == "speech" else {})))
    return found


@pytest.mark.parametrize("perturber", _every_perturber(), ids=lambda one: one.name)
def test_every_perturber_keeps_what_a_turn_is_about(perturber: Perturber) -> None:
    dialogues = list(dm.read(str(DATA / "simmc")))[:12]
    ready = perturber.with_pool(dialogues)
    for dialogue in dialogues:
        variant = ready.perturb(dialogue, seed=3)
        assert value_hit(dialogue, variant) is None
        own = [turn for turn in variant.turns if not turn.inserted]
        for before, after in zip(dialogue.turns, own, strict=True):
            assert (after.payload, _objects(after.labels)) == (before.payload, _objects(before.labels))
            pointing = [(span.value, span.status) for span in after.spans if span.slot.startswith("object")]
            assert pointing == [(span.value, "kept") for span in before.spans if span.slot.startswith("object")]


def _objects(labels: tuple[str, ...]) -> list[str]:
    return [label for label in labels if "object:" in label or label.startswith("disambiguation:")]


def test_what_follows_values_says_where_a_pointing_word_was_misspelt() -> None:
    typos = perturbers.get("typos").from_options({"values": "follow", "rate": "0.5"})
    made: list[Dialogue] = [typos.perturb(dialogue, seed=1) for dialogue in dm.read(str(DATA / "simmc"))]
    pointing = [
        span for dialogue in made for turn in dialogue.turns if turn.speaker == "user" for span in turn.spans if span.slot.startswith("object")
    ]
    assert {span.status for span in pointing} >= {"kept", "changed"}
    assert all(span.status == "kept" or span.text != span.value for span in pointing)
