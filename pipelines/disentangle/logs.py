"""Read IRC logs and their reply annotations: one file line = one message, its 0-based line number = its id.

A log is a folder's ``NAME.raw.txt``, else ``NAME.ascii.txt`` (in which what isn't ASCII is lost), else ``NAME.tok.txt``; its annotation, when it has
one, is ``NAME.annotation.txt``. Lines end at the byte ``\\n`` and nowhere else: control characters that `str.splitlines` takes for line ends occur
inside messages, and blank lines are messages that count. Colours and other formatting codes are no part of what was said.
Format of the logs and of the links: Kummerfeld et al. (ACL 2019, P19-1374).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from dialmill.pipelines.core.errors import InputError

Kind = Literal["message", "action", "notice", "rename", "join", "leave", "system", "blank", "unparsed"]
Clock = Literal["12h", "24h"]

VARIANTS = ("raw", "ascii", "tok")
TALK = frozenset({"message", "action"})
#: Bots of other channels: of meetings and fact books, and what reports builds, changes and alarms.
_ELSEWHERE = """
meetingology mootbot meetbot zodbot limnoria infobot eggdrop phenny sopel willie lubotu1 lubotu2 ubottu-dev botbot botbot-me botserv nickserv
memoserv wikibugs wm-bot wm-bot2 stashbot jouncebot logmsgbot morebots labs-morebots grrrit-wm icinga-wm shinken-wm codesearch-bot rustbot rust-bot
rust-log-bot bors homu playbot playbot-veno nag-bot travis-ci github gitbot buildbot jenkins-bot ircbot linkbot quotebot slackbot hubot
"""
BOTS = frozenset(
    {
        "ubotu",
        "ubottu",
        "ubot3",
        "ubotwo",
        "ubot4",
        "ubot5",
        "ubot2",
        "ubot1",
        "lubotu3",
        "floodbot1",
        "floodbot2",
        "floodbot3",
        "floodbot4",
        "floodbotk1",
        "floodbotk2",
        "chanserv",
        "dpkg",
        "supybot",
        *_ELSEWHERE.split(),
    }
)
#: What stands in the ascii form for characters that it has none for, and in the tokenised form with blanks in it.
PLACEHOLDER = re.compile(r"<\s*unconvertable\s*>")
_BOM = b"\xef\xbb\xbf"
#: Colours (with their numbers), hexadecimal colours, and the switches of bold, reset, monospace, reverse, italics, strike-through and underline.
_CODES = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9A-Fa-f]{6})?|[\x02\x0f\x11\x16\x1d\x1e\x1f]")
#: A log of another client's form is told by fewer than this share of its lines being of this one.
LEAST_PARSED = 0.5
BACKWARDS_TOLERATED = 5
"""Minutes the clock may step back without counting as a wrap (two servers' clocks may differ a little)."""


class LogError(InputError):
    """A log or annotation file that cannot be used; it names the file and, where there is one, the line."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log.

    `line` is the 0-based file line and the message's id. `nick` is as written ("" where the line has none), `text` is
    what was said, with the nick and the time taken off; for a rename, `text` is the new nick. `minute` counts from the
    start of the day of the file's first stamp and never decreases; a line without a stamp takes the previous one's.
    """

    line: int
    kind: Kind
    nick: str
    text: str
    minute: int

    @property
    def is_talk(self) -> bool:
        """True where somebody says something: a message or a ``/me`` action; notices and system lines are not."""
        return self.kind in TALK

    @property
    def is_bot(self) -> bool:
        """True where the line is said by one of the channel's known bots."""
        return self.nick.lower() in BOTS


@dataclass(frozen=True, slots=True)
class Log:
    """A log as read: `name` (file name without ending), where it came from, which `clock` it keeps, and its lines."""

    name: str
    path: str
    clock: Clock
    lines: tuple[LogLine, ...]


_STAMP = re.compile(r"(?:\S+ \d{4}-\d\d-\d\d )?\[(\d\d):(\d\d)(?::\d\d)?\] ?")
_SAID = re.compile(r"<[ @+%&~]?((?:<unconvertable>|[^>\s])*)\s*>\s?(.*)", re.DOTALL)
_SAID_ODD = re.compile(r"<([^\s]*?)\s*> (.*)", re.DOTALL)
_NOTICE = re.compile(r"-([^\s:]+):[#&][^\s]*- ?(.*)|\(([^\s/]+)/[#&][^\s)]*\) ?(.*)", re.DOTALL)
_RENAME = re.compile(r"(\S+) is now known as (\S+)\s*$")
_JOIN = re.compile(r"(\S+) (?:.*\[[^\]]*\]\s+has joined [#&]|\([^)]*\) has joined |has joined [#&]|entered the room)")
_LEAVE = re.compile(r"(\S+) (?:\[[^\]]*\]\s+has (?:left [#&]|quit)|\([^)]*\) (?:has quit|has left|Quit)|has (?:left|quit) |left the room)")
_SYSTEM = re.compile(
    r"mode/|\.\.\[topic|[^\s]+ (?:was kicked off|changed the topic|set the topic|sets mode|sets channel|has been kicked)|Topic |"
    r"Users on |Channel [#&]|End of |Home page for |Netsplit |\.\.\.|\S+ \S+\.\S+ -> \S+\.\S+|[#&]\S+: "
)


def without_codes(text: str) -> str:
    """A text without the codes of colours, bold, italics and the like."""
    return _CODES.sub("", text)


def detect_clock(stamps: Iterable[tuple[int, int]]) -> Clock:
    """``"12h"`` where no stamp (hour, minute) has an hour above 12, as in the logs up to mid-2007; else ``"24h"``."""
    return "24h" if any(hour > 12 for hour, _ in stamps) else "12h"


def parse(lines: Sequence[str], clock: Clock | None = None) -> tuple[Clock, list[LogLine]]:
    """Parse decoded log lines; line `i` of the input becomes the `LogLine` with id `i`.

    The clock is a property of the whole file: whoever parses a file in pieces has to pass it (see `detect_clock`).
    """
    if clock is None:
        found = (m for m in map(_STAMP.match, lines) if m)
        clock = detect_clock((int(m[1]), int(m[2])) for m in found)
    return clock, list(_parse(lines, 12 * 60 if clock == "12h" else 24 * 60))


def _parse(lines: Iterable[str], turn: int) -> Iterator[LogLine]:
    minute, last = 0, -1
    for index, line in enumerate(lines):
        line = _CODES.sub("", line)
        stamp = _STAMP.match(line)
        rest = line
        if stamp:
            rest = line[stamp.end() :]
            now = (int(stamp[1]) * 60 + int(stamp[2])) % turn
            if last < 0:
                minute = now
            else:
                step = now - last
                if step < -BACKWARDS_TOLERATED:
                    step += turn
                minute += max(step, 0)
            last = now
        kind, nick, text = _classify(rest, stamp is not None)
        yield LogLine(index, kind, nick, text, minute)


def _classify(rest: str, stamped: bool) -> tuple[Kind, str, str]:
    if rest.startswith("<"):
        said = _SAID.match(rest) or _SAID_ODD.match(rest)
        if said:
            return "message", said[1], said[2]
    if not rest.strip():
        return "blank", "", ""
    if rest.startswith("***"):
        kind, nick, text = _event(rest.lstrip("* "))
        return (kind, nick, text) if kind != "action" else ("system", "", rest)
    if rest.startswith("==="):
        return _event(rest[3:].lstrip())
    if rest.startswith(("* ", " * ", "*\t")):
        body = rest.strip()[1:].lstrip()
        if body:
            return _event(body)
    if rest.startswith(("-", "(")):
        notice = _NOTICE.match(rest)
        if notice:
            return "notice", notice[1] or notice[3], notice[2] or notice[4] or ""
    return ("message", "", rest) if stamped else ("unparsed", "", rest)


def unlike(lines: Sequence[LogLine]) -> str | None:
    """What speaks against lines being a log of this form: too few are, and the first that isn't; None where nothing does."""
    other = [line for line in lines if line.kind == "unparsed"]
    filled = sum(line.kind != "blank" for line in lines)
    if len(other) <= (1 - LEAST_PARSED) * filled:
        return None
    return f"{len(other)} of {filled} lines are no lines of such a log, the first is line {other[0].line + 1}: {other[0].text[:80]!r}"


def _event(body: str) -> tuple[Kind, str, str]:
    rename = _RENAME.match(body)
    if rename:
        return "rename", rename[1], rename[2]
    if m := _JOIN.match(body):
        return "join", m[1], ""
    if m := _LEAVE.match(body):
        return "leave", m[1], ""
    nick, _, text = body.partition(" ")
    if _SYSTEM.match(body) or nick.endswith(":"):
        return "system", "", body
    return "action", nick, text.strip()


_TOK = re.compile(r"\s*<s>\s*(.*?)\s*</s>\s*", re.DOTALL)


def _parse_tok(lines: Sequence[str]) -> list[LogLine]:
    """Lines of the tokenised form: no nicks and no times are left in it, so every line is a message by nobody known."""
    return [
        LogLine(i, "message" if line.strip() else "blank", "", m[1] if (m := _TOK.fullmatch(line)) else line.strip(), 0)
        for i, line in enumerate(lines)
    ]


def split_lines(data: bytes) -> list[str]:
    """Decode line by line (`decoded`), without the byte order mark in front, and split at ``\\n`` only; a final newline ends the last
    line."""
    parts = data.removeprefix(_BOM).split(b"\n")
    if parts and not parts[-1]:
        parts.pop()
    return [decoded(part.removesuffix(b"\r")) for part in parts]


def decoded(line: bytes) -> str:
    """A line as whoever wrote it saw it: channels mix encodings, as each client sends in its own. UTF-8 where it is that; else Chinese (GB 2312)
    where all that isn't ASCII is Chinese in it, two characters at least; else Windows' Western European."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        chinese = line.decode("gb2312")
        if sum(map(_is_chinese, chinese)) > 1 and all(char.isascii() or _is_chinese(char) for char in chinese):
            return chinese
    except UnicodeDecodeError:
        pass
    # Five bytes are nothing in Windows' encoding.
    return "".join(bytes([byte]).decode("cp1252", "replace") if byte > 127 else chr(byte) for byte in line)


def _is_chinese(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef"


def _read_bytes(path: Path, what: str) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise LogError(str(path), f"no such {what}") from None
    except OSError as error:
        raise LogError(str(path), f"cannot be read as {what}: {error.strerror}") from None
    if not data:
        raise LogError(str(path), f"this {what} is empty", "give the file as released")
    return data


def log_name(path: Path) -> str:
    """The file name without ``.ascii.txt``, ``.raw.txt``, ``.tok.txt`` or ``.annotation.txt`` (else without ``.txt``)."""
    for ending in (*(f".{v}.txt" for v in VARIANTS), ".annotation.txt", ".txt"):
        if path.name.endswith(ending):
            return path.name[: -len(ending)]
    return path.name


def find_logs(folder: Path) -> list[Path]:
    """The logs of a folder, one path for each NAME (raw, else ascii, else tok), sorted by path; searches subfolders."""
    if not folder.is_dir():
        raise LogError(str(folder), "no such folder")
    best: dict[tuple[Path, str], Path] = {}
    for variant in reversed(VARIANTS):
        for path in sorted(folder.rglob(f"*.{variant}.txt")):
            best[path.parent, log_name(path)] = path
    return sorted(best.values())


def read_log(path: Path) -> Log:
    """Read one log file of any variant; its siblings (raw, ascii, tok) must have as many lines, or `LogError`."""
    lines = split_lines(_read_bytes(path, "log"))
    name = log_name(path)
    for variant in VARIANTS:
        sibling = path.with_name(f"{name}.{variant}.txt")
        if sibling != path and sibling.exists():
            count = len(split_lines(_read_bytes(sibling, "log")))
            if count != len(lines):
                raise LogError(
                    str(path),
                    f"{len(lines)} lines, but {sibling.name} has {count}: links would point at the wrong messages",
                    "restore the file as released, or keep only one of the two",
                )
    if path.name.endswith(".tok.txt"):
        return Log(name, str(path), "24h", tuple(_parse_tok(lines)))
    clock, parsed = parse(lines)
    wrong = unlike(parsed)
    if wrong is not None:
        raise LogError(str(path), wrong, "convert the log to lines such as '[10:00] <nick> text'")
    return Log(name, str(path), clock, tuple(parsed))


def read_links(path: Path, lines: int | None = None) -> list[tuple[int, int]]:
    """Read ``A B -`` lines as sorted (antecedent, message) pairs, antecedent <= message; ``B B`` starts a conversation.

    The two ids may come in either order. Blank lines are skipped. `lines` is the log's line count, to check the range.
    """
    links: set[tuple[int, int]] = set()
    for number, line in enumerate(split_lines(_read_bytes(path, "annotation")), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) not in (2, 3) or not all(f.isdecimal() for f in fields[:2]) or fields[2:] not in ([], ["-"]):
            raise LogError(str(path), f"line {number}: found {line[:60]!r}", "a line is 'A B -', with two message ids")
        low, high = sorted(map(int, fields[:2]))
        if lines is not None and high >= lines:
            raise LogError(
                str(path),
                f"line {number}: message {high} does not exist, the log has {lines} lines (ids 0 to {lines - 1})",
                "an annotation goes with the log of the same release",
            )
        links.add((low, high))
    if not links:
        raise LogError(str(path), "no links in this annotation")
    return sorted(links, key=lambda link: (link[1], link[0]))


_GRAPH = re.compile(r"(\S+):(\d{1,9}) (\d{1,9}) -\s*")
_CLUSTER = re.compile(r"(\S+):(\d{1,9}(?:\s+\d{1,9})*)\s*")
#: What the tools of irc-disentanglement write before their links.
_COMMENT = "#"


class GatheredLinks(NamedTuple):
    """The links of several logs from one file in an upstream form, by the name of the log; `conversations` says that the file gives no links but
    conversations, whose messages are linked here one to the next."""

    links: dict[str, list[tuple[int, int]]]
    conversations: bool


def gathered_form(lines: Iterable[str]) -> Literal["graphs", "clusters"] | None:
    """Which of upstream's forms for the links of several logs some lines have: "graphs" (`NAME:A B -`, a link a line), "clusters" (`NAME:A B C`, a
    conversation a line), None for neither."""
    filled = [line for line in lines if line.strip() and not line.startswith(_COMMENT)]
    if not filled or not all(_GRAPH.fullmatch(line) or _CLUSTER.fullmatch(line) for line in filled):
        return None
    dashed = sum(line.rstrip().endswith("-") for line in filled)
    if dashed:
        return "graphs" if dashed == len(filled) else None
    return "clusters"


def read_gathered(path: str, data: bytes) -> GatheredLinks:
    """Reads a file of graphs or of clusters, as irc-disentanglement has them.

    Raises:
        LogError: it is neither; names the first line that isn't.
    """
    lines = split_lines(data)
    form = gathered_form(lines)
    if form is None:
        pattern = _GRAPH if any(line.rstrip().endswith("-") for line in lines) else _CLUSTER
        number, line = next(
            ((at, one) for at, one in enumerate(lines, 1) if one.strip() and not one.startswith(_COMMENT) and not pattern.fullmatch(one)), (1, "")
        )
        raise LogError(path, f"line {number}: found {line[:60]!r}", "a line is 'NAME:A B -', a link, or 'NAME:A B C ...', a conversation")
    found: dict[str, set[tuple[int, int]]] = {}
    for line in lines:
        if not line.strip() or line.startswith(_COMMENT):
            continue
        match = (_GRAPH if form == "graphs" else _CLUSTER).fullmatch(line)
        assert match is not None
        links = found.setdefault(log_name(Path(re.split(r"[/\\]", match[1])[-1])), set())
        if form == "graphs":
            low, high = sorted((int(match[2]), int(match[3])))
            links.add((low, high))
        else:
            messages = sorted({int(one) for one in match[2].split()})
            links.add((messages[0], messages[0]))
            links.update(itertools.pairwise(messages))
    return GatheredLinks({name: sorted(links, key=lambda link: (link[1], link[0])) for name, links in found.items()}, form == "clusters")


def graph_lines(name: str, links: Iterable[tuple[int, int]], start: int = 0) -> str:
    """Links in upstream's form of several logs, `NAME:A B -` a line: those of messages from `start` on."""
    return "".join(f"{name}:{one} {other} -\n" for one, other in links if other >= start)


