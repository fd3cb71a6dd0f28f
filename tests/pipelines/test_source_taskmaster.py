"""Taskmaster: segments to acts and spans, states from what the user names, turns merged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources.taskmaster import Taskmaster
from dialmill.schemas import Act, SlotValues

from .source_tools import parse, read_data

SOURCE = Taskmaster()


def _segment(text: str, start: int, *names: str) -> dict[str, Any]:
    return {"start_index": start, "end_index": start + len(text), "text": text, "annotations": [{"name": name} for name in names]}


def _say(speaker: str, text: str, *segments: Any) -> dict[str, Any]:
    return {"index": 0, "speaker": speaker, "text": text} | ({"segments": list(segments)} if segments else {})


def _record(**more: Any) -> dict[str, Any]:
    return {
        "conversation_id": "dlg-1",
        "instruction_id": "restaurant-table-2",
        "utterances": [
            _say("ASSISTANT", "Hello!"),
            _say(
                "USER",
                "A table in Port Senna, the old town",
                _segment("Port Senna, the old town", 11, "dine.location"),
                _segment("Port Senna", 11, "dine.location"),
            ),
            _say("USER", "for 4 at 7 pm", _segment("4", 4, "dine.num.guests"), _segment("7 pm", 9, "dine.time", "dine. time.accept")),
            _say("ASSISTANT", "8 pm?", _segment("8 pm", 0, "dine.time.reject")),
            _say("USER", "No, not 8 pm, make it 9.", _segment("8 pm", 8, "dine.time.reject"), _segment("9", 22, "dine.time")),
        ],
    } | more


def test_turns_are_merged_and_offsets_move_with_them() -> None:
    dialogue = parse(SOURCE, _record())
    assert [(turn.speaker, turn.utterance) for turn in dialogue.turns] == [
        ("user", "A table in Port Senna, the old town for 4 at 7 pm"),
        ("system", "8 pm?"),
        ("user", "No, not 8 pm, make it 9."),
    ]
    assert [(turn.turn, span.start, span.text, span.slot) for turn in dialogue.turns for span in turn.spans] == [
        (0, 11, "Port Senna, the old town", "location"),
        (0, 40, "4", "num.guests"),
        (0, 45, "7 pm", "time"),
        (1, 0, "8 pm", "time"),
        (2, 8, "8 pm", "time"),
        (2, 22, "9", "time"),
    ]
    assert dialogue.lineage[0].reasons == ("opening_dropped:1", "turns_merged:1")
    assert dialogue.domains == ("dine",)


def test_acts_and_states() -> None:
    turns = parse(SOURCE, _record()).turns
    assert turns[0].acts[-1] == Act("accept", "dine", "time", "7 pm")
    assert turns[1].acts == (Act("reject", "dine", "time", "8 pm"),)
    assert turns[0].state[1:] == (SlotValues("dine", "num.guests", ("4",)), SlotValues("dine", "time", ("7 pm",)))
    assert turns[1].state == ()
    assert turns[2].state[2] == SlotValues("dine", "time", ("9",))


def test_the_vertical_is_the_domain_of_taskmaster_3() -> None:
    record = _record(vertical="Movie Tickets", utterances=[_say("user", "Salt Road please", _segment("Salt Road", 0, "name.movie"))])
    dialogue = parse(SOURCE, record)
    assert dialogue.domains == ("movie tickets",)
    assert [(span.domain, span.slot) for span in dialogue.turns[0].spans] == [("movie tickets", "name.movie")]


def test_a_conversation_without_annotations_is_about_its_task() -> None:
    dialogue = parse(SOURCE, _record(utterances=[_say("USER", "hi")]))
    assert dialogue.domains == ("restaurant-table",)
    assert dialogue.lineage[0].reasons == ("acts_missing:1",)


def test_what_is_odd_is_noted() -> None:
    damaged = [_segment("7 pm", 9, "time"), {"text": "x"}, _segment("noon", 9, "dine.time")]
    dialogue = parse(SOURCE, _record(utterances=[_say("USER", "for 4 at 7 pm", *damaged)]))
    assert dialogue.turns[0].spans == ()
    assert dialogue.lineage[0].reasons == ("span_malformed:2", "span_mismatch:1")


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("utterances"), "missing_key", "utterances"),
        (lambda r: r["utterances"].clear(), "empty_dialogue", "no turn of the user"),
        (lambda r: r.__setitem__("utterances", r["utterances"][:1]), "empty_dialogue", "no turn of the user"),
        (lambda r: r["utterances"][2].__setitem__("speaker", "BOT"), "wrong_type", "utterances[2].speaker"),
        (lambda r: r["utterances"][2].pop("text"), "missing_key", "utterances[2].text"),
        (lambda r: r["utterances"][2].__setitem__("segments", {}), "wrong_type", "utterances[2].segments"),
    ],
)
def test_what_is_refused_is_told_with_its_place(damage: Any, reason: str, evidence: str) -> None:
    record = _record()
    damage(record)
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, record)
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


def test_files_and_split_lists() -> None:
    other = _record() | {"conversation_id": "dlg-2"}
    nameless = _record() | {"conversation_id": 3}
    read = read_data(
        SOURCE,
        {
            "self-dialogs.json": json.dumps([_record(), nameless]).encode(),
            "sample.json": json.dumps(other).encode(),
            "train-dev-test/dev.csv": b"dlg-1,\ndlg-9,\n",
        },
    )
    assert {key: dialogue.split for key, dialogue in read.dialogues.items()} == {"dlg-1": "valid", "dlg-2": None}
    assert read.absent == {"dlg-9"}
    assert read.rejects["self-dialogs.json#1"].reason == "wrong_type"


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("x.json", json.dumps([_record()], indent=2), "dialogues"),
        ("train-dev-test/train.csv", "dlg-1,\n", "splits"),
        ("train.csv", "a,b\n", None),
        ("ontology.json", '{"uber": {"id": "uber_lyft", "vertical": "ride_booking", "required": []}}', "other"),
        ("x.json", '[{"dialogue_id": "A", "turns": []}]', None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role
