"""Validation, in one place: of schemas, records, lines and files of every known kind."""

from .files import Report, validate_file
from .records import dialogue_problems, validate_line, validate_record, validator
from .semantics import check_dialogue
from .strict_json import JsonError, parse
from .validator import Problem, Validator, check_lint, load, names

__all__ = [
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
