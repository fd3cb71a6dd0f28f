"""What sources share: reading JSON files and lists strictly, and telling exactly what is wrong with a record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.sources.cut import first_of
from dialmill.pipelines.sources.spans import Settled
from dialmill.schemas import Step, Turn
from dialmill.schemas.strict_json import repeated_key


def official_split(pieces: Sequence[Piece]) -> Any:
    """The split that the pieces name, None if none does.

    Raises:
        RecordError: `conflicting_splits`, two of them disagree.
    """
    named = {piece.data.decode("ascii") for piece in pieces if piece.kind == "split"}
    if len(named) > 1:
        raise RecordError("conflicting_splits", "listed in " + " and ".join(sorted(named)))
    return named.pop() if named else None


#: The split that a part of a release holds, by the name that releases give the part.
SPLITS = {"train": b"train", "dev": b"valid", "val": b"valid", "valid": b"valid", "validation": b"valid", "test": b"test"}

#: A Chinese character.
CHINESE = re.compile("[\u3400-\u9fff]")

_PART = "|".join(SPLITS)
_PLACE = re.compile(rf"(?:^|[/\\!])(?:({_PART})[/\\]dialogues_\d+|({_PART}))\.json$", re.IGNORECASE)


def split_of_path(path: str) -> bytes | None:
    """The split that a path names: by its folder ("dev/dialogues_001.json") or its own name ("val.json"); None if it names none."""
    place = _PLACE.search(path)
    return SPLITS[(place[1] or place[2]).lower()] if place else None


_NAMED_PART = re.compile(rf"({_PART})(?:[-_.].*)?", re.IGNORECASE)


def split_of_name(path: str) -> bytes | None:
    """The split that a file of one's own, or of the Hugging Face hub, is called after ("train.csv", "test-00000-of-00001.parquet"); None for none."""
    found = _NAMED_PART.fullmatch(file_name(path).rpartition(".")[0])
    return SPLITS[found[1].lower()] if found else None


def json_object_items(path: str, data: bytes) -> list[tuple[str, bytes]]:
    """The items of a JSON file that holds one object, values left as raw JSON. A key that occurs twice gives two items.

    Raises:
        InputError: empty, cut off, not JSON (with line and column), or not an object.
    """
    try:
        items = [(key, bytes(raw)) for key, raw in _OBJECT.decode(data).items()]
        if _fills(data, items):
            return items
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    loaded = _tolerant(path, data)
    if not isinstance(loaded, dict):
        raise InputError(path, f"expected a JSON object of dialogues by id, found {json_kind(loaded)}", "is it another format? name it with --format")
    pairs = loaded.pairs if isinstance(loaded, _Repeating) else list(loaded.items())
    return [(key, _dump(value)) for key, value in pairs]


