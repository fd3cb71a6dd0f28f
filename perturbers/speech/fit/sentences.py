"""Sentences of our own for training the ASR error simulator: patterns with slots, so that a model can ship that holds nobody else's text."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from dialmill.perturbers.core.rng import Rng

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def _patterns(language: str) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    lines = (resources.files("dialmill.perturbers.speech") / "data" / f"templates.{language}.txt").read_text("utf-8").splitlines()
    patterns: list[str] = []
    slots: dict[str, tuple[str, ...]] = {}
    for line in lines:
        name, equals, fillings = line.partition(" = ")
        if equals:
            slots[name] = tuple(fillings.split("|"))
        elif line and not line.startswith("#"):
            patterns.append(line)
    return tuple(patterns), slots


def sentences(language: str, count: int, seed: int) -> list[str]:
    """`count` sentences; the patterns take turns, the fillings are drawn."""
    patterns, slots = _patterns(language)
    found = []
    for place in range(count):
        rng = Rng(seed, "sentences", place)
        text = patterns[place % len(patterns)]
        while _SLOT.search(text):
            text = _SLOT.sub(lambda match, rng=rng: rng.choice(slots[match.group(1)]), text)  # type: ignore[misc]
        found.append(text)
    return found


@cache
def vocabulary(language: str) -> frozenset[str]:
    """The words of the patterns and their fillings."""
    patterns, slots = _patterns(language)
    texts = [*patterns, *(filling for fillings in slots.values() for filling in fillings)]
    return frozenset(word for text in texts for word in re.findall(r"[^\W\d_]+", _SLOT.sub(" ", text).lower()))
