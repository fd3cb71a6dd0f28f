"""Short forms that people type in chats ("plz", "thx", "ph no"; "阔以", "灰常"), found as phrases over the tokens of an utterance."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import NamedTuple

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.tokens import tokens


class Phrase(NamedTuple):
    """A phrase of the table: its words after the first, and its short forms with cumulative weights.

    `share` in (0, 1] says how often it is shortened at all; a `final` phrase only before a pause (a mark, a blank or the end).
    """

    rest: tuple[str, ...]
    forms: tuple[str, ...]
    cumulative: tuple[float, ...]
    share: float
    final: bool


#: A phrase whose weights sum up to this is shortened whenever a style shortens.
_FULL = 8.0


@cache
def phrases(language: str) -> dict[str, tuple[Phrase, ...]]:
    """The chat table of a language by first word, longest phrases first. Words are lower case, as `tokens` splits them."""
    table: dict[str, list[Phrase]] = {}
    for text, cell in rows(language, "chat"):
        words = [text[start:end] for start, end in tokens(text, language)]
        pairs = [entry.rpartition("=") for entry in alternatives(cell)]
        cumulative = tuple(accumulate(float(weight) for _, _, weight in pairs))
        share = min(1.0, cumulative[-1] / _FULL)
        phrase = Phrase(tuple(words[1:]), tuple(form for form, _, _ in pairs), cumulative, share, text.endswith("$"))
        table.setdefault(words[0], []).append(phrase)
    return {first: tuple(sorted(found, key=lambda phrase: -len(phrase.rest))) for first, found in table.items()}
