"""What the baselines see of a text: words and n-grams of characters, folded alike for English and Chinese."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from dialmill.perturbers.core.matcher import Cut

_BLANKS = re.compile(r"[\W_]+")


def words(text: str, language: str) -> list[str]:
    """The words of a text in lower case, in order. Chinese has no blanks to cut at: its words are single characters and pairs of neighbours, which
    rank and classify as well as a segmenter's words (Nie et al., 2000) and don't change with a dictionary's version."""
    cut = Cut(text, language)
    names = cut.names
    if language != "zh":
        return list(names)
    found = list(names)
    for one, other, bounds, following in zip(names, names[1:], cut.bounds, cut.bounds[1:], strict=False):
        if bounds[1] == following[0]:
            found.append(one + other)
    return found


def grams(text: str, language: str) -> list[str]:
    """The n-grams of characters of a text in lower case: 2 to 4 within English words with their edges (as "_to", "town_"), 1 to 3 in Chinese runs."""
    found: list[str] = []
    shortest, longest = (1, 3) if language == "zh" else (2, 4)
    for run in _BLANKS.split(text.lower()):
        if not run:
            continue
        padded = run if language == "zh" else f"_{run}_"
        for size in range(shortest, longest + 1):
            found += [padded[at : at + size] for at in range(len(padded) - size + 1)]
    return found


@lru_cache(maxsize=1 << 16)
def word_counts(text: str, language: str) -> Mapping[str, int]:
    """How often each word stands in a text; kept, because candidates are met again. Not to be changed."""
    return Counter(words(text, language))


@lru_cache(maxsize=1 << 15)
def gram_counts(text: str, language: str) -> Mapping[str, int]:
    """How often each n-gram of characters stands in a text; kept as well. Not to be changed."""
    return Counter(grams(text, language))
