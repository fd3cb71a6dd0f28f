"""Rankers of candidates by common words: TF-IDF, BM25, and TF-IDF over n-grams of characters, for English and Chinese.

A ranker takes its document frequencies from texts it was fitted to (the training split, a knowledge base), or, unfitted, from the candidates at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import ClassVar

import msgspec
import numpy as np
from dialmill.pipelines.baselines.features import gram_counts, word_counts
from dialmill.pipelines.core.errors import UsageError

#: Fractional bits of a weight.
_BITS = 16
#: What the last message of a context counts; each one before it counts half as much, one at least.
_LATEST = 8


@lru_cache(maxsize=1 << 14)
def log2_fixed(numerator: int, denominator: int) -> int:
    """The binary logarithm of a fraction of at least 1, in units of 2**-16, rounded down.

    In integers, by repeated squaring: the last bit of a C library's `log` differs from one machine to the next.
    """
    whole = 0
    value = (numerator << 32) // denominator
    while value >= 2 << 32:
        value >>= 1
        whole += 1
    fraction = 0
    for _ in range(_BITS):
        value = value * value >> 32
        fraction <<= 1
        if value >= 2 << 32:
            value >>= 1
            fraction |= 1
    return whole << _BITS | fraction


class Frequencies(msgspec.Struct):
    """In how many texts each term stands. Sums of parts are equal whatever their order."""

    number: int = 0
    terms: dict[str, int] = {}

    def add(self, terms: Iterable[str]) -> None:
        """Counts the distinct terms of one text."""
        self.number += 1
        for term in terms:
            self.terms[term] = self.terms.get(term, 0) + 1

    def merge(self, other: Frequencies) -> None:
        """Adds the counts of another part."""
        self.number += other.number
        for term, count in other.terms.items():
            self.terms[term] = self.terms.get(term, 0) + count

    def weight(self, term: str) -> int:
        """The inverse document frequency, log2((n + 1) / df), in units of 2**-16; a term that no text has counts as one that one text has."""
        return log2_fixed(self.number + 1, max(self.terms.get(term, 0), 1))


def query_of(context: Sequence[str], language: str, counts: Callable[[str, str], Mapping[str, int]]) -> dict[str, int]:
    """The terms of a context with their weights: each message counts half of the one after it."""
    query: dict[str, int] = {}
    weight = _LATEST
    for message in reversed(context):
        for term, count in counts(message, language).items():
            query[term] = query.get(term, 0) + weight * count
        weight = max(weight // 2, 1)
    return query


class Ranker(ABC):
    """Scores candidates for a context; more is better, equal scores are ties."""

    name: ClassVar[str]

    def __init__(self, frequencies: Frequencies | None = None) -> None:
        self.frequencies = frequencies

    @staticmethod
    def counts(text: str, language: str) -> Mapping[str, int]:
        """The terms of a text and how often each stands there."""
        return word_counts(text, language)

    def fit(self, texts: Iterable[str], language: str) -> Ranker:
        """The ranker itself, its document frequencies now those of `texts`."""
        self.frequencies = Frequencies()
        for text in texts:
            self.frequencies.add(self.counts(text, language))
        return self

    def rank(self, context: Sequence[str], candidates: Sequence[str], language: str) -> list[float]:
        """A score of at least 0 for each candidate, in their order; 0 where it shares no term with the context.

        Args:
            context: the messages so far, the latest last; each counts half of the one after it.
            candidates: the texts to be ranked.
            language: the language code of all of them.
        """
        found = [self.counts(candidate, language) for candidate in candidates]
        frequencies = self.frequencies
        if frequencies is None:
            frequencies = Frequencies()
            for counts in found:
                frequencies.add(counts)
        return self._scores(query_of(context, language, self.counts), found, frequencies.weight)

    @abstractmethod
    def _scores(self, query: Mapping[str, int], candidates: Sequence[Mapping[str, int]], weight: Callable[[str], int]) -> list[float]:
        """The scores for a query with its terms' weights."""


