"""Reasons of hard records: every clause is something that the record itself proves, and nothing is claimed of a value that is said in other words."""

from __future__ import annotations

import pytest
from dialmill.pipelines.baselines.panel.panel import Missed, Verdict
from dialmill.pipelines.stages.hard_reasons import reasons
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn

KINDS = ("characters", "neighbours", "words")
NAMED = ", which the system names at turn 1 and the user doesn't,"
NEITHER = ", which neither this turn nor the system's before it spells,"
GONE = ", which the unperturbed turn has and this one doesn't,"


def record(user: str, system: str, slot: str, value: str, original: str | None = None, span: Span | None = None, language: str = "en") -> Dialogue:
    """Three turns, the last of which brings a value into the state."""
    turns = (
        Turn(0, "user", "hello there", state=()),
        Turn(1, "system", system),
        Turn(2, "user", user, original=original, spans=() if span is None else (span,), state=(SlotValues("hotel", slot, (value,)),)),
    )
    return Dialogue(dialogue_id="a/x/0", source="made", source_id="a", suite="x", language=language, domains=("hotel",), turns=turns)


def clause(made: Dialogue, slot: str, value: str) -> str:
    """What is said of the value behind the slot."""
    (told,) = reasons(made, [Missed(2, "update", f"hotel {slot}", KINDS)], 3)
    head, tail = f"update_missed: turn 2: hotel {slot} = {value}", " by 3 of 3 baselines (characters, neighbours, words)"
    assert told.startswith(head) and told.endswith(tail), told
    return told.removeprefix(head).removesuffix(tail)


@pytest.mark.parametrize(
    ("user", "system", "slot", "value", "said"),
    [
        ("yes book it please", "how about the Acorn Guest House ?", "name", "acorn guest house", NAMED),
        ("yes the acorn please", "how about the Acorn Guest House ?", "name", "acorn guest house", ""),  # the user says a part of it
        ("yes the akorn please", "how about the Acorn Guest House ?", "name", "acorn guest house", ""),  # or with a slip
        ("an expensive one", "anything else ?", "pricerange", "expensive", ""),
        ("nothing too dear", "anything else ?", "pricerange", "expensive", NEITHER),
        ("somewhere in the center", "in the centre or the north ?", "area", "centre", ""),  # written otherwise
        ("for the two of us", "for how many ?", "book people", "2", ""),  # a number in words
        ("for my wife and me", "there are 2 of them", "book people", "2", ""),  # two of what ?
        ("for my wife and me", "for how many ?", "book people", "2", NEITHER),
        ("at quarter past one", "when ?", "book time", "13:15", ""),
        ("then it is", "the 1 at 14:10 , that is .", "book stay", "4", ""),  # no 4 is named in 14:10
        ("with wifi", "yes , there is .", "internet", "yes", ""),  # no words spell it
        ("i do n't mind", "which area ?", "area", "dontcare", ""),
    ],
)
def test_a_clause_is_proved_by_both_turns(user: str, system: str, slot: str, value: str, said: str) -> None:
    assert clause(record(user, system, slot, value), slot, value) == said


@pytest.mark.parametrize(
    ("user", "original", "said"),
    [
        ("a place in the feast", "a place in the east", ""),  # something like it is left
        ("a place in the town", "a place in the east", GONE),
        ("a place in the town , the east", "a place in the east", ""),
        ("a place in town", "a place in the town", NEITHER),  # none was there before either
    ],
)
def test_a_value_is_gone_where_the_unperturbed_turn_had_it(user: str, original: str, said: str) -> None:
    assert clause(record(user, "where ?", "area", "east", original), "area", "east") == said


def test_a_span_shows_how_a_value_is_written_where_it_stands_nowhere_as_it_is() -> None:
    def one(user: str, text: str, value: str = "cheap") -> str:
        at = user.index(text)
        return clause(
            record(user, "which ?", "pricerange", "cheap", span=Span(at, at + len(text), text, "hotel", "pricerange", value)), "pricerange", "cheap"
        )

    assert one("a cheaper one", "cheaper") == ", which is written 'cheaper',"
    assert one("a cheaper one , a cheap one", "cheaper") == "", "it stands there as it is too"
    assert one("no moderate one", "moderate", "moderate") == NEITHER, "a span of another value is none of this one"


def test_chinese_values_are_told_by_their_characters() -> None:
    assert clause(record("就订这家吧", "推荐您去金海华大酒店。", "名称", "金海华大酒店", language="zh"), "名称", "金海华大酒店") == NAMED
    assert clause(record("就订金海华吧", "推荐您去金海华大酒店。", "名称", "金海华大酒店", language="zh"), "名称", "金海华大酒店") == ""
    assert clause(record("便宜点的", "请问要什么价位？", "价位", "中等", language="zh"), "价位", "中等") == NEITHER


def test_slots_that_stay_and_acts_that_are_none() -> None:
    made = record("in the east", "where ?", "area", "east")
    again = made.replace(turns=(made.turns[0].replace(state=made.turns[2].state), *made.turns[1:]))
    missed = [Missed(2, "update", "hotel area", KINDS), Missed(2, "update", "hotel stars", KINDS)]
    assert [told.partition(" by ")[0] for told in reasons(again, missed, 3)] == [
        "update_missed: turn 2: hotel area = east, which stays as it was,",
        "update_missed: turn 2: hotel stars, which stays empty,",
    ]
    acting = made.replace(turns=(*made.turns[:2], made.turns[2].replace(acts=(Act("inform", "hotel", "area", "east"),))))
    missed = [Missed(2, "acts", "inform hotel area", KINDS), Missed(2, "acts", "inform hotel name", KINDS), Missed(2, "label", "no label", KINDS[:1])]
    assert [told.partition(" by ")[0] for told in reasons(acting, missed, 3)] == [
        "acts_missed: turn 2: inform hotel area",
        "acts_missed: turn 2: inform hotel name, which is no act of the turn,",
    ]


def test_where_the_unperturbed_text_alone_is_missed_the_reasons_are_its_own() -> None:
    area, name = (Missed(2, "update", what, kinds) for what, kinds in (("hotel area", KINDS), ("hotel name", KINDS[:1])))
    errors: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
    own, clean = (Verdict(None, "", 1, 1, errors, {}, (missed,)) for missed in (name, area))
    assert own.beside(clean).missed_clean == (area,) and clean.beside(own).missed_clean == own.beside(None).missed_clean == ()
    (told,) = reasons(record("in the east", "where ?", "area", "east"), [area], 3, " of the unperturbed text")
    assert told.startswith("update_missed: turn 2 of the unperturbed text: hotel area = east by 3 of 3")
