"""METEOR as nltk 3.5 has it, which is what DSTC9 Track 1 was scored with (Lavie and Agarwal 2007: exact, stem and synonym matches).

Later versions give other numbers: they repaired that a word matched by its stem stays open for a synonym match too. That fault is kept here, since
the published numbers rest on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from dialmill.pipelines.core.scorer import missing_extra
from dialmill.pipelines.scoring.wordnet import WordNet

_ALPHA, _BETA, _GAMMA = 0.9, 3, 0.5
#: (place, word) of what isn't matched yet.
_Open = list[tuple[int, str]]


def stemmer() -> Callable[[str], str]:
    """Porter's stemmer, in nltk's extension of it.

    Raises:
        DialmillError: nltk isn't installed.
    """
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError:
        raise missing_extra("nltk", "METEOR") from None
    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


class Meteor:
    """Scores pairs of token lists in [0, 1)."""

    def __init__(self, wordnet: WordNet, stem: Callable[[str], str]) -> None:
        self.wordnet = wordnet
        self._stem, self._stems = stem, dict[str, str]()

    def stem(self, word: str) -> str:
        """The stem of a word."""
        if word not in self._stems:
            self._stems[word] = self._stem(word)
        return self._stems[word]

    def score(self, hypothesis: Sequence[str], reference: Sequence[str]) -> float:
        """METEOR of one pair; 0 where nothing matches or a side is empty."""
        said, due = list(enumerate(hypothesis)), list(enumerate(reference))
        matches = _same(said, due)
        # Matched on copies: what a stem matches is matched by synonyms once more.
        matches += _same([(at, self.stem(word)) for at, word in said], [(at, self.stem(word)) for at, word in due])
        matches += self._synonyms(said, due)
        if not matches:
            return 0.0
        matches.sort(key=lambda pair: pair[0])
        precision, recall = len(matches) / len(hypothesis), len(matches) / len(reference)
        mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
        chunks = 1 + sum((b[0], b[1]) != (a[0] + 1, a[1] + 1) for a, b in pairwise(matches))
        return float((1 - _GAMMA * (chunks / len(matches)) ** _BETA) * mean)

    def _synonyms(self, said: _Open, due: _Open) -> list[tuple[int, int]]:
        found = []
        for i in range(len(said))[::-1]:
            synonyms = self.wordnet.synonyms(said[i][1])
            for j in range(len(due))[::-1]:
                if due[j][1] in synonyms:
                    found.append((said[i][0], due[j][0]))
                    del said[i], due[j]
                    break
        return found


def _same(said: _Open, due: _Open) -> list[tuple[int, int]]:
    """Pairs of equal words, from the end on, taken out of both lists."""
    found = []
    for i in range(len(said))[::-1]:
        for j in range(len(due))[::-1]:
            if said[i][1] == due[j][1]:
                found.append((said[i][0], due[j][0]))
                del said[i], due[j]
                break
    return found
