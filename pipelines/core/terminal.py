"""What reaches a terminal: texts, ids and file names of others may hold escapes that move the cursor, rename the window or reverse the text."""

from __future__ import annotations

from typing import Any

import msgspec
from dialmill.schemas import Dialogue

#: Control characters as their pictures, one character for one, so that offsets hold; line ends and tabs stay.
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
#: Marks that change the direction of what follows.
_PICTURES |= dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
#: The same characters as JSON escapes; those below a blank stand in no JSON as they are.
_ESCAPES = {code: f"\\u{code:04x}" for code in _PICTURES if code >= 0x20}


def printable(text: str) -> str:
    """A text without control characters, of the same length."""
    return text if text.isprintable() else text.translate(_PICTURES)


def escaped(text: str) -> str:
    """JSON without control characters: the same values, such characters in strings as ``\\u001b``."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def printable_record(record: Dialogue) -> Dialogue:
    """A record all of whose texts are printable; offsets still hold."""
    return msgspec.convert(_cleaned(msgspec.to_builtins(record)), Dialogue)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value
