"""Edits: exact text, exact spans, reversible, composable."""

from __future__ import annotations

import pytest
from dialmill.schemas import Edit, EditError, Span, Turn, apply_edits
from dialmill.schemas.edits import compose, edit_text, invert, minimal_edits
from hypothesis import given
from hypothesis import strategies as st

TEXT = st.text(alphabet=st.sampled_from("ab é中\U0001f600."), max_size=30)


@st.composite
def text_and_edits(draw, text=TEXT):
    source = draw(text)
    return source, draw(edits_for(source))


@st.composite
def edits_for(draw, source):
    places = sorted(draw(st.lists(st.integers(0, len(source)), max_size=8)))
    edits = []
    for start, end in zip(places[::2], places[1::2], strict=False):
        # Strictly apart, so that no two insertions meet.
        if edits and start <= edits[-1].end:
            continue
        edits.append(Edit(start, end, draw(st.text(alphabet="xyab中", max_size=5))))
    return tuple(edits)


@given(text_and_edits())
def test_inverse_restores_the_source(case):
    text, edits = case
    changed = edit_text(text, edits)
    assert edit_text(changed, invert(text, edits)) == text


@given(text_and_edits())
def test_minimal_edits_have_the_same_effect(case):
    text, edits = case
    small = minimal_edits(text, edits)
    assert edit_text(text, small) == edit_text(text, edits)
    assert all(text[e.start : e.end] != e.replacement for e in small)


@given(st.data())
def test_composition_equals_doing_one_after_the_other(data):
    text, first = data.draw(text_and_edits())
    middle = edit_text(text, first)
    second = data.draw(edits_for(middle))
    assert edit_text(text, compose(text, first, second)) == edit_text(middle, second)


@given(st.data())
def test_spans_stay_exact_and_the_record_leads_back(data):
    text, edits = data.draw(text_and_edits())
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    spans = ()
    if places[0] < places[1]:
        start, end = places
        spans = (Span(start, end, text[start:end], "hotel", "area", "x"),)
    turn = Turn(0, "user", text, spans=spans)
    once = apply_edits(turn, edits)
    twice = apply_edits(once, data.draw(edits_for(once.utterance)))
    for result in (once, twice):
        assert result.source_text == text
        assert edit_text(result.source_text, result.edits) == result.utterance
        assert (result.original is None) == (result.utterance == text)
        for span in result.spans:
            if span.status == "lost":
                assert (span.start, span.end, span.text) == (None, None, None)
            else:
                assert result.utterance[span.start : span.end] == span.text
                assert span.start < span.end


def test_insertions_at_the_ends_stay_outside_a_span():
    turn = Turn(0, "user", "in the east side", spans=(Span(7, 11, "east", "hotel", "area", "east"),))
    moved = apply_edits(turn, [Edit(7, 7, "far "), Edit(11, 11, "ern")])
    assert moved.utterance == "in the far eastern side"
    assert moved.spans == (Span(11, 15, "east", "hotel", "area", "east"),)


@pytest.mark.parametrize(
    ("edits", "text", "status"),
    [
        ([Edit(8, 10, "")], "et", "changed"),
        ([Edit(7, 11, "")], None, "lost"),
        ([Edit(5, 9, "XX")], "XXst", "changed"),
        ([Edit(9, 13, "YY")], "eaYY", "changed"),
        ([Edit(0, 3, "")], "east", "kept"),
    ],
)
def test_edits_across_a_span(edits, text, status):
    turn = Turn(0, "user", "in the east side", spans=(Span(7, 11, "east", "hotel", "area", "east"),))
    (span,) = apply_edits(turn, edits).spans
    assert (span.text, span.status) == (text, status)


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(3, 2, "x")],
        [Edit(-1, 2, "x")],
        [Edit(0, 99, "x")],
        [Edit(2, 4, "x"), Edit(3, 5, "y")],
        [Edit(2, 4, "x"), Edit(0, 1, "y")],
    ],
)
def test_impossible_edits_are_refused(edits):
    with pytest.raises(EditError):
        apply_edits(Turn(0, "user", "abcdef"), edits)


def test_a_turn_brought_back_to_its_source_has_no_trace():
    turn = Turn(0, "user", "hotel")
    there = apply_edits(turn, [Edit(3, 5, "le")])
    assert there.original == "hotel" and there.edits == (Edit(3, 5, "le"),)
    assert apply_edits(there, [Edit(3, 5, "el")]) == turn


def test_insertions_at_one_place_join_in_their_order():
    turn = Turn(turn=0, speaker="user", utterance="我要去")
    made = apply_edits(turn, [Edit(1, 1, "呃"), Edit(1, 1, "，"), Edit(1, 2, "想")])
    assert made.utterance == "我呃，想去"
    assert edit_text(made.original, made.edits) == made.utterance
