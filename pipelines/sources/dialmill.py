"""dialmill's own canonical record (JSON lines): what one run made is the next one's input."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.reading import dialogue_data, file_name, load_record
from dialmill.schemas import STANDARD, Dialogue
from dialmill.schemas.dialogue import decode
from dialmill.schemas.validate import check_dialogue


class Dialmill(Source):
    name = "dialmill"
    language = "en, zh"
    licence = "see its manifest"
    about = "dialmill's own dialogues/standard/*.jsonl, or any file of canonical records"

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(".jsonl"):
            return None
        lines = [line for line in head.split("\n") if line.startswith("{")]
        # Any line will do: the first may be damaged.
        if not any('"dialogue_id"' in line and '"source_id"' in line and '"turns"' in line for line in lines):
            return "other" if lines and '"reason"' in lines[0] and '"evidence"' in lines[0] else None
        # In an output folder test_hard repeats test, few_shot repeats train, and the other suites are copies of the standard one.
        folders = path.replace("\\", "/").split("/")
        repeats = folders[-1] == "test_hard.jsonl" or "few_shot" in folders[:-1] or ("dialogues" in folders[:-1] and STANDARD not in folders)
        return "other" if repeats else "dialogues"

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        lines = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                source_id = _ID.decode(line).source_id
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                # The last line without its end is a file cut off. Elsewhere a bad line costs itself, under the name of its place.
                if number == len(lines) and not _is_json(line):
                    raise InputError(path, f"line {number} is cut off", "make or download it again") from None
                source_id = ""
            yield source_id or f"{file_name(path)}:{number}", "dialogue", line

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        line = dialogue_data(pieces)
        try:
            dialogue = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            load_record(line)  # says it better where it isn't strict JSON
            raise RecordError("wrong_type" if isinstance(error, msgspec.ValidationError) else "not_json", str(error)) from None
        if dialogue.suite != STANDARD:
            raise RecordError("already_perturbed", f"suite {dialogue.suite}: take the standard suite, and chain perturbers with +")
        problems = check_dialogue(dialogue)
        if problems:
            raise RecordError("invalid_record", "; ".join(problems[:3]))
        return dialogue.replace(dialogue_id=dialogue.source_id)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _Named(msgspec.Struct):
    source_id: str


_ID = msgspec.json.Decoder(_Named)
