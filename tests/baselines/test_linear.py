"""The linear classifier: learns, keeps, and comes out the same whatever the order and the process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from dialmill.pipelines.baselines.linear import Example, LinearClassifier, context_features, text_features
from hypothesis import given, settings
from hypothesis import strategies as st

TEXTS = [
    *(("is there parking at the hotel", "ask"), ("can i bring my dog there", "ask"), ("do they serve breakfast", "ask"), ("is wifi free", "ask")),
    *(("book a table for two", "book"), ("book it for monday please", "book"), ("reserve a room", "book"), ("i need to book a taxi", "book")),
]
_EXAMPLES = [Example(text_features(text, "en"), label) for text, label in TEXTS]


def test_it_learns_words_and_survives_a_slip() -> None:
    model = LinearClassifier.train(_EXAMPLES)
    assert [model.predict(features) for features, _ in _EXAMPLES] == [label for _, label in TEXTS]
    assert model.predict(text_features("please bok a taable for three", "en")) == "book", "n-grams of characters see through typos"
    assert model.predict(text_features("is breakfast free", "en")) == "ask"


def test_it_learns_chinese() -> None:
    told = [("可以带宠物吗", "ask"), ("有停车位吗", "ask"), ("帮我订一张票", "book"), ("我要订房间", "book")]
    model = LinearClassifier.train(Example(text_features(text, "zh"), label) for text, label in told)
    assert model.predict(text_features("可以抽烟吗", "zh")) == "ask" and model.predict(text_features("订两张票", "zh")) == "book"


@settings(max_examples=15, deadline=None)
@given(st.permutations(_EXAMPLES))
def test_the_order_of_the_examples_changes_nothing(examples: list[Example]) -> None:
    assert LinearClassifier.train(examples).pack() == LinearClassifier.train(_EXAMPLES).pack()


def test_packed_and_unpacked_it_says_the_same() -> None:
    model = LinearClassifier.train(_EXAMPLES)
    again = LinearClassifier.unpack(model.pack())
    assert again.pack() == model.pack() and again.labels == ["ask", "book"]
    assert [again.scores(features) for features, _ in _EXAMPLES] == [model.scores(features) for features, _ in _EXAMPLES]


@pytest.mark.parametrize("seed", ["0", "7"])
def test_another_process_trains_the_same_model(seed: str) -> None:
    code = "from tests.baselines.test_linear import _EXAMPLES; from dialmill.pipelines.baselines.linear import *; import zlib\n"
    code += "print(zlib.crc32(LinearClassifier.train(_EXAMPLES).pack()))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
    import zlib

    assert int(done.stdout) == zlib.crc32(LinearClassifier.train(_EXAMPLES).pack())


def test_no_examples_and_one_class() -> None:
    assert LinearClassifier.train([]).predict(["w a"]) == ""
    assert LinearClassifier.train(_EXAMPLES[:2]).predict(["w never seen"]) == "ask"


def test_the_message_before_stands_apart() -> None:
    features = context_features(["which day", "monday"], "en")
    assert "w monday" in features and "bw day" in features and "w day" not in features
    assert context_features(["monday"], "en")[-1] == "b none"
