"""BLEU-4 of a response as SIMMC's script has it: NLTK's sentence BLEU with its smoothing method 1, over the words of lower-case text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import exp, log

#: What NLTK adds to a count of nothing.
_EPSILON = 0.1
_ORDER = 4
#: Words as NLTK's tokeniser cuts English: short forms from their word, marks from everything.
_TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b|\d+(?:[.,:]\d+)+|\w+(?:-\w+)*(?:\.\w+)*|\.\.\.|[^\w\s]")


def tokens(text: str) -> list[str]:
    """The words and marks of a text in lower case."""
    return _TOKEN.findall(text.lower())


def sentence_bleu(said: Sequence[str], due: Sequence[str]) -> float:
    """BLEU-4 of one response, in [0, 1], by one reference."""
    total = 0.0
    for order in range(1, _ORDER + 1):
        grams = Counter(zip(*(said[at:] for at in range(order)), strict=False))
        right = Counter(zip(*(due[at:] for at in range(order)), strict=False))
        found = sum(min(count, right[gram]) for gram, count in grams.items())
        if order == 1 and not found:
            return 0.0
        total += log((found or _EPSILON) / max(1, sum(grams.values()))) / _ORDER
    return (1.0 if len(said) > len(due) else exp(1 - len(due) / len(said))) * exp(total)
