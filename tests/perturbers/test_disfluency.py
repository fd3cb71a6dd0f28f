"""Disfluencies: only insertions, at the rates of the literature, where people are disfluent; repairs on request and on record."""

from __future__ import annotations

import hashlib
import re

import pytest
from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.disfluency.perturber import REPAIRED, Disfluency
from dialmill.schemas import Act, Dialogue, Span, Turn
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.perturbers.test_typos import CHINESE, ENGLISH, dialogue, located


def _texts(made: Dialogue) -> list[str]:
    return [turn.utterance for turn in made.turns]


@pytest.mark.parametrize(("texts", "language"), [(ENGLISH, "en"), (CHINESE, "zh")])
def test_a_disfluency_inserts_and_changes_nothing(texts: list[str], language: str) -> None:
    for seed in range(20):
        for before, after in zip(texts, Disfluency(rate=0.2).perturb(dialogue(*texts, language=language), seed).turns, strict=True):
            assert all(edit.start == edit.end for edit in after.edits)
            # Taken out again, the source is there to the letter.
            kept = iter(after.utterance)
            assert all(any(char == other for other in kept) for char in before)


@pytest.mark.parametrize(("setting", "rate"), [("conversation", 0.06), ("computer", 0.02)])
def test_the_rate_is_that_of_the_literature(setting: str, rate: float) -> None:
    words = insertions = 0
    for seed in range(120):
        made = Disfluency(setting=setting).perturb(dialogue(*ENGLISH), seed)  # type: ignore[arg-type]
        words += sum(len(text.split()) for text in ENGLISH)
        insertions += sum(len(turn.edits) for turn in made.turns)
    assert 0.75 * rate < insertions / words < 1.15 * rate


def test_short_turns_stay_fluent_and_say_so_but_never_all_of_them() -> None:
    source = dialogue("Yes please, that is fine.", "I need a hotel.", "Thanks, bye.")
    for seed in range(60):
        made = Disfluency(setting="computer").perturb(source, seed)
        assert made.turns != source.turns and made.lineage[-1].outcome == "changed"
        fluent = {skip.turn for skip in made.lineage[-1].skipped}
        assert {skip.reason for skip in made.lineage[-1].skipped} <= {"stays_fluent", "no_edit_possible"}
        assert fluent == {turn.turn for turn in made.turns if turn.original is None}


def test_a_dialogue_that_takes_none_says_why() -> None:
    made = Disfluency().perturb(dialogue("", "?", "🙂"), 1)
    assert made.lineage[-1].outcome == "skipped" and len(made.lineage[-1].skipped) == 3


def test_tokenised_text_gets_tokenised_commas_and_lower_case_stays_lower() -> None:
    seen = set()
    for seed in range(80):
        for turn in Disfluency(rate=0.3).perturb(dialogue("i 'd like a cheap hotel in the north , please .", "I am leaving on Monday."), seed).turns:
            for edit in turn.edits:
                seen.add(edit.replacement.strip())
                if turn.turn == 0:
                    assert edit.replacement.islower() or not any(char.isalpha() for char in edit.replacement)
                    assert not re.search(r"\w,", edit.replacement)
    assert {"um ,", "uh ,"} <= seen and any(piece.startswith("Um,") for piece in seen)


def test_a_clitic_is_not_cut_from_its_word() -> None:
    for seed in range(80):
        text = Disfluency(rate=0.5).perturb(dialogue("i 'd like it , but i do n't need a room"), seed).turns[0].utterance
        assert "i 'd" in text and "do n't" in text


def test_chinese_fillers_stand_at_clause_starts_with_one_comma() -> None:
    for seed in range(60):
        for turn in Disfluency(rate=0.3).perturb(dialogue(*CHINESE, language="zh"), seed).turns:
            assert not re.search(r"[，。！？；…][，。！？；]", turn.utterance), turn.utterance
            for edit in turn.edits:
                source = turn.source_text
                assert edit.start == 0 or source[edit.start - 1] in "，。！？；!?,", (source, edit)
                assert len(edit.replacement) <= 6


