"""Word error rate (WER), for Chinese character error rate (CER), raw and in spoken form, with the confidence interval of a corpus rate."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dialmill.perturbers.speech.speakable import FILLED, compared, words


class Errors(NamedTuple):
    """Substitutions, deletions and insertions of one transcript against a reference of `length` words (Chinese: characters)."""

    substitutions: int
    deletions: int
    insertions: int
    length: int

    @property
    def total(self) -> int:
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """Errors by reference words, as a fraction; may exceed 1. Of an empty reference: 0 without errors, else 1."""
        return self.total / self.length if self.length else float(bool(self.total))


def unify(reference: Sequence[str], hypothesis: Sequence[str]) -> list[str]:
    """`hypothesis` with compounds written as the reference writes them: "guest house" for "guesthouse" is no error.

    Two neighbours become one word where the reference has that word and not the first of them, and the other way round.
    """
    known = set(reference)
    joined = {a + b: (a, b) for a, b in pairwise(reference)}
    result: list[str] = []
    for word in hypothesis:
        if result and word and result[-1] + word in known and (result[-1] not in known or word not in known):
            result[-1] += word
        elif word in joined and word not in known:
            result += joined[word]
        else:
            result.append(word)
    return result


def edit_errors(reference: Sequence[str], hypothesis: Sequence[str]) -> Errors:
    """The errors of the cheapest alignment at unit costs (Levenshtein); among equally cheap ones, the most substitutions."""
    # One row per hypothesis word; a cell holds (cost, deletions, insertions).
    row: list[tuple[int, int, int]] = [(i, i, 0) for i in range(len(reference) + 1)]
    for j, transcribed in enumerate(hypothesis, 1):
        diagonal = row[0]
        row[0] = (j, 0, j)
        for i, said in enumerate(reference, 1):
            above = row[i]
            if transcribed == said:
                best = diagonal
            else:
                cost, dele, ins = diagonal
                best = (cost + 1, dele, ins)
                left = row[i - 1]
                if left[0] + 1 < best[0]:
                    best = (left[0] + 1, left[1] + 1, left[2])
                if above[0] + 1 < best[0]:
                    best = (above[0] + 1, above[1], above[2] + 1)
            diagonal, row[i] = above, best
    cost, dele, ins = row[-1]
    return Errors(cost - dele - ins, dele, ins, len(reference))


def errors(reference: str, hypothesis: str, language: str) -> Errors:
    """The errors of a transcript in spoken form (what `speakable` does to numbers, times, spellings), compounds unified, filled pauses left out."""
    said, transcribed = _scored(reference, language), _scored(hypothesis, language)
    return edit_errors(said, transcribed if language == "zh" else unify(said, transcribed))


def _scored(text: str, language: str) -> list[str]:
    filled = FILLED[language]
    every = compared(words(text, language), language)
    # Of a turn that is a filled pause and no more, that is what was said.
    return [word for word in every if word not in filled] or every


_MARKS = re.compile(r"[^\w\s]|_")


def raw_errors(reference: str, hypothesis: str, language: str) -> Errors:
    """The errors after no more than case, punctuation and blanks are taken away; numbers and spellings count as written."""
    return edit_errors(_plain(reference, language), _plain(hypothesis, language))


def _plain(text: str, language: str) -> list[str]:
    text = _MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return [char for char in text if not char.isspace()] if language == "zh" else text.split()


class Rate(NamedTuple):
    """A corpus rate with its 95 % confidence interval, as fractions, over `turns` utterances of `length` words together."""

    rate: float
    low: float
    high: float
    turns: int
    length: int


def corpus_rate(parts: Iterable[Errors]) -> Rate:
    """All errors by all reference words, with a 95 % interval."""
    sums: dict[str, int] = {}
    for part in parts:
        add_to_sums(sums, part)
    return rate_of_sums(sums)


def add_to_sums(sums: dict[str, int], part: Errors) -> None:
    """Adds an utterance to what `rate_of_sums` needs: counts that add up in any order."""
    of_part = (1, part.total, part.length, part.total**2, part.total * part.length, part.length**2)
    for name, number in zip(_SUMS, of_part, strict=True):
        sums[name] = sums.get(name, 0) + number


_SUMS = ("turns", "errors", "length", "errors_squared", "errors_by_length", "length_squared")


def rate_of_sums(sums: Mapping[str, int]) -> Rate:
    """The corpus rate.

    Utterances, not words, are what was drawn, and their errors come in bursts; so the variance is that of a ratio of sums over utterances (delta
    method), as a bootstrap over utterances gives it (Bisani and Ney 2004), without its randomness.
    """
    n, total, length, squared, mixed, lengths = (sums.get(name, 0) for name in _SUMS)
    if not length:
        return Rate(0.0, 0.0, 0.0, n, 0)
    rate = total / length
    # In whole numbers until the end, so that nothing is lost between large sums: sum((errors - rate * length)^2) * length^2.
    scatter = squared * length**2 - 2 * mixed * total * length + lengths * total**2
    spread = math.sqrt(n / max(n - 1, 1) * (scatter / length**2)) / length
    return Rate(rate, max(0.0, rate - 1.96 * spread), rate + 1.96 * spread, n, length)
