"""What a suite costs light baselines: paired over dialogues, in points, with an interval."""

from __future__ import annotations

from typing import Any

import pytest
from dialmill.pipelines.stages import losses
from hypothesis import given
from hypothesis import strategies as st


def measure(sums: Any) -> dict[str, float]:
    return {"update": sums["right"] / sums["of"]} if sums.get("of") else {}


def sums(right: int, of: int = 10) -> dict[str, dict[str, int]]:
    return {"words": {"right": right, "of": of}}


def test_a_suite_that_costs_something_has_an_interval_above_0() -> None:
    before, after = [sums(8 + n % 3) for n in range(80)], [sums(5 + n % 3) for n in range(80)]
    (one,) = losses.losses(before, after, measure)
    assert (one.kind, one.figure) == ("words", "update")
    assert one.standard - one.suite == pytest.approx(0.3)
    assert 0 < one.low <= 0.3 <= one.high + 1e-9


def test_a_suite_that_costs_nothing_is_told() -> None:
    mixed = [sums(5 + n % 4) for n in range(80)]
    (one,) = losses.losses(mixed, mixed[::-1], measure)
    assert one.standard == one.suite
    assert one.low < 0 < one.high
    cell = {"standard": one.standard, "suite": one.suite, "low": one.low, "high": one.high}
    found = {"easy": {"units": 80, "loss": {"words": {"update": cell}}}, "small": {"units": 10, "loss": {"words": {"update": cell}}}}
    assert losses.harmless(found) == ["easy"]
    hard = {"suite": {"units": 80, "loss": {"words": {"update": cell | {"low": 0.01}}}}}
    assert losses.harmless(hard) == []


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=30))
def test_the_interval_holds_what_no_dialogue_exceeds(pairs: list[tuple[int, int]]) -> None:
    (one,) = losses.losses([sums(a) for a, _ in pairs], [sums(b) for _, b in pairs], measure)
    worst, best = min(a - b for a, b in pairs) / 10, max(a - b for a, b in pairs) / 10
    assert worst - 1e-9 <= one.low <= one.high <= best + 1e-9
    assert list(losses.losses([sums(a) for a, _ in pairs], [sums(b) for _, b in pairs], measure)) == [one]


def test_rows_are_over_the_kinds() -> None:
    cell = {"standard": 0.5, "suite": 0.4, "low": -0.02, "high": 0.18}
    other = {"standard": 0.7, "suite": 0.4, "low": 0.2, "high": 0.4}
    found = {"typos": {"units": 60, "loss": {"words": {"jga": cell}, "values": {"jga": other}}}, "standard": {"units": 60}}
    assert losses.rows(found) == [("typos", "jga", "60.0", "40.0", "20.0", "10.0 to 30.0", "1 of 2")]
