"""Error rates, and transcripts laid against utterances."""

from __future__ import annotations

import pytest
from dialmill.perturbers.speech.align import Change, apply_transcript, edits
from dialmill.perturbers.speech.sounds import likeness
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import Errors, corpus_rate, edit_errors, errors, raw_errors, unify
from dialmill.schemas import Dialogue, SlotValues, Span, Turn
from dialmill.schemas.edits import edit_text
from dialmill.schemas.validate import check_dialogue
from hypothesis import given, settings
from hypothesis import strategies as st


def turn(text: str, *values: str) -> Turn:
    spans = tuple(Span(text.index(v), text.index(v) + len(v), v, "hotel", "name", v.lower()) for v in values)
    return Turn(0, "user", text, spans=spans, state=tuple(SlotValues("hotel", "name", (v.lower(),)) for v in values))


def check(made: Turn, language: str = "en") -> None:
    record = Dialogue(dialogue_id="a/standard/0", source="test", source_id="a", language=language, turns=(made,))
    assert check_dialogue(record) == []


@pytest.mark.parametrize(
    ("text", "values", "transcript", "utterance", "spans"),
    [
        # The value is transcribed as other words than its own.
        ("find a guesthouse in the north", ["guesthouse", "north"], "Find a guest how is in the north.",
         "Find a guest how is in the north.", [("guest how is", "changed"), ("north", "kept")]),
        # Another writing of the same words is no error: the value is kept.
        ("I need it at 07:45 in the Centre.", ["07:45", "Centre"], "i need it at seven forty five in the center",
         "i need it at seven forty five in the center", [("seven forty five", "kept"), ("center", "kept")]),
        # A token of several words is right or wrong as a whole.
        ("come at 07:45 please", ["07:45"], "come at 7:55 please", "come at 7:55 please", [("7:55", "changed")]),
        ("a hotel in the east", ["east"], "a hotel in the", "a hotel in the", [(None, "lost")]),
        ("the guest house", ["guest house"], "guesthouse", "guesthouse", [("guesthouse", "kept")]),
        ("yes to the golden wok", ["golden wok"], "yes to the golden walk now", "yes to the golden walk now", [("golden walk", "changed")]),
        ("the east", ["east"], "the mountain", "the mountain", [(None, "lost")]),
    ],
)  # fmt: skip
def test_lay(text: str, values: list[str], transcript: str, utterance: str, spans: list[tuple[str | None, str]]) -> None:
    before = turn(text, *values)
    made = apply_transcript(before, transcript, "en")
    assert made.utterance == utterance
    assert [(span.text, span.status) for span in made.spans] == spans
    assert made.state == before.state
    check(made)


def test_lay_chinese() -> None:
    made = apply_transcript(turn("我想预订一家川菜馆，人均50元", "川菜馆", "50元"), "我想預定一家穿太管人均50元", "zh")
    assert made.utterance == "我想预定一家穿太管人均50元"
    assert [(span.text, span.status) for span in made.spans] == [("穿太管", "changed"), ("50元", "kept")]
    check(made, "zh")


WORDS = ["hotel", "east", "the", "07:45", "guest house", "yes", "golden", "wok", "walk", "two", "to", "£23.60"]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.lists(st.sampled_from(WORDS), max_size=8), st.data())
def test_lay_any(said: list[str], heard: list[str], data: st.DataObject) -> None:
    """Whatever is heard: the words of the result are the transcript's, every span has a status and its text, records stay valid."""
    text = ", ".join(said)
    values = data.draw(st.lists(st.sampled_from(said), unique=True, max_size=2))
    made = apply_transcript(turn(text, *values), " ".join(heard), "en")
    check(made)
    assert errors(" ".join(heard), made.utterance, "en").total == 0
    for span in made.spans:
        assert span.status == "lost" or made.utterance[span.start : span.end] == span.text


def reference_distance(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return reference_distance(one[1:], other[1:])
    return 1 + min(reference_distance(one[1:], other), reference_distance(one, other[1:]), reference_distance(one[1:], other[1:]))


@given(st.lists(st.sampled_from("ab"), max_size=5), st.lists(st.sampled_from("ab"), max_size=5))
def test_errors_are_the_distance(one: list[str], other: list[str]) -> None:
    found = edit_errors(one, other)
    assert found.total == reference_distance(one, other)
    assert len(one) - found.deletions + found.insertions == len(other)
    assert min(found) >= 0


def test_raw_and_normalised() -> None:
    """Case, punctuation and the writing of numbers count in the raw rate alone."""
    reference, heard = "table for five at 6:30 in the centre", "Table for 5 at six thirty in the center."
    assert raw_errors(reference, heard, "en").total > 3 > errors(reference, heard, "en").total == 0
    assert raw_errors("二十五元", "25元", "zh").total == 3
    assert errors("二十五元", "25元", "zh").total == 0
    assert errors("无线网络", "無線網絡", "zh").total == 0
    assert unify(["guesthouse"], ["guest", "house"]) == ["guesthouse"]
    assert unify(["guest", "house"], ["guesthouse"]) == ["guest", "house"]


def test_corpus_rate() -> None:
    rate = corpus_rate([Errors(1, 0, 0, 10), Errors(3, 0, 0, 10)])
    assert rate.rate == 0.2
    assert rate.low < 0.2 < rate.high
    assert corpus_rate([]).rate == 0.0


def test_likeness() -> None:
    assert likeness("wok", "walk", "en") > 0.45 > likeness("east", "mountain", "en")
    assert likeness("four", "for", "en") > 0.8
    assert likeness("川菜馆", "穿太管", "zh") > 0.6


@pytest.mark.parametrize(
    ("text", "changes", "left"),
    [
        ("Do you have it ?", [(0, 1, ""), (1, 2, "")], "Have it ?"),
        ("Fine . Do you have it ?", [(1, 2, ""), (2, 3, "")], "Fine . Have it ?"),
        ("Do you have it ?", [(1, 2, ""), (2, 3, "")], "Do it ?"),
        ("Do you have it ?", [(0, 1, ""), (2, 3, "")], "You it ?"),
        ("你，好吗", [(0, 1, ""), (1, 2, "")], "吗"),
    ],
)
def test_words_that_are_not_heard_leave_no_blanks(text: str, changes: list[tuple[int, int, str]], left: str) -> None:
    language = "zh" if text[0] > "z" else "en"
    said = words(text, language)
    assert edit_text(text, edits(text, said, [Change(*one) for one in changes], language)) == left


@pytest.mark.parametrize(
    ("text", "changes", "left"),
    [
        ("I may be late . Can you wait ?", [(0, 1, "")], "May be late . Can you wait ?"),
        ("Great ! Thanks a lot .", [(0, 0, "are")], "Are great ! Thanks a lot ."),
        ("I may be late .", [(0, 0, "so")], "So I may be late ."),
        ("TR42 leaves now .", [(0, 0, "the")], "The TR42 leaves now ."),
        ("It is late . Can you wait ?", [(3, 4, "")], "It is late . You wait ?"),
        ("I may be late .", [(0, 1, ""), (1, 2, "can")], "Can be late ."),
        ("so may be late .", [(0, 1, "")], "may be late ."),
    ],
)
def test_a_sentence_begins_with_its_capital_whatever_is_recognised(text: str, changes: list[tuple[int, int, str]], left: str) -> None:
    said = words(text, "en")
    made = edit_text(text, edits(text, said, [Change(*one) for one in changes], "en"))
    assert made == left
