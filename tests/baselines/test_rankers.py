"""Rankers: right on plain cases in both languages, equal in any process, against a second computation."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from dialmill.pipelines.baselines import RANKERS, Frequencies, ranker
from dialmill.pipelines.baselines.features import grams, words
from dialmill.pipelines.baselines.rankers import log2_fixed
from dialmill.pipelines.core.errors import UsageError
from hypothesis import given, settings
from hypothesis import strategies as st

_TEXTS = st.lists(st.text(alphabet="abc d好的", max_size=12), min_size=1, max_size=6)


@pytest.mark.parametrize("name", sorted(RANKERS))
@pytest.mark.parametrize(
    ("language", "context", "candidates"),
    [
        ("en", ["hello", "is there parking at the elm house"], ["You can pay by card.", "The Elm House has free parking.", "No pets."]),
        ("zh", ["你好", "这家酒店可以带宠物吗"], ["可以刷卡。", "酒店允许携带宠物入住。", "早餐是免费的。"]),
    ],
)
def test_the_candidate_that_answers_comes_first(name: str, language: str, context: list[str], candidates: list[str]) -> None:
    scores = ranker(name).rank(context, candidates, language)
    assert scores.index(max(scores)) == 1
    assert scores[1] > sorted(scores)[-2]


@pytest.mark.parametrize("name", sorted(RANKERS))
@settings(max_examples=40, deadline=None)
@given(context=_TEXTS, candidates=_TEXTS, language=st.sampled_from(["en", "zh"]))
def test_scores_follow_their_candidates(name: str, context: list[str], candidates: list[str], language: str) -> None:
    scores = ranker(name).rank(context, candidates, language)
    turned = ranker(name).rank(context, candidates[::-1], language)
    assert turned[::-1] == scores
    assert all(score >= 0 for score in scores)
    shared = {word for text in context for word in ranker(name).counts(text, language)}
    assert all(score == 0 or shared & set(ranker(name).counts(text, language)) for score, text in zip(scores, candidates, strict=True))


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_the_logarithm_in_integers_is_the_logarithm(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert log2_fixed(high, low) / 65536 == pytest.approx(math.log2(high / low), abs=1e-4)


def test_bm25_against_the_formula() -> None:
    candidates = ["free parking here", "parking parking costs money in the city", "no dogs"]
    got = ranker("bm25").rank(["is parking free"], candidates, "en")
    mean = sum(len(one.split()) for one in candidates) / 3
    wanted = []
    for one in candidates:
        counts, score = Counter(one.split()), 0.0
        for term in ("is", "parking", "free"):
            number = sum(term in other.split() for other in candidates)
            idf = math.log2(4 / max(number, 1))
            score += 8 * idf * counts[term] * 2.2 / (counts[term] + 1.2 * (0.25 + 0.75 * len(one.split()) / mean))
        wanted.append(score * 65536)
    assert got == pytest.approx(wanted, rel=1e-3)


def test_fitted_weights_come_from_the_texts_and_merge_in_any_order() -> None:
    texts = ["the cat", "the dog", "the parking"]
    whole = Frequencies()
    parts = [Frequencies(), Frequencies(0, {})]
    for place, text in enumerate(texts):
        whole.add(words(text, "en"))
        parts[place % 2].add(words(text, "en"))
    parts[1].merge(parts[0])
    assert parts[1] == whole
    scores = ranker("tfidf").fit(texts, "en").rank(["the cat"], ["the bird", "a cat"], "en")
    assert scores[1] > scores[0] > 0


def test_units_of_both_languages() -> None:
    assert words("I'd like 17:30!", "en") == ["i", "d", "like", "17:30"]
    assert words("好的,A座", "zh") == ["好", "的", "a", "座", "好的", "a座"]
    assert grams("to", "en") == ["_t", "to", "o_", "_to", "to_", "_to_"]
    assert grams("好的", "zh") == ["好", "的", "好的"]


def test_an_unknown_ranker_names_the_known() -> None:
    with pytest.raises(UsageError, match="bm25, characters, tfidf"):
        ranker("bert")