class TfIdf(Ranker):
    """The cosine of TF-IDF vectors, without the query's own norm, which orders nothing."""

    name = "tfidf"

    def _scores(self, query: Mapping[str, int], candidates: Sequence[Mapping[str, int]], weight: Callable[[str], int]) -> list[float]:
        scores = []
        weights = {term: weight(term) for term in query}
        for counts in candidates:
            # Integers: no order of terms can part what is equal.
            product = sum(number * counts[term] * weights[term] ** 2 for term, number in query.items() if term in counts)
            squares = sum((number * weight(term)) ** 2 for term, number in counts.items()) if product else 0
            scores.append(product / sqrt(squares) if squares else 0.0)
        return scores


class CharacterTfIdf(TfIdf):
    """`TfIdf` over n-grams of characters: forgives a slip of the keyboard, and needs no words."""

    name = "characters"

    @staticmethod
    def counts(text: str, language: str) -> Mapping[str, int]:
        return gram_counts(text, language)


class Bm25(Ranker):
    """Okapi BM25 with k1 1.2 and b 0.75 (Robertson and Zaragoza, 2009); the mean length is that of the candidates."""

    name = "bm25"

    def _scores(self, query: Mapping[str, int], candidates: Sequence[Mapping[str, int]], weight: Callable[[str], int]) -> list[float]:
        lengths = [sum(counts.values()) for counts in candidates]
        mean = max(sum(lengths), 1) / max(len(lengths), 1)
        weights = {term: number * weight(term) for term, number in query.items()}
        scores = []
        for counts, length in zip(candidates, lengths, strict=True):
            spread = 1.2 * (0.25 + 0.75 * length / mean)
            score = 0.0
            for term, value in weights.items():
                number = counts.get(term)
                if number:
                    score += value * (number * 2.2 / (number + spread))
            scores.append(score)
        return scores


RANKERS: dict[str, type[Ranker]] = {kind.name: kind for kind in (TfIdf, Bm25, CharacterTfIdf)}


def ranker(name: str) -> Ranker:
    """A new ranker, unfitted.

    Raises:
        UsageError: there is none of that name; the message lists the known ones.
    """
    if name not in RANKERS:
        raise UsageError(f"there is no ranker {name!r}; the known ones are: {', '.join(sorted(RANKERS))}")
    return RANKERS[name]()


class Searcher:
    """Many texts to be searched again and again: TF-IDF cosines by inverted lists, one pass over the words of a query.

    Scores are those of `TfIdf` fitted to the texts, divided by no more than constants, so that the order is the same.
    """

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self.language, self.size = language, len(texts)
        self.frequencies = Frequencies()
        counted = [word_counts(text, language) for text in texts]
        for counts in counted:
            self.frequencies.add(counts)
        lists: dict[str, tuple[list[int], list[float]]] = {}
        for place, counts in enumerate(counted):
            weights = {term: number * self.frequencies.weight(term) / (1 << _BITS) for term, number in counts.items()}
            norm = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
            for term, weight in weights.items():
                places, values = lists.setdefault(term, ([], []))
                places.append(place)
                values.append(weight / norm)
        self._lists = {term: (np.array(places, dtype=np.int64), np.array(values)) for term, (places, values) in lists.items()}

    def best(self, context: Sequence[str], count: int) -> list[tuple[int, float]]:
        """The places and scores of the texts most like a context (the latest message last), best first, ties by place."""
        scores = np.zeros(self.size)
        for term, number in query_of(context, self.language, word_counts).items():
            found = self._lists.get(term)
            if found is not None:
                scores[found[0]] += number * self.frequencies.weight(term) / (1 << _BITS) * found[1]
        order = np.lexsort((np.arange(self.size), -scores))[:count]
        return [(int(place), float(scores[place])) for place in order]