def test_values_are_never_torn() -> None:
    text = "Book the Golden Wok Inn for 5 people on friday at 17:30 please"
    values = [("name", "Golden Wok Inn"), ("people", "5"), ("day", "friday"), ("time", "17:30")]
    source = dialogue(text).replace(turns=(located(text, *values),))
    for seed in range(60):
        turn = Disfluency(rate=0.5).perturb(source, seed).turns[0]
        for span, (_, value) in zip(turn.spans, values, strict=True):
            assert span.status == "kept" and turn.utterance[span.start or 0 : span.end or 0] == value == span.text


def test_repairs_are_off_by_default() -> None:
    text = "I want to go on tuesday."
    source = dialogue(text).replace(turns=(located(text, ("day", "tuesday")),))
    assert not any(REPAIRED in Disfluency(rate=0.3).perturb(source, seed).turns[0].labels for seed in range(30))


def test_a_repair_keeps_the_final_value_and_is_on_record() -> None:
    text = "I want a table for 5 people on tuesday at 19:15."
    source = dialogue(text).replace(turns=(located(text, ("people", "5"), ("day", "tuesday"), ("time", "19:15")),))
    repaired = 0
    for seed in range(60):
        made = Disfluency(repairs=1.0).perturb(source, seed)
        (turn,) = made.turns
        assert REPAIRED in turn.labels
        assert [span.text for span in turn.spans] == ["5", "tuesday", "19:15"] and all(span.status == "kept" for span in turn.spans)
        (reason,) = made.lineage[-1].reasons
        match = re.fullmatch(r"turn 0: self_repair \[(\d+), (\d+)\): '(.+)' before '(.+)' \(restaurant \w+\)", reason)
        assert match is not None
        start, end = int(match[1]), int(match[2])
        assert turn.utterance[start:].startswith(match[3]) and turn.utterance[end:].startswith(match[4]) and match[3] != match[4]
        repaired += 1
    assert repaired == 60


def test_an_article_fits_what_is_taken_back() -> None:
    text = "I want an expensive hotel."
    source = dialogue(text).replace(turns=(located(text, ("pricerange", "expensive")),))
    for seed in range(20):
        assert REPAIRED not in Disfluency(repairs=1.0).perturb(source, seed).turns[0].labels


def test_a_false_value_outside_the_repair_is_still_refused() -> None:
    span, act = Span(20, 26, "monday", "train", "day", "monday"), Act("inform", "train", "day", "monday")
    turn = Turn(0, "user", "is there a train on monday", spans=(span,), acts=(act,))
    source = dialogue("x").replace(turns=(turn,))
    for seed in range(40):
        text = Disfluency(repairs=0.5, rate=0.3).perturb(source, seed).turns[0].utterance
        days = re.findall(r"\w+day", text)
        assert days[-1] == "monday" and len(days) <= 2


@pytest.mark.parametrize("options", [{"setting": "song"}, {"rate": 1.0}, {"rate": -0.1}, {"repairs": 1.1}, {"tries": 0}])
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="disfluency"):
        Disfluency(**options)  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(alphabet=st.sampled_from("ab i'm the, .?!\t我想，。去 5"), max_size=40),
    language=st.sampled_from(["en", "zh"]),
    seed=st.integers(0, 9),
)
def test_any_text_can_be_given(text: str, language: str, seed: int) -> None:
    turn = Disfluency(rate=0.5).perturb(dialogue(text, language=language), seed).turns[0]
    assert turn.source_text == text and all(edit.start == edit.end for edit in turn.edits)


def test_golden() -> None:
    made = [Disfluency(repairs=0.5).perturb(dialogue(*texts, language=language), 3) for texts, language in ((ENGLISH, "en"), (CHINESE, "zh"))]
    digest = hashlib.sha256("\n".join(text for one in made for text in _texts(one)).encode()).hexdigest()
    assert digest[:16] == "51c87a702a6cb635", "raise Disfluency.version where a change of its output is meant"
