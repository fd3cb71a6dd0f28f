"""What is wrong with one record, parsed or as a line of JSON."""

from __future__ import annotations

import functools
from typing import Any

import msgspec
from dialmill.schemas.dialogue import Dialogue
from dialmill.schemas.flow import flow_problems
from dialmill.schemas.semantics import dialogue_faults
from dialmill.schemas.strict_json import JsonError, parse
from dialmill.schemas.validator import Problem, Validator, show


@functools.cache
def validator(name: str) -> Validator:
    """The validator of a named schema, built once."""
    return Validator(name)


def dialogue_problems(record: dict[str, Any]) -> list[Problem]:
    """`check_dialogue` for a plain record, which should pass the schema `dialogue` first."""
    try:
        dialogue = Dialogue.from_dict(record)
    except msgspec.ValidationError as error:
        return [Problem("", str(error))]
    return [Problem(path, message) for path, message in dialogue_faults(dialogue)]


def validate_record(name: str, record: Any) -> list[Problem]:
    """What is wrong with a parsed record: by its schema, and where that holds, for dialogues by `dialogue_problems`, for flows by their tree."""
    checked = validator(name)
    if not checked.is_valid(record):
        return checked.errors(record)
    if name == "flow":
        return flow_problems(record)
    return dialogue_problems(record) if name == "dialogue" else []


def validate_line(name: str, line: bytes) -> list[Problem]:
    """What is wrong with one line of a JSONL file: strict JSON first (NaN, lone surrogates, a key twice are refused), then `validate_record`."""
    try:
        record = parse(line.rstrip(b"\r\n"))
    except JsonError as error:
        return [Problem("", str(error), show(line[:60].decode("utf-8", "replace")))]
    return validate_record(name, record)
