"""A small n-gram language model in layers: general text, what people say to assistants, and the input's own turns, each over the one before it.

A layer that has met a context often is believed; one that has not leaves it to the layer below, and that in the end to how frequent a word is at
all. In English the units are words and a context is the word before; in Chinese they are characters and a context is the two before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

#: How many times a context must have been met in a layer for what followed it there to count as much as what the layer below says.
_PRIOR = 8.0
#: How much the classes of rarity count against the words that were counted, as a number of words.
_GENERAL = 20_000.0
#: Written probabilities: minus their binary logarithms in eighths.
_STEPS = 8


class Candidate(NamedTuple):
    """What may be recognised: one word or two with a blank between them (Chinese: none), and the logarithm of its weight by sound."""

    text: str
    weight: float


def packed(row: Mapping[str, float]) -> str:
    """Probabilities of words as a model file has them: "york 17 jersey 42", likely ones first."""
    return " ".join(f"{word} {max(1, round(-math.log2(share) * _STEPS))}" for word, share in sorted(row.items(), key=lambda one: (-one[1], one[0])))


class Counts:
    """One layer: how often what followed a context. Contexts of several lengths stand side by side."""

    def __init__(self, following: Mapping[str, Mapping[str, int]]) -> None:
        self.following = following
        self.totals = {context: sum(row.values()) for context, row in following.items()}

    @classmethod
    def of_texts(cls, texts: Iterable[Sequence[str]], longest: int) -> Counts:
        """The counts of texts (units in order), with contexts of up to `longest` units, joined."""
        found: dict[str, Counter[str]] = {}
        for text in texts:
            line = ["<s>", *text, "</s>"]
            for place in range(1, len(line)):
                for size in range(1, min(longest, place) + 1):
                    found.setdefault("".join(line[place - size : place]), Counter())[line[place]] += 1
        return cls(found)


class LanguageModel:
    """P(next unit | context) and P(unit), both above 0 for anything."""

    def __init__(self, general: Mapping[str, str], bigrams: Mapping[str, Mapping[str, int]], rarity: Mapping[str, int], classes: int) -> None:
        """
        Args:
            general: unit -> what follows it in general text, as `packed` writes it.
            bigrams: context -> next unit -> count.
            rarity: unit -> class, every class half as frequent as the one before.
            classes: how many classes there are; a unit of none is rarer than all.
        """
        self._general = general
        self._rarity = rarity
        self._classes = classes
        self._layers = [Counts(bigrams)]
        unigrams: Counter[str] = Counter()
        for context, following in bigrams.items():
            # A Chinese context may have two characters; what follows those is counted once already.
            if context == "<s>" or len(context) == 1 or context.isascii():
                unigrams.update(following)
        self._unigrams = unigrams
        self._all = unigrams.total()
        self._alone: dict[str, float] = {}
        self._rows: dict[str, tuple[dict[str, float], float]] = {}
        self._known: dict[str, dict[str, float]] = {}

    def over(self, counts: Counts) -> LanguageModel:
        """The same with a layer more, which is believed before the others."""
        new = LanguageModel.__new__(LanguageModel)
        new.__dict__.update(self.__dict__)
        new._layers = [*self._layers, counts]
        new._known = {}
        return new

    def alone(self, word: str) -> float:
        """How frequent a unit is, as a share of all."""
        found = self._alone.get(word)
        if found is None:
            general: float = 2.0 ** -(7 + self._rarity.get(word, self._classes + 3))
            found = self._alone[word] = (self._unigrams.get(word, 0) + _GENERAL * general) / (self._all + _GENERAL)
        return found

    def rarity(self, word: str) -> int:
        """The class of rarity of a unit; beyond the last one for a unit of none."""
        return self._rarity.get(word, self._classes)

    def after(self, context: str, word: str, shorter: str = "") -> float:
        """How likely a unit is after a context; `shorter` is the context without its first unit, where it has several."""
        known = self._known.get(context)
        if known is None:
            known = self._known[context] = {}
        found = known.get(word)
        if found is None:
            found = self.after(shorter, word) if shorter else self._in_general(context, word)
            for layer in self._layers:
                total = layer.totals.get(context)
                if total:
                    found = (layer.following[context].get(word, 0) + _PRIOR * found) / (total + _PRIOR)
            known[word] = found
        return found

    def following(self, context: str) -> Callable[[str], float]:
        """`after` of one unit, for any word; nothing is remembered."""
        general, left = self._general_row(context)
        layers = [(layer.following[context], layer.totals[context] + _PRIOR) for layer in self._layers if layer.totals.get(context)]
        alone = self.alone

        def likely(word: str) -> float:
            found = general.get(word) or left * alone(word)
            for row, total in layers:
                found = (row.get(word, 0) + _PRIOR * found) / total
            return found

        return likely

    def _in_general(self, context: str, word: str) -> float:
        row = self._general_row(context)
        return row[0].get(word) or row[1] * self.alone(word)

    def _general_row(self, context: str) -> tuple[dict[str, float], float]:
        """What general text has after a context, and by what the shares of all other words are multiplied."""
        row = self._rows.get(context)
        if row is None:
            written = self._general.get(context, "").split(" ")
            shares = {written[place]: 2.0 ** (-int(written[place + 1]) / _STEPS) for place in range(0, len(written) - 1, 2)}
            left = max(0.05, 1 - sum(shares.values()))
            row = self._rows[context] = shares, left / max(0.05, 1 - sum(map(self.alone, shares)))
        return row

    def count(self, previous: str, word: str) -> int:
        """How often a unit was met after another, in all layers."""
        return sum(layer.following.get(previous, {}).get(word, 0) for layer in self._layers)
