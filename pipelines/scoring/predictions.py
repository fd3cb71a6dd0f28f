"""Prediction files: read, held to their JSON Schema, and matched with the gold by id, with errors that say which record and what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.scoring.shapes import plain_line
from dialmill.schemas.records import validate_line, validator
from dialmill.schemas.strict_json import JsonError, parse

T = TypeVar("T")

#: How many problems an error tells.
_SHOWN = 5


def prediction_files(path: str, endings: Sequence[str] = (".jsonl", ".json")) -> list[Path]:
    """The files below a folder that may be predictions, sorted, or the one file.

    Raises:
        InputError: nothing there.
    """
    root = Path(path)
    if not root.exists():
        raise InputError(path, "does not exist", "check the path")
    found = [root] if root.is_file() else sorted(one for one in root.rglob("*") if one.is_file() and one.suffix in endings and one.name[0] != ".")
    if not found:
        raise InputError(path, "holds no prediction file", f"expected are files ending in {' or '.join(endings)}")
    return found


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: unreadable or empty.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error), "check the path and its permissions") from None
    if not data.strip():
        raise InputError(str(path), "is empty", "write the predictions again")
    return data


def read_lines(path: Path, schema: str) -> list[dict[str, Any]]:
    """The records of a JSONL file, each held to `schema`.

    Raises:
        InputError: a line that isn't valid; the first of them are told with line, path in the record, what was expected and what was found.
    """
    data = read_bytes(path)
    if data.lstrip()[:1] == b"[":
        raise InputError(str(path), "is one JSON array, not lines of JSON", f"write one object a line (schema {schema})")
    check = validator(schema)
    records: list[dict[str, Any]] = []
    problems: list[str] = []
    count = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        record = plain_line(schema, line)
        if record is None:
            try:
                record = parse(line)
            except JsonError:
                record = None
            if record is not None and not check.is_valid(record):
                record = None
        if record is not None:
            records.append(record)
            continue
        found = validate_line(schema, line)
        count += len(found)
        problems += [f"line {number}: {problem}" for problem in found[: _SHOWN - len(problems)]]
    if problems:
        raise InputError(str(path), _listed(problems, count), f"`dialmill validate {path} --schema {schema}` tells all; {form(schema)}")
    return records


def read_document(path: Path, schema: str) -> Any:
    """A JSON file as a whole, held to `schema`.

    Raises:
        InputError: as `read_lines`.
    """
    try:
        document = parse(read_bytes(path))
    except JsonError as error:
        raise InputError(str(path), str(error), form(schema)) from None
    check = validator(schema)
    if not check.is_valid(document):
        found = check.errors(document)
        raise InputError(
            str(path),
            _listed([str(problem) for problem in found[:_SHOWN]], len(found)),
            f"`dialmill validate {path} --schema {schema}` tells all; {form(schema)}",
        )
    return document


def first_byte(path: Path) -> bytes:
    """The first byte of a file that is no blank: b"[" for a JSON array, b"{" for an object or lines of them."""
    return read_bytes(path).lstrip()[:1]


def form(schema: str) -> str:
    """Where a form is described."""
    return f"the form is schemas/json/{schema}.schema.json"


def _listed(problems: list[str], count: int) -> str:
    return "; ".join(problems) + (f"; and {count - len(problems)} more problems" if count > len(problems) else "")


def unique(pairs: Iterable[tuple[T, Any]], path: str, what: str) -> dict[T, Any]:
    """Pairs as a dict.

    Raises:
        InputError: an id twice.
    """
    made: dict[T, Any] = {}
    for key, value in pairs:
        if key in made:
            raise InputError(path, f"holds {what} {shown(key)} twice", "keep one of them")
        made[key] = value
    return made


def check_ids(gold: Sequence[T], guessed: Iterable[T], path: str, what: str, known: Iterable[T] = ()) -> None:
    """Gold and predictions must be about the same records.

    Args:
        gold: the ids to be predicted, in order.
        guessed: those predicted.
        known: further ids that predictions may hold, of other splits say.

    Raises:
        InputError: an id is missing or unknown; the first one and the counts are told.
    """
    have = guessed if isinstance(guessed, (set, frozenset, dict)) else set(guessed)
    missing = [one for one in gold if one not in have]
    if missing:
        about = f"has no prediction for {what} {shown(missing[0])}"
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(path, f"{about}{more}; the gold has {len(gold)}, of which {len(gold) - len(missing)} are predicted", "predict all of them")
    strange = set(have) - set(gold) - set(known)
    if strange:
        first = min(strange, key=str)
        raise InputError(
            path,
            f"predicts {what} {shown(first)}, which the gold doesn't have" + (f", and {len(strange) - 1} more" if len(strange) > 1 else ""),
            "were the predictions made from another build, split or suite?",
        )


def shown(key: object) -> str:
    """An id for people."""
    if not isinstance(key, tuple):
        return str(key)
    dialogue, turn, *version = key
    return f"{dialogue}, turn {turn}" + "".join(f", version {one}" for one in version)
