"""The kind that sees word vectors, and the vectors themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.baselines.panel.finders import (
    Counts,
    Cues,
    WordFinder,
    units_of,
)
from dialmill.pipelines.baselines.panel.kind import Classes, Learned, context_names
from dialmill.pipelines.baselines.panel.onevsrest import Ids, Whole, learn_sparse
from dialmill.pipelines.baselines.panel.seen import Seen, Task
from dialmill.pipelines.baselines.rankers import log2_fixed
from numpy.typing import NDArray


class Embedding(Learned):
    """A small network: word vectors from the company that words keep (random indexing: Sahlgren, 2005), a wide layer of fixed random weights of which
    the most excited units fire (Dasgupta et al., 2017), and a linear layer that is learned."""

    name = "embedding"
    finder_kind = WordFinder
    _SIZE, _HIDDEN, _FIRING, _EPOCHS, _MARGIN = 160, 4096, 200, 5, 60

    def __init__(self, base: tuple[str, Counts, Classes, Cues], names: Sequence[str], vectors: NDArray[Any], weights: NDArray[Any]) -> None:
        super().__init__(*base)
        self.names, self.vectors, self.weights = names, vectors.astype(np.int64), weights
        self._numbers = {name: number for number, name in enumerate(names)}

    def _side(self, text: str) -> Whole:
        """A text as one vector of whole numbers up to 127."""
        places = [self._numbers[unit] for unit in units_of(text) if unit in self._numbers]
        return _scaled(self.vectors[places].sum(axis=0))

    def _firing(self, seen: Seen) -> Ids:
        """The units of the hidden layer that fire."""
        state = _scaled(sum((_index_vector(name, self._SIZE) for name in context_names(seen)), np.zeros(self._SIZE, dtype=np.int64)))
        row = np.concatenate([self._side(seen.user), self._side(seen.system), state])
        inputs, signs = _random_layer(len(row), self._HIDDEN)
        excited = (row[inputs] * signs).sum(axis=1)
        # No two alike: of equally excited units the first fires.
        ranks = excited * self._HIDDEN - np.arange(self._HIDDEN)
        return np.sort(np.argpartition(ranks, -self._FIRING)[-self._FIRING :]).astype(np.int32)

    def _ids(self, seen: Seen) -> Ids:
        """The units that fire, and one that always does."""
        return np.append(self._firing(seen), np.int32(self._HIDDEN))

    @classmethod
    def train(cls, tasks: Sequence[Task], language: str) -> Embedding:
        base = cls.base_train(tasks, language)
        names, vectors = word_vectors([text for task in tasks for text in (task.seen.user, task.seen.system) if text], cls._SIZE)
        empty = cls(base, names, vectors, np.zeros((0, 0), dtype=np.int64))
        examples = [empty._ids(task.seen) for task in tasks]
        return cls(base, names, vectors, learn_sparse(examples, base[2].targets(tasks), cls._HIDDEN + 1, cls._EPOCHS, cls._MARGIN))

    def scores(self, seen: Seen) -> Sequence[int]:
        scores: list[int] = self.weights[self._ids(seen)].sum(axis=0).tolist()
        return scores

    def parts(self) -> tuple[Any, Sequence[NDArray[Any]]]:
        return [*self.base_parts(), list(self.names)], [self.vectors, self.weights]

    @classmethod
    def of(cls, plain: Any, arrays: Sequence[NDArray[Any]]) -> Embedding:
        return cls(cls.base_of(plain), plain[4], arrays[0], arrays[1])


@lru_cache(maxsize=1 << 16)
def _index_vector(name: str, size: int) -> Whole:
    """A sparse vector of 1 and -1 that stands for a word."""
    found = np.zeros(size, dtype=np.int64)
    rng = Rng("index vector", name)
    for sign in (1, -1) * 4:
        found[rng.below(size)] += sign
    return found


#: Inputs that a unit of the hidden layer looks at.
_INPUTS = 10


@lru_cache(maxsize=4)
def _random_layer(inputs: int, units: int) -> tuple[Whole, Whole]:
    """The inputs that each unit of a layer looks at, and the sign of each."""
    rng = Rng("layer", inputs, units)
    places = [[rng.below(inputs) for _ in range(_INPUTS)] for _ in range(units)]
    signs = [[1 if rng.chance(0.5) else -1 for _ in range(_INPUTS)] for _ in range(units)]
    return np.array(places, dtype=np.int64), np.array(signs, dtype=np.int64)


def _scaled(vector: Whole) -> Whole:
    """A vector of whole numbers with 127 as its largest."""
    most = int(np.abs(vector).max(initial=0))
    return vector * 127 // most if most else vector


#: Words whose company is counted.
_COMPANY = 600


def word_vectors(texts: Sequence[str], size: int) -> tuple[list[str], Whole]:
    """Words of training texts and their vectors: what stands beside a word, and the word itself, by how rare it is."""
    counts = Counter(unit for text in texts for unit in set(units_of(text)))
    names = sorted(unit for unit, number in counts.items() if number > 1 or len(texts) < 400)
    numbers = {name: number for number, name in enumerate(names)}
    own = np.stack([_index_vector(name, size) for name in names]) if names else np.zeros((0, size), dtype=np.int64)
    # The company of a word is counted among the commonest ones.
    kept = np.array(sorted(numbers[name] for name in sorted(names, key=lambda name: (-counts[name], name))[:_COMPANY]), dtype=np.int64)
    column = np.full(len(names) + 1, -1, dtype=np.int64)
    column[kept] = np.arange(len(kept))
    codes: list[Whole] = []
    for text in texts:
        places = np.array([numbers[unit] for unit in units_of(text) if unit in numbers], dtype=np.int64)
        for gap in (1, 2):
            for one, other in ((places[gap:], places[:-gap]), (places[:-gap], places[gap:])):
                codes.append((one * len(kept) + column[other])[column[other] >= 0])
    pairs, times = np.unique(np.concatenate(codes) if codes else np.zeros(0, dtype=np.int64), return_counts=True)
    beside = np.zeros((len(names), size), dtype=np.int64)
    np.add.at(beside, pairs // max(len(kept), 1), own[kept[pairs % max(len(kept), 1)]] * times[:, None])
    rare = np.array([log2_fixed(len(texts) + 1, counts[name]) >> 13 for name in names], dtype=np.int64)
    most = np.maximum(np.abs(beside).max(axis=1, initial=1), 1)
    company = beside * 8 // most[:, None]
    return names, np.concatenate([company, 8 * own], axis=1) * rare[:, None]
