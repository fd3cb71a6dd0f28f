"""A small interpolated bigram model: counts of pairs over frequencies of words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: How many times a word must have been met for what followed it to count as much as how frequent the next word is at all.
_PRIOR = 3.0
#: How much the classes of rarity count against what was counted, as a number of words.
_GENERAL = 20_000.0


class Candidate(NamedTuple):
    """What may be recognised: one word or two with a blank between them (Chinese: none), and the logarithm of its weight by sound."""

    text: str
    weight: float


class Bigrams:
    """P(next word | word) and P(word). What was never met has the frequency of its class of rarity."""

    def __init__(self, bigrams: Mapping[str, Mapping[str, int]], rarity: Mapping[str, int], classes: int) -> None:
        """
        Args:
            bigrams: word -> next word -> count.
            rarity: word -> class, every class half as frequent as the one before.
            classes: how many classes there are; a word of none is rarer than all.
        """
        self._bigrams = bigrams
        self._rarity = rarity
        self._classes = classes
        self._totals = {word: sum(following.values()) for word, following in bigrams.items()}
        unigrams: dict[str, int] = {}
        for following in bigrams.values():
            for word, count in following.items():
                unigrams[word] = unigrams.get(word, 0) + count
        self._unigrams = unigrams
        self._all = sum(unigrams.values())
        self._alone: dict[str, float] = {}

    def alone(self, word: str) -> float:
        """How frequent a word is, as a share of all; above 0 for any."""
        found = self._alone.get(word)
        if found is None:
            general: float = 2.0 ** -(7 + self._rarity.get(word, self._classes + 3))
            found = self._alone[word] = (self._unigrams.get(word, 0) + _GENERAL * general) / (self._all + _GENERAL)
        return found

    def after(self, previous: str, word: str) -> float:
        """How likely a word is after another; above 0 for any."""
        total = self._totals.get(previous, 0)
        seen = self._bigrams[previous].get(word, 0) if total else 0
        return (seen + _PRIOR * self.alone(word)) / (total + _PRIOR)

    def count(self, previous: str, word: str) -> int:
        """How often a word was met after another."""
        return self._bigrams.get(previous, {}).get(word, 0)
