"""Corpus BLEU from sums of n-gram counts, so that subsets and bootstrap samples cost nothing.

Tokens are sacrebleu's ("13a"; "zh" for Chinese), and so are the formula and the smoothing (exponential), with effective order: in a corpus without
any 4-gram the longest n-grams there are decide, so that text equal to its reference scores 100 however short it is.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import metadata

import numpy as np
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.scorer import missing_extra
from dialmill.pipelines.core.units import Floats, Sums, columns_of, ratio

ORDER = 4
TOKENIZERS = {"en": "13a", "zh": "zh"}


def available() -> bool:
    """Whether sacrebleu is installed."""
    return importlib.util.find_spec("sacrebleu") is not None


@cache
def tokenizer(language: str) -> Callable[[str], str]:
    """sacrebleu's tokenizer of a language: text -> tokens joined by blanks.

    Raises:
        DialmillError: sacrebleu isn't installed.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise missing_extra("sacrebleu", "BLEU") from None
    made: Callable[[str], str] = BLEU(tokenize=TOKENIZERS.get(language, "13a")).tokenizer
    return lru_cache(maxsize=1 << 16)(made)


def statistics(hypothesis: Sequence[str], reference: Sequence[str]) -> dict[str, float]:
    """The columns of one pair of token lists: lengths, and for each order the n-grams of the hypothesis and those found in the reference."""
    row: dict[str, float] = {"bleu_hypothesis": len(hypothesis), "bleu_reference": len(reference)}
    same = hypothesis == reference
    for n in range(1, ORDER + 1):
        if same:
            row[f"bleu_total_{n}"] = row[f"bleu_right_{n}"] = max(len(hypothesis) - n + 1, 0)
            continue
        said = Counter(zip(*(hypothesis[k:] for k in range(n)), strict=False))
        due = Counter(zip(*(reference[k:] for k in range(n)), strict=False))
        row[f"bleu_total_{n}"] = max(len(hypothesis) - n + 1, 0)
        row[f"bleu_right_{n}"] = sum(min(count, due[gram]) for gram, count in said.items() if gram in due)
    return row


def self_test() -> None:
    """Holds the installed sacrebleu to what is computed here.

    Raises:
        DialmillError: it is missing, or computes something else.
    """
    tokenizer("en")
    from sacrebleu.metrics.bleu import BLEU

    for language, hypotheses, references in _KNOWN:
        tokens = tokenizer(language)
        rows = [statistics(tokens(one).split(), tokens(other).split()) for one, other in zip(hypotheses, references, strict=True)]
        ours = float(corpus_bleu({name: np.asarray(column.sum()) for name, column in columns_of(rows).items()}))
        theirs = BLEU(tokenize=TOKENIZERS[language], effective_order=True).corpus_score(hypotheses, [references]).score
        if abs(ours - theirs) > 1e-6:
            raise DialmillError(f"sacrebleu {metadata.version('sacrebleu')} gives {theirs} where {ours} is expected; install another version of it")


#: Three pairs with one reference each (a transposed list of references would show), and short answers equal to theirs.
_KNOWN = (
    ("en", ["the lodge is in the east .", "sounds good", "it is 17:30"], ["the lodge is in the west .", "that sounds good", "it leaves at 17:30"]),
    ("en", ["sounds good"], ["sounds good"]),
    ("zh", ["左转"], ["左转"]),
)


def corpus_bleu(sums: Sums) -> Floats:
    """BLEU in percent from summed `statistics`; 0 where no unigram is right."""
    hypothesis, reference = np.asarray(sums["bleu_hypothesis"]), np.asarray(sums["bleu_reference"])
    logs = np.zeros(hypothesis.shape)
    order = np.zeros(hypothesis.shape)
    smooth = np.ones(hypothesis.shape)
    for n in range(1, ORDER + 1):
        total, right = np.asarray(sums[f"bleu_total_{n}"]), np.asarray(sums[f"bleu_right_{n}"])
        there = total > 0
        none = there & (right == 0)
        smooth = np.where(none, smooth * 2, smooth)
        precision = np.where(none, ratio(1.0, smooth * total, 1.0), ratio(right, total, 1.0))
        logs += np.where(there, np.log(np.where(precision > 0, precision, 1.0)), 0.0)
        order += there
    penalty = np.where(hypothesis < reference, np.exp(1 - ratio(reference, hypothesis, 1.0)), 1.0)
    score = 100 * penalty * np.exp(ratio(logs, order))
    return np.where(np.asarray(sums["bleu_right_1"]) > 0, score, 0.0)
