"""BLEU, ROUGE and METEOR against other implementations, on random input; identity and emptiness."""

from __future__ import annotations

import math
import random
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from dialmill.pipelines.benchmarks.cgodial.sbd.scorer import bleu_4
from dialmill.pipelines.core.units import columns_of
from dialmill.pipelines.scoring import bleu, sentences, wordnet
from dialmill.pipelines.scoring.meteor import Meteor, stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

sacrebleu = pytest.importorskip("sacrebleu")
WORDS = st.sampled_from(["the", "hotel", "is", "in", "east", "17:30", ".", "yes", "no", "phone"])
ENGLISH = st.lists(WORDS, max_size=12).map(" ".join)
CHINESE = st.text(st.sampled_from(list("您好酒店在东边的电话是二十五元A7")), max_size=12)


def _sums(tokens: list[tuple[list[str], list[str]]]) -> dict[str, Any]:
    return {name: np.asarray(column.sum()) for name, column in columns_of([bleu.statistics(*pair) for pair in tokens]).items()}


def _bleu(language: str, pairs: list[tuple[str, str]]) -> float:
    tokens = bleu.tokenizer(language)
    return float(bleu.corpus_bleu(_sums([(tokens(said).split(), tokens(due).split()) for said, due in pairs])))


@pytest.mark.parametrize(("language", "texts"), [("en", ENGLISH), ("zh", CHINESE)])
@settings(max_examples=80)
@given(data=st.data())
def test_corpus_bleu_is_sacrebleu_s(language: str, texts: st.SearchStrategy[str], data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
    theirs = sacrebleu.BLEU(tokenize=bleu.TOKENIZERS[language], effective_order=True).corpus_score(
        [said for said, _ in pairs], [[due for _, due in pairs]]
    )
    assert _bleu(language, pairs) == pytest.approx(theirs.score, abs=1e-9)


@pytest.mark.parametrize(("language", "text"), [("en", "sounds good"), ("en", "yes"), ("zh", "左转"), ("zh", "好的，您的订单是A7。")])
def test_a_text_equal_to_its_reference_has_100_however_short(language: str, text: str) -> None:
    assert _bleu(language, [(text, text)]) == pytest.approx(100)
    assert _bleu(language, [("", text)]) == 0
    tokens = [(list(text), list(text))]
    assert float(bleu_4(_sums(tokens))) == pytest.approx(100)
    assert float(bleu_4(_sums([([], list(text))]))) == 0


def test_bleu_is_of_one_reference_each() -> None:
    # sacrebleu takes one list per reference, not per response: transposed, it gives a number all the same.
    pairs = [("a b c d e", "a b c d e"), ("f g h i j", "f g h i j"), ("x y z w v", "k l m n o")]
    assert 0 < _bleu("en", pairs) < 100
    assert _bleu("en", pairs[:2]) == pytest.approx(100)


@settings(max_examples=150)
@given(st.lists(WORDS, max_size=10), st.lists(WORDS, min_size=1, max_size=10))
def test_sentence_bleu_is_nltk_s(said: list[str], due: list[str]) -> None:
    nltk = pytest.importorskip("nltk.translate.bleu_score")
    ours = sentences.sentence_bleu(said, due)
    for n in range(1, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = nltk.sentence_bleu([due], said, [1 / n] * n)
        assert ours[n - 1] == pytest.approx(theirs, abs=1e-12)


def _lcs(a: list[str], b: list[str]) -> int:
    return 0 if not a or not b else _lcs(a[:-1], b[:-1]) + 1 if a[-1] == b[-1] else max(_lcs(a[:-1], b), _lcs(a, b[:-1]))


@settings(max_examples=60)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=7), st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=7))
def test_rouge_by_counting(said: list[str], due: list[str]) -> None:
    one, two, longest = sentences.rouge(said, due)

    def f(both: int, first: int, second: int) -> float:
        return 2 * both / (first + second) if both else 0.0

    assert one == pytest.approx(f(sum(min(said.count(word), due.count(word)) for word in set(said)), len(said), len(due)), abs=1e-7)
    pairs = [list(pairwise(side)) for side in (said, due)]
    both = sum(min(pairs[0].count(pair), pairs[1].count(pair)) for pair in set(pairs[0]))
    assert two == pytest.approx(f(both, *map(len, pairs)), abs=1e-7)
    if len(set(said)) == len(said) and len(set(due)) == len(due):
        assert longest == pytest.approx(f(_lcs(said, due), len(said), len(due)), abs=1e-7)


class _NoSynonyms:
    def synonyms(self, word: str) -> frozenset[str]:
        return frozenset([word])


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), st.integers(0, 1000))
def test_meteor_of_words_that_match_once(due: list[str], seed: int) -> None:
    said = [*random.Random(seed).sample(due, max(1, len(due) - 2)), "x"]
    places = [due.index(word) for word in said[:-1]]
    chunks = 1 + sum(after != before + 1 for before, after in pairwise(places))
    precision, recall = len(places) / len(said), len(places) / len(due)
    expected = 10 * precision * recall / (recall + 9 * precision) * (1 - 0.5 * (chunks / len(places)) ** 3)
    assert Meteor(_NoSynonyms(), str).score(said, due) == pytest.approx(expected)  # type: ignore[arg-type]


def test_meteor_of_nothing_is_0() -> None:
    meteor = Meteor(_NoSynonyms(), str)  # type: ignore[arg-type]
    assert meteor.score([], ["a"]) == meteor.score(["a"], []) == meteor.score(["a"], ["b"]) == 0


@pytest.mark.skipif(wordnet.folder() is None, reason="no WordNet 3.0 here (Debian: wordnet-base)")
def test_wordnet_s_synonyms_go_by_base_forms() -> None:
    where = wordnet.folder()
    assert where is not None
    words = wordnet.WordNet(where)
    assert {"car", "auto", "automobile"} <= words.synonyms("cars")
    assert {"go", "travel"} <= words.synonyms("went")
    assert {"large", "big"} <= words.synonyms("larger")
    assert words.synonyms("qwzxv") == {"qwzxv"}
    assert not any("_" in word or "(" in word for word in words.synonyms("good"))
    assert Meteor(words, stemmer()).score(["the", "car", "leaves"], ["the", "automobile", "leaves"]) > 0.9


def test_wordnet_of_another_version_is_not_taken(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"index.{part}").write_text("")
        (tmp_path / f"data.{part}").write_text("  1 This software is WordNet 3.1 Copyright\n")
    monkeypatch.setenv(wordnet.VARIABLE, str(tmp_path))
    assert wordnet.folder() != tmp_path
    (tmp_path / "data.noun").write_text("  1 This software is WordNet 3.0 Copyright\n")
    assert wordnet.folder() == tmp_path


def test_dstc9_normalisation() -> None:
    assert sentences.normalised("It's A b-side, the   End.") == ["it", "s", "b", "side", "end"]
    assert math.isclose(sentences.rouge(["a", "b"], ["a", "b"])[2], 1, abs_tol=1e-7)
