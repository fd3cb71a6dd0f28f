"""Values as corpora write them."""

from __future__ import annotations

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources import normalise
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("text", ["", "  ", "none", "None", "not mentioned", "Not Mentioned", "\tnot  mentioned "])
def test_words_for_no_value(text: str) -> None:
    assert normalise.text_values(text) == ()


@pytest.mark.parametrize("text", ["dontcare", "dont care", "don't care", "do n't care", "Don’t care", "do not care", "doesn't care"])
def test_every_spelling_of_dontcare(text: str) -> None:
    assert normalise.text_values(text) == ("dontcare",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("christs college|saint catharines", ("christs college", "saint catharines")),
        ("caribbean>indian", ("caribbean", "indian")),
        ("17:30|17:30", ("17:30",)),
        ("a||b|", ("a", "b")),
        ("friday>none", ("friday",)),
        ("ABC Theatre", ("ABC Theatre",)),
        ("  curry   garden ", ("curry garden",)),
    ],
)
def test_several_values(text: str, expected: tuple[str, ...]) -> None:
    assert normalise.text_values(text) == expected


@pytest.mark.parametrize(
    ("damaged", "mended"),
    [
        ("caf\u8068 jello galery", "caf\u00e9 jello galery"),  # Mac Roman, then Latin-1, then UTF-8 read as GBK
        ("caf\u8305 marisol", "caf\u00e9 marisol"),  # UTF-8 read as GBK
        ("rosa\u9225\u6a9a", "rosa\u2019s"),
        ("caf\u00c3\u00a9", "caf\u00e9"),  # UTF-8 read as Latin-1
        ("caf\u00e9 marisol", "caf\u00e9 marisol"),  # sound already
        ("plain", "plain"),
        ("\u56db\u91cd\u594f", "\u56db\u91cd\u594f"),  # real Chinese has no such reading
    ],
)
def test_mojibake(damaged: str, mended: str) -> None:
    assert normalise.mend(damaged) == mended


@pytest.mark.parametrize(
    ("segmented", "whole"),
    [
        ("2010 年代", "2010年代"),
        ("沙特 鲁汉 . 辛哈", "沙特鲁汉.辛哈"),
        ("联想   -   小 新潮 7000", "联想-小新潮7000"),
        ("当天   08 : 15", "当天08:15"),
        ("0512 - 67603337", "0512-67603337"),
        ("<   15", "<15"),
        ("MacBook   Air", "MacBook Air"),
        ("14.0 英寸", "14.0英寸"),
    ],
)
def test_word_segmentation(segmented: str, whole: str) -> None:
    assert normalise.unsegment(segmented) == whole
    assert normalise.text_values(segmented, "zh") == (whole,)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, ("yes",)),
        (False, ("no",)),
        (1408, ("1408",)),
        (4.0, ("4",)),
        (4.5, ("4.5",)),
        (None, ()),
        ([], ()),
        (["1408", 1408, True, None, "none"], ("1408", "yes")),
        (["a|b", "b"], ("a", "b")),
    ],
)
def test_json_values_become_strings(value: object, expected: tuple[str, ...]) -> None:
    """Booleans and numbers become the words that other files have for them."""
    assert normalise.values(value, "x") == expected


@pytest.mark.parametrize("value", [{}, {"a": 1}, [["a"]], [{}]])
def test_what_is_no_value_names_its_place(value: object) -> None:
    with pytest.raises(RecordError) as caught:
        normalise.values(value, "log[1].metadata.hotel.semi.area")
    assert caught.value.reason == "wrong_type"
    assert "log[1].metadata.hotel.semi.area" in caught.value.evidence


@given(st.text(), st.sampled_from(["en", "zh"]))
def test_values_are_settled(text: str, language: str) -> None:
    """Reading a value again changes nothing, and no value is blank or repeated."""
    values = normalise.text_values(text, language)
    assert len(set(values)) == len(values)
    for value in values:
        assert value.strip()
        if language == "zh" or value.isascii():
            assert normalise.single(value, language) == value


@given(st.text("ab 1-éЖ", max_size=12))
def test_mending_never_loses_sound_text(text: str) -> None:
    damaged = text.encode("utf-8").decode("latin-1")
    assert normalise.mend(damaged) == text
