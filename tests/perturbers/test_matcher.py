"""Units and tokens that are kept by runs between blanks are those that the regular expressions find in the whole text."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from dialmill.perturbers.core import matcher, surfaces, tokens
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.values import Locator
from dialmill.schemas import Dialogue, SlotValues, Turn
from hypothesis import example, given, settings
from hypothesis import strategies as st

_TEXT = st.text(st.sampled_from("ab\u00e9S'\u2019ntd 17:30.-,&_[]<>@/w\t\n\u00a0\u1680?\u216b"), max_size=30)


@settings(max_examples=500, deadline=None)
@given(_TEXT)
@example("at 17:30 , [value_area] <name> b&b 01223-358966 7pm a_b x9")
def test_units(text: str) -> None:
    units = Cut(text, "en")
    folded = text.lower()
    assert units.names == ["and" if name == "&" else matcher.folded_word(name) for name in matcher._EN_UNIT.findall(folded)]
    assert [folded[start:end] for start, end in units.bounds] == matcher._EN_UNIT.findall(folded)


@settings(max_examples=500, deadline=None)
@given(_TEXT)
@example("i 'd do n't don't www.a.b/c https://x.y/z me@a.bc TR2635 10.0.0.7 [value_area]")
def test_tokens(text: str) -> None:
    assert list(tokens.tokens(text, "en")) == [match.span() for match in tokens._ENGLISH.finditer(text)]


def test_runs_that_were_met_long_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "KEPT_RUNS", 10)
    runs = tokens.Runs(matcher._EN_UNIT)
    for number in range(100):
        assert runs.findall(f"a{number} b{number}") == [f"a{number}", f"b{number}"]
    assert len(runs) <= 11


@pytest.mark.parametrize(
    ("value", "text", "stands"),
    [
        ("海底捞(西单店)", "去海底捞（西单店）吃饭", "海底捞（西单店）"),
        ("海底捞（西单店）", "去海底捞(西单店)吃饭", "海底捞(西单店)"),
        ("(西单)火锅", "去（西单）火锅吃饭", "（西单）火锅"),
        ("（西单）火锅", "去西单火锅吃饭", "西单火锅"),
        ("五折券[新客]", "用五折券［新客］吧", "五折券［新客］"),
        ("ＡＢＣ餐厅", "去ABC餐厅吃饭", "ABC餐厅"),
        ("50％", "打50%折", "50%"),
        ("①号店", "去1号店吃饭", "1号店"),
        ("10:30", "我10：30出发", "10：30"),
    ],
)
def test_a_name_stands_in_either_width_with_its_brackets(value: str, text: str, stands: str) -> None:
    turn = Turn(0, "user", text, state=(SlotValues("餐馆", "名称", (value,)),))
    made = Dialogue(dialogue_id="d", source="t", source_id="d", language="zh", turns=(turn,))
    assert stands in [text[one.start : one.end] for one in Locator(made).view(turn).located]


def test_what_is_remembered_of_values_is_bounded() -> None:
    """A corpus with other names in every dialogue fills the caches: full of names and of all times of day they take less than 300 MB."""
    words = ["ba", "cor", "dun", "el", "far", "gil", "har", "il"]
    names = ["the " + " ".join(words[(number >> shift) % 8] + words[number % 7] for shift in (0, 3, 6)) + " hotel" for number in range(200)]
    functions: list[tuple[Any, Any]] = [
        (surfaces.block_of, lambda number: surfaces.block_of("hotel-name", names[number], "en")),
        (matcher.prefixes_of, lambda number: matcher.prefixes_of(f"{names[number]} x", "en")),
        (matcher.parts_of, lambda number: matcher.parts_of(f"{names[number]} x", "en")),
        (matcher.key_of, lambda number: matcher.key_of(f"{names[number]} x", "en")),
    ]
    total = 0.0
    tracemalloc.start()
    try:
        for cached, use in functions:
            before = tracemalloc.get_traced_memory()[0]
            for number in range(200):
                use(number)
            total += cached.cache_parameters()["maxsize"] * (tracemalloc.get_traced_memory()[0] - before) / 200
        before = tracemalloc.get_traced_memory()[0]
        for minute in range(48):
            surfaces.block_of("train-arriveby", f"{minute // 4:02d}:{minute % 4 * 15:02d}", "en")
        total += 1440 * (tracemalloc.get_traced_memory()[0] - before) / 48
    finally:
        tracemalloc.stop()
    assert total < 300 * 2**20, f"{total / 2**20:.0f} MB"
