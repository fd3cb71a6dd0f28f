"""The many spellings of "unknown" in profiles and course records, as one: null."""

from __future__ import annotations

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


def known(value: Any) -> Any:
    """A JSON value with null for every text that says "unknown". Keys stay as they are, and so do lists that hold something."""
    if isinstance(value, str):
        return None if " ".join(value.split()).casefold() in _SPELLINGS else value
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [found for item in value if (found := known(item)) is not None]
    return value
