"""Validation, in one place: of schemas, records, lines and files of every known kind."""

from dialmill.schemas.files import Report, validate_file
from dialmill.schemas.kinds import FileKind
from dialmill.schemas.records import dialogue_problems, validate_line, validate_record, validator
from dialmill.schemas.semantics import check_dialogue
from dialmill.schemas.strict_json import JsonError, parse
from dialmill.schemas.validator import Problem, Validator, check_lint, load, names

__all__ = [
    "FileKind",
    "JsonError",
    "Problem",
    "Report",
    "Validator",
    "check_dialogue",
    "check_lint",
    "dialogue_problems",
    "load",
    "names",
    "parse",
    "validate_file",
    "validate_line",
    "validate_record",
    "validator",
]
