"""Units and tokens that are kept by runs between blanks are those that the regular expressions find in the whole text."""

from __future__ import annotations

import pytest
from dialmill.perturbers.core import matcher, tokens
from dialmill.perturbers.core.matcher import Cut
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
