"""The contract of a source: from the files of one corpus release to `Dialogue` records.

Reading has two halves, so that it distributes. `Source.pieces` cuts a file into pieces by dialogue id, cheaply and without looking
inside; all pieces of one id (the dialogue, its acts from another file, its place in a split list) then meet in one place, whatever file they
came from, which is an outer join; `Source.parse` makes the record from them.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec

from pipelines.errors import InputError, RecordError
from schemas import Dialogue

Kind = Literal["dialogue", "acts", "split"]
#: What a file is to a source: it holds dialogues, their acts, or the ids of a split; or it is known and not needed ("other").
Role = Literal["dialogues", "acts", "splits", "other"]


class Piece(NamedTuple):
    """What one file says about one dialogue.

    `kind` is "dialogue" (its JSON), "acts" (its acts' JSON) or "split" (the name train, valid or test in ASCII). `file` and `index` tell where it stood:
    the number of the input file in sorted order, and the position in it, from 0.
    """

    kind: Kind
    file: int
    index: int
    data: bytes


class Source(ABC):
    """One corpus release. Subclasses hold no state; register them in `pipelines.sources.registry`."""

    name: ClassVar[str]
    language: ClassVar[str]
    licence: ClassVar[str]
    about: ClassVar[str]  #: one line for `dialmill list sources`

    @abstractmethod
    def role(self, path: str, head: str) -> Role | None:
        """What the file at `path`, which begins with `head` (up to 64 Ki characters), is to this source; None if it isn't of this source."""

    @abstractmethod
    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        """(dialogue id, kind, data) of everything a file holds, in file order.

        Raises:
            InputError: the file as a whole can't be read as this format; says where and what was expected.
        """

    @abstractmethod
    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        """The dialogue from its pieces, of which exactly one is of kind "dialogue".

        Its `split` is the one its "split" pieces name, None without. `dialogue_id` equals `source_id`, suite "standard".

        Raises:
            RecordError: this one dialogue can't be used (missing_key, wrong_type, odd_turn_order, lone_surrogate, bad_number, ...).
        """


def official_split(pieces: Sequence[Piece]) -> Any:
    """The split that the pieces name, None if none does.

    Raises:
        RecordError: `conflicting_splits`, two of them disagree.
    """
    named = {piece.data.decode("ascii") for piece in pieces if piece.kind == "split"}
    if len(named) > 1:
        raise RecordError("conflicting_splits", "listed in " + " and ".join(sorted(named)))
    return named.pop() if named else None


def json_object_items(path: str, data: bytes) -> list[tuple[str, bytes]]:
    """The items of a JSON file that holds one object, values left as raw JSON.

    Raises:
        InputError: empty, cut off, not JSON (with line and column), or not an object.
    """
    try:
        return [(key, bytes(raw)) for key, raw in _OBJECT.decode(data).items()]
    except (msgspec.DecodeError, UnicodeDecodeError):
        loaded = _tolerant(path, data)
    if not isinstance(loaded, dict):
        raise InputError(path, f"expected a JSON object of dialogues by id, found {_kind(loaded)}", "is it another format? name it with --format")
    return [(key, _dump(value)) for key, value in loaded.items()]


def json_array_items(path: str, data: bytes) -> list[bytes]:
    """The elements of a JSON file that holds one array, left as raw JSON.

    Raises:
        InputError: as `json_object_items`.
    """
    try:
        return [bytes(raw) for raw in _ARRAY.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        loaded = _tolerant(path, data)
    if not isinstance(loaded, list):
        raise InputError(path, f"expected a JSON array of dialogues, found {_kind(loaded)}", "is it another format? name it with --format")
    return [_dump(value) for value in loaded]


def load_record(data: bytes) -> Any:
    """One record's JSON, strictly: no NaN or Infinity, no lone surrogates.

    Raises:
        RecordError: `bad_number`, `lone_surrogate` or `not_json`.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        text = data.decode("utf-8", "replace")
        try:
            json.loads(text, parse_constant=_refuse_constant)
        except ValueError as refusal:
            if str(refusal) in ("NaN", "Infinity", "-Infinity"):
                raise RecordError("bad_number", f"{refusal} is no JSON number") from None
            raise RecordError("not_json", str(refusal)) from None
        raise RecordError("lone_surrogate" if _SURROGATE.search(data) else "not_utf8", str(error)) from None


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _tolerant(path: str, data: bytes) -> Any:
    """The file by the lenient standard parser, which takes NaN and lone surrogates: those are one record's fault, not the file's."""
    if not data.strip():
        raise InputError(path, "is empty", "download or unpack it again")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        if error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg:
            raise InputError(path, f"is cut off: the JSON ends in the middle at {where}", "download or unpack it again") from None
        raise InputError(path, f"is not JSON: {error.msg} at {where}", "is it another format? name it with --format") from None


def _dump(value: Any) -> bytes:
    # ASCII escapes keep lone surrogates apart until the one record that holds them is parsed and rejected.
    return json.dumps(value).encode("ascii")


def _kind(value: Any) -> str:
    return {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
