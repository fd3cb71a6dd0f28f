"""The two ways in which a whole turn is written that a recogniser had: `plain` as recognisers of calls write, `written` as recognisers of text do.

A turn of either form is of one style from end to end. Plain text is lower case, has no punctuation, and numbers stand in words ("seven p m",
"一百五十元"). What programs read (`core.protected`) stands in both forms as it is, since nobody says it aloud.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from dialmill.perturbers.core import protected
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import merge
from dialmill.perturbers.speech.speakable import simplified, tokens
from dialmill.schemas import Edit

#: How a turn is written.
Output = Literal["written", "plain"]
#: What speakers fill their pauses with and how often, as calls have them; in scores they are no words (`wer.errors`).
FILLERS = {"en": (("um", 5), ("uh", 4), ("umm", 1), ("er", 1)), "zh": (("嗯", 5), ("呃", 4))}
_LATIN = re.compile(r"[^\W_\u3400-\u9fff\uf900-\ufaff]")


class Piece(NamedTuple):
    """What stands in the new text for ``utterance[start:end]``: `text` ("" for nothing), and behind it the marks of `after`."""

    start: int
    end: int
    text: str
    after: str = ""


def plain(text: str, language: str) -> str:
    """A text in plain form, what programs read excepted."""
    pieces = units(text, language)
    made = ""
    for piece in pieces:
        made += _between(made, piece.text, language, text[: piece.start].endswith(" ")) + piece.text
    return made


def units(text: str, language: str, exact: Sequence[tuple[int, int]] = ()) -> list[Piece]:
    """The spoken tokens of a text in plain form, and what programs read, in order; the places `exact` too are read by programs."""
    places = list(merge([*protected.ranges(text), *exact]))
    found: list[Piece] = []
    for token in tokens(text, language):
        kept = [place for place in places if place[0] < token.end and token.start < place[1]]
        if kept:
            # A word that such a token is a part of stays whole with it.
            places = [place for place in places if place not in kept]
            places.append((min(token.start, *(place[0] for place in kept)), max(token.end, *(place[1] for place in kept))))
        else:
            found.append(Piece(token.start, token.end, token.said.lower()))
    return sorted([*found, *(Piece(start, end, text[start:end]) for start, end in places)])


def rewrite(text: str, pieces: Sequence[Piece], language: str) -> list[Edit]:
    """Edits over the whole of `text` that make it these pieces and nothing else.

    Args:
        text: the utterance.
        pieces: in order, disjoint; where start == end the piece comes in there.
    """
    edits: list[Edit] = []
    reached, gap, before = 0, "", ""
    for piece in pieces:
        between = ""
        if piece.text:
            blank = any(char.isspace() for char in text[reached : piece.start])
            between = _between(before, piece.text, language, blank)
            before = piece.text + piece.after
        if piece.start == piece.end:
            # It stands in the gap, so that it is no part of a value that begins or ends here.
            gap += between + piece.text + piece.after
            continue
        if piece.start > reached or gap or between:
            edits.append(Edit(reached, piece.start, gap + between))
        edits.append(Edit(piece.start, piece.end, piece.text))
        reached, gap = piece.end, piece.after
    if reached < len(text) or gap:
        edits.append(Edit(reached, len(text), gap))
    return edits


def _between(before: str, after: str, language: str, blank: bool) -> str:
    """What parts two pieces: in English a blank; in Chinese none but between Latin letters or digits, and where the utterance has one beside them."""
    if not before or not after:
        return ""
    if language != "zh":
        return " "
    one, other = bool(_LATIN.match(before[-1])), bool(_LATIN.match(after[0]))
    return " " if (one and other) or (blank and not (_han(before[-1]) and _han(after[0]))) else ""


def _han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def as_recognised(transcript: str, start: int, end: int, following: int, output: Output, language: str) -> tuple[str, str]:
    """``transcript[start:end]`` in a form, and the marks between it and the next word, which begins at `following`."""
    part = transcript[start:end]
    if language == "zh":
        part = simplified(part)
    if output == "plain":
        return plain(part, language), ""
    return part, transcript[end:following].strip()


def fillers(rng: Rng, share: float, words: int, language: str) -> list[tuple[int, str]]:
    """The pauses of a turn of so many words that the speaker fills: (before which word, with what), in order. `share` of the turns have any; one in
    three of these has another. Most come first in the turn or in its first half."""
    if rng.random() >= share:
        return []
    choices, weights = zip(*FILLERS[language], strict=True)
    steps = [sum(weights[: place + 1]) for place in range(len(weights))]
    found = {}
    for _ in range(1 + (rng.random() < 1 / 3)):
        place = 0 if rng.random() < 0.5 else int(words * rng.random() * rng.random())
        found[place] = rng.weighted(choices, steps)
    return sorted(found.items())
