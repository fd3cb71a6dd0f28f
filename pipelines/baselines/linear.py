"""Linear models in whole numbers: the averaged perceptron with a margin (Freund and Schapire, 1999; Collins, 2002; Krauth and Mezard, 1987).

Weights and scores are integers, the order of the examples is that of a deterministic hash, and features get their numbers in the order of their
names, so that equal examples give equal models on every machine and in any order of the input.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.baselines.features import grams, words
from numpy.typing import NDArray

Ids = NDArray[np.int32]


@lru_cache(maxsize=1 << 13)
def text_features(text: str, language: str, prefix: str = "") -> tuple[str, ...]:
    """Words, pairs of words and n-grams of characters of a text, each once, sorted."""
    units = words(text, language)
    found = {f"{prefix}w {unit}" for unit in units}
    if language != "zh":  # Chinese "words" hold the pairs
        found.update(f"{prefix}p {one} {other}" for one, other in zip(["<", *units], [*units, ">"], strict=True))
    found.update(f"{prefix}c {gram}" for gram in grams(text, language) if len(gram) > 2 or language == "zh")
    return tuple(sorted(found))


def context_features(context: Sequence[str], language: str) -> tuple[str, ...]:
    """The features of the last message of a context, with those of the message before it apart."""
    before = text_features(context[-2], language, "b") if len(context) > 1 else ("b none",)
    return (*text_features(context[-1], language), *before)


class Vocabulary:
    """Numbers of features, in the order of their names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.numbers = {name: number for number, name in enumerate(names)}

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]], least: int = 1) -> Vocabulary:
        """The features that stand in at least `least` of the given sets."""
        counts = Counter(name for names in texts for name in names)
        return cls(sorted(name for name, count in counts.items() if count >= least))

    def ids(self, names: Iterable[str]) -> Ids:
        """The numbers of the known ones among some features."""
        numbers = self.numbers
        return np.array([numbers[name] for name in names if name in numbers], dtype=np.int32)


class Weights:
    """A perceptron's weights of each feature for each class, and their sum over all steps, from which the average comes."""

    def __init__(self, classes: int, features: int) -> None:
        self.now = np.zeros((classes, features), dtype=np.int64)
        self._late = np.zeros((classes, features), dtype=np.int64)
        self.steps = 1

    def add(self, row: int, ids: Ids, amount: int) -> None:
        """Moves the weights of some features for one class."""
        self.now[row, ids] += amount
        self._late[row, ids] += amount * self.steps

    def add_row(self, row: int, amounts: NDArray[np.int64]) -> None:
        """Moves the weights of all features for one class."""
        self.now[row] += amounts
        self._late[row] += amounts * self.steps

    def average(self) -> NDArray[np.int64]:
        """The average weights, times the number of steps: what orders scores needs no division."""
        return self.now * self.steps - self._late


class Example(NamedTuple):
    """Features (distinct) and the right class."""

    features: Sequence[str]
    label: str


class LinearClassifier:
    """One score for each class, the best one wins; of equal ones the first in the order of names.

    Attributes:
        labels: the classes, sorted.
    """

    def __init__(self, labels: Sequence[str], vocabulary: Vocabulary, weights: NDArray[np.int64]) -> None:
        self.labels = list(labels)
        self.vocabulary = vocabulary
        self.weights = weights

    @classmethod
    def train(cls, examples: Iterable[Example], epochs: int = 6, margin: int = 60, least: int = 2) -> LinearClassifier:
        """A classifier from examples, in whatever order they come.

        Args:
            epochs: how often each example is seen.
            margin: how far the right class must be ahead of the others, in units of one step, to leave the weights alone.
            least: how many examples a feature must stand in to be known; 1 where there are fewer than 50 examples.
        """
        ordered = sorted(examples, key=lambda one: (one.label, list(one.features)))
        labels = sorted({one.label for one in ordered})
        vocabulary = Vocabulary.of((one.features for one in ordered), least if len(ordered) >= 50 else 1)
        ids = [vocabulary.ids(one.features) for one in ordered]
        rows = [labels.index(one.label) for one in ordered]
        weights = Weights(len(labels), len(vocabulary.names))
        order = list(range(len(ordered)))
        for epoch in range(epochs):
            Rng("perceptron", epoch, len(ordered)).shuffle(order)
            for at in order:
                row = rows[at]
                scores = weights.now[:, ids[at]].sum(axis=1)
                scores[row] -= margin
                best = int(scores.argmax())
                if best != row:
                    weights.add(row, ids[at], 1)
                    weights.add(best, ids[at], -1)
                weights.steps += 1
        return cls(labels, vocabulary, weights.average())

    def scores(self, features: Iterable[str]) -> list[int]:
        """The score of each of `labels`."""
        found: list[int] = self.weights[:, self.vocabulary.ids(features)].sum(axis=1).tolist()
        return found

    def predict(self, features: Iterable[str]) -> str:
        """The class with the best score; "" where the classifier has seen no example."""
        scores = self.scores(features)
        return self.labels[scores.index(max(scores))] if scores else ""

    def pack(self) -> bytes:
        """The model as bytes, equal for equal models."""
        return pack_arrays([self.labels, list(self.vocabulary.names)], [self.weights])

    @classmethod
    def unpack(cls, data: bytes) -> LinearClassifier:
        """Inverse of `pack`."""
        (labels, names), (weights,) = unpack_arrays(data)
        return cls(labels, Vocabulary(names), weights)


def pack_arrays(plain: Any, arrays: Sequence[NDArray[np.int64]]) -> bytes:
    """Plain values and integer arrays as compressed bytes."""
    packed = [(list(one.shape), one.astype("<i8").tobytes()) for one in arrays]
    return zlib.compress(msgspec.msgpack.encode((plain, packed)), 6)


def unpack_arrays(data: bytes) -> tuple[Any, list[NDArray[np.int64]]]:
    """Inverse of `pack_arrays`; the arrays are read-only."""
    plain, packed = msgspec.msgpack.decode(zlib.decompress(data))
    return plain, [np.frombuffer(raw, dtype="<i8").reshape(shape) for shape, raw in packed]