def cluster_lines(name: str, conversations: Iterable[Sequence[int]], start: int = 0) -> str:
    """Conversations in upstream's form, `NAME:A B C` a line: their messages from `start` on."""
    kept = ([message for message in one if message >= start] for one in conversations)
    return "".join(f"{name}:{' '.join(map(str, one))}\n" for one in kept if one)


def write_links(path: Path, links: Iterable[tuple[int, int]]) -> None:
    """Write (antecedent, message) pairs in the upstream form, one ``A B -`` a line, by message."""
    ordered = sorted(set(links), key=lambda link: (link[1], link[0]))
    path.write_bytes("".join(f"{a} {b} -\n" for a, b in ordered).encode("ascii"))


def annotation_path(path: Path) -> Path:
    """Where the annotation of the log at `path` lies: ``NAME.annotation.txt`` beside it."""
    return path.with_name(f"{log_name(path)}.annotation.txt")


def read_annotated(folder: Path) -> list[tuple[Log, list[tuple[int, int]]]]:
    """Every log of a folder that has an annotation beside it, with its links, sorted by path; none is a `LogError`."""
    pairs = []
    for path in find_logs(folder):
        note = annotation_path(path)
        if note.exists():
            log = read_log(path)
            pairs.append((log, read_links(note, len(log.lines))))
    if not pairs:
        raise LogError(str(folder), "no annotated log here", "expected are NAME.raw.txt (or .ascii.txt, .tok.txt) and NAME.annotation.txt beside it")
    return pairs
