"""A turn with placeholders where its values stand, and a translated turn with the values back in their places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dialmill.perturbers.core.surfaces import slot_name
from dialmill.schemas import Span

#: A placeholder: its number, from 1.
PLACEHOLDER = re.compile(r"⟦(\d+)⟧")
_WORD = re.compile(r"[A-Za-z0-9]")


class Place(NamedTuple):
    """A stretch of a turn that is translated by the lexicon: where it stands, of which slot, what it is there, what it becomes, and the
    slot's name in the other language."""

    start: int
    end: int
    slot: str
    source: str
    target: str
    named: str


class Masked(NamedTuple):
    """A turn with the numbered placeholders of its places."""

    text: str
    places: tuple[Place, ...]

    def named(self) -> str:
        """The text with the names of slots for numbers: "[area]", and "[area 2]" for the second of its kind."""
        names = names_of(self.places)
        return PLACEHOLDER.sub(lambda match: f"[{names[int(match[1]) - 1]}]", self.text)


def names_of(places: Sequence[Place]) -> list[str]:
    """The name of each place: its slot's, with a number from the second of the same on. A value that stands twice has one name."""
    seen: dict[str, list[str]] = {}
    found = []
    for place in places:
        name = slot_name(place.slot)
        values = seen.setdefault(name, [])
        if place.target not in values:
            values.append(place.target)
        number = values.index(place.target) + 1
        found.append(name if number == 1 else f"{name} {number}")
    return found


def mask(text: str, places: Sequence[Place]) -> Masked:
    """A text with numbered placeholders for its places, which are sorted and disjoint."""
    parts: list[str] = []
    reached = 0
    for number, place in enumerate(places, 1):
        parts += [text[reached : place.start], f"⟦{number}⟧"]
        reached = place.end
    return Masked("".join([*parts, text[reached:]]), tuple(places))


class Placed(NamedTuple):
    """A translated turn: its text, and for each place of the source where its value stands now."""

    text: str
    bounds: tuple[tuple[int, int], ...]


def place(masked: str, values: Sequence[str], language: str) -> Placed | None:
    """A translated text with the values at their placeholders; None unless each placeholder stands there once.

    Args:
        masked: the translation, with the placeholders of the source.
        values: what stands at the placeholders, in the order of their numbers; the translation may have another order.
        language: of the translation. English words are kept apart from a value that the engine stuck to them.
    """
    matches = list(PLACEHOLDER.finditer(masked))
    if sorted(int(match[1]) for match in matches) != list(range(1, len(values) + 1)):
        return None
    bounds: dict[int, tuple[int, int]] = {}
    text, reached = "", 0
    for match in matches:
        number = int(match[1])
        value = values[number - 1]
        text += masked[reached : match.start()]
        reached = match.end()
        if language == "en" and text and _WORD.match(text[-1]) and _WORD.match(value):
            text += " "
        bounds[number] = len(text), len(text) + len(value)
        text += value
        if language == "en" and _WORD.match(masked[reached : reached + 1]) and _WORD.match(value[-1:]):
            text += " "
    text += masked[reached:]
    return Placed(text, tuple(bounds[number] for number in range(1, len(values) + 1)))


def places_of(spans: Sequence[Span], translated: Sequence[Span]) -> list[Place]:
    """The disjoint places of a turn's spans, the longest first chosen; spans of one stretch share a place.

    Args:
        spans: as they are in the source.
        translated: the same with the names and values of the other language.
    """
    chosen: list[Place] = []
    order = sorted(range(len(spans)), key=lambda number: ((spans[number].start or 0) - (spans[number].end or 0), spans[number].start or 0))
    for number in order:
        span = spans[number]
        if span.start is None or span.end is None or span.text is None or span.start == span.end:
            continue
        if all(span.end <= place.start or place.end <= span.start for place in chosen):
            chosen.append(Place(span.start, span.end, span.slot, span.text, translated[number].value, translated[number].slot))
    return sorted(chosen)
