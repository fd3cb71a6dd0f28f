"""Transcripts: who speaks, which lines go together, where a dialogue ends."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.sources import registry

from .source_tools import read_data


def read(text: str, fields: Mapping[str, str] | None = None) -> dict[str, list[tuple[str, str]]]:
    source = registry.get("transcript")
    found = read_data(source.chosen(fields) if fields else source, {"chat.txt": text.encode()})
    return {key: [(turn.speaker, turn.utterance) for turn in one.turns] for key, one in found.dialogues.items()}


TURNS = [("user", "I need a hotel"), ("system", "Which area?"), ("user", "the north")]


@pytest.mark.parametrize(
    "text",
    [
        "User: I need a hotel\nBot: Which area?\nUser: the north\n",
        "\ufeffuser : I need a hotel\r\nAGENT: Which area?\r\nuser: the north",
        "[10:02] Customer: I need\n  a hotel\n[10:03] Agent 2: Which area?\n[10:03] Customer: the north\n",
        "**Human**: I need a hotel\n\n**Assistant**: Which area?\n\n**Human**: the north\n",
        "Caller (10:02): I need a hotel\nOperator (10:02): Which area?\nCaller (10:03): the north\n",
    ],
)
def test_every_manner_gives_the_same_turns(text: str) -> None:
    assert read(text) == {"chat.txt": TURNS}


def test_blank_lines_and_rules_part_dialogues() -> None:
    assert read("User: a\nBot: b\n\nUser: c\nBot: d\n") == {
        "chat.txt#1": [("user", "a"), ("system", "b")],
        "chat.txt#2": [("user", "c"), ("system", "d")],
    }
    assert set(read("# first\nUser: a\nBot: b\n== second ==\nUser: c\n")) == {"first", "second"}
    assert len(read("User: a\n---\nUser: b\n")) == 2


def test_chinese_speakers_and_names_that_are_mapped() -> None:
    assert read("用户：我要订房\n客服：好的\n") == {"chat.txt": [("user", "我要订房"), ("system", "好的")]}
    assert read("Anna: hi\nBert: hello\n", {"user": "Anna", "system": "bert"}) == {"chat.txt": [("user", "hi"), ("system", "hello")]}
    with pytest.raises(InputError, match="--map user=NAME"):
        read("Anna: hi\nBert: hello\n", {"user": "Carol"})
    with pytest.raises(UsageError, match="has no field 'text'"):
        read("Anna: hi", {"text": "x"})


@pytest.mark.parametrize(
    "head",
    ["Dear all,\nUser: is a word here\nnothing more\nto say\n", "[09:00] <jack> user: hi\n", "Note: this\nSee: that\n", "1\tuser: hi\tthere\n"],
)
def test_other_texts_are_none(head: str) -> None:
    assert registry.get("transcript").role("x.txt", head) is None


FORMS = {
    "times": "2024-03-01 10:01 - Anna: I need a cheap room\n2024-03-01 10:02 - Support Bot: Where?\n",
    "a messenger's": "12/03/24, 10:01 - Anna: I need a cheap room\n12/03/24, 10:02 - Agent: Where?\n",
    "time and letters": "2024-03-01T10:01:02Z Customer: I need a cheap room\n10:02 PM Agent: Where?\n",
    "brackets": "[10:01:02] Customer: I need a cheap room\n[10:02:03] Travel Agent: Where?\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_times_in_front_and_the_one_of_two_who_is_not_known(form: str) -> None:
    (found,) = read_data(registry.get("transcript"), {"a.txt": FORMS[form].encode()}).dialogues.values()
    assert [(turn.speaker, turn.utterance) for turn in found.turns] == [("user", "I need a cheap room"), ("system", "Where?")]
    assert registry.get("transcript").role("a.txt", FORMS[form]) == "dialogues"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Anna>I need a\ncheap room</v>\n\n2\n00:05.000 --> 00:06.000\n<v Agent>Where?</v>\n"),
        (
            "a.srt",
            "1\r\n00:01,000 --> 00:04,000\r\nCustomer: I need a <i>cheap</i> room\r\n\r\n2\r\n00:05,000 --> 00:06,000\r\nAgent: Where?\r\n",
        ),
    ],
)
def test_subtitles(name: str, text: str) -> None:
    source = registry.get("transcript")
    assert source.role(name, text) == "dialogues"
    (found,) = read_data(source, {name: text.encode()}).dialogues.values()
    assert [(turn.speaker, turn.utterance) for turn in found.turns] == [("user", "I need a cheap room"), ("system", "Where?")]


def test_of_three_names_none_is_guessed() -> None:
    text = "Anna: hello\nBert: hello you\nAgent: hi\n"
    assert registry.get("transcript").role("a.txt", text) is None


_MARK = "\u200e"
EXPORTS = {
    "with dashes": "01/03/2024, 10:01 - Messages and calls are end-to-end encrypted.\n"
    "01/03/2024, 10:01 - Anna: I need a cheap room:\nin the north\n01/03/2024, 10:02 - Anna: <Media omitted>\n"
    '01/03/2024, 10:02 - Support Bot changed the subject from "a" to "b"\n01/03/2024, 10:03 - Support Bot: Where?\n',
    "with brackets": f"{_MARK}[01.03.24, 10:01:11] Anna: {_MARK}Messages and calls are end-to-end encrypted.\r\n"
    f"[01.03.24, 10:01:11] Anna: I need a cheap room:\r\nin the north {_MARK}<This message was edited>\r\n"
    f"{_MARK}[01.03.24, 10:02:11] Anna: {_MARK}image omitted\r\n[01.03.24, 10:03:11] Support Bot: Where?\r\n",
    "a number for a name": "3/1/24, 10:01\u202fAM - +44 7700 900123: I need a cheap room:\nin the north\n"
    "3/1/24, 10:03\u202fAM - Support Bot: Where?\n",
}


@pytest.mark.parametrize("form", EXPORTS)
def test_a_messenger_s_notices_are_said_by_nobody(form: str) -> None:
    source = registry.get("transcript")
    assert source.role("chat.txt", EXPORTS[form]) == "dialogues"
    (found,) = read_data(source, {"chat.txt": EXPORTS[form].encode()}).dialogues.values()
    said = [(turn.speaker, turn.utterance) for turn in found.turns if turn.speaker != "other"]
    assert said == [("user", "I need a cheap room: in the north"), ("system", "Where?")]
    notices = [turn.payload or "" for turn in found.turns if turn.speaker == "other"]
    assert len(notices) == EXPORTS[form].count("\n") - 3 and all("cheap" not in one and "Where" not in one for one in notices)


def test_a_third_person_s_message_is_no_part_of_the_one_before() -> None:
    text = "[10:01] User: a hotel\n[10:02] Agent: one moment\n[10:03] Supervisor: let me see\n[10:04] User: thanks\n"
    assert read(text)["chat.txt"] == [("user", "a hotel"), ("system", "one moment"), ("other", ""), ("user", "thanks")]
