"""Transcripts: lines that begin with who speaks ("User: ...", "Agent: ...", "用户：..."), and subtitles (.vtt, .srt) of such lines.

A line without such a beginning goes on with the turn before. Times in front are left out ("[10:02] User: hi", "2024-03-01 10:02 - User: hi"). Of two
speakers, the one who isn't known is the other ("Anna" beside "Support"). Blank lines, or a line of "#", "=" or
"-", part the dialogues of a file; where a blank line stands between any two turns, it parts nothing.

What messengers export (WhatsApp and its kin) has a date and a time before every message. There a line with both is no turn where it doesn't say who
of the two speaks (a notice, a third person), or says it in angle brackets or behind a mark that nobody types ("<Media omitted>"); it is carried
through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.core.errors import InputError, RecordError, UsageError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.reading import file_name, load_dialogue, official_split, split_of_name
from dialmill.pipelines.sources.speakers import speaker_of
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import Speaker

_TIME = (
    r"(?:[\[(][^\])\n]{1,40}[\])]\s*"
    r"|(?:\d[\d/.-]{5,9}(?:,?\s+|T))?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,6})?(?:Z|\s?[AaPp]\.?[Mm]\.?)?(?:\s*[-\u2013]\s+|\s+))?"
)
#: Who speaks, and what: "**User**: hi", "Agent (10:02): hello".
_LINE = re.compile(rf"\s*{_TIME}\**((?:~\s*)?(?:[^\W\d_]|\+\d)[^:：\n]{{0,30}}?)\**\s*(?:[\[(][\d: .apmAPM-]+[\])])?\s*[:：]\s*\**\s*(.*)")
#: A message of a messenger's export, whoever says it; what such exports write where a message has no text; their marks of text direction.
_STAMPED = re.compile(r"\s*(?:\[[^\]\n]*\d{1,2}:\d\d[^\]\n]*\]|\d[\d/.-]{5,9}(?:,?\s+|T)\d{1,2}:\d\d)")
_NOT_SAID = re.compile("\u200e.*|\u200e?<[^<>]*>")
_EDITED = re.compile(r"\s*\u200e?<[^<>]+ [^<>]+>\s*$")
_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\ufeff"
_RULE = re.compile(r"\s*(?:#+\s*(?P<name>.*?)|(?:={2,}|[=*-]{3,})\s*(?P<titled>[^=*]*?)\s*[=*-]*)\s*$")
#: How many lines are looked at to tell the format, and the share of them that must say who speaks.
_LOOKED_AT, _SHARE = 60, 0.5
_PAIR = ("user", "system")
_SUBTITLES = (".vtt", ".srt")
#: The endings of transcripts.
ENDINGS = (".txt", ".text", ".md", *_SUBTITLES)
#: What of subtitles nobody says: numbers, times, headings; and who speaks, as WebVTT marks it.
_UNSAID = re.compile(r"\s*(?:\d+|.*-->.*|WEBVTT\b.*|NOTE\b.*|STYLE|REGION)\s*")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-z][^>]*>")


def _lines(path: str, text: str) -> list[str]:
    """The lines of a transcript, or what is said in subtitles, where blank lines part no dialogues."""
    lines = [line.lstrip(_DIRECTIONS) for line in text.split("\n")]
    if not path.endswith(_SUBTITLES):
        return lines
    said = [line for line in lines if line.strip() and not _UNSAID.fullmatch(line.rstrip("\r"))]
    return [_TAG.sub("", _VOICE.sub(r"\1: ", line)) for line in said]


def _looked_at(lines: Sequence[str]) -> list[str]:
    return [line for line in lines[:_LOOKED_AT] if line.strip() and not _RULE.fullmatch(line)]


def _exported(lines: Sequence[str], said: Sequence[bool]) -> bool:
    """Whether a messenger wrote this: nearly all that is said has a date or brackets with a time in front."""
    stamps = [_STAMPED.match(line) is not None for line, one in zip(lines, said, strict=True) if one]
    return sum(stamps) > 0.9 * len(stamps) > 0


def _unedited(line: str) -> str:
    """A line without the note that its message was edited."""
    kept = _EDITED.sub("", line)
    return line if kept.rstrip().endswith(":") else kept


@dataclass(frozen=True)
class Transcript(Source):
    """Transcripts of dialogues.

    Args:
        fields: "user" and "system" -> the names of the two, several with "|" between them.
        told: whether the user named the format.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    told: bool = False

    name = "transcript"
    language = "en, zh, und"
    licence = "your own"
    about = 'transcripts: .txt, .vtt and .srt files of lines that begin with who speaks ("User: ...", "Agent: ...", "用户：...")'
    generic = True

    def chosen(self, fields: Mapping[str, str]) -> Source:
        unknown = [name for name in fields if name not in ("user", "system")]
        if unknown:
            raise UsageError(f"--map: a transcript has no field {unknown[0]!r}; user and system name its speakers: --map user=Anna,system=Bert")
        return Transcript(dict(fields), True)

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(ENDINGS):
            return None
        if self.told:
            return "dialogues"
        lines = _looked_at(_lines(path, head))
        others = self._others(lines)
        said = [self._said(line, others) for line in lines]
        known = [one for one in said if one is not None]
        begins = next((one is not None for line, one in zip(lines, said, strict=True) if one is not None or not _STAMPED.match(line)), False)
        sure = bool(known) and begins and len(known) >= _SHARE * len(lines)
        return "dialogues" if sure and any(who == "user" for who, _ in known) else None

    def _own(self) -> dict[str, Speaker]:
        return {name.strip().casefold(): who for who in _PAIR for name in self.fields.get(who, "").split("|") if name.strip()}  # type: ignore[misc]  # the two names are speakers

    def _others(self, lines: Sequence[str]) -> dict[str, Speaker]:
        """Of two names that lines begin with, one of which is known: who the other is."""
        names = dict.fromkeys(match[1].strip().casefold() for line in _looked_at(lines) if (match := _LINE.fullmatch(line.rstrip("\r"))))
        known = {name: speaker_of(name, self._own()) for name in names}
        strange = [name for name, who in known.items() if who is None]
        if len(names) != len(_PAIR) or len(strange) != 1 or not strange[0].isprintable():
            return {}
        return {strange[0]: "system" if "user" in known.values() else "user"} if "other" not in known.values() else {}

    def _said(self, line: str, others: Mapping[str, Speaker]) -> tuple[Speaker, str] | None:
        """(who speaks, what) of a line; None where it doesn't say who."""
        match = _LINE.fullmatch(line.rstrip("\r"))
        speaker = speaker_of(match[1], {**others, **self._own()}) if match else None
        return (speaker, match[2].strip()) if match and speaker else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        if not data.strip():
            raise InputError(path, "is empty", "give a transcript")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8") from None
        lines = _lines(path, text)
        others = self._others(lines)
        if not any(self._said(line, others) for line in lines):
            raise InputError(path, "has no line that says who speaks", 'expected "User: ..."; name the speakers with --map user=NAME,system=NAME')
        dialogues = self._dialogues(lines, others)
        split = split_of_name(path)
        for number, (name, found) in enumerate(dialogues, 1):
            source_id = name or (file_name(path) if len(dialogues) == 1 else f"{file_name(path)}#{number}")
            yield source_id, "dialogue", msgspec.json.encode(found)
            if split:
                yield source_id, "split", split

    def _dialogues(self, lines: Sequence[str], others: Mapping[str, Speaker]) -> list[tuple[str, list[tuple[Speaker, str]]]]:
        """(name, turns) of each dialogue of a file."""
        blocks: list[tuple[str, bool, list[tuple[Speaker, str]]]] = [("", True, [])]
        stamped = _exported(lines, [self._said(line, others) is not None for line in lines])
        for line in (_unedited(line) for line in lines) if stamped else lines:
            rule = _RULE.fullmatch(line.rstrip("\r")) if line.strip() else None
            said = self._said(line, others) if rule is None else None
            if rule is not None:
                blocks.append(((rule["name"] or rule["titled"] or "").strip(), True, []))
            elif not line.strip():
                blocks.append(("", False, []))
            elif said is not None and not (stamped and _NOT_SAID.fullmatch(said[1])):
                blocks[-1][2].append(said)
            elif stamped and _STAMPED.match(line):
                blocks[-1][2].append(("other", line.strip()))
            elif blocks[-1][2]:
                speaker, text = blocks[-1][2][-1]
                blocks[-1][2][-1] = (speaker, f"{text} {line.strip()}".strip())
        parted = any(len(turns) > 1 for _, _, turns in blocks)
        found: list[tuple[str, list[tuple[Speaker, str]]]] = []
        named = ""
        fresh = True
        for name, ruled, turns in blocks:
            fresh, named = fresh or ruled or parted, name if ruled else named
            if turns:
                if fresh:
                    found.append((named, []))
                found[-1][1].extend(turns)
                fresh, named = False, ""
        return found

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        lines = load_dialogue(pieces)
        turns: list[Turn] = []
        for line in lines if isinstance(lines, list) else [lines]:
            match line:
                case ["user" | "system" as speaker, str() as text]:
                    if text.strip():
                        turns.append(Turn(len(turns), speaker, text.strip()))
                case ["other", str() as text]:
                    turns.append(Turn(len(turns), "other", "", role="other", payload=msgspec.json.encode(text).decode()))
                case _:
                    raise RecordError("wrong_type", f"expected a speaker and a text, found {str(line)[:60]}")
        if not any(turn.speaker == "user" for turn in turns):
            raise RecordError("empty_dialogue", "the user says nothing")
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language_of(" ".join(turn.utterance for turn in turns)),
            split=official_split(pieces),
            turns=tuple(turns),
        )
