"""Sentence metrics as DSTC9 Track 1's scorer has them: its normalisation, nltk 3.5's BLEU and rouge 1.0.0's ROUGE.

Both libraries changed what they compute later, so the definitions stand here, and the published baseline's numbers are the test. Two things they do
are no measure of quality: BLEU-n of an answer shorter than n words is (almost) 0 even if it is the reference, and ROUGE never quite reaches 1.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = re.compile(r"[!\"#$%&()*+,-./:;<=>?@\[\]\\^`{|}~_']")
ORDER = 4
#: What rouge adds to a denominator.
_TINY = 1e-8


def normalised(text: str) -> list[str]:
    """The tokens of a response: lower case, punctuation and articles taken out."""
    return _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split()


def sentence_bleu(hypothesis: Sequence[str], reference: Sequence[str]) -> list[float]:
    """BLEU-1 to BLEU-4 in [0, 1], uniform weights, no smoothing: an order without a match counts as the smallest float there is."""
    if not hypothesis:
        return [0.0] * ORDER
    precisions: list[float] = []
    for n in range(1, ORDER + 1):
        said = Counter(zip(*(hypothesis[k:] for k in range(n)), strict=False))
        due = Counter(zip(*(reference[k:] for k in range(n)), strict=False))
        right = sum(min(count, due[gram]) for gram, count in said.items())
        if n == 1 and not right:
            return [0.0] * ORDER
        precisions.append(right / max(1, len(hypothesis) - n + 1) if right else sys.float_info.min)
    penalty = 1.0 if len(hypothesis) > len(reference) else math.exp(1 - len(reference) / len(hypothesis))
    return [penalty * math.exp(math.fsum(1.0 / n * math.log(one) for one in precisions[:n])) for n in range(1, ORDER + 1)]


def rouge(hypothesis: Sequence[str], reference: Sequence[str]) -> tuple[float, float, float]:
    """F of ROUGE-1, ROUGE-2 and ROUGE-L in [0, 1), as rouge 1.0.0: ROUGE-L counts a word once however often it occurs."""
    if not hypothesis or not reference:
        return 0.0, 0.0, 0.0
    grams = [[Counter(zip(*(side[k:] for k in range(n)), strict=False)) for side in (hypothesis, reference)] for n in (1, 2)]
    one, two = (_f((said & due).total(), said.total(), due.total()) for said, due in grams)
    return one, two, _f(len(set(_common(reference, hypothesis))), len(set(hypothesis)), len(set(reference)))


def _f(both: int, said: int, due: int) -> float:
    precision, recall = both / said if said else 0.0, both / due if due else 0.0
    return 2.0 * (precision * recall / (precision + recall + _TINY))


def _common(x: Sequence[str], y: Sequence[str]) -> list[str]:
    """One longest common subsequence, chosen among several as rouge does."""
    table = [[0] * (len(y) + 1)]
    for word in x:
        above, row = table[-1], [0]
        for j, other in enumerate(y):
            row.append(above[j] + 1 if word == other else max(above[j + 1], row[j]))
        table.append(row)
    found = []
    i, j = len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            i, j = i - 1, j - 1
            found.append(x[i])
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found
