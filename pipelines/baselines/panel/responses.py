"""Baselines that judge answers: which of a hundred responses, the right one among them, comes next.

Six kinds: words by TF-IDF and by BM25 (one family), n-grams of characters, word vectors, the answers to the most similar training contexts, and the
form of a response without its words. The other ninety-nine are drawn from training answers, by a hash of what is answered; the released candidates
are others, and what is hard among many random ones is hard among those too.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.baselines.features import words
from dialmill.pipelines.baselines.panel.choice import ONE, length_step
from dialmill.pipelines.baselines.panel.embedding import word_vectors
from dialmill.pipelines.baselines.panel.finders import units_of
from dialmill.pipelines.baselines.panel.panel import Missed, Panel, Verdict
from dialmill.pipelines.baselines.rankers import RANKERS, Frequencies, Ranker, log2_fixed
from dialmill.schemas import Dialogue

#: Candidates of a judged answer, the right one among them.
CANDIDATES = 100
#: Training answers that wrong candidates are drawn from, and training pairs that kinds learn from, at most.
_POOL, _PAIRS = 4000, 12_000
#: Messages of a context that count.
_CONTEXT = 4
#: An answer of fewer words says too little to be chosen by; of fewer characters in Chinese.
_SHORT = {"en": 5, "zh": 6}
#: An answer that no kind ranks among the first so many can't be told.
_TOP = 10
_LOG_CANDIDATES = log2_fixed(CANDIDATES, 1)


class Pair(NamedTuple):
    """A context, the latest message last, and what answers it."""

    context: tuple[str, ...]
    answer: str


def pairs_of(dialogue: Dialogue) -> dict[int, Pair]:
    """The system's answers to the user, by turn."""
    found = {}
    for at, turn in enumerate(dialogue.turns):
        if at and turn.speaker == "system" and dialogue.turns[at - 1].speaker == "user":
            found[turn.turn] = Pair(tuple(one.utterance for one in dialogue.turns[max(0, at - _CONTEXT) : at]), turn.utterance)
    return found


class ResponseKind(ABC):
    """One kind of ranker, trained on the pairs of one language."""

    @classmethod
    @abstractmethod
    def train(cls, pairs: Sequence[Pair], language: str) -> ResponseKind:
        """A ranker from training pairs, in an order that depends on nothing but themselves."""

    @abstractmethod
    def rank(self, context: Sequence[str], candidates: Sequence[str], language: str) -> Sequence[float]:
        """A score for each candidate, more is better."""

    @abstractmethod
    def parts(self) -> Any:
        """What it has learned, in plain values."""

    @classmethod
    @abstractmethod
    def of(cls, plain: Any) -> ResponseKind:
        """Inverse of `parts`."""


class _Lexical(ResponseKind):
    """A ranker by common words or n-grams, its frequencies those of training answers."""

    ranker: ClassVar[type[Ranker]]

    def __init__(self, frequencies: Frequencies) -> None:
        self._ranker = self.ranker(frequencies)
        self._frequencies = frequencies

    @classmethod
    def train(cls, pairs: Sequence[Pair], language: str) -> ResponseKind:
        frequencies = Frequencies()
        for pair in pairs:
            frequencies.add(cls.ranker.counts(pair.answer, language))
        frequencies.terms = {term: number for term, number in sorted(frequencies.terms.items()) if number > 1}
        return cls(frequencies)

    def rank(self, context: Sequence[str], candidates: Sequence[str], language: str) -> Sequence[float]:
        return self._ranker.rank(context, candidates, language)

    def parts(self) -> Any:
        return [self._frequencies.number, self._frequencies.terms]

    @classmethod
    def of(cls, plain: Any) -> ResponseKind:
        return cls(Frequencies(plain[0], plain[1]))


class TfIdfResponses(_Lexical):
    """TF-IDF on words."""

    ranker = RANKERS["tfidf"]


class Bm25Responses(_Lexical):
    """BM25 on words."""

    ranker = RANKERS["bm25"]


class CharacterResponses(_Lexical):
    """TF-IDF on n-grams of characters."""

    ranker = RANKERS["characters"]


class EmbeddingResponses(ResponseKind):
    """The cosine of the word vectors of context and candidate."""

    _SIZE = 160

    def __init__(self, names: Sequence[str], vectors: Any) -> None:
        self.names = list(names)
        self.vectors = np.array(vectors, dtype=np.int64).reshape(len(self.names), 2 * self._SIZE)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    @classmethod
    def train(cls, pairs: Sequence[Pair], language: str) -> ResponseKind:
        return cls(*word_vectors([text for pair in pairs for text in (pair.context[-1], pair.answer)], cls._SIZE))

    def _vector(self, text: str) -> Any:
        return self.vectors[[self._numbers[unit] for unit in units_of(text) if unit in self._numbers]].sum(axis=0)

    def rank(self, context: Sequence[str], candidates: Sequence[str], language: str) -> Sequence[float]:
        asked = sum((self._vector(text) << place for place, text in enumerate(context)), np.zeros(self.vectors.shape[1], dtype=np.int64))
        found = []
        for candidate in candidates:
            mine = self._vector(candidate)
            product, norm = int((asked * mine).sum()), int((mine * mine).sum())
            found.append(product / sqrt(norm) if norm else 0.0)
        return found

    def parts(self) -> Any:
        return [self.names, self.vectors.tolist()]

    @classmethod
    def of(cls, plain: Any) -> ResponseKind:
        return cls(*plain)


