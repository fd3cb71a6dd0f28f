"""Claims about places: proved, moved, or left out."""

from __future__ import annotations

import pytest
from dialmill.pipelines.sources.spans import Claim, Tokens, prove, settle, whole, widen
from hypothesis import given
from hypothesis import strategies as st


def _claim(value: str, start: int | None = None, end: int | None = None, slot: str = "name") -> Claim:
    return Claim("hotel", slot, value, start, end)


@given(st.text("ab .\t\n\u00a0\u2003\x1c", max_size=20))
def test_tokens_are_those_of_split(text: str) -> None:
    tokens, words = Tokens(text), text.split()
    for first, word in enumerate(words):
        for last in range(first, len(words)):
            start, end = tokens.place(first, last)
            assert text[start:end].split() == words[first : last + 1]
            assert text[start : start + len(word)] == word
            assert end == len(text) or text[end].isspace()
    for first, last in ((len(words), len(words)), (-1, 0), (1, 0)):
        assert tokens.place(first, last) == (0, 0)


def test_both_conventions_give_the_same_span() -> None:
    """MultiWOZ 2.1 has token offsets with inclusive ends, 2.2 character offsets with exclusive ones."""
    text = "I want the elm house please"
    from_21 = settle(text, [_claim("elm house", *Tokens(text).place(3, 4))])
    from_22 = settle(text, [_claim("elm house", 11, 20)])
    assert from_21 == from_22
    assert (from_21.spans[0].start, from_21.spans[0].end, from_21.spans[0].text) == (11, 20, "elm house")


@pytest.mark.parametrize(
    ("text", "claimed", "value", "expected"),
    [
        ("in the east.", "east.", "east", "east"),
        ('the "Elm House" ,', '"Elm House"', "elm house", "Elm House"),
        ("at Christ 's college", "Christ 's", "christ's", "Christ 's"),
        ("costs £ 24.00 now", "£ 24.00", "24.00", "24.00"),
    ],
)
def test_up_to_case_blanks_and_punctuation(text: str, claimed: str, value: str, expected: str) -> None:
    start = text.index(claimed)
    place = prove(text, start, start + len(claimed), value)
    assert place is not None
    assert text[slice(*place)] == expected


@pytest.mark.parametrize(("text", "start", "end", "value"), [("at 17:30", 6, 8, "30"), ("hotels", 0, 5, "hotel"), ("1.5 miles", 0, 3, "15")])
def test_no_half_words_and_no_half_numbers(text: str, start: int, end: int, value: str) -> None:
    assert prove(text, start, end, value) is None


@pytest.mark.parametrize(("start", "end"), [(5, 3), (-2, 4), (90, 95), (0, 0), (3, 400)])
def test_offsets_out_of_range_or_in_the_wrong_order(start: int, end: int) -> None:
    settled = settle("a cheap place", [_claim("cheap", start, end, "pricerange")])
    assert [span.text for span in settled.spans] == ["cheap"]
    assert (settled.moved, settled.lost) == (1, 0)
    assert settle("a dear place", [_claim("cheap", start, end, "pricerange")]).lost == 1


def test_not_inside_a_longer_name() -> None:
    """The area is the second north, the first is part of the name."""
    text = "The north star inn is in the north of town."
    for claims in (
        [_claim("north", slot="area"), _claim("north star inn")],
        [_claim("north", 90, 95, "area"), _claim("north star inn", 4, 18)],
    ):
        spans = {span.slot: (span.start, span.end) for span in settle(text, claims).spans}
        assert spans == {"name": (4, 18), "area": (29, 34)}


def test_the_word_that_is_named_comes_before_others() -> None:
    text = "1 night for one person"
    start = text.index("one")
    settled = settle(text, [_claim("1", start, start + 3, "book people")])
    assert (settled.spans[0].start, settled.spans[0].text, settled.moved) == (start, "one", 0)


def test_a_span_covers_the_whole_word() -> None:
    text = "a moderately priced hotel"
    (span,) = settle(text, [_claim("moderate", 2, 10, "pricerange")]).spans
    assert span.text is not None and span.text.startswith("moderately")
    assert widen(text, 2, 10) == (2, 12)


def test_one_word_may_serve_two_slots() -> None:
    text = "something expensive"
    settled = settle(text, [Claim("hotel", "pricerange", "expensive", 10, 19), Claim("restaurant", "pricerange", "expensive")])
    assert [(span.domain, span.start) for span in settled.spans] == [("hotel", 10), ("restaurant", 10)]


def test_equal_claims_give_one_span() -> None:
    assert len(settle("go east", [_claim("east", 3, 7), _claim("east", 3, 7)]).spans) == 1


def test_claims_without_a_place_are_never_lost() -> None:
    assert settle("nothing here", [_claim("elm house")]) == ((), 0, 0, 0)


@given(
    st.lists(st.sampled_from(["elm", "house", "7", "17:30", "east", "eastern", ",", "one", "£3.50", "é", "酒店"]), max_size=8).map(" ".join),
    st.lists(
        st.tuples(st.sampled_from(["elm house", "7", "17:30", "east", "1", "", "?", "."]), st.integers(-3, 40), st.integers(-3, 40)), max_size=4
    ),
)
def test_whatever_is_claimed_spans_are_exact_and_whole(text: str, claims: list[tuple[str, int, int]]) -> None:
    settled = settle(text, [_claim(value, start, end) for value, start, end in claims])
    order = [(span.start, span.end) for span in settled.spans]
    assert order == sorted(order)
    for span in settled.spans:
        assert span.start is not None and span.end is not None
        assert 0 <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        assert whole(text, span.start, span.end)
    assert len(settled.spans) + settled.lost <= len(claims)
