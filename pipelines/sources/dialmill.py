"""dialmill's own canonical record (JSON lines or Parquet): what one run made is the next one's input.

Fields that a record lacks take their defaults, so that the smallest one is an id and turns with a speaker and a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.cut import first_of
from dialmill.pipelines.sources.peek import PARQUET, first_record
from dialmill.pipelines.sources.reading import dialogue_data, file_name, load_record, refuse_repeated
from dialmill.pipelines.sources.rows import read_rows
from dialmill.schemas import STANDARD, Dialogue, Turn
from dialmill.schemas.dialogue import decode
from dialmill.schemas.validate import check_dialogue

_RECORD, _TURN = frozenset(Dialogue.__struct_fields__), frozenset(Turn.__struct_fields__)
_ENDINGS = (".jsonl", ".parquet")


def claims(path: str, head: str) -> bool:
    """Whether a file that begins with `head` holds canonical records, complete or not."""
    if path.endswith(".jsonl"):
        # Any line will do: the first may be damaged.
        for line in head.split("\n"):
            if line.startswith("{") and '"dialogue_id"' in line and '"source_id"' in line and '"turns"' in line:
                return True
    elif not (path.endswith(".parquet") and head.startswith(PARQUET)):
        return False
    record = first_record(head) or {}
    turns = record.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else None
    if not isinstance(first, dict) or not {"speaker", "utterance"} <= first.keys() <= _TURN:
        return False
    # Of Parquet the names alone are known.
    return record.keys() <= _RECORD and "dialogue_id" in record and first["speaker"] in ("user", "system", "other", "")


@dataclass(frozen=True)
class Dialmill(Source):
    """Our own records.

    Args:
        told: whether the user named the format, so that records may lack most fields.
    """

    told: bool = False

    name = "dialmill"
    language = "en, zh"
    licence = "see its manifest"
    about = "dialmill's own dialogues/standard/*.jsonl or *.parquet, or any file of canonical records"
    cuts = True

    def chosen(self, fields: Mapping[str, str]) -> Source:
        super().chosen(fields)
        return Dialmill(True)

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(_ENDINGS):
            return None
        if not claims(path, head):
            lines = [line for line in head.split("\n") if line.startswith("{")]
            rejects = lines and '"reason"' in lines[0] and '"evidence"' in lines[0]
            return "other" if rejects else "dialogues" if self.told else None
        # In an output folder test_hard repeats test, few_shot repeats train, and the other suites are copies of the standard one.
        folders = path.replace("\\", "/").split("/")
        repeats = (
            folders[-1].rpartition(".")[0] == "test_hard" or "few_shot" in folders[:-1] or ("dialogues" in folders[:-1] and STANDARD not in folders)
        )
        return "other" if repeats else "dialogues"

    def shadowed(self, paths: Sequence[str]) -> set[str]:
        """Parquet files beside JSON lines of the same name, which hold the same."""
        lines = {path.removesuffix(".jsonl") for path in paths if path.endswith(".jsonl")}
        return {path for path in paths if path.endswith(".parquet") and path.removesuffix(".parquet") in lines}

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        if data[:4] == PARQUET.encode():
            for row in read_rows(path, data):
                yield _named(row.fields) or f"{file_name(path)}:{row.place}", "dialogue", msgspec.json.encode(row.fields)
            return
        lines, before = data.split(b"\n"), first_of(data)
        for number, line in enumerate(lines, before + 1):
            if not line.strip():
                continue
            try:
                source_id = _named(msgspec.structs.asdict(_ID.decode(line)))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                # The last line without its end is a file cut off. Elsewhere a bad line costs itself, under the name of its place.
                if number == before + len(lines) and not _is_json(line):
                    raise InputError(path, f"line {number} is cut off", "make or download it again") from None
                source_id = ""
            yield source_id or f"{file_name(path)}:{number}", "dialogue", line

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        line = dialogue_data(pieces)
        try:
            dialogue = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            dialogue = _completed(load_record(line))
        else:
            refuse_repeated(line)
        if dialogue.suite != STANDARD:
            raise RecordError("already_perturbed", f"suite {dialogue.suite}: take the standard suite, and chain perturbers with +")
        problems = check_dialogue(dialogue)
        if problems:
            raise RecordError("invalid_record", "; ".join(problems[:3]))
        return dialogue.replace(dialogue_id=dialogue.source_id)


def _named(record: dict[str, Any]) -> str:
    """The id of a record that may lack fields; "" for none."""
    found = next((record[name] for name in ("source_id", "dialogue_id", "id") if record.get(name)), "")
    return found if isinstance(found, str) else ""


def _completed(record: Any) -> Dialogue:
    """A record with the defaults of what it lacks.

    Raises:
        RecordError: `wrong_type`, a field is missing that has no default, unknown, or of another type.
    """
    if isinstance(record, dict):
        own = {name: value for name, value in record.items() if value is not None}
        named = _named(own)
        if "source_id" not in own and named:
            own["source_id"] = named
            own["dialogue_id"] = f"{named}/{own.get('suite', STANDARD)}/{own.get('variant', 0)}"
        own.pop("id", None)
        own.setdefault("source", "dialmill")
        if isinstance(own.get("turns"), list):
            own["turns"] = [_turn(turn, number) if isinstance(turn, dict) else turn for number, turn in enumerate(own["turns"])]
        record = own
    try:
        return Dialogue.from_dict(record)
    except msgspec.ValidationError as error:
        raise RecordError("wrong_type", str(error)) from None


def _turn(turn: dict[str, Any], number: int) -> dict[str, Any]:
    own = {name: value for name, value in turn.items() if value is not None}
    if "text" in own and "utterance" not in own:
        own["utterance"] = own.pop("text")
    return {"turn": number} | own


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _Named(msgspec.Struct):
    source_id: str = ""
    dialogue_id: str = ""
    id: str = ""


_ID = msgspec.json.Decoder(_Named)
