"""Options: one annotation on a field is read, checked and shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from dialmill.perturbers.core import options
from dialmill.perturbers.core.options import Meta, OptionError, state
from hypothesis import given
from hypothesis import strategies as st

Count = Annotated[int, Meta(ge=1)]


@dataclass(frozen=True)
class Some:
    """Options of every kind."""

    rate: Annotated[float, Meta(gt=0, le=1, description="how much", examples=[0.3], extra={"unit": "share of words"})] = 0.1
    style: Annotated[Literal["typing", "chat"], Meta(description="how")] = "typing"
    loud: bool = False
    size: Annotated[Count | dict[str, Count] | None, Meta(description="how many", examples=[{"hotel": 5}])] = None
    names: list[str] = field(default_factory=lambda: ["a", "b"])
    shares: dict[str, Annotated[float, Meta(ge=0)]] = field(default_factory=dict)
    day: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$", title="a date, YYYY-MM-DD")] | None = None
    held: object = state(default=None)


KINDS = {option.name: option.kind for option in options.options(Some)}


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("rate", "0.5", 0.5),
        ("rate", 1, 1.0),
        ("style", "chat", "chat"),
        ("loud", "True", True),
        ("loud", "no", False),
        ("size", "none", None),
        ("size", "7", 7),
        ("size", 7.0, 7),
        ("size", "hotel: 3, taxi: 4", {"hotel": 3, "taxi": 4}),
        ("size", {"hotel": "3"}, {"hotel": 3}),
        ("names", "x, y,", ["x", "y"]),
        ("names", ("x",), ["x"]),
        ("names", "[x, y]", ["x", "y"]),
        ("names", "[]", []),
        ("shares", "{}", {}),
        ("shares", "{train: 0.5, test: 1}", {"train": 0.5, "test": 1.0}),
        ("shares", "train=0.5,test:1", {"train": 0.5, "test": 1.0}),
        ("day", "2020-01-31", "2020-01-31"),
    ],
)
def test_text_and_typed_values_are_read(name: str, given: Any, value: Any) -> None:
    made = options.read(name, KINDS[name], given)
    assert made == value and type(made) is type(value)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("rate", "0", "rate must be a number above 0 and at most 1, not '0'"),
        ("rate", "fast", "rate must be a number above 0 and at most 1, not 'fast'"),
        ("rate", "nan", "rate must be a number above 0 and at most 1, not 'nan'"),
        ("rate", True, "rate must be a number above 0 and at most 1, not True"),
        ("style", "loud", "style must be one of typing, chat, not 'loud'"),
        ("loud", "perhaps", "loud must be true or false, not 'perhaps'"),
        ("size", "0", "size must be a whole number of at least 1 or name=value pairs (a whole number of at least 1) or none, not '0'"),
        ("size", "1.5", "size must be"),
        ("size", {"hotel": 0}, "size must be"),
        ("size", "hotel=0", "size.hotel must be a whole number of at least 1, not '0'"),
        ("names", 5, "names must be a list separated by commas, not 5"),
        ("shares", "train=-1", "shares.train must be a number of at least 0, not '-1'"),
        ("shares", {"a": float("inf")}, "shares.a must be a number of at least 0, not inf"),
        ("day", "yesterday", "day must be a date, YYYY-MM-DD or none, not 'yesterday'"),
    ],
)
def test_what_does_not_fit_is_told_with_the_range_and_the_value(name: str, given: Any, message: str) -> None:
    with pytest.raises(OptionError) as refusal:
        options.read(name, KINDS[name], given)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rate": 2}, "some: rate must be a number above 0 and at most 1, not 2"),
        ({"rate": "0.5"}, "some: rate must be"),
        ({"rate": float("nan")}, "some: rate must be"),
        ({"loud": 1}, "some: loud must be true or false, not 1"),
        ({"shares": {"test": -1.0}}, "some: shares.test must be a number of at least 0, not -1.0"),
        ({"names": ["x", 3]}, "some: names must be"),
    ],
)
def test_instances_are_checked(wrong: dict[str, Any], message: str) -> None:
    options.check(Some(), "some: ")
    with pytest.raises(OptionError) as refusal:
        options.check(Some(**wrong), "some: ")
    assert message in str(refusal.value)


def test_state_is_no_option() -> None:
    assert "held" not in options.names(Some) and "held" not in options.describe(Some, "some")


def test_the_help_text_says_all_there_is() -> None:
    text = options.describe(Some, "some")
    assert "how much\n      a number above 0 and at most 1; unit: share of words; default: 0.1; example: some:rate=0.3" in text
    assert "one of typing, chat; default: typing; example: some:style=chat" in text
    assert "example: --set size.hotel=5" in options.describe(Some, "some", options.RECIPE)
    assert "default: 0.7" in options.describe(Some, "some", defaults=Some(rate=0.7))


@given(st.floats(min_value=1e-6, max_value=1) | st.integers(min_value=1, max_value=1))
def test_what_is_written_is_read_again(rate: float) -> None:
    assert options.read("rate", KINDS["rate"], options.written(rate)) == rate
