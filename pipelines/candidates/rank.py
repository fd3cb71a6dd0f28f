"""Two light rankers of different kind, to ask which candidates may be as right as the answer: BM25 over words, and the cosine over characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from dialmill.pipelines.candidates.keys import candidate_key, token_hashes, words
from dialmill.pipelines.candidates.pool import Pool

#: Characters in a row that the second ranker compares.
_GRAM = 4
#: Turns of the context that are looked at.
_LAST = 3


class Rankers:
    """Both rankers over a pool, whose words say how rare each is."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def scores(self, context: Sequence[str], texts: Sequence[str]) -> tuple[list[float], list[float]]:
        """The scores of candidates by BM25 (k1 1.2, b 0.75) and by characters, each rounded so that equal texts have equal scores."""
        said = " ".join(candidate_key(text) for text in context[-_LAST:])
        keys = [candidate_key(text) for text in texts]
        return self._bm25(said, keys), self._characters(said, keys)

    def _bm25(self, said: str, keys: Sequence[str]) -> list[float]:
        asked = {word: self._rarity(word) for word in set(words(said))}
        own = [Counter(words(key)) for key in keys]
        mean = sum(sum(one.values()) for one in own) / max(len(own), 1) or 1.0
        found = []
        for one in own:
            long = sum(one.values()) / mean
            score = sum(asked[word] * one[word] * 2.2 / (one[word] + 1.2 * (0.25 + 0.75 * long)) for word in sorted(asked.keys() & one.keys()))
            found.append(round(score, 9))
        return found

    def _rarity(self, word: str) -> float:
        number = self.pool.numbers(token_hashes(word))
        return float(self.pool.idf[number[0]]) if len(number) else 0.0

    @staticmethod
    def _characters(said: str, keys: Sequence[str]) -> list[float]:
        asked = _grams(said)
        found = []
        for key in keys:
            mine = _grams(key)
            shared = sum(min(count, mine[gram]) for gram, count in asked.items() if gram in mine)
            norm = sqrt(sum(mine.values()))
            found.append(round(shared / norm, 9) if norm else 0.0)
        return found


def _grams(text: str) -> Counter[str]:
    return Counter(text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1))
