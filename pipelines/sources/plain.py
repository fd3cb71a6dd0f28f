"""People's own data: JSON lines, JSON, CSV, TSV or Parquet, a row a turn or a row a dialogue.

Fields are known by the names that people give them (`FIELDS`), whatever their letter case, or are mapped. A row a dialogue has `turns`, a list (of
objects, of texts said in turn, the user first, or lists of the fields side by side, as Parquet tables have them); a
row a turn is of the dialogue that its `id` names, and stands where its `turn` says, else where it stands in the file. Whoever gives texts alone has
one user turn a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
from dialmill.perturbers.sentence import GENERAL, language_of
from dialmill.pipelines.core.errors import InputError, RecordError, UsageError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import dialmill, normalise
from dialmill.pipelines.sources.peek import first_record, wrapped_record
from dialmill.pipelines.sources.reading import SPLITS, Notes, file_name, json_kind, load_dialogue, load_record, name_domains, opening, split_of_name
from dialmill.pipelines.sources.rows import ENDINGS, OVERFLOW, Row, read_rows, told_separator
from dialmill.pipelines.sources.slots import Slot, read_slots, read_state
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.pipelines.sources.speakers import speaker_of
from dialmill.schemas import Act, Dialogue, SlotValues, Turn
from dialmill.schemas.dialogue import DONTCARE, OOS, Speaker

#: Our fields, each with the names by which it is known, best first; compared in lower case and without blanks, points, dashes and underscores.
FIELDS: dict[str, tuple[str, ...]] = {
    "id": (
        *("id", "dialogueid", "dialogid", "conversationid", "sessionid", "chatid", "callid", "threadid", "ticketid", "conversation", "session"),
        *("dialogueidx", "dialogidx", "convid", "对话id", "会话id", "对话编号", "会话编号", "编号"),
    ),
    "turns": ("turns", "dialogue", "dialog", "utterances", "messages", "conversations"),
    "text": (
        "text",
        "utterance",
        "message",
        "content",
        "transcript",
        "sentence",
        "query",
        "body",
        "文本",
        "内容",
        "话语",
        "句子",
        "消息",
        "对话内容",
    ),
    "speaker": ("speaker", "role", "sender", "from", "author", "actor", "party", "who", "说话人", "说话者", "发言人", "角色", "发送者"),
    "turn": ("turn", "turnid", "turnidx", "turnindex", "turnnumber", "turnno", "轮次"),
    "intent": ("intent", "意图"),
    "slots": ("slots", "slotvalues", "entities", "槽位"),
    "state": ("state", "beliefstate", "dialoguestate", "belief"),
    "domain": ("domain", "domains", "领域"),
    "split": ("split", "datasplit", "partition"),
    "language": ("language", "lang", "locale", "语言"),
    "labels": ("labels", "label", "tags"),
    # Which of several systems speaks; "system" itself is a word for a speaker to --map.
    "chatbot": ("chatbot", "system", "systemid", "systemname", "bot", "botid", "botname", "model", "modelname"),
}
#: What --map takes besides: the words by which the data call the two speakers.
_SPEAKERS: dict[str, Speaker] = {"user": "user", "system": "system", "other": "other"}
#: Fields of published formats whose records look like a row a dialogue.
_FOREIGN = frozenset({"data_split", "services", "frames", "segments", "instruction_id", "dialogue_acts", "metadata", "acts", "user_utterance"})
#: Who says the texts of a list in which nobody is named.
_IN_TURN = ("user", "system")
_SEPARATORS = re.compile(r"[\s._-]+")
_LIST = re.compile(r"[;,|，；、]")
_OUT_OF_SCOPE = frozenset({"oos", "out_of_scope", "out-of-scope", "outofscope"})


@dataclass(frozen=True)
class Plain(Source):
    """One's own data.

    Args:
        fields: our name of a field -> the input's, where it isn't one of those known; "user" and "system" name the words of the two speakers, several
            with "|" between them.
        told: whether the user said that the input is such data, so that a text alone will do.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    told: bool = False

    name = "plain"
    language = "en, zh, und"
    licence = "your own"
    about = "your own data: JSON lines, JSON, CSV, TSV or Parquet, a row a turn or a row a dialogue (docs/own-data.md)"
    generic = True

    def chosen(self, fields: Mapping[str, str]) -> Source:
        unknown = [name for name in fields if name not in FIELDS and name not in _SPEAKERS]
        if unknown:
            raise UsageError(f"--map: there is no field {unknown[0]!r}; there are: {', '.join([*FIELDS, *_SPEAKERS])}")
        return Plain(dict(fields), True)

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(ENDINGS):
            return None
        if self.told:
            return "dialogues"
        if path.endswith((".csv", ".tsv")):
            first = told_separator(opening(head))[1].partition("\n")[0]
            cells = re.split(r"[\t,;|]", first.rstrip("\r"))
            return "dialogues" if _is_turn({cell.strip().strip('"'): "" for cell in cells}) else None
        found = any(self._is_record(record) for record in (first_record(head), wrapped_record(head)))
        return "dialogues" if found and not dialmill.claims(path, head) else None

    def _is_record(self, record: Any) -> bool:
        """Whether this is a row a dialogue, or a row a turn, by the names of its fields."""
        if not isinstance(record, dict):
            return False
        record = self.unfolded(record)
        if not _FOREIGN.isdisjoint(record):
            return False
        turns = record.get(self.names(record).get("turns", ""))
        if isinstance(turns, list):
            inner = turns[0] if turns else None
            return isinstance(inner, dict) and _FOREIGN.isdisjoint(inner) and {"text", "speaker"} <= self.names(inner).keys()
        return _is_turn(record)

    def unfolded(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row a dialogue as one with a list of turns, each an object, however its turns are written."""
        names = self.names(row)
        at, turns, texts = names.get("turns", "turns"), row.get(names.get("turns", "")), row.get(names.get("text", ""))
        if isinstance(turns, dict):
            return row | {at: _side_by_side(turns, self.names(turns).get("text", ""))}
        if isinstance(turns, list) and turns and all(isinstance(turn, str) for turn in turns):
            return row | {at: [{"text": text, "speaker": _IN_TURN[number % 2]} for number, text in enumerate(turns)]}
        if turns is None and isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
            said = {name: value for name, value in row.items() if isinstance(value, list) and len(value) == len(texts)}
            inner = _side_by_side(said, names["text"])
            if "speaker" not in self.names(said):
                inner = [turn | {"speaker": _IN_TURN[number % 2]} for number, turn in enumerate(inner)]
            return {name: value for name, value in row.items() if name not in said} | {at: inner}
        return row

    def names(self, row: Mapping[str, Any]) -> dict[str, str]:
        """Which field of a row is which of ours: our name -> the row's."""
        return _names_of(tuple(row), tuple(self.fields.items()))

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        split = split_of_name(path)
        rows = [row._replace(fields=self.unfolded(row.fields)) for row in read_rows(path, data, self._is_record)]
        self._check(path, rows)
        grouped: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            place = f"{file_name(path)}:{row.place}"
            if row.raw:
                yield place, "dialogue", row.raw
                continue
            names = self.names(row.fields)
            said = normalise.scalar_text(row.fields[names["id"]]) if "id" in names else None
            grouped.setdefault((said or "").strip() or place, []).append({"": row.place} | _renamed(row, names))
        for source_id, found in grouped.items():
            yield source_id, "dialogue", msgspec.json.encode(found)
            if split:
                yield source_id, "split", split

    def _check(self, path: str, rows: Sequence[Row]) -> None:
        """Raises `InputError` where the fields of a file can't be told."""
        known = dict.fromkeys(name for row in rows for name in row.fields if name != OVERFLOW)
        inner = dict.fromkeys(name for row in rows[:100] for turn in self._turns(row) for name in turn)
        mapped = next((theirs for ours, theirs in self.fields.items() if ours in FIELDS and theirs not in known and theirs not in inner), None)
        shown = ", ".join([*known, *(f"turns[].{name}" for name in inner)]) or "none"
        if mapped is not None:
            raise InputError(path, f"has no field {mapped!r}, which --map names; its fields are: {shown}", "check the spelling")
        names = self.names(known)
        if not rows or (known and not {"text", "turns"} & names.keys()) or (inner and "text" not in self.names(inner)):
            what = f"no field holds the text; its fields are: {shown}" if rows else "holds no row"
            raise InputError(path, what, "name it with --map text=FIELD; the first line of a CSV file names its columns")
        if "speaker" in names and "id" not in names and "turns" not in names:
            raise InputError(path, "says who speaks and not which rows are one dialogue", f"add a field id, or name it with --map id=FIELD ({shown})")
        words = {str(turn[at]) for row in rows for turn in [row.fields, *self._turns(row)] if (at := self.names(turn).get("speaker")) and turn[at]}
        if words and not any(self._speaker(word) for word in words):
            some = ", ".join(sorted(words)[:5])
            raise InputError(path, f"has speakers of unknown names: {some}", "say who is who with --map user=NAME,system=NAME ('|' between several)")

        ids = [row.fields.get(names["id"]) for row in rows] if {"id", "speaker"} <= names.keys() and "turns" not in names else []
        if len(ids) > 1 and len({str(one) for one in ids}) == len(ids) and "system" in map(self._speaker, words):
            problem = f"has an id of its own on every row, of users and others alike, so that {names['id']!r} tells messages apart and no dialogues"
            raise InputError(path, problem, f"name the field of the dialogues with --map id=FIELD ({shown})")

    def _turns(self, row: Row) -> list[dict[str, Any]]:
        turns = row.fields.get(self.names(row.fields).get("turns", ""))
        return [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []

    def _speaker(self, word: str) -> Speaker | None:
        own = {name.strip().casefold(): who for ours, who in _SPEAKERS.items() for name in self.fields.get(ours, "").split("|") if name.strip()}
        return speaker_of(word, own)

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        rows = load_dialogue(pieces)
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise RecordError("wrong_type", f"expected an object with a text, found {json_kind(rows)}: {str(rows)[:60]}")
        header, turns = self._parts(rows)
        notes = Notes()
        spoken = [turn for turn in turns if self._text(turn)]
        notes.add("blank_turns_left_out", len(turns) - len(spoken))
        if not spoken:
            raise RecordError("empty_dialogue", "no turn has a text")
        language = _language(header, [self._text(turn) for turn in spoken])
        domain = _words(header.get("domain"), "domain")
        made = _Reader(self, language, (domain or [GENERAL])[0].lower(), notes, [self._who(turn, len(spoken)) for turn in spoken])
        read = [made.turn(number, turn) for number, turn in enumerate(spoken)]
        notes.add("slot_values", made.given)
        notes.add("slot_values_located", made.located)
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            split=_split([_words(row.get("split"), "split") for row in rows], pieces, notes),  # type: ignore[arg-type]  # one of the names of splits
            domains=name_domains(domain, read, GENERAL),
            turns=tuple(read),
            lineage=notes.lineage(),
            payload=_chatbot(rows),
        )

    def _parts(self, rows: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What is said of a dialogue as a whole, and its turns in order, under our names."""
        for row in rows:
            if "overflow" in row:
                raise RecordError("too_many_cells", f"row {row.get('')}: {len(row['overflow'])} cells more than the first line names")
        if "turns" in rows[0]:
            if len(rows) > 1:
                raise RecordError("duplicate_id", f"{len(rows)} rows have this id, and each has turns")
            turns = rows[0]["turns"]
            if isinstance(turns, str):
                turns = load_record(turns.encode())
            if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
                raise RecordError("wrong_type", f"turns: expected an array of objects, found {json_kind(turns)}: {str(turns)[:60]}")
            found = [{ours: turn[name] for ours, name in self.names(turn).items()} | {"row": turn} for turn in turns]
            return rows[0], _ordered(found)
        return rows[0], _ordered([row | {"row": row} for row in rows])

    def _who(self, turn: dict[str, Any], count: int) -> Speaker:
        word = normalise.scalar_text(turn.get("speaker"))
        if not word:
            if count == 1:
                return "user"
            raise RecordError("no_speaker", f"the dialogue has {count} turns, and this one doesn't say who speaks: {self._text(turn)[:60]}")
        found = self._speaker(word)
        if found is None:
            raise RecordError("unknown_speaker", f"{word[:40]!r}; say who it is with --map user={word[:40]} or system={word[:40]}")
        return found

    def _text(self, turn: dict[str, Any]) -> str:
        text = normalise.scalar_text(turn.get("text"))
        if text is None:
            raise RecordError("wrong_type", f"text: expected a text, found {json_kind(turn['text'])}")
        return text.strip()


class _Reader:
    """Turns with their labels, one after the other: the state grows where the data have none."""

    def __init__(self, source: Plain, language: str, domain: str, notes: Notes, speakers: Sequence[Speaker]) -> None:
        self.source, self.language, self.domain, self.notes, self.speakers = source, language, domain, notes, speakers
        self.reached: dict[tuple[str, str], SlotValues] = {}
        self.given = self.located = 0

    def turn(self, number: int, row: dict[str, Any]) -> Turn:
        speaker = self.speakers[number]
        word = normalise.scalar_text(row.get("speaker")) or None
        if speaker == "other":
            own = {name: value for name, value in row["row"].items() if name}
            return Turn(number, "other", "", role=word, payload=json.dumps(own, ensure_ascii=False))
        where, text = f"turn {number}", self.source._text(row)
        domain = (_words(row.get("domain"), "domain") or [self.domain])[0].lower()
        slots = read_slots(row.get("slots"), domain, self.language, where)
        acts, claims = _acts(slots)
        settled = settle(text, claims, self.language)
        self.notes.add_spans(settled)
        found = {(span.domain, span.slot, span.value) for span in settled.spans}
        self.given += len(claims)
        self.located += sum((one.domain, one.slot, one.value) in found for one in claims)
        state = read_state(row.get("state"), domain, self.language, where)
        if speaker == "user":
            self._reach(slots, state)
        elif state:
            self.notes.add("system_state_left_out")
        return Turn(
            turn=number,
            speaker=speaker,
            utterance=text,
            spans=settled.spans,
            acts=acts,
            state=tuple(self.reached.values()) if speaker == "user" else (),
            labels=_labels(row),
        )

    def _reach(self, slots: Sequence[Slot], state: Sequence[SlotValues] | None) -> None:
        """The belief state after a user turn: what the data say, else what was before with the turn's own slots."""
        if state is not None:
            self.reached = {(one.domain, one.slot): one for one in state}
            return
        for slot in slots:
            if slot.values:
                self.reached[slot.domain, slot.slot] = SlotValues(slot.domain, slot.slot, slot.values)


def _acts(slots: Sequence[Slot]) -> tuple[tuple[Act, ...], list[Claim]]:
    """A turn's slots as acts: `inform` with a value, `request` where the value is asked for; and where their values should stand."""
    acts: dict[Act, None] = {}
    claims: list[Claim] = []
    for slot in slots:
        if slot.asked:
            acts[Act("request", slot.domain, slot.slot)] = None
        for value in slot.values:
            acts[Act("inform", slot.domain, slot.slot, value)] = None
            if value != DONTCARE:
                claims.append(Claim(slot.domain, slot.slot, value, slot.start, slot.end))
    return tuple(acts), list(dict.fromkeys(claims))


def _side_by_side(fields: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """The turns of lists that stand side by side, one element of each a turn; `text` is the name of the list of texts."""
    texts = fields.get(text)
    if not isinstance(texts, list):
        return []
    lists = {name: value for name, value in fields.items() if isinstance(value, list) and len(value) == len(texts)}
    return [{name: value[number] for name, value in lists.items()} for number in range(len(texts))]


@lru_cache(maxsize=1024)
def _names_of(names: tuple[str, ...], mapped: tuple[tuple[str, str], ...]) -> dict[str, str]:
    known = {_SEPARATORS.sub("", name.casefold()): name for name in reversed(names)}
    own = dict(mapped)
    found = {}
    for ours, aliases in FIELDS.items():
        if ours in own:
            if own[ours] in names:
                found[ours] = own[ours]
            continue
        name = next((known[alias] for alias in aliases if alias in known), None)
        if name is not None and name not in own.values():
            found[ours] = name
    return found


def _is_turn(row: Mapping[str, Any]) -> bool:
    """Whether the names of a row's fields are those of a turn: its text and, lest any table with a text be one, whose it is or what it means."""
    names = Plain().names(row)
    exact = {"text", "utterance", "message", "content", "transcript"}
    if not row.keys().isdisjoint(_FOREIGN) or "text" not in names or names["text"].casefold() not in exact | {"文本", "内容", "话语", "消息"}:
        return False
    if "speaker" in names:
        return "id" in names
    # A table of texts and their labels, and nothing else, is one too.
    return "intent" in names or names.get("slots", "").casefold() == "slots" or ("labels" in names and len(names) == len(row))


def _renamed(row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    own = {ours: row.fields[name] for ours, name in names.items()}
    return own | ({"overflow": row.fields[OVERFLOW]} if OVERFLOW in row.fields else {})


def _ordered(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turns by their number where all have one."""
    numbers = [normalise.scalar_text(turn.get("turn")) or "" for turn in turns]
    if not all(re.fullmatch(r"-?\d{1,12}(?:\.\d{1,6})?", number) for number in numbers):
        return turns
    return [turn for _, turn in sorted(zip(map(float, numbers), turns, strict=True), key=lambda pair: pair[0])]


def _chatbot(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Which system speaks, as the rows say, {"system": NAME}; None where none does or they name several."""
    named = {text for row in rows if (text := (normalise.scalar_text(row.get("chatbot")) or "").strip())}
    return json.dumps({"system": named.pop()}, ensure_ascii=False) if len(named) == 1 else None


def _words(value: Any, where: str) -> list[str]:
    """A text of one or several words, or a list of them, as a list."""
    if isinstance(value, str):
        return [word.strip() for word in _LIST.split(value) if word.strip()]
    found: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        text = normalise.scalar_text(item)
        if text is None:
            raise RecordError("wrong_type", f"{where}: expected a text or a list of texts, found {str(value)[:80]}")
        found += [text.strip()] if text.strip() else []
    return found


def _labels(row: dict[str, Any]) -> tuple[str, ...]:
    """The intent as CLINC150's have it, then the labels."""
    intents = [OOS if one.casefold() in _OUT_OF_SCOPE else f"intent:{one}" for one in _words(row.get("intent"), "intent")]
    return tuple(dict.fromkeys([*intents, *_words(row.get("labels"), "labels")]))


def _language(header: dict[str, Any], texts: Sequence[str]) -> str:
    """The language that the data name, as a code without region; else what the texts look like."""
    named = _words(header.get("language"), "language")
    if not named:
        return language_of(" ".join(texts))
    code = re.split("[-_]", named[0].lower())[0]
    code = {"english": "en", "chinese": "zh", "中文": "zh", "英文": "en", "cn": "zh"}.get(code, code)
    return code if code in ("en", "zh") else "und"


def _split(rows: Sequence[Sequence[str]], pieces: Sequence[Piece], notes: Notes) -> str | None:
    """The split that the rows name, else the file's name."""
    named = {word.lower() for words in rows for word in words}
    known = {SPLITS[name].decode() for name in named if name in SPLITS}
    if len(known) > 1:
        raise RecordError("conflicting_splits", "its rows name " + " and ".join(sorted(known)))
    notes.add("split_unknown", len(named - SPLITS.keys()))
    known = known or {piece.data.decode("ascii") for piece in pieces if piece.kind == "split"}
    return known.pop() if known else None
