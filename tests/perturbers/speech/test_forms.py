"""The forms of output: plain and written, for the whole turn, with spans that follow."""

from __future__ import annotations

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.align import Change, apply_changes
from dialmill.perturbers.speech.forms import FILLERS, fillers, plain
from dialmill.perturbers.speech.numbers import hanzi, hanzi_number, write_hanzi, write_words
from dialmill.perturbers.speech.perturber import Speech
from dialmill.perturbers.speech.speakable import FILLED, words
from dialmill.perturbers.speech.wer import errors
from dialmill.schemas import Dialogue, Span, Turn
from dialmill.schemas.validate import check_dialogue
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import dialogues


def turn(text: str, *values: str) -> Turn:
    return Turn(0, "user", text, spans=tuple(Span(text.index(v), text.index(v) + len(v), v, "hotel", "x", v) for v in values))


@pytest.mark.parametrize(
    ("text", "values", "changes", "language", "utterance", "spans"),
    [
        ("I'd like a table at 7 pm, please!", ["7 pm"], [(3, 4, "the")], "en", "i'd like the table at seven p m please", [("seven p m", "kept")]),
        (
            "A table (for 2), at 7 pm",
            ["2", "7 pm"],
            [(3, 4, "too")],
            "en",
            "a table for too at seven p m",
            [("too", "changed"), ("seven p m", "kept")],
        ),
        (
            "Is it 07:45? <b> ok",
            ["07:45"],
            [(1, 1, "not"), (5, 6, "bee")],
            "en",
            "is not it seven forty five <b> okay",
            [("seven forty five", "kept")],
        ),
        ("人均5000-10000元，有wifi吗？", ["5000-10000元"], [(0, 1, "仁")], "zh", "仁均五千到一万元有wifi吗", [("五千到一万元", "kept")]),
        ("评分4.5分，订单 A1B2 好", ["4.5分"], [], "zh", "评分四点五分订单 A1B2 好", [("四点五分", "kept")]),
    ],
)
def test_plain(
    text: str, values: list[str], changes: list[tuple[int, int, str]], language: str, utterance: str, spans: list[tuple[str | None, str]]
) -> None:
    made = apply_changes(turn(text, *values), words(text, language), [Change(*one) for one in changes], language, "plain")
    assert made.utterance == utterance
    assert [(span.text, span.status) for span in made.spans] == spans
    record = Dialogue(dialogue_id="a/standard/0", source="test", source_id="a", language=language, turns=(made,))
    assert check_dialogue(record) == []


@pytest.mark.parametrize("language", ["en", "zh"])
@given(source=dialogues())
def test_plain_on_any_dialogue(language: str, source: Dialogue) -> None:
    assert check_dialogue(Speech(engine="text", wer=0.5, output="plain", fillers=1).perturb(source.replace(language=language), 1)) == []


PARTS = {
    "en": [
        "I'd like",
        "7:45 pm",
        "£23.60",
        "B&B,",
        "the Centre.",
        "does n't",
        "01223 358966",
        "5-10",
        "please?",
        "Wi-Fi",
        "3rd",
        "TR2635",
        "3",
        "ok",
    ],
    "zh": ["我想订", "5000-10000元", "，", "7:45", "25℃", "50%", "吗？", "wifi", "13812345678", "A1B2", "2个", "4.5分", "谢谢。", "无線"],
}


@pytest.mark.parametrize("language", ["en", "zh"])
@given(data=st.data())
def test_plain_text_says_the_same_and_stays_plain(language: str, data: st.DataObject) -> None:
    text = " ".join(data.draw(st.lists(st.sampled_from(PARTS[language]), min_size=1, max_size=7)))
    made = plain(text, language)
    assert plain(made, language) == made
    assert errors(text, made, language).total == 0
    rest = made.replace("TR2635", "").replace("A1B2", "")
    assert rest == rest.lower() and not any(char.isdigit() or char in ",.?，。？£%-:" for char in rest)


def test_fillers_are_as_many_as_asked_and_are_no_errors() -> None:
    drawn = [fillers(Rng("f", number), 0.6, 9, "en") for number in range(800)]
    assert sum(bool(one) for one in drawn) / 800 == pytest.approx(0.6, abs=0.05)
    assert all(filler in FILLED[language] for language, some in FILLERS.items() for filler, _ in some)
    assert errors("i need a hotel", "um i need uh a hotel", "en").total == 0 and errors("我想订票", "嗯我想订票", "zh").total == 0
    assert errors("uh", "uh", "en").length == 1
    text = "I need a hotel in the north for 2 people."
    dialogue = Dialogue(dialogue_id="a/standard/0", source="test", source_id="a", turns=(Turn(0, "user", text),))
    made = [Speech(engine="text", wer=0.001, output="plain", fillers=0.6).perturb(dialogue, seed).turns[0].utterance for seed in range(60)]
    assert 20 <= sum(any(word in FILLED["en"] for word in one.split()) for one in made) <= 50
    assert Speech(engine="text", wer=0.001).perturb(dialogue, 1).turns[0].utterance == text


@given(st.integers(0, 10**12 - 1))
def test_numbers_are_written_back(number: int) -> None:
    assert hanzi_number(hanzi(number)) == number
    if number > 9:
        assert write_hanzi(hanzi(number)) == str(number)


def test_what_is_recognised_in_place_of_digits_is_in_digits() -> None:
    assert write_hanzi("五千到一万元") == "5000到10000元" and write_hanzi("四点五分以上") == "4.5分以上"
    assert write_hanzi("九点三十分") == "九点30分" and write_hanzi("一下") == "一下" and write_hanzi("万一") == "万一"
    assert write_words("seven forty nine", True) == "7:49" and write_words("twenty five", False) == "25"
    assert write_words("eleven oh five p m", True) == "11:05 pm" and write_words("the heaven", True) == "the heaven"
    text = "come at 07:45 , for 2"
    made = apply_changes(turn(text), words(text, "en"), [Change(2, 5, "seven forty nine")], "en")
    assert made.utterance == "come at 7:49 , for 2"
