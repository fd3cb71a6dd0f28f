"""Text made speakable, English and Chinese."""

from __future__ import annotations

import pytest
from dialmill.perturbers.speech.numbers import cardinal, hanzi, ordinal, pairs
from dialmill.perturbers.speech.speakable import simplified, speakable, spoken, words
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("at 07:45", "at seven forty five"),
        ("at 7:45 pm", "at seven forty five p m"),
        ("by 9pm", "by nine p m"),
        ("at 12:00", "at twelve o'clock"),
        ("at 17:05", "at seventeen oh five"),
        ("at 7.45", "at seven forty five"),
        ("7.45 pounds", "seven point four five pounds"),
        ("£23.60", "twenty three pounds sixty"),
        ("$1", "one dollar"),
        ("train TR2635", "train t r two six three five"),
        ("cb21ab", "c b two one a b"),
        ("01223 358966", "zero one two two three three five eight nine six six"),
        ("the 21st", "the twenty first"),
        ("Mr. Smith", "mister smith"),
        ("St. Johns College, King St.", "saint johns college king street"),
        ("b&b", "b and b"),
        ("1,200 people", "twelve hundred people"),
        ("4-star", "four star"),
        ("5-10 people for $10-20", "five to ten people for ten dollars to twenty"),
        ("12-05-2020", "twelve zero five twenty twenty"),
        ("does n't", "does not"),
        ("I'd", "i would"),
        ("what's", "what is"),
        ("centre", "center"),
        ("[value_name]", "value name"),
    ],
)
def test_english(written: str, said: str) -> None:
    assert spoken(written, "en") == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("18:30的火车", "十八点三十分的火车"),
        ("人均50元", "人均五十元"),
        ("2019年", "二零一九年"),
        ("电话13800138", "电话幺三八零零幺三八"),
        ("电话010-62345678", "电话零幺零六二三四五六七八"),
        ("人均5000-10000元", "人均五千到一万元"),
        ("评分4.5分以上", "评分四点五分以上"),
        ("9:00-17:30", "九点到十七点三十分"),
        ("2:05，14:05", "两点零五分十四点零五分"),
        ("气温-5℃到25°C", "气温零下五摄氏度到二十五摄氏度"),
        ("¥50或$3.5", "五十元或三点五美元"),
        ("比分3:1，1/2杯", "比分三比一二分之一杯"),
        ("G1234次列车，305房间", "g幺二三四次列车三零五房间"),
        ("2个人，12000平方米", "两个人一万两千平方米"),
        ("3-2-1号，2021-05-03", "三杠二杠一号二零二一年五月三日"),
        ("打8折，105元，115元", "打八折一百零五元一百一十五元"),
        ("百分之10%", "百分之百分之十"),
        ("我想預訂車票", "我想预订车票"),
    ],
)
def test_chinese(written: str, said: str) -> None:
    assert spoken(written, "zh").replace(" ", "") == said


def test_style_is_no_difference() -> None:
    """Figures or words, British or American: the spoken form is one."""
    assert spoken("table for five at half past six in the centre", "en") == spoken("Table for 5 at half past 6 in the center!", "en")
    assert spoken("二十五元", "zh") == spoken("25元", "zh")


@pytest.mark.parametrize("text", ["", "?!", ":-)", "…", "👍"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_to_say(text: str, language: str) -> None:
    """Text without a word is not synthesised."""
    assert words(text, language) == ()
    assert speakable(text, language) == ""


def test_pauses_stay() -> None:
    assert speakable("Hi, is it at 7:45? I'd like that", "en") == "Hi, is it at seven forty five? I'd like that."
    assert speakable("你好，几点？", "zh") == "你好，几点？"


@given(st.text(max_size=60), st.sampled_from(["en", "zh"]))
def test_places(text: str, language: str) -> None:
    """Places lie in the text, in order; words of one token stand together; nothing raises."""
    reached = 0
    last = None
    for word in words(text, language):
        assert 0 <= word.start < word.end <= len(text)
        assert word.text and word.text == word.text.strip()
        assert word.start >= reached or (word.start, word.end) == last
        reached, last = word.end, (word.start, word.end)
    assert bool(speakable(text, language)) == bool(words(text, language))


@given(st.text(alphabet="0123456789:.-/ £apm", max_size=20))
def test_any_number_is_said(text: str) -> None:
    assert bool(words(text, "en")) == any(char.isalnum() for char in text)
    assert not any(char.isdigit() for word in words(text, "en") for char in word.text)


def test_numbers() -> None:
    assert " ".join(cardinal(0)) == "zero"
    assert " ".join(cardinal(999_999)) == "nine hundred ninety nine thousand nine hundred ninety nine"
    assert [" ".join(ordinal(n)) for n in (1, 2, 3, 5, 12, 20, 30)] == ["first", "second", "third", "fifth", "twelfth", "twentieth", "thirtieth"]
    assert " ".join(pairs("1900")) == "nineteen hundred"
    assert [hanzi(n) for n in (10, 15, 20, 102, 110, 1005, 20_000)] == ["十", "十五", "二十", "一百零二", "一百一十", "一千零五", "两万"]
    assert [hanzi(n) for n in (2500, 10_010, 120_000_000)] == ["两千五百", "一万零一十", "一亿两千万"]
    assert simplified("無線") == "无线"
