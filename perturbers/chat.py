"""Short forms that people type in chats ("plz", "thx", "ph no"; "啥", "咋"), found as phrases over the tokens of an utterance."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import NamedTuple

from .lexicon import alternatives, rows
from .tokens import tokens


class Phrase(NamedTuple):
    """A phrase of the table: its words after the first, and its short forms with cumulative weights."""

    rest: tuple[str, ...]
    forms: tuple[str, ...]
    cumulative: tuple[float, ...]


@cache
def phrases(language: str) -> dict[str, tuple[Phrase, ...]]:
    """The chat table of a language by first word, longest phrases first. Words are lower case, as `tokens` splits them."""
    table: dict[str, list[Phrase]] = {}
    for text, cell in rows(language, "chat"):
        words = [text[start:end] for start, end in tokens(text, language)]
        pairs = [entry.rpartition("=") for entry in alternatives(cell)]
        phrase = Phrase(tuple(words[1:]), tuple(form for form, _, _ in pairs), tuple(accumulate(float(weight) for _, _, weight in pairs)))
        table.setdefault(words[0], []).append(phrase)
    return {first: tuple(sorted(found, key=lambda phrase: -len(phrase.rest))) for first, found in table.items()}
