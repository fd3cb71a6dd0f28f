"""Profiles and course records as values: the many spellings of "unknown" are null, a time that was never set too, and credits are numbers."""

from __future__ import annotations

import re
from typing import Any

_SPELLINGS = frozenset(
    {
        "",
        "-",
        "--",
        "?",
        "n/a",
        "na",
        "n.a.",
        "none",
        "null",
        "nil",
        "nan",
        "unknown",
        "unkown",
        "not known",
        "not available",
        "not applicable",
        "unspecified",
        "undefined",
        "tba",
        "tbd",
        "to be announced",
        "to be determined",
        "no data",
    }
)


#: Spellings of "unknown" that a name may have as well: an area called NA, a teacher called Nan. In fields of names they are that name.
_ALSO_NAMES = frozenset({"NA", "Nil", "Nan"})
#: What a field holds, by the last word of its key: "CourseTitle", "start_time", "CreditHours".
_NAMES = frozenset({"area", "category", "course", "department", "dept", "instructor", "name", "offering", "professor", "subject", "teacher", "title"})
_TIMES = frozenset({"time", "start", "end", "from", "to", "begin", "begins", "ends", "day"})
_CREDITS = frozenset({"credit", "credits", "unit", "units", "hours"})
_LAST_WORD = re.compile(r"([A-Z]?[a-z]+|[A-Z]+)(?:[\W_\d]*)$")
#: Midnight to the second, as tables write a time that was never entered; no class meets then.
_UNSET_TIME = re.compile(r"0{1,2}:00(?::00(?:\.0+)?)?|12:00(?::00)? ?a\.?m\.?", re.IGNORECASE)
_NUMBER = r"(\d{1,3}(?:\.\d+)?)"
_RANGE = re.compile(rf"{_NUMBER}\s*(?:[-\u2010-\u2015~\uff5e]|to|through|up to|至|到)\s*{_NUMBER}", re.IGNORECASE)


def known(value: Any, key: str = "") -> Any:
    """A JSON value with null for every text that says "unknown", and for a time of midnight, as tables write one that isn't set; of credits, a
    number for "4" and ``{"min": 1, "max": 3}`` for "1 - 3". Keys stay as they are, and so do lists that hold something.

    Args:
        key: of the value in its object; a field of names keeps "NA", which may be one.
    """
    if isinstance(value, str):
        return _known_text(" ".join(value.split()), value, key)
    if isinstance(value, dict):
        return {name: known(item, str(name)) for name, item in value.items()}
    if isinstance(value, list):
        return [found for item in value if (found := known(item, key)) is not None]
    return value


def _known_text(text: str, written: str, key: str) -> Any:
    word = _LAST_WORD.search(key)
    about = word[1].casefold() if word else ""
    if text.casefold() in _SPELLINGS:
        return text if about.removesuffix("s") in _NAMES and text in _ALSO_NAMES else None
    if about in _TIMES and _UNSET_TIME.fullmatch(text):
        return None
    if about in _CREDITS:
        if span := _RANGE.fullmatch(text):
            low, high = sorted(map(_number, span.groups()))
            return {"min": low, "max": high}
        if re.fullmatch(_NUMBER, text):
            return _number(text)
    return written


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)