def json_array_items(path: str, data: bytes) -> list[bytes]:
    """The elements of a JSON file that holds one array, left as raw JSON.

    Raises:
        InputError: as `json_object_items`.
    """
    try:
        return [bytes(raw) for raw in _ARRAY.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        loaded = _tolerant(path, data)
    if not isinstance(loaded, list):
        raise InputError(path, f"expected a JSON array of dialogues, found {json_kind(loaded)}", "is it another format? name it with --format")
    return [_dump(value) for value in loaded]


def list_lines(path: str, data: bytes) -> list[str]:
    """The ids of a split list: one a line, or a JSON array of strings; blanks around them and a ".json" behind them are not part of the id.

    Raises:
        InputError: empty, not UTF-8, or no list of ids.
    """
    if not data.strip():
        raise InputError(path, "is empty", "download or unpack it again")
    if data.lstrip()[:1] == b"[":
        ids = [load_text(raw, path) for raw in json_array_items(path, data)]
    elif data.lstrip()[:1] == b"{":
        raise InputError(path, "expected one dialogue id a line, found a JSON object", "is it another file?")
    else:
        try:
            ids = data.decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            raise InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8") from None
    return [bare_id(line.strip()) for line in ids if line.strip()]


def opening(head: str) -> str:
    """The beginning of a file without a byte order mark and blanks: what tells an array from an object."""
    return head.lstrip("\ufeff \t\r\n")


def load_text(data: bytes, path: str) -> str:
    """One JSON string of a file, `InputError` if it is anything else."""
    try:
        return msgspec.json.decode(data, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = data[:40].decode("utf-8", "replace")
        raise InputError(path, f"expected a dialogue id, found {found}", "one id a line, or a JSON array of strings") from None


def records_with_id(path: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """(its "dialogue_id", raw JSON) of every element of a JSON array of dialogues. One without a usable id is named after its file and place
    ("dialogues_001.json#17"), so that it can be rejected under a name.

    Raises:
        InputError: as `json_array_items`.
    """
    for index, raw in enumerate(json_array_items(path, data), first_of(data)):
        try:
            source_id = _ID.decode(raw).dialogue_id
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            source_id = _tolerant_id(raw)
        yield source_id or f"{file_name(path)}#{index}", raw


def _tolerant_id(raw: bytes) -> str:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    found = record.get("dialogue_id") if isinstance(record, dict) else None
    return found if isinstance(found, str) and not _LONE_SURROGATE.search(found) else ""


class _WithId(msgspec.Struct):
    dialogue_id: str


_ID = msgspec.json.Decoder(_WithId)


def bare_id(name: str) -> str:
    """A dialogue id without the ".json" that some files of a release write behind it."""
    return name[:-5] if name.endswith(".json") and len(name) > 5 else name


def file_name(path: str) -> str:
    """The last part of a path, which may lead into a zip ("x.zip!folder/val.json")."""
    return _PATH_END.split(path)[-1]


_PATH_END = re.compile(r"[/\\!]")


def load_record(data: bytes) -> Any:
    """One record's JSON, strictly: no NaN or Infinity, no lone surrogates, no key twice in an object.

    Raises:
        RecordError: `bad_number`, `lone_surrogate`, `not_utf8`, `repeated_key` or `not_json`.
    """
    try:
        found = msgspec.json.decode(data)
        refuse_repeated(data)
        return found
    except RecursionError:
        raise RecordError("not_json", "nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as fault:
            raise RecordError("not_utf8", f"byte {fault.start} is 0x{data[fault.start]:02x}") from None
        try:
            loaded = json.loads(text, parse_constant=_refuse_constant)
        except RecursionError:
            raise RecordError("not_json", "nested too deeply") from None
        except ValueError as refusal:
            if str(refusal) in ("NaN", "Infinity", "-Infinity"):
                raise RecordError("bad_number", f"{refusal} is no JSON number") from None
            raise RecordError("not_json", str(refusal)) from None
        lone = _LONE_SURROGATE.search(json.dumps(loaded, ensure_ascii=False))
        if lone:
            raise RecordError("lone_surrogate", f"U+{ord(lone[0]):04X} without its other half") from None
        raise RecordError("bad_number", str(error)) from None


def refuse_repeated(data: bytes) -> None:
    """Raises `RecordError` (`repeated_key`) where a key stands twice in one object: which of the two is meant nobody can say."""
    fault = repeated_key(data)
    if fault is not None:
        raise RecordError("repeated_key", fault)


def dialogue_data(pieces: Sequence[Piece]) -> bytes:
    """What the one piece of kind "dialogue" holds."""
    return next(piece.data for piece in pieces if piece.kind == "dialogue")


def load_dialogue(pieces: Sequence[Piece]) -> Any:
    """The JSON of the one piece of kind "dialogue"; raises as `load_record`."""
    return load_record(dialogue_data(pieces))


def take(record: Any, key: str, kind: type[T], where: str = "") -> T:
    """``record[key]``, proved to be of the JSON type `kind` (dict, list, str or int; a boolean is no int).

    Raises:
        RecordError: `missing_key` or `wrong_type`; the evidence is the path of the key (`where` leads to `record`) and what stood there.
    """
    if type(record) is not dict:
        raise RecordError("wrong_type", f"{where or 'the dialogue'}: expected an object, found {json_kind(record)}")
    if key not in record:
        raise RecordError("missing_key", f"{where}.{key}" if where else key)
    value = record[key]
    if type(value) is not kind:
        raise RecordError("wrong_type", f"{where}{'.' if where else ''}{key}: expected {_NAMES[kind]}, found {json_kind(value)}")
    return value


def take_if(record: dict[str, Any], key: str, kind: type[T], where: str = "") -> T | None:
    """As `take`, but None where the key is absent or null."""
    return None if record.get(key) is None else take(record, key, kind, where)


def check_speakers(speakers: Sequence[str], where: str) -> None:
    """Raises `RecordError` (`odd_turn_order`) unless user and system take turns, the user first. A dialogue may end on either."""
    for number, speaker in enumerate(speakers):
        if speaker != ("system" if number % 2 else "user"):
            what = f"two {speaker} turns in a row" if number else f"the {speaker} speaks first"
            raise RecordError("odd_turn_order", f"{where}[{number}]: {what}")


def name_domains(named: Sequence[Any], turns: Sequence[Turn], apart: str = "general") -> tuple[str, ...]:
    """What a dialogue is about, lower case, without repeats: `named` by the release, else the domains of acts and states in order of appearance.

    Args:
        apart: the pseudo-domain of greetings and the like, which nothing is about.

    Raises:
        RecordError: `wrong_type`, a name that is no string.
    """
    for name in named:
        if not isinstance(name, str):
            raise RecordError("wrong_type", f"domains: expected strings, found {json_kind(name)}")
    talk = [name for turn in turns for name in (*(act.domain for act in turn.acts), *(entry.domain for entry in turn.state))]
    about = [name for name in dict.fromkeys(name.strip().lower() for name in named) if name not in ("", apart)]
    return tuple(about or (name for name in dict.fromkeys(talk) if name != apart))


def check_turn_ids(turn_ids: Sequence[Any], where: str) -> None:
    """Raises `RecordError` unless the ids of turns (numbers, or digits as text) rise: `odd_turn_order`, or `wrong_type` for other things."""
    before = -1
    for number, turn_id in enumerate(turn_ids):
        if type(turn_id) is not int and not (type(turn_id) is str and turn_id.isascii() and turn_id.isdigit() and len(turn_id) < 10):
            raise RecordError("wrong_type", f"{where}[{number}].turn_id: expected a number, found {str(turn_id)[:40]!r}")
        if int(turn_id) <= before:
            raise RecordError("odd_turn_order", f"{where}[{number}].turn_id is {turn_id} after {before}")
        before = int(turn_id)


class Notes(dict[str, int]):
    """What was seen while reading a dialogue and could not be kept or had to be put right: counts by reason."""

    def add(self, reason: str, count: int = 1) -> None:
        """Counts `reason`; nothing for a count of 0."""
        if count:
            self[reason] = self.get(reason, 0) + count

    def add_spans(self, settled: Settled) -> None:
        """Counts how claims about spans were settled: `span_moved`, `span_mismatch` (found nowhere, left out), `span_ambiguous`."""
        self.add("span_moved", settled.moved)
        self.add("span_mismatch", settled.lost)
        self.add("span_ambiguous", settled.ambiguous)

    def lineage(self) -> tuple[Step, ...]:
        """One lineage step "read@1" with sorted ``reason:count`` entries; nothing where there is nothing to tell."""
        if not self:
            return ()
        return (Step("read@1", None, None, "read", (), tuple(f"{reason}:{self[reason]}" for reason in sorted(self))),)


T = TypeVar("T", dict, list, str, int)  # type: ignore[type-arg]
_NAMES: dict[type, str] = {dict: "an object", list: "an array", str: "a string", int: "an integer"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_KEY = re.compile(rb'[\s{,]*"(?:[^"\\]|\\.)*"\s*:\s*')


def _fills(data: bytes, items: list[tuple[str, bytes]]) -> bool:
    """Whether `items` are all that `data` holds. A mapping keeps only the last of two equal keys; the first must not vanish unseen."""
    place = 0
    for _, raw in items:
        key = _KEY.match(data, place)
        if key is None or not data.startswith(raw, key.end()):
            return False
        place = key.end() + len(raw)
    return not data[place:].strip(b"{} \t\r\n")


class _Repeating(dict[str, Any]):
    """A JSON object with a key that occurs twice; `pairs` has all of it."""

    pairs: list[tuple[str, Any]]


def _keep_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    repeating = _Repeating(plain)
    repeating.pairs = pairs
    return repeating


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _tolerant(path: str, data: bytes) -> Any:
    """The file by the lenient standard parser, which takes NaN and lone surrogates: those are one record's fault, not the file's."""
    if not data.strip():
        raise InputError(path, "is empty", "download or unpack it again")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8") from None
    try:
        return json.loads(text, object_pairs_hook=_keep_pairs)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        rest = text[error.pos :].rstrip()
        if len(rest) < 2 or "Unterminated" in error.msg or any(word.startswith(rest) for word in ("true", "false", "null")):
            raise InputError(path, f"is cut off: the JSON ends in the middle at {where}", "download or unpack it again") from None
        raise InputError(path, f"is not JSON: {error.msg} at {where}", "is it another format? name it with --format") from None
    except RecursionError:
        raise InputError(path, "is nested too deeply to be a corpus", "is it another format? name it with --format") from None
    except ValueError as error:
        raise InputError(path, f"is not JSON: {error}", "is it another format? name it with --format") from None


def _dump(value: Any) -> bytes:
    # ASCII escapes keep lone surrogates apart until the one record that holds them is parsed and rejected.
    return json.dumps(value).encode("ascii")


def json_kind(value: Any) -> str:
    """What a person calls the JSON type of `value`."""
    return {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
