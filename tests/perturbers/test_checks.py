"""A variant passes only if its labels still hold; each way to fail has its reason."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

import pytest
from dialmill.perturbers.core import checks
from dialmill.perturbers.core.checks import certify, edits_between, moved, old_values_left
from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult
from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.values import Locator
from dialmill.schemas import Act, Dialogue, Edit, SlotValues, Span, Turn, apply_edits
from dialmill.schemas.edits import edit_text
from hypothesis import given, settings
from hypothesis import strategies as st


def judge(
    text: str,
    variant: str,
    mode: str = "protect",
    language: str = "en",
    acts: tuple[Act, ...] = (),
    spans: tuple[Span, ...] = (),
    known: tuple[str, ...] = (),
    **state: str,
) -> str | None:
    """What `certify` says of `variant`, made from `text` by the edits that difflib finds. `known` are names elsewhere in the dialogue."""
    cells = tuple(SlotValues("restaurant", slot, (value,)) for slot, value in state.items())
    said = tuple(Act("inform", "restaurant", "name", name) for name in known)
    turn = Turn(0, "user", text, acts=acts, spans=spans, state=cells)
    made = Dialogue(dialogue_id="d", source="test", source_id="d", language=language, turns=(turn, Turn(1, "system", "ok", acts=said)))
    matcher = SequenceMatcher(None, text, variant, autojunk=False)
    edits = [Edit(a, b, variant[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    after = apply_edits(turn, edits)
    assert after.utterance == variant
    return certify(Locator(made).view(turn), after, mode)


LOTUS = "table for 2 on friday at the Lotus"


def test_b17_a_value_lost_and_a_value_added() -> None:
    labels = {"people": "2", "day": "friday", "name": "the Lotus"}
    assert judge(LOTUS, "a table on friday at the Lotus", **labels) == "value_lost: people=2"
    assert judge(LOTUS, "table for 2 on friday at the Lotus Garden", **labels) == "value_added: name=the Lotus garden"
    assert judge(LOTUS, "table for 2 on friday at the Lotus garden", known=("lotus garden",), **labels) == "value_added: name=lotus garden"
    assert judge(LOTUS, "tabel for 2 on friday at the Lotus", **labels) is None
    assert judge(LOTUS, "table for 2 on friday at the Lotus , please", **labels) is None


@pytest.mark.parametrize(
    ("text", "variant", "state", "reason"),
    [
        # The 7 of 17:30 does not stand in for a lost 7, nor does a glued or split token.
        ("7 people at 17:30", "people at 17:30", {"people": "7"}, "value_lost: people=7"),
        ("7 people at 17:30", "71 people at 17:30", {"people": "7"}, "value_lost: people=7"),
        ("7 people at 17:30", "7people at 17:30", {"people": "7"}, "value_lost: people=7"),
        ("meet at 7 please", "meet at 7:30 please", {"people": "7"}, "value_lost: people=7"),
        ("i want the best", "i want the west", {"area": "east"}, "value_added: area=west"),
        ("what about that", "what about thai", {}, "value_added: food=thai"),
        ("i want two many", "i want two any", {}, "value_lost: dontcare"),
        ("i go too", "i go two", {}, "value_added: number=2"),
        # What TextAttack and nlpaug do to values: swapped for neighbours of the embedding, split, mistyped.
        ("a cheap hotel", "an expensive hotel", {"pricerange": "cheap"}, "value_lost: pricerange=cheap"),
        ("the tr2635 please", "the tr 2635 please", {"id": "tr2635"}, "protected_token_lost"),
        ("ping 10.0.0.7 now", "ping 10 . 0 . 0 . 7 now", {"ip": "10.0.0.7"}, "protected_token_lost"),
        ("in the east", "in the eazt", {"area": "east"}, "value_lost: area=east"),
    ],
)
def test_values_in_protect_mode(text: str, variant: str, state: dict[str, str], reason: str) -> None:
    assert judge(text, variant, **state) == reason


@pytest.mark.parametrize(
    ("text", "variant", "state", "reason"),
    [
        ("in the east", "in the eats", {"area": "east"}, None),
        ("in the east", "in the west", {"area": "east"}, "value_swapped: area=east"),
        ("7 people", "8 people", {"people": "7"}, "value_swapped: people=7"),
        ("at 17:30", "at 17:03", {"time": "17:30"}, "value_swapped: time=17:30"),
        ("on tuesday", "on thursday", {"day": "tuesday"}, "value_swapped: day=tuesday"),
        ("in the east", "in the", {"area": "east"}, "value_lost: area=east"),
    ],
)
def test_values_in_follow_mode(text: str, variant: str, state: dict[str, str], reason: str | None) -> None:
    assert judge(text, variant, "follow", **state) == reason


@pytest.mark.parametrize(
    ("text", "variant", "language", "reason"),
    [
        ("i do not want it", "i do want it", "en", "negation_changed"),
        ("i do n't want it", "i want it", "en", "negation_changed"),
        ("i don't want it", "i dont want it", "en", None),
        ("i know it", "i no it", "en", "negation_changed"),
        ("another note", "anoter noet", "en", None),
        ("我不要辣的", "我要辣的", "zh", "negation_changed"),
        ("非常好", "飞常好", "zh", None),
    ],
)
def test_negation_by_whole_words(text: str, variant: str, language: str, reason: str | None) -> None:
    assert judge(text, variant, language=language) == reason


@pytest.mark.parametrize(
    ("slot", "text", "variant", "reason"),
    [
        ("post", "may i have the postcode", "may i have the pstcode", None),
        ("addr", "what is the address", "what is the addr", None),
        ("phone", "give me the phone number", "give me the thing", "request_lost: phone"),
        ("ref", "what is my reference", "what is my rose", "request_lost: ref"),
        ("ref", "and that one", "and this one", None),
    ],
)
def test_what_was_asked_is_still_asked(slot: str, text: str, variant: str, reason: str | None) -> None:
    assert judge(text, variant, acts=(Act("request", "hotel", slot),)) == reason


def test_what_was_asked_is_still_asked_in_chinese() -> None:
    acts = (Act("request", "酒店", "电话号码"),)
    assert judge("电话是多少", "典话是多少", language="zh", acts=acts) is None
    assert judge("请给我电话", "请给我东西", language="zh", acts=acts) == "request_lost: 电话号码"


@pytest.mark.parametrize(
    ("text", "variant", "reason"),
    [
        ("thanks , that is all", "thx , that is all", None),
        ("thanks , that is all", "thnaks , that is all", None),
        ("thanks , that is all", "well , that is all", "act_changed: thank"),
        ("goodbye then", "god then", "act_changed: bye"),
        ("yes , please", "yse , please", None),
        ("yes , please", "see , please", "act_changed: confirm"),
        ("thanks so much", "thanks , what else", "act_changed: request"),
        ("thanks so much", "what a day , thanks so much", None),
        ("thanks so much", "how very kind of you , thanks so much", None),
        ("thanks so much", "what great news , thanks so much", None),
        ("thanks so much", "what a lovely place it is , thanks so much", None),
        ("thanks so much", "thanks so much , what a taxi would cost", "act_changed: request"),
        ("thanks so much", "thanks so much , how nice is it", "act_changed: request"),
        ("thanks so much", "thanks so much , what nice hotels", "act_changed: request"),
    ],
)
def test_the_act_still_fits(text: str, variant: str, reason: str | None) -> None:
    assert judge(text, variant, acts=(Act("thank", "general"),)) == reason


@pytest.mark.parametrize(
    ("text", "variant", "reason"),
    [
        ("谢谢你", "多么美的地方啊，谢谢你", None),
        ("谢谢你", "哪里哪里，谢谢你", None),
        ("谢谢你", "怎么这么好呀，谢谢你", None),
        ("谢谢你", "谢谢你，有什么", "act_changed: request"),
        ("谢谢你", "谢谢你，多少钱", "act_changed: request"),
    ],
)
def test_an_exclamation_asks_for_nothing_in_chinese(text: str, variant: str, reason: str | None) -> None:
    assert judge(text, variant, language="zh", acts=(Act("thank", "general"),)) == reason


def test_an_exclamation_is_no_request_that_was_kept() -> None:
    """The day that is exclaimed about is none that is asked for."""
    acts = (Act("request", "train", "day"),)
    assert judge("which day is it", "what a day it is", acts=acts) == "request_lost: day"
    assert judge("which day is it", "what day is it", acts=acts) is None
    weather = (Act("request", "天气", "天气"),)
    assert judge("请问那里的天气", "多么好的天气啊", language="zh", acts=weather) == "request_lost: 天气"
    assert judge("请问那里的天气", "那里天气好吗", language="zh", acts=weather) is None


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_short_way_says_what_the_long_way_says(data: st.DataObject) -> None:
    words = ["i", "the", "best", "golden", "wok", "7", "need", "no", "east", "hotel", "now", "cost", "at", "phone", "Wok .", "wok ?", "thank", "it's"]
    text = data.draw(st.lists(st.sampled_from(words), min_size=2).map(" ".join))
    labels = {"name": "golden wok", "area": "east", "people": "7", "leaveat": "19:00"}
    cells = tuple(SlotValues("hotel", slot, (value,)) for slot, value in labels.items())
    turn = Turn(0, "user", text, acts=(Act("request", "hotel", "price"),), state=cells)
    view = Locator(Dialogue(dialogue_id="d", source="t", source_id="d", turns=(turn,))).view(turn)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    letters = st.text(st.sampled_from("wtoen 7gG'.?"), max_size=2)
    after = apply_edits(turn, [Edit(a, b, data.draw(letters)) for a, b in zip(cuts[::2], cuts[1::2], strict=False)])
    mode = data.draw(st.sampled_from(["protect", "follow"]))
    if checks._compared(view, after.utterance, after.edits) is not None:
        short = certify(view, after, mode)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checks, "_compared", lambda *_: None)
            assert certify(view, after, mode) == short


def test_a_span_that_does_not_fit_is_a_bug_and_no_reason() -> None:
    turn = Turn(0, "user", "in the east", spans=(Span(7, 11, "east", "hotel", "area", "east"),))
    view = Locator(Dialogue(dialogue_id="d", source="t", source_id="d", turns=(turn,))).view(turn)
    with pytest.raises(AssertionError, match="does not match"):
        certify(view, turn.replace(utterance="in teh west", original="in the east", edits=(Edit(4, 8, "eh w"),)), "protect")


_text = st.text("ab 7é", max_size=12)


@st.composite
def _edits(draw: st.DrawFn, length: int) -> list[Edit]:
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    return [Edit(a, b, draw(_text)) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_edits_of_a_second_step_lead_from_the_first_to_it(data: st.DataObject) -> None:
    turn = Turn(0, "user", data.draw(st.text("ab 7é", min_size=1, max_size=12)))
    first = apply_edits(turn, data.draw(_edits(len(turn.utterance))))
    second = apply_edits(first, data.draw(_edits(len(first.utterance))))
    assert edit_text(first.utterance, edits_between(first, second)) == second.utterance


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_moved_untouched_text_is_the_same(data: st.DataObject) -> None:
    text = data.draw(st.text("ab 7é", min_size=1, max_size=12))
    edits = data.draw(_edits(len(text)))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    new_start, new_end, touched = moved(start, end, edits)
    if not touched:
        assert edit_text(text, edits)[new_start:new_end] == text[start:end]


@pytest.mark.parametrize(("one", "other", "apart"), [("", "", 0), ("abc", "acb", 1), ("phone", "phne", 1), ("a", "", 1), ("ca", "abc", 3)])
def test_distance(one: str, other: str, apart: int) -> None:
    assert distance(one, other) == distance(other, one) == apart


# ------------------------------------------------------------------ after a relabelling


def _asked(text: str, slot: str, value: str, language: str = "en", answer: str = "") -> Dialogue:
    turns = (
        Turn(0, "user", text, acts=(Act("inform", "train", slot, value),), state=(SlotValues("train", slot, (value,)),)),
        Turn(1, "system", answer),
    )
    return Dialogue(dialogue_id="D", source="test", source_id="D", language=language, turns=turns)


@pytest.mark.parametrize(
    ("text", "slot", "old", "new", "language", "left"),
    [
        ("leave at 1215hrs", "leaveat", "12:15", "12:40", "en", True),
        ("leave at quarter past twelve", "leaveat", "12:15", "12:40", "en", True),
        ("by 0930 am", "arriveby", "09:30", "10:05", "en", True),
        ("after 2030", "leaveat", "20:30", "20:50", "en", True),
        ("one of them at 13:20", "leaveat", "13:00", "13:20", "en", False),
        ("at one please", "leaveat", "13:00", "13:20", "en", True),
        ("the acorn is nice", "name", "acorn guest house", "harbour guest house", "en", True),
        ("harbour is nice", "name", "acorn guest house", "harbour guest house", "en", False),
        ("下午三点半出发", "出发时间", "15:30", "16:10", "zh", True),
        ("十六点十分出发", "出发时间", "15:30", "16:10", "zh", False),
        ("去拙政园", "名称", "拙政园", "听雨园", "zh", True),
    ],
)
def test_no_old_value_may_stand_in_any_spelling_after_a_relabelling(text: str, slot: str, old: str, new: str, language: str, left: bool) -> None:
    before, after = _asked("", slot, old, language), _asked("", slot, new, language)
    for one in (after.replace(turns=(after.turns[0].replace(utterance=text), after.turns[1])), _asked("", slot, new, language, text)):
        found = old_values_left(before, one)
        assert [str(value) for value in found] == ([f"old_value_left: {slot}={old}"] if left else [])


def test_a_value_that_another_slot_still_has_is_not_old() -> None:
    before = _asked("to ely", "destination", "ely")
    kept = SlotValues("train", "departure", ("ely",))
    both = before.replace(turns=(before.turns[0].replace(state=(*before.turns[0].state, kept)), before.turns[1]))
    turn = both.turns[0].replace(acts=(Act("inform", "train", "destination", "york"),), state=(SlotValues("train", "destination", ("york",)), kept))
    assert old_values_left(both, both.replace(turns=(turn, both.turns[1]))) == ()


def test_whatever_relabels_is_held_to_it() -> None:
    @dataclass(frozen=True)
    class Careless(DialoguePerturber):
        name = "careless"
        relabels = True

        def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
            turn = dialogue.turns[0].replace(acts=(Act("inform", "train", "leaveat", "12:40"),), state=(SlotValues("train", "leaveat", ("12:40",)),))
            return PerturbResult((turn, dialogue.turns[1]), None)

    made = Careless().perturb(_asked("at a quarter past 12", "leaveat", "12:15"), 1)
    assert made.turns == _asked("at a quarter past 12", "leaveat", "12:15").turns
    assert made.lineage[-1].skipped[0].reason == "old_value_left: leaveat=12:15"


@pytest.mark.parametrize(("text", "language"), [("Hello!", "en"), ("hi there", "en"), ("你好。", "zh")])
@pytest.mark.parametrize("left", ["", " ", "!"])
def test_a_turn_in_which_nothing_is_said_any_more_is_refused(text: str, left: str, language: str) -> None:
    assert judge(text, left, language=language) == "nothing_left"
