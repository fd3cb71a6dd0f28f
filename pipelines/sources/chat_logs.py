"""Logs of chat rooms: irssi, weechat and ZNC, and exports of Slack and Discord.

A file is a log; a Slack export has one for each channel and day. Replies in threads (Slack's `thread_ts`) and to messages (Discord's `reference`) are
known links. Formatting codes, and what Slack writes around names and addresses ("<@U1>", "<https://x|x>"), are no part of what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple

from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role
from dialmill.pipelines.disentangle import logs
from dialmill.pipelines.disentangle.logs import Log, LogLine
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources.peek import first_record, first_value
from dialmill.pipelines.sources.reading import dialogue_data, file_name, json_kind, load_record
from dialmill.schemas import Message

_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d)(?::\d\d)?"
#: irssi: "09:00 < jack> hi", "09:00  * jack waves", "09:00 -!- jack [..] has joined", "--- Log opened ...".
_IRSSI = re.compile(rf"{_CLOCK} (?:<[ @+%&~]?(?P<nick>[^>\s]+)> ?(?P<text>.*)|\s*\* (?P<actor>\S+) (?P<act>.*)|-!- .*)|--- (?:Log|Day) .*")
#: weechat: "2024-03-01 09:00:00\tjack\thi"; an action's prefix is " *", a join's "-->".
_WEECHAT = re.compile(rf"(?P<date>\d{{4}}-\d\d-\d\d) {_CLOCK}\t(?P<nick>[^\t]*)\t(?P<text>.*)")
#: ZNC: "[09:00:00] <jack> hi", "[09:00:00] * jack waves", "[09:00:00] *** Joins: ...".
_ZNC = re.compile(rf"\[{_CLOCK}\] (?:<[@+%&~]?(?P<nick>[^>\s]+)> ?(?P<text>.*)|\* (?P<actor>\S+) (?P<act>.*)|\*\*\* .*|-\S+- .*)")
_FORMS = (_IRSSI, _WEECHAT, _ZNC)
_WEECHAT_SYSTEM = frozenset({"-->", "<--", "--", "=!=", "", "=="})
_ENDINGS = (".log", ".weechatlog", ".txt", ".json")
_LOOKED_AT, _SHARE = 60, 0.8
_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|([^>]*))?>")
_ADDRESS = re.compile(r"<((?:https?|mailto):[^>|]+)(?:\|([^>]*))?>")
_CHANNEL = re.compile(r"<#[A-Z0-9]+\|([^>]*)>")


class _Said(NamedTuple):
    """A message of an export: its id, when it was sent (seconds since 1970), who sent what, and the id of the message that it answers."""

    name: str
    time: float
    nick: str
    text: str
    answers: str | None
    system: bool = False


class ChatLogs(MessageSource):
    """Logs of chat rooms."""

    name = "chat_logs"
    language = "en"
    licence = "your own"
    about = "chat logs: irssi, weechat, ZNC, and exports of Slack and Discord, whose threads and replies are known links"

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(_ENDINGS):
            return None
        if path.endswith(".json"):
            value, record = first_value(head), first_record(head)
            if record is None:
                return None
            if isinstance(value, list) and {"type", "ts", "text"} <= record.keys():
                return "dialogues"
            if isinstance(value, dict) and {"guild", "channel"} <= record.keys():
                return "dialogues"
            side = isinstance(value, list) and file_name(path) in ("users.json", "channels.json") and {"id", "name"} <= record.keys()
            return "other" if side else None
        lines = [line.rstrip("\r") for line in head.lstrip("\ufeff").split("\n")[:_LOOKED_AT] if line.strip()][: None if len(head) < 4096 else -1]
        if path.endswith(".txt"):
            # ZNC's form in a .txt file is a log as `ubuntu_irc` reads it, and so is whatever has the name of one of its files.
            theirs = any(path.endswith(f".{form}.txt") for form in (*logs.VARIANTS, "annotation"))
            return "dialogues" if not theirs and _form(lines) in (_IRSSI, _WEECHAT) else None
        return "dialogues" if _form(lines) is not None else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        if not data.strip():
            raise InputError(path, "is empty", "export or copy it again")
        *folders, last = re.split(r"[/\\!]", path)
        stem = last.rpartition(".")[0] or last
        # Each channel of a Slack export has a folder of days.
        slack = last.endswith(".json") and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        yield f"{folders[-1]}-{stem}" if slack and folders else stem, "dialogue", data

    def read(self, source_id: str, pieces: Sequence[Piece]) -> tuple[Log, list[tuple[int, int]] | None]:
        data = dialogue_data(pieces).removeprefix(b"\xef\xbb\xbf")
        if data.lstrip()[:1] in (b"[", b"{") and not re.match(rb"\s*\[\d\d:\d\d", data):
            return _exported(source_id, load_record(data))
        lines = [line.rstrip("\r") for line in data.decode("utf-8", "replace").split("\n")]
        form = _form([line for line in lines[:_LOOKED_AT] if line.strip()])
        if form is None:
            raise RecordError("not_a_log", "no line is of irssi's, weechat's or ZNC's form")
        return Log(source_id, source_id, "24h", tuple(_lines(lines, form))), None

    def messages(self, source_id: str, pieces: Sequence[Piece]) -> list[Message]:
        log, _ = self.read(source_id, pieces)
        kinds = {"message": "message", "action": "action", "notice": "notice", "blank": "blank"}
        return [
            Message(self.name, log.name, line.line, line.nick or None, line.text, kinds.get(line.kind, "system"), line.minute)  # type: ignore[arg-type]
            for line in log.lines
        ]


def _form(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The form of most of these lines."""
    for form in _FORMS:
        if lines and sum(form.fullmatch(line) is not None for line in lines) >= _SHARE * len(lines):
            return form
    return None