class NeighbourResponses(ResponseKind):
    """What candidates share with the answers to the eight training contexts most like this one."""

    _NEAREST, _COMMON = 8, 800

    def __init__(self, pairs: Sequence[tuple[str, str]], language: str) -> None:
        self.pairs, self.language = pairs, language
        postings: dict[str, list[int]] = {}
        for place, (asked, _) in enumerate(pairs):
            for word in set(words(asked, language)):
                postings.setdefault(word, []).append(place)
        self._postings = {word: np.array(places, dtype=np.int64) for word, places in postings.items() if len(places) <= self._COMMON}
        self._answers = Counter(word for _, answer in pairs for word in set(words(answer, language)))
        sizes = [len(set(words(asked, language))) + 4 for asked, _ in pairs]
        self._sizes = np.array(sizes, dtype=np.int64)

    @classmethod
    def train(cls, pairs: Sequence[Pair], language: str) -> ResponseKind:
        return cls([(pair.context[-1], pair.answer) for pair in pairs], language)

    def rank(self, context: Sequence[str], candidates: Sequence[str], language: str) -> Sequence[float]:
        likeness = np.zeros(len(self.pairs), dtype=np.int64)
        for word in set(words(context[-1], language)):
            places = self._postings.get(word)
            if places is not None:
                likeness[places] += log2_fixed(len(self.pairs) + 1, len(places)) >> 8
        likeness = likeness * 64 // self._sizes
        number = min(self._NEAREST, len(self.pairs))
        bound = max(int(np.partition(likeness, -number)[-number]), 1) if number else 1
        nearest = sorted(np.flatnonzero(likeness >= bound).tolist(), key=lambda place: (-int(likeness[place]), place))[:number]
        weights: Counter[str] = Counter()
        for place in nearest:
            for word in set(words(self.pairs[place][1], language)):
                weights[word] += int(likeness[place]) * (log2_fixed(len(self.pairs) + 1, self._answers[word]) >> 8)
        return [sum(weights[word] for word in set(words(one, language))) / (len(set(words(one, language))) + 4) for one in candidates]

    def parts(self) -> Any:
        return [[list(pair) for pair in self.pairs], self.language]

    @classmethod
    def of(cls, plain: Any) -> ResponseKind:
        return cls([(asked, answer) for asked, answer in plain[0]], plain[1])


class FormResponses(ResponseKind):
    """The form of a response beside that of its context, without the words: length, marks, and how much they share; a perceptron on pairs."""

    _WRONG, _EPOCHS = 4, 3

    def __init__(self, weights: Mapping[str, int]) -> None:
        self.weights = dict(weights)

    @staticmethod
    def _form(text: str) -> list[str]:
        size = len(units_of(text))
        marks = [mark for mark in "?？!:/()`'\"-_.=" if mark in text]
        return [f"size {min(size.bit_length(), 7)}", *(f"has {mark}" for mark in marks), *(["digit"] if any(one.isdigit() for one in text) else [])]

    @classmethod
    def features(cls, context: Sequence[str], candidate: str) -> list[str]:
        """What is seen of a candidate."""
        mine, asked = cls._form(candidate), cls._form(context[-1])
        here = set(units_of(candidate))
        shared = [len(here & set(units_of(text))) for text in (context[-1], " ".join(context[:-1]))]
        found = [*mine, *(f"{one}|{other}" for one in mine for other in asked)]
        return [*found, *(f"shared {place} {min(number, 5)} of {min(len(here).bit_length(), 5)}" for place, number in enumerate(shared))]

    @classmethod
    def train(cls, pairs: Sequence[Pair], language: str) -> ResponseKind:
        weights: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for epoch in range(cls._EPOCHS):
            rng = Rng("form of responses", epoch, len(pairs))
            for pair in pairs[:4000]:
                right = cls.features(pair.context, pair.answer)
                for _ in range(cls._WRONG):
                    wrong = cls.features(pair.context, rng.choice(pairs).answer)
                    if sum(weights[name] for name in right) - sum(weights[name] for name in wrong) < 10:
                        weights.update(right)
                        weights.subtract(wrong)
            total.update(weights)
        return cls({name: weight for name, weight in sorted(total.items()) if weight})

    def rank(self, context: Sequence[str], candidates: Sequence[str], language: str) -> Sequence[float]:
        return [float(sum(self.weights.get(name, 0) for name in self.features(context, one))) for one in candidates]

    def parts(self) -> Any:
        return self.weights

    @classmethod
    def of(cls, plain: Any) -> ResponseKind:
        return cls(plain)


