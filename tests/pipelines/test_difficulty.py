"""How far wording is from what was seen: by definition, on both languages, and as builds state it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.perturbers.core import difficulty
from dialmill.perturbers.core.difficulty import Reference, WordingPool, measure, near_copy, token_list
from dialmill.perturbers.core.pools import build_table
from dialmill.schemas import Dialogue, Turn
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.tools import DATA, call


def _dialogue(identity: str, split: str, *texts: str, language: str = "en") -> Dialogue:
    turns = tuple(Turn(turn=number, speaker="user", utterance=text) for number, text in enumerate(texts))
    return Dialogue(dialogue_id=identity, source="x", source_id=identity, language=language, split=split, domains=("hotel",), turns=turns)


@pytest.fixture(autouse=True)
def _every_gram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difficulty, "SAMPLED", 1)


def test_novel_is_what_no_turn_outside_test_has() -> None:
    seen = [_dialogue("a", "train", "i need a cheap hotel"), _dialogue("b", "test", "any lodge will do"), _dialogue("c", "valid", "in the north")]
    reference = Reference(build_table(WordingPool(), seen))
    same = measure("I need a cheap hotel", "I need a cheap hotel", "en", reference)
    assert (same.novel_words, same.novel_bigrams, same.bigrams, same.distance, same.near_copies) == (0, 0, 6, 0, 1)
    other = measure("any cheap lodge", "I need a cheap hotel", "en", reference)
    assert (other.words, other.novel_words, other.bigrams, other.novel_bigrams) == (3, 2, 4, 4)
    assert (other.distance, other.source_words, other.near_copies) == (4, 5, 0)


def test_chinese_words_are_jieba_s() -> None:
    assert "酒店" in token_list("我想订一间便宜的酒店。", "zh") and "。" not in token_list("我想订一间便宜的酒店。", "zh")
    reference = Reference(build_table(WordingPool(), [_dialogue("a", "train", "我想订酒店", language="zh")]))
    assert measure("我想订酒店", "我想订酒店", "zh", reference).novel_bigrams == 0
    assert measure("便宜的酒店有吗", "我想订酒店", "zh", reference).novel_bigrams > 0


@pytest.mark.parametrize(
    ("text", "source", "language", "expected"),
    [
        ("Could you please find me a cheap hotel ?", "I need a cheap hotel .", "en", True),
        ("Somewhere cheap to sleep", "I need a cheap hotel .", "en", False),
        ("请问能帮我找一家酒店吗", "想找一家酒店", "zh", True),
        ("有没有住的地方", "想找一家酒店", "zh", False),
        ("谢谢啊", "好的，谢谢你", "zh", True),
        ("多谢", "好的，谢谢你", "zh", False),
        ("Thanks .", "Thank you !", "en", True),
        ("Hello !", "Thank you !", "en", False),
    ],
)
def test_near_copies_differ_in_frames_alone(text: str, source: str, language: str, expected: bool) -> None:
    assert near_copy(token_list(text, language), token_list(source, language), language) is expected


@given(st.lists(st.sampled_from(["a cheap hotel", "in the north", "for two people", "thanks"]), min_size=1, max_size=4))
def test_what_the_reference_holds_is_never_novel(texts: list[str]) -> None:
    reference = Reference(build_table(WordingPool(), [_dialogue("a", "train", *texts)]))
    for text in texts:
        assert measure(text, text, "en", reference).novel_bigrams == 0


def test_builds_state_it(tmp_path: Path) -> None:
    words = ["build", "raddle", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--set", "suites=standard,typos,paraphrase", "--quiet"]
    assert call(*words).code == 0
    found = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))["difficulty"]
    assert set(found) == {"standard", "typos", "paraphrase"}
    assert found["standard"]["changed_share"] == 0 and found["standard"]["all"]["near_copies"] == 1
    assert found["typos"]["all"]["novel_words"] > found["standard"]["all"]["novel_words"]
    assert "## Difficulty of the wording" in (tmp_path / "out/README.md").read_text("utf-8")
    assert call("verify", tmp_path / "out").code == 0
