"""The two linear kinds: on words and pairs of words, and on n-grams of characters."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from dialmill.pipelines.baselines.features import grams, words
from dialmill.pipelines.baselines.panel.finders import (
    Counts,
    Cues,
    ExactFinder,
    FuzzyFinder,
)
from dialmill.pipelines.baselines.panel.kind import Classes, Learned, context_names
from dialmill.pipelines.baselines.panel.onevsrest import Ids, Whole, learn_sparse
from dialmill.pipelines.baselines.panel.seen import Seen, Task
from numpy.typing import NDArray

_RUN = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1 << 13)
def _word_names(text: str, language: str, prefix: str) -> tuple[str, ...]:
    units = words(text, language)
    found = {f"{prefix}{unit}" for unit in units}
    if language != "zh":  # Chinese "words" hold the pairs
        found.update(f"{prefix}{one} {other}" for one, other in zip(["<", *units], [*units, ">"], strict=True))
    return tuple(sorted(found))


class Words(Learned):
    """Linear on words and pairs of neighbours."""

    name = "words"
    finder_kind = ExactFinder
    _EPOCHS, _MARGIN = 5, 24

    def __init__(self, base: tuple[str, Counts, Classes, Cues], names: Sequence[str], weights: Whole) -> None:
        super().__init__(*base)
        self.names, self.weights = names, weights
        self._numbers = {name: number for number, name in enumerate(names)}

    @staticmethod
    def features(seen: Seen, language: str) -> list[str]:
        """The distinct features of a turn."""
        return [*context_names(seen), *_word_names(seen.user, language, "u"), *_word_names(seen.system, language, "s")]

    @classmethod
    def train(cls, tasks: Sequence[Task], language: str) -> Words:
        base = cls.base_train(tasks, language)
        named = [list(dict.fromkeys(cls.features(task.seen, language))) for task in tasks]
        counts = Counter(name for names in named for name in names)
        names = sorted(name for name, number in counts.items() if number > 1 or len(tasks) < 200)
        numbers = {name: number for number, name in enumerate(names)}
        examples = [np.array([numbers[name] for name in mine if name in numbers], dtype=np.int32) for mine in named]
        return cls(base, names, learn_sparse(examples, base[2].targets(tasks), len(names), cls._EPOCHS, cls._MARGIN))

    def scores(self, seen: Seen) -> Sequence[int]:
        found = dict.fromkeys(self._numbers[name] for name in self.features(seen, self.language) if name in self._numbers)
        scores: list[int] = self.weights[np.array(list(found), dtype=np.int64)].sum(axis=0).tolist()
        return scores

    def parts(self) -> tuple[Any, Sequence[NDArray[Any]]]:
        return [*self.base_parts(), list(self.names)], [self.weights]

    @classmethod
    def of(cls, plain: Any, arrays: Sequence[NDArray[Any]]) -> Words:
        return cls(cls.base_of(plain), plain[4], arrays[0])


@lru_cache(maxsize=1 << 16)
def _word_ids(word: str, language: str, prefix: str, bits: int) -> frozenset[int]:
    return frozenset(zlib.crc32(f"{prefix}{gram}".encode()) & (1 << bits) - 1 for gram in grams(word, language))


@lru_cache(maxsize=1 << 13)
def _gram_ids(text: str, language: str, prefix: str, bits: int) -> frozenset[int]:
    """The n-grams of a text's words, each word looked at once."""
    return frozenset().union(*(_word_ids(word, language, prefix, bits) for word in _RUN.findall(text.lower())))


class Characters(Learned):
    """Linear on n-grams of characters, which stand in a table of fixed size."""

    name = "characters"
    finder_kind = FuzzyFinder
    _EPOCHS, _MARGIN, _BITS = 4, 40, 14

    def __init__(self, base: tuple[str, Counts, Classes, Cues], weights: Whole) -> None:
        super().__init__(*base)
        self.weights = weights

    @classmethod
    def ids(cls, seen: Seen, language: str) -> Ids:
        """The distinct features of a turn."""
        state = [zlib.crc32(name.encode()) & (1 << cls._BITS) - 1 for name in context_names(seen)]
        found = {*state, *_gram_ids(seen.user, language, "u", cls._BITS), *_gram_ids(seen.system[-80:], language, "s", cls._BITS)}
        return np.array(sorted(found), dtype=np.int32)

    @classmethod
    def train(cls, tasks: Sequence[Task], language: str) -> Characters:
        base = cls.base_train(tasks, language)
        examples = [cls.ids(task.seen, language) for task in tasks]
        return cls(base, learn_sparse(examples, base[2].targets(tasks), 1 << cls._BITS, cls._EPOCHS, cls._MARGIN))

    def scores(self, seen: Seen) -> Sequence[int]:
        scores: list[int] = self.weights[self.ids(seen, self.language)].sum(axis=0).tolist()
        return scores

    def parts(self) -> tuple[Any, Sequence[NDArray[Any]]]:
        return self.base_parts(), [self.weights]

    @classmethod
    def of(cls, plain: Any, arrays: Sequence[NDArray[Any]]) -> Characters:
        return cls(cls.base_of(plain), arrays[0])
