"""Logs of chat rooms: one talk in every form gives the same messages, and exports give their links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import find_inputs

from .tools import DATA, call

SOURCE = registry.get("chat_logs")
_IRSSI = """--- Log opened Sat Feb 01 09:00:00 2025
09:00 -!- ann [a@b] has joined #x
09:01 < ann> \x0304,1hi\x03 all
09:02  * bob waves
00:01 <@bob> late
"""
_WEECHAT = """2025-02-01 09:00:00\t-->\tann (a@b) has joined #x
2025-02-01 09:01:00\tann\t\x02hi\x02 all
2025-02-01 09:02:00\t *\tbob waves
2025-02-02 00:01:00\t@bob\tlate
"""
_ZNC = """[09:00:00] *** Joins: ann (a@b)
[09:01:00] <ann> hi all
[09:02:00] * bob waves
[00:01:00] <bob> late
"""
FORMS = {"room.irssi.log": _IRSSI, "room.weechatlog": _WEECHAT, "2025-02-01.log": _ZNC}


def read(data: bytes) -> list[tuple[str, str, str]]:
    assert isinstance(SOURCE, MessageSource)
    log, _ = SOURCE.read("x", [Piece("dialogue", 0, 0, data)])
    assert [line.minute for line in log.lines] == sorted(line.minute for line in log.lines)
    return [(line.kind, line.nick, line.text) for line in log.lines if line.is_talk]


@pytest.mark.parametrize("name", FORMS)
def test_every_client_s_log_gives_the_same_messages(name: str) -> None:
    assert SOURCE.role(name, FORMS[name]) == "dialogues"
    assert [one for one in registry.names() if registry.get(one).role(name, FORMS[name])] == ["chat_logs"]
    assert read(FORMS[name].encode()) == [("message", "ann", "hi all"), ("action", "bob", "waves"), ("message", "bob", "late")]


def test_a_slack_export_gives_its_threads() -> None:
    messages = [
        {"type": "message", "user": "U1", "ts": "1738400060.1", "text": "how &lt;b&gt;\nso", "user_profile": {"real_name": "Ann Lee"}},
        {"type": "message", "user": "U2", "ts": "1738400120.1", "text": "<@U1> see <https://x.org|x>", "thread_ts": "1738400060.1"},
        {"type": "message", "subtype": "channel_join", "user": "U3", "ts": "1738400000.1", "text": "<@U3> has joined"},
    ]
    assert isinstance(SOURCE, MessageSource)
    log, links = SOURCE.read("x", [Piece("dialogue", 0, 0, json.dumps(messages).encode())])
    assert [(line.kind, line.nick, line.text) for line in log.lines][1:] == [("message", "Ann_Lee", "how <b> so"), ("message", "U2", "Ann_Lee see x")]
    assert log.lines[0].kind == "system" and links == [(1, 2)]


def test_a_damaged_export_is_rejected() -> None:
    assert isinstance(SOURCE, MessageSource)
    for data in (b'[{"ts": "x", "text": "a"}]', b'{"messages": 3}', b'[{"id": 1}]', b"[1]"):
        with pytest.raises(RecordError):
            SOURCE.read("x", [Piece("dialogue", 0, 0, data)])


def test_the_corpus_is_known_and_a_run_scores_itself(tmp_path: Path) -> None:
    found = find_inputs([str(DATA / "chat_logs")])
    assert {one.source for one in found} == {"chat_logs"} and sum(one.role == "dialogues" for one in found) == 6
    result = call("disentangle", "--input", DATA / "chat_logs", "--output", tmp_path / "out")
    assert result.code == 0, result
    assert "72 messages with a known link: " in result.out and "into the same conversation" in result.out
    by_links = call("disentangle", "--input", DATA / "chat_logs" / "slack", "--output", tmp_path / "known", "--set", "links=annotated")
    assert by_links.code == 0 and "known link" not in by_links.out
    assert (tmp_path / "known" / "links" / "garden-2025-02-01.annotation.txt").read_text().count("\n") == 24
