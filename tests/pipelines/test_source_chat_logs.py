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
    assert (tmp_path / "known" / "links" / "garden.annotation.txt").read_text().count("\n") == 48


def _slack(at: int, user: str, text: str, **more: object) -> dict[str, object]:
    return {"type": "message", "user": user, "ts": f"{1738400000 + at}.000100", "text": text, **more}


def _thread(answers: int) -> dict[str, object]:
    return {"thread_ts": f"{1738400000 + answers}.000100"}


def _discord(number: int, who: str, text: str, kind: str = "Default", answers: int | None = None) -> dict[str, object]:
    about = {"id": str(number), "type": kind, "timestamp": f"2025-02-01T09:{number:02}:00.000+00:00", "content": text}
    reference = {} if answers is None else {"reference": {"messageId": str(answers), "channelId": "2"}}
    return about | {"author": {"id": who, "name": who, "nickname": None}, "embeds": []} | reference


def _written(folder: Path) -> None:
    """A Slack export with a thread over two days, what nobody says, and a picture; a Discord export with replies of both exporters' forms."""
    first = [
        _slack(0, "U1", "<@U1> has joined the channel", subtype="channel_join"),
        _slack(60, "U1", "how do i mount an iso? <@U3>", reply_count=4, edited={"user": "U1", "ts": "1738400065.0"}, **_thread(60)),
        _slack(120, "U2", "has anybody lunch plans"),
        _slack(180, "U2", "mount -o loop x.iso /mnt", **_thread(60)),
        _slack(240, "U1", "like on this picture", subtype="file_share", files=[{"id": "F1"}], **_thread(60)),
        _slack(300, "USLACKBOT", "This message was deleted.", subtype="tombstone", **_thread(60)),
        _slack(360, "U3", "waves", subtype="me_message"),
    ]
    second = [_slack(90000, "U1", "yes it works now, thanks", **_thread(60)), _slack(90060, "U3", "good morning all")]
    for name, messages in {"2025-02-01": first, "2025-02-02": second}.items():
        (folder / "slack" / "general").mkdir(parents=True, exist_ok=True)
        (folder / "slack" / "general" / f"{name}.json").write_text(json.dumps(messages), "utf-8")
    messages = [
        _discord(1, "ann", "how do i mount an iso?"),
        _discord(2, "bob", "has anybody lunch plans"),
        _discord(3, "bob", "mount -o loop x.iso /mnt", "Reply", 1),
        _discord(4, "ann", "Pinned a message.", "ChannelPinnedMessage", 3),
        _discord(5, "ann", "", "Default"),
        _discord(6, "ann", "it works, thanks", "19", 3),
    ]
    (folder / "discord").mkdir()
    content = {"guild": {"id": "1", "name": "x"}, "channel": {"id": "2", "name": "help"}, "messages": messages}
    (folder / "discord" / "help.json").write_text(json.dumps(content), "utf-8")


def test_threads_and_replies_are_the_links_that_a_run_scores_itself_against(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm", reason="the extra irc isn't installed")
    _written(tmp_path)
    for export, linked in (("slack", 3), ("discord", 2)):
        scored = call("disentangle", "--input", tmp_path / export, "--output", tmp_path / f"{export}-predicted")
        assert scored.code == 0 and f"{linked} messages with a known link: " in scored.out, scored
        made = json.loads((tmp_path / f"{export}-predicted" / "manifest.json").read_text("utf-8"))
        read = next(stage for stage in made["stages"] if stage["name"] == "read")
        assert read["in"] == read["out"] == (2 if export == "slack" else 1)
        known = call("disentangle", "--input", tmp_path / export, "--output", tmp_path / f"{export}-known", "--set", "links=annotated")
        assert known.code == 0, known
        written = (tmp_path / f"{export}-known" / "links").glob("*.annotation.txt")
        assert [path.read_text().splitlines() for path in written] == [["1 3 -", "1 4 -", "1 7 -"] if export == "slack" else ["0 2 -", "2 5 -"]]


def test_the_days_of_a_channel_are_one_log(tmp_path: Path) -> None:
    _written(tmp_path)
    files = sorted((tmp_path / "slack" / "general").iterdir())
    found = [piece for number, path in enumerate(files) for piece in SOURCE.pieces("dialogues", f"slack/general/{path.name}", path.read_bytes())]
    assert [name for name, _, _ in found] == ["general", "general"]
    assert isinstance(SOURCE, MessageSource)
    pieces = [Piece("dialogue", number, 0, data) for number, (_, _, data) in enumerate(found)]
    assert SOURCE.parts(pieces) == pieces and SOURCE.parts([Piece("dialogue", 0, 0, _ZNC.encode()), *pieces])[1:] == []
    log, links = SOURCE.read("general", pieces)
    assert links == [(1, 3), (1, 4), (1, 7)]
    assert [(line.kind, line.text) for line in log.lines if line.kind in ("system", "action")] == [
        ("system", "U1 has joined the channel"),
        ("system", "This message was deleted."),
        ("action", "waves"),
    ]
    assert log.lines[7].minute - log.lines[1].minute == 24 * 60 + 59


_APART = {
    "weechat": "2025-02-01 23:50:00\tann\thi all\n2025-02-04 23:55:00\tbob\thi\n2025-02-04 23:40:00\tann\tre\n",
    "irssi, told at its head": "--- Log opened Sat Feb 01 23:50:00 2025\n23:50 < ann> hi\n--- Day changed Sun Feb 02 2025\n"
    "--- Day changed Mon Feb 03 2025\n"
    "--- Day changed Tue Feb 04 2025\n23:55 < bob> hi\n",
    "irssi, told later": "23:50 < ann> hi\n--- Day changed Tue Feb 04 2025\n--- Day changed Fri Feb 07 2025\n23:55 < bob> hi\n",
}


@pytest.mark.parametrize("name", _APART)
def test_days_are_counted_where_a_log_tells_them(name: str) -> None:
    assert isinstance(SOURCE, MessageSource)
    log, _ = SOURCE.read("x", [Piece("dialogue", 0, 0, _APART[name].encode())])
    talk = [line for line in log.lines if line.is_talk]
    apart = 4 if "later" in name else 3
    assert talk[1].minute - talk[0].minute == apart * 24 * 60 + 5 and sorted(line.minute for line in talk) == [line.minute for line in talk]
