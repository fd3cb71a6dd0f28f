"""Guards from files: a list, the arguments of tasks, the choices of tools, a database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from dialmill.perturbers.core.guard import Guard, arguments, choices, leaves
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError

#: Texts of a database longer than this are prose and no values, in characters.
LONGEST = 60


def read_guard(paths: Iterable[str], shapes: bool = True) -> Guard:
    """A guard of what some files name.

    JSON and JSON lines that hold calls of tools (`arguments`, `kwargs`: recorded runs, tasks) give what those pass on, and where they hold schemas of
    tools their `enum`s; any other JSON is a database, whose texts and numbers are values. Another file has a value on each line.

    Args:
        paths: files, local or remote.
        shapes: whether what looks like a value is guarded too.

    Raises:
        InputError: a file isn't there, is no text, or names no value.
    """
    values: set[str] = set()
    for path in paths:
        try:
            text = files.read_bytes(path).decode("utf-8-sig")
        except OSError as error:
            raise InputError(path, f"can't be read: {error.strerror or error}", "check the path") from None
        except UnicodeDecodeError:
            raise InputError(path, "is no text in UTF-8", "a guard is JSON, JSON lines, or a value on each line") from None
        found = set(_values(path, text))
        if not len(Guard(found)):
            raise InputError(path, "names no value", "a guard is JSON, JSON lines, or a value of three characters or more on each line")
        values |= found
    return Guard(values, shapes)


def _values(path: str, text: str) -> Iterator[str]:
    documents = _documents(text)
    if documents is None:
        if path.endswith((".json", ".jsonl")):
            raise InputError(path, "is no JSON", "a guard is JSON, JSON lines, or a value on each line")
        yield from (line.strip() for line in text.splitlines())
        return
    named = [*leaves(list(arguments(documents))), *choices(documents)]
    yield from named or (value for value in leaves(documents) if len(value) <= LONGEST)


def _documents(text: str) -> list[Any] | None:
    """The JSON of a text, or of each of its lines; None where it is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