def _lines(lines: Sequence[str], form: re.Pattern[str]) -> Iterator[LogLine]:
    reached, day = 0, 0
    for number, raw in enumerate(lines):
        line = logs.without_codes(raw)
        match = form.fullmatch(line)
        if match is None or match["hour"] is None:
            kind: logs.Kind = "blank" if not line.strip() else "system" if match is not None else "unparsed"
            yield LogLine(number, kind, "", line, reached)
            continue
        minute = day + 60 * int(match["hour"]) + int(match["minute"])
        if minute < reached - logs.BACKWARDS_TOLERATED:
            day += 24 * 60
            minute += 24 * 60
        reached = max(reached, minute)
        groups = match.groupdict()
        nick, text = groups["nick"], groups["text"]
        if groups.get("actor"):
            yield LogLine(number, "action", groups["actor"], groups["act"], reached)
        elif form is _WEECHAT and (nick or "").strip() == "*":
            actor, _, act = text.partition(" ")
            yield LogLine(number, "action", actor, act, reached)
        elif nick is None or (form is _WEECHAT and nick.strip() in _WEECHAT_SYSTEM):
            yield LogLine(number, "system", "", line, reached)
        else:
            yield LogLine(number, "message", nick.strip().lstrip("@+%&~"), text, reached)


def _exported(name: str, content: Any) -> tuple[Log, list[tuple[int, int]] | None]:
    """An export as a log, and the links that it states."""
    if isinstance(content, dict):
        content = content.get("messages")
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise RecordError("wrong_type", f"expected a list of messages, found {json_kind(content)}")
    try:
        said = sorted((_slack(one, content) if "ts" in one else _discord(one) for one in content), key=lambda one: one.time)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError("bad_message", f"{type(error).__name__}: {error}") from None
    places = {one.name: at for at, one in enumerate(said)}
    start = int(said[0].time // 86400) * 1440 if said else 0
    lines = tuple(
        LogLine(at, "system" if one.system else "message", "" if one.system else one.nick, one.text, int(one.time // 60) - start)
        for at, one in enumerate(said)
    )
    links = sorted(
        {(places[one.answers], at) for at, one in enumerate(said) if one.answers in places and places[one.answers] < at}, key=lambda pair: pair[::-1]
    )
    return Log(name, name, "24h", lines), links or None


def _slack(message: dict[str, Any], others: Sequence[dict[str, Any]]) -> _Said:
    nick = _slack_name(message)
    names = {one.get("user"): _slack_name(one) for one in others} if "<@" in message["text"] else {}
    text = _MENTION.sub(lambda match: match[2] or names.get(match[1]) or match[1], message["text"])
    text = _CHANNEL.sub(r"#\1", _ADDRESS.sub(lambda match: match[2] or match[1], text))
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    root = message.get("thread_ts")
    system = message.get("subtype") not in (None, "thread_broadcast", "bot_message", "me_message")
    return _Said(message["ts"], float(message["ts"]), nick, _one_line(text), root if root != message["ts"] else None, system)


def _slack_name(message: dict[str, Any]) -> str:
    profile = message.get("user_profile") or {}
    found = profile.get("display_name") or profile.get("real_name") or profile.get("name") or message.get("username") or message.get("user") or "bot"
    return re.sub(r"\s+", "_", str(found).strip())


def _discord(message: dict[str, Any]) -> _Said:
    sent = datetime.fromisoformat(message["timestamp"])
    sent = sent if sent.tzinfo else sent.replace(tzinfo=timezone.utc)
    author = message["author"]
    nick = re.sub(r"\s+", "_", str(author.get("nickname") or author["name"]).strip())
    answers = (message.get("reference") or {}).get("messageId")
    system = message.get("type", "Default") not in ("Default", "Reply")
    return _Said(str(message["id"]), sent.timestamp(), nick, _one_line(message["content"]), None if answers is None else str(answers), system)


def _one_line(text: str) -> str:
    return " ".join(logs.without_codes(text).split())