_KINDS: dict[str, type[ResponseKind]] = {
    "tfidf": TfIdfResponses,
    "bm25": Bm25Responses,
    "characters": CharacterResponses,
    "embedding": EmbeddingResponses,
    "neighbours": NeighbourResponses,
    "form": FormResponses,
}


class _Loaded(NamedTuple):
    kind: ResponseKind
    pool: Sequence[str]


class ResponsePanel(Panel):
    """Answers of the system among candidates; the unit is the turn that answers."""

    families: ClassVar[Mapping[str, str]] = {name: "words" if name in ("tfidf", "bm25") else name for name in _KINDS}
    least = 400

    def train(self, kind: str, dialogues: Sequence[Dialogue], language: str, pool: Sequence[Any] = ()) -> bytes | None:
        pairs = [pair for dialogue in dialogues for pair in pairs_of(dialogue).values() if pair.answer.strip()]
        pairs = sorted(dict.fromkeys(pairs), key=lambda pair: (key_number("responses", *pair.context, pair.answer), pair))[:_PAIRS]
        answers = list(dict.fromkeys(pair.answer for pair in pairs))[:_POOL]
        if len(answers) < 2:
            return None
        return zlib.compress(msgspec.msgpack.encode((kind, answers, _KINDS[kind].train(pairs, language).parts())), 1)

    def load(self, kind: str, data: bytes) -> _Loaded:
        name, pool, plain = msgspec.msgpack.decode(zlib.decompress(data))
        return _Loaded(_KINDS[name].of(plain), pool)

    def judge(self, models: Mapping[str, Any], record: Dialogue, turns: Sequence[int] | None = None) -> list[Verdict]:
        loaded = {kind: model for kind, model in sorted(models.items()) if isinstance(model, _Loaded)}
        if not loaded:
            return []
        pool = next(iter(loaded.values())).pool
        found = []
        for turn, pair in pairs_of(record).items():
            if turns is not None and turn not in turns:
                continue
            candidates = [pair.answer, *_others(pair.answer, pool, Rng("candidates", record.source_id, turn))]
            ranks = {kind: _rank_of_first(one.kind.rank(pair.context, candidates, record.language)) for kind, one in loaded.items()}
            found.append(self._verdict(turn, pair, ranks, len(candidates), record))
        return found

    @staticmethod
    def _verdict(turn: int, pair: Pair, ranks: Mapping[str, int], candidates: int, record: Dialogue) -> Verdict:
        size = len(words(pair.answer, "en")) if record.language != "zh" else len(units_of(pair.answer))
        short = size < _SHORT.get(record.language, _SHORT["en"])
        errors = {kind: {"rank": log2_fixed(rank, 1) * ONE // _LOG_CANDIDATES} for kind, rank in ranks.items()}
        sums = {kind: {"of": 1, "mrr": ONE // rank, "r1": int(rank == 1), "r10": int(rank <= _TOP)} for kind, rank in ranks.items()}
        late = tuple(kind for kind, rank in sorted(ranks.items()) if rank > 1)
        low = tuple(kind for kind in late if ranks[kind] > _TOP)
        told = tuple(
            Missed(turn, "answer", what, kinds)
            for what, kinds in ((f"the right one of {candidates} among the first {_TOP}", low), (f"the right one of {candidates} as the first", late))
            if kinds
        )
        texts = [pair.answer, pair.context[-1]]
        # Answers of like length are compared with each other: short ones are hard to tell apart, and easy to fall for.
        step = length_step(texts, record.language) * 8 + min(size // 5, 7)
        unanswerable = short or all(rank > _TOP for rank in ranks.values())
        return Verdict(turn, "", len(pair.context), step, errors, sums, told, unanswerable=unanswerable)

    def measure(self, sums: Mapping[str, int]) -> Mapping[str, float]:
        of = sums.get("of", 0) or 1
        return {"mrr": sums.get("mrr", 0) / of / ONE, "r@1": sums.get("r1", 0) / of, "r@10": sums.get("r10", 0) / of}


def _others(answer: str, pool: Sequence[str], rng: Rng) -> list[str]:
    """Wrong candidates: other answers of the pool, each once."""
    said, found = {units_of(answer)}, []
    for _ in range(4 * CANDIDATES):
        one = rng.choice(pool)
        if units_of(one) not in said:
            said.add(units_of(one))
            found.append(one)
            if len(found) == CANDIDATES - 1:
                break
    return found


def _rank_of_first(scores: Sequence[float]) -> int:
    """The rank of the first of some candidates, from 1; among equals it stands in the middle."""
    mine = round(scores[0], 6)
    rest = [round(one, 6) for one in scores[1:]]
    return 1 + sum(one > mine for one in rest) + sum(one == mine for one in rest) // 2
