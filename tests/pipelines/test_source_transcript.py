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
