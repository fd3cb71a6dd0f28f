"""Logs of chat rooms: irssi, weechat and ZNC, and exports of Slack and Discord.

A file is a log; a channel of a Slack export is one, whose days are files. Replies in threads (Slack's `thread_ts`) and to messages (Discord's
`reference`) are known links. Days are counted where the log says them: in every line of weechat's, in "--- Day changed" of irssi's; else a clock that
steps back starts one. Formatting codes, and what Slack writes around names and addresses ("<@U1>", "<https://x|x>"), are no part of what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timezone
from typing import Any, NamedTuple

from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role
from dialmill.pipelines.disentangle import logs
from dialmill.pipelines.disentangle.logs import Log, LogLine, split_lines
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
#: irssi's lines of days: "--- Day changed Sat Mar 02 2024", "--- Log opened Fri Mar 01 23:50:00 2024".
_DAY = re.compile(r"--- (?:Log opened|Day changed) \w{3} (?P<month>[A-Z][a-z]{2}) (?P<day>\d\d?) (?:\d\d:\d\d:\d\d )?(?P<year>\d{4})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: Slack's subtypes of what people and bots say; all others tell of the channel ("has joined", a deleted message).
_SLACK_TALK = frozenset({None, "thread_broadcast", "reply_broadcast", "bot_message", "me_message", "file_share", "file_comment"})
#: Discord's types of what people say, by name or by the number that older exporters wrote.
_DISCORD_TALK = frozenset({"Default", "Reply", "0", "19"})
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
    kind: logs.Kind = "message"


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
        # Each channel of a Slack export has a folder of days; threads go on for days.
        yield folders[-1] if last.endswith(".json") and _is_slack(data) and folders else stem, "dialogue", data

    def parts(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        days = [piece for piece in pieces if _is_slack(piece.data)]
        return days if days and days[0] is pieces[0] else pieces[:1]

    def read(self, source_id: str, pieces: Sequence[Piece]) -> tuple[Log, list[tuple[int, int]] | None]:
        data = dialogue_data(pieces).removeprefix(b"\xef\xbb\xbf")
        if _is_slack(data):
            days = [load_record(piece.data.removeprefix(b"\xef\xbb\xbf")) for piece in pieces if piece.kind == "dialogue"]
            return _exported(source_id, [message for day in days for message in (day if isinstance(day, list) else [day])])
        if data.lstrip().startswith(b"{"):
            return _exported(source_id, load_record(data))
        lines = split_lines(data)
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


def _is_slack(data: bytes) -> bool:
    """Whether a file is a list in JSON, and no log whose lines begin with a time in brackets."""
    head = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"[") and not re.match(rb"\[\d\d:\d\d", head)


def _form(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The form of most of these lines."""
    for form in _FORMS:
        if lines and sum(form.fullmatch(line) is not None for line in lines) >= _SHARE * len(lines):
            return form
    return None


def _lines(lines: Sequence[str], form: re.Pattern[str]) -> Iterator[LogLine]:
    reached, day = 0, 0
    first: date | None = None  # the day from whose start minutes are counted
    for number, raw in enumerate(lines):
        line = logs.without_codes(raw)
        match = form.fullmatch(line)
        told = _day_of(line, match)
        if told is not None:
            if first is None:
                # Without a day line at its head a log's first days are those before the first that it tells.
                first = date.fromordinal(told.toordinal() - (day // 1440 + 1 if reached else 0))
            day = max(day, (told - first).days * 24 * 60)
        if match is None or match["hour"] is None:
            kind: logs.Kind = "blank" if not line.strip() else "system" if match is not None else "unparsed"
            yield LogLine(number, kind, "", line, reached)
            continue
        minute = day + 60 * int(match["hour"]) + int(match["minute"])
        if minute < reached - logs.BACKWARDS_TOLERATED and form is not _WEECHAT:
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


def _day_of(line: str, match: re.Match[str] | None) -> date | None:
    """The day that a line tells: weechat's lines tell theirs, irssi has lines for it."""
    found = _DAY.fullmatch(line)
    try:
        if found is not None and found["month"] in _MONTHS:
            return date(int(found["year"]), _MONTHS.index(found["month"]) + 1, int(found["day"]))
        told = match.groupdict().get("date") if match is not None else None
        return date.fromisoformat(told) if told else None
    except ValueError:  # no day of any month
        return None


def _exported(name: str, content: Any) -> tuple[Log, list[tuple[int, int]] | None]:
    """An export as a log, and the links that it states."""
    if isinstance(content, dict):
        content = content.get("messages")
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise RecordError("wrong_type", f"expected a list of messages, found {json_kind(content)}")
    try:
        names = {one.get("user"): _slack_name(one) for one in content if "ts" in one}
        said = sorted((_slack(one, names) if "ts" in one else _discord(one) for one in content), key=lambda one: one.time)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError("bad_message", f"{type(error).__name__}: {error}") from None
    places = {one.name: at for at, one in enumerate(said)}
    start = int(said[0].time // 86400) * 1440 if said else 0
    lines = tuple(
        LogLine(at, one.kind, "" if one.kind == "system" else one.nick, one.text, int(one.time // 60) - start) for at, one in enumerate(said)
    )
    links = sorted(
        {(places[one.answers], at) for at, one in enumerate(said) if one.answers in places and places[one.answers] < at}, key=lambda pair: pair[::-1]
    )
    return Log(name, name, "24h", lines), links or None


def _slack(message: dict[str, Any], names: dict[str | None, str]) -> _Said:
    nick = _slack_name(message)
    text = message.get("text") or ""
    text = _MENTION.sub(lambda match: match[2] or names.get(match[1]) or match[1], text)
    text = _CHANNEL.sub(r"#\1", _ADDRESS.sub(lambda match: match[2] or match[1], text))
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    root = message.get("thread_ts")
    subtype = message.get("subtype")
    kind: logs.Kind = "action" if subtype == "me_message" else "message" if subtype in _SLACK_TALK else "system"
    answers = root if root != message["ts"] and kind != "system" else None
    return _Said(message["ts"], float(message["ts"]), nick, _one_line(text), answers, kind)


def _slack_name(message: dict[str, Any]) -> str:
    profile = message.get("user_profile") or {}
    found = profile.get("display_name") or profile.get("real_name") or profile.get("name") or message.get("username") or message.get("user") or "bot"
    return re.sub(r"\s+", "_", str(found).strip())


def _discord(message: dict[str, Any]) -> _Said:
    sent = datetime.fromisoformat(message["timestamp"])
    sent = sent if sent.tzinfo else sent.replace(tzinfo=timezone.utc)
    author = message["author"]
    nick = re.sub(r"\s+", "_", str(author.get("nickname") or author["name"]).strip())
    talk = str(message.get("type", "Default")) in _DISCORD_TALK
    answers = (message.get("reference") or {}).get("messageId") if talk else None  # "X pinned a message" has one too
    kind: logs.Kind = "message" if talk else "system"
    return _Said(str(message["id"]), sent.timestamp(), nick, _one_line(message["content"]), None if answers is None else str(answers), kind)


def _one_line(text: str) -> str:
    return " ".join(logs.without_codes(text).split())
