"""What a file begins with: the text by which formats are told apart, and its first record, also where the beginning ends in the middle of it.

A Parquet file has its fields at its end, so it is shown as `PAR1` and a record of its shape: names with empty values.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

#: How much of a file is looked at to tell its format.
HEAD_BYTES = 64 * 1024
#: What a Parquet file begins with.
PARQUET = "PAR1"

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[\s\ufeff]*")


def head_text(head: bytes, whole: Callable[[], bytes]) -> str:
    """The beginning of a file as sources are shown it.

    Args:
        head: its first `HEAD_BYTES` bytes; a byte order mark in front is no part of the text.
        whole: gives all of it; called for Parquet alone. A file that can't be read as Parquet is shown as its bytes.
    """
    if head[:4] == PARQUET.encode():
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            schema = pq.read_schema(io.BytesIO(whole()))
            return PARQUET + json.dumps({field.name: _example(field.type) for field in schema})
        except (pa.ArrowException, OSError, ValueError):
            return head.decode("utf-8", "replace").removeprefix("\ufeff")
    return head.decode("utf-8", "replace").removeprefix("\ufeff")


def _example(kind: Any) -> Any:
    """A value of an Arrow type: lists of one element, empty texts, zeros."""
    import pyarrow.types as types

    if types.is_struct(kind):
        return {kind.field(at).name: _example(kind.field(at).type) for at in range(kind.num_fields)}
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [_example(kind.value_type)]
    if types.is_boolean(kind):
        return False
    return 0 if types.is_integer(kind) else 0.0 if types.is_floating(kind) else ""


@lru_cache(maxsize=8)
def first_value(head: str) -> Any:
    """The first JSON value of a file's beginning: of a Parquet file the record of its shape. What lies beyond the beginning is cut off, brackets
    closed. None where it isn't JSON."""
    start = _BLANK.match(head)
    text = head[start.end() if start else 0 :].removeprefix(PARQUET)
    if text[:1] not in ("{", "["):
        return None
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return _completed(text)


def first_record(head: str) -> dict[str, Any] | None:
    """The first JSON object of a file that holds one, an array of them, or one a line; None where there is none."""
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else None


#: Under these names people's files have their dialogues, where an object stands around all of them.
_AROUND = frozenset({"data", "dialogues", "dialogs", "conversations", "chats", "sessions", "threads", "records", "rows", "examples", "samples"})


def around(value: Any) -> str | None:
    """The name under which an object holds the records of a file: its only list of objects, if it has a name for that. None of any other value."""
    if not isinstance(value, dict):
        return None
    lists = [name for name, inner in value.items() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    return lists[0] if len(lists) == 1 and lists[0].lower() in _AROUND else None


def wrapped_record(head: str) -> dict[str, Any] | None:
    """The first record of a file in which an object stands around all of them; None of any other file."""
    value = first_value(head)
    name = around(value)
    return value[name][0] if name is not None else None


def _completed(text: str) -> Any:
    """A JSON value whose end is missing, up to the last element that is whole."""
    opened: list[str] = []
    whole, closing = 0, ""
    quoted = escaped = False
    for at, char in enumerate(text):
        if quoted:
            quoted, escaped = escaped or char != '"', not escaped and char == "\\"
        elif char == '"':
            quoted = True
        elif char in "{[":
            opened.append("}" if char == "{" else "]")
        elif char in "}]":
            if not opened or opened.pop() != char:
                break
        elif char == ",":
            whole, closing = at, "".join(reversed(opened))
    try:
        return _DECODER.raw_decode(text[:whole] + closing)[0]
    except (ValueError, RecursionError):
        return None
