"""Guards: values without labels are found, and whoever perturbs their turn leaves them to the byte, letter case included."""

from __future__ import annotations

from typing import Any

import pytest
from dialmill.perturbers import names, parse
from dialmill.perturbers.core.guard import DOMAIN, Guard, arguments, choices, leaves
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import GUARDED
from hypothesis import given, settings
from hypothesis import strategies as st

#: The hardest options of each perturber that leave values alone; one that isn't here runs with its own defaults.
HARD = {
    "typos": ["typos:rate=1", "typos:rate=1,style=chat", "typos:rate=1,style=typing"],
    "disfluency": ["disfluency:rate=0.9,repairs=1"],
    "nlpaug": ["nlpaug:rate=0.9"],
    "speech": ["speech:wer=0.8,engine=text,values=protect", "speech:wer=0.8,engine=text,output=plain,fillers=1,values=protect"],
}
SPECS = [spec for name in names() for spec in HARD.get(name, [name])] + ["disfluency+speech:output=plain,engine=text,values=protect+typos:rate=0.9"]
VALUES = {
    "en": ["Ivan", "Smith", "economy", "Basic Economy", "EWR", "New York", "certificate", "SEA", "Blue Hotel", "round trip"],
    "zh": ["经济舱", "北京", "李小龙", "单程", "Gold", "红色酒店"],
}
FREE = {
    "en": [
        "please could you find me a flight",
        "thanks",
        "i do not know whether that works",
        "Yes, the second.",
        "my name is",
        "from",
        "to",
        "and then",
    ],
    "zh": ["麻烦帮我看一下", "我想订一张便宜的票", "谢谢您", "这个能不能用呢", "从", "到", "好的，第二个吧"],
}


def _guarded(text: str, language: str, guard: Guard) -> Dialogue:
    turn = guard.turn(Turn(0, "user", text))
    return Dialogue(dialogue_id="d/standard/0", source="x", source_id="d", language=language, turns=(turn,))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_perturber_touches_a_named_value(spec: str, language: str) -> None:
    perturber = parse(spec).perturber
    guard = Guard(VALUES[language], shapes=False)

    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.sampled_from([*FREE[language], *VALUES[language]]), min_size=1, max_size=9), st.integers(0, 9))
    def holds(parts: list[str], seed: int) -> None:
        text = " ".join(parts)
        variant = perturber.perturb(_guarded(text, language, guard), seed)
        said = next(turn.utterance for turn in variant.turns if turn.speaker == "user" and not turn.inserted)
        for value in VALUES[language]:
            assert said.count(value) >= text.count(value), (value, text, said)

    holds()


def test_capitals_stay_where_programs_read_them_and_go_where_people_do() -> None:
    typos = parse("typos:rate=0.2,style=chat").perturber
    text = "Hello there, I would like to talk to Ivan about the tickets that we bought"
    plain = Dialogue(dialogue_id="d/standard/0", source="x", source_id="d", turns=(Turn(0, "user", text),))
    assert "Ivan" not in typos.perturb(plain, 1).turns[0].utterance
    assert "Ivan" in typos.perturb(_guarded(text, "en", Guard(["Ivan"], shapes=False)), 1).turns[0].utterance
    assert "Ivan" in typos.perturb(_guarded(text, "en", Guard()), 1).turns[0].utterance


@given(
    st.text("abIvn Ünöß北京12.,\"'", max_size=40), st.lists(st.text("abIvn ö北1", min_size=1, max_size=6), max_size=6), st.booleans(), st.booleans()
)
def test_spans_are_places_in_the_text_and_cover_every_value(text: str, values: list[str], shapes: bool, anywhere: bool) -> None:
    guard = Guard(values, shapes, anywhere)
    spans = guard.spans(text)
    reached = 0
    for span in spans:
        assert span.start is not None and span.end is not None and reached <= span.start < span.end and text[span.start : span.end] == span.text
        assert span.domain == DOMAIN
        reached = span.end
    if anywhere:
        for value in values:
            start = text.find(value) if len(value) >= 3 else -1
            while start >= 0:
                assert any(
                    span.start <= start and start + len(value) <= span.end for span in spans if span.start is not None and span.end is not None
                )
                start = text.find(value, start + 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fly on May 20th at 7pm for $1,200", ["May 20th", "7pm", "$1,200"]),
        ("from JFK to New York, born 1990-04-05", ["JFK", "New York", "1990-04-05"]),
        ('the 3rd one called "Blue Moon", 20 dollars', ["3rd", '"Blue Moon"', "20 dollars"]),
        ("我想5月20日去，预算500元，看《红楼梦》", ["5月20日", "500元", "《红楼梦》"]),
        ("从JFK飞LAX，坐CA公司的", ["JFK", "LAX", "CA"]),
        ("First name: Ivan, last name - Smith. Kevin's birthday", ["Ivan", "Smith", "Kevin"]),
        ("It's late. That's all, I'm sure. Let's go", []),
        ("i may want to march on. I am sure. Yes", []),
        ("I WANT TO GO HOME", []),
    ],
)
def test_what_looks_like_a_value_is_one(text: str, found: list[str]) -> None:
    assert [span.text for span in Guard().spans(text)] == found


def test_everyday_words_of_a_list_are_no_part_of_other_words() -> None:
    guard = Guard(["one", "art", "EWR", "gold_card_9"], shapes=False)
    assert [span.text for span in guard.spans("someone starts: one, ewr, xEWRs, my_gold_card_9x")] == ["one", "ewr", "gold_card_9"]


def test_a_turn_without_values_stays_as_it_is() -> None:
    turn = Turn(0, "user", "hello there")
    assert Guard(["zzz"]).turn(turn) is turn
    assert Guard(["hello"]).turn(turn).labels == (GUARDED,)
    assert Guard(["hello"]).turn(Guard(["hello"]).turn(turn)) == Guard(["hello"]).turn(turn)


TOOL = {
    "type": "function",
    "function": {"name": "book", "parameters": {"properties": {"cabin": {"enum": ["basic", "business"]}, "n": {"const": 12}}}},
}
CALL: dict[str, Any] = {
    "tool_calls": [{"function": {"name": "f", "arguments": '{"id": "mia_1", "n": [{"seat": 12, "ok": true}]}'}}, {"arguments": {"a": "b"}}]
}


def test_values_of_calls_and_of_schemas_are_told_from_the_rest() -> None:
    assert list(choices([TOOL])) == ["basic", "business", "12"]
    assert list(leaves(list(arguments(CALL)))) == ["mia_1", "12", "b"]
    assert list(arguments({"arguments": "no json"})) == ["no json"]
    assert list(leaves({"a": [" x ", None, 1.5, False, {"b": ""}]})) == ["x", "1.5"]
