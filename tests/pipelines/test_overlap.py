"""Overlap between splits: the same counts as comparing every pair, whatever the bands; copies and templates by the thousand cost little."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations

import pytest
from dialmill.pipelines.core.counters import SHORTFALL
from dialmill.pipelines.runners.plain import PlainRunner
from dialmill.pipelines.stages import overlap
from dialmill.pipelines.stages.overlap import NEAR, Signature, banded, likeness, measure, signature
from dialmill.pipelines.stages.split import SPLITS
from dialmill.schemas import Dialogue, Turn
from hypothesis import given, settings
from hypothesis import strategies as st

_EMPTY = 0xFFFFFFFF


def _every_pair(signatures: list[Signature]) -> dict[str, dict[str, int]]:
    """The overlap by comparing all pairs."""
    found: dict[str, Counter[str]] = {}
    for one, other in combinations(signatures, 2):
        if one.split == other.split or set(one.minima) == {_EMPTY} or set(other.minima) == {_EMPTY}:
            continue
        first, second = sorted((one.split, other.split), key=list(SPLITS).index)
        kind = "exact" if one[1:] == other[1:] else "near" if likeness(one, other) >= NEAR else ""
        if kind:
            found.setdefault(f"{first}/{second}", Counter())[kind] += 1
    return {pair: dict(sorted(kinds.items())) for pair, kinds in sorted(found.items())}


#: Signatures of few kinds, some bins of which are another's or empty.
_SIGNATURES = st.lists(
    st.builds(
        lambda split, exact, base, changed: Signature(split, exact, tuple(changed.get(place, base) for place in range(32))),
        st.sampled_from(SPLITS),
        st.integers(0, 1),
        st.sampled_from([7, 8, _EMPTY]),
        st.dictionaries(st.integers(0, 31), st.sampled_from([9, 10, _EMPTY]), max_size=9),
    ),
    max_size=14,
)


@settings(max_examples=200)
@given(_SIGNATURES)
def test_overlap_is_that_of_all_pairs(signatures: list[Signature]) -> None:
    assert measure(signatures) == _every_pair(signatures)


def _talk(number: int, text: str) -> Dialogue:
    return Dialogue(dialogue_id=f"d{number}", source="t", source_id=f"d{number}", turns=(Turn(0, "user", text),))


_TEMPLATE = (
    "hello there i am looking for a nice place to stay tonight with free parking and wireless internet in the centre of town and it should not cost"
    " more than my last one which was far too dear for what it had to offer so please book it for {} people if you can thank you very much"
)


def _split(number: int) -> str:
    return SPLITS[2 if number % 10 == 9 else 1 if number % 10 == 8 else 0]


def test_plain_copies_cost_no_more_than_one_dialogue() -> None:
    count = 20_000
    one = signature(_talk(0, _TEMPLATE.format("two")), "train")
    started = time.process_time()
    found = measure(one._replace(split=_split(number)) for number in range(count))
    assert found["train/test"] == {"exact": count * 8 // 10 * count // 10}
    assert found["valid/test"] == {"exact": (count // 10) ** 2}
    assert time.process_time() - started < 5, "a second or two; every pair would take minutes"


def test_templates_by_the_thousand_are_compared_in_seconds() -> None:
    signatures = [signature(_talk(number, _TEMPLATE.format(f"{number} {number * 7}")), _split(number)) for number in range(3_000)]
    few = [one for number, one in enumerate(signatures) if number % 25 < 3 or number % 10 > 7][:400]
    assert measure(few) == _every_pair(few)
    started = time.process_time()
    found = measure(signatures)
    assert sum(found["train/test"].values()) > 100_000
    assert time.process_time() - started < 8


def test_more_different_dialogues_than_are_compared_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "MOST", 20)
    signatures = [signature(_talk(number, _TEMPLATE.format(f"{number} {number * 7}")), _split(number)) for number in range(100)]
    runner = PlainRunner()
    bands = runner.group("", [band for one in signatures for band in banded(one)])
    stage = overlap.CompareBand()
    for band in bands:
        assert list(stage.process(band)) == []
    counters = stage.take_counters()
    assert any(name.startswith(SHORTFALL) and "at least as many" in name for name in counters.notes)
    near = counters.overlap["train/test"]["near"]
    assert 0 < near <= _every_pair(signatures)["train/test"]["near"]
