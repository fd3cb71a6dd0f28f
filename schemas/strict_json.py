"""Strict JSON: what RFC 8259 allows, every key once, no NaN, and only text that UTF-8 can carry."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec


class JsonError(ValueError):
    """Data that is not strict JSON; the message says what and where."""


def parse(data: bytes) -> Any:
    """`data` as plain Python values.

    Raises:
        JsonError: empty, not UTF-8, cut off, malformed, a key twice in one object, NaN or Infinity (also by overflow), a lone surrogate, or nested
            too deeply.
    """
    try:
        value = msgspec.json.decode(data)
        # Compact JSON with every key once encodes to itself: the common case is proved at the speed of a copy.
        if msgspec.json.encode(value) == data:
            return value
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass  # The slow way below finds what it is, in words.
    return _explain(data)


def repeated_key(data: bytes) -> str | None:
    """What is wrong where a key stands twice in one object ("holds the key 'id' twice in one object"); None where none does, or it isn't JSON.
    Parsers take the last one silently."""
    try:
        json.loads(data, object_pairs_hook=_unique)
    except JsonError as error:
        return str(error)
    except (ValueError, RecursionError):
        return None
    return None


def _explain(data: bytes) -> Any:
    if not data.strip():
        raise JsonError("is empty")
    if data.startswith(b"\xef\xbb\xbf"):
        raise JsonError("begins with a byte order mark, which JSON does not allow")
    if b"\0" in data:
        raise JsonError(f"is binary: byte {data.index(0)} is 0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError(f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        rest = text[error.pos :].strip()
        if len(rest) < 2 or error.msg.startswith("Unterminated string") or any(word.startswith(rest) for word in ("true", "false", "null")):
            raise JsonError(f"is cut off: the JSON ends in the middle at {where}") from None
        raise JsonError(f"is not JSON: {error.msg} at {where}") from None
    except UnicodeEncodeError as error:
        raise JsonError(f"holds a lone surrogate, \\u{ord(error.object[error.start]):04x}, which no UTF-8 text can carry") from None
    except RecursionError:
        raise JsonError("is nested too deeply") from None
    except ValueError as error:  # also integers of more digits than Python converts
        raise JsonError(str(error)) from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonError(f"holds the key {key!a} twice in one object")
            seen.add(key)
    return made


def _refuse(name: str) -> Any:
    raise JsonError(f"holds {name}, which is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise JsonError(f"holds {digits}, a number out of range")
    return value
