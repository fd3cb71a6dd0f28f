"""A token of thousands of characters costs what its length costs, not the square of it."""

from __future__ import annotations

import time

import pytest
from dialmill.perturbers.core import protected

import dialmill as dm

TOKENS = {
    "digits": "1" * 40_000,
    "letters": "a" * 40_000 + "1",
    "letters and a mark": "a" * 40_000 + "_ \u0301",
    "braces": "{{" * 20_000,
    "quoted braces": '{"' * 20_000,
    "hyphens": "ab-" * 13_000 + "1",
    "dots": "a." * 20_000,
    "identifiers": "a_." * 13_000,
    "at signs": "a@" * 20_000,
    "calls": "a_b" * 10_000 + "(",
}


@pytest.mark.parametrize("name", TOKENS)
def test_protected_tokens_are_found_in_linear_time(name: str) -> None:
    started = time.process_time()
    protected.ranges("a number_1 " + TOKENS[name])
    # Minutes where it is searched from every character to the end.
    assert time.process_time() - started < 8


@pytest.mark.parametrize(
    "text",
    [
        "ann.b+c%d@" + "mail." * 3 + "org",
        "git+ssh://host/x",
        "speaker_" * 4 + "name#12",
        "a." * 30 + "run()",
        "snake_" * 8 + "call(1, 2)",
        "cafe\u0301s",
    ],
)
def test_tokens_of_common_length_are_protected_as_ever(text: str) -> None:
    assert protected.ranges(f"so {text} it is") == ((3, 3 + len(text)),)


def test_typos_of_a_long_number_end() -> None:
    started = time.process_time()
    made = dm.noise("1" * 12_000, "typos:rate=0.1", seed=1)
    assert made.text and time.process_time() - started < 8
