"""Seeded random numbers: the same key gives the same numbers everywhere, another key others."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter

import pytest
from dialmill.perturbers.core.rng import Rng, key_number
from hypothesis import given
from hypothesis import strategies as st

PART = st.one_of(st.integers(), st.text(max_size=20))


def test_the_numbers_of_a_key_are_pinned() -> None:
    # These may never change: every published data set rests on them.
    assert key_number(1, "typos@1", "PMUL1635", 0, 0, 0) == 17116122550957362430
    rng = Rng(1, "typos@1", "PMUL1635", 0, 0, 0)
    assert [rng.below(1000) for _ in range(5)] == [414, 784, 355, 38, 733]


@given(st.lists(PART, min_size=1, max_size=6), st.lists(PART, min_size=1, max_size=6))
def test_different_keys_give_different_numbers(one: list[object], other: list[object]) -> None:
    same = [str(part) for part in one] == [str(part) for part in other]
    assert (key_number(*one) == key_number(*other)) == same


def test_the_generator_is_that_of_the_standard_library() -> None:
    for key in range(20):
        reference = random.Random(key_number("key", key)).random
        rng = Rng("key", key)
        assert [rng.random() for _ in range(700)] == [reference() for _ in range(700)]


def test_equal_parts_of_other_types_are_other_keys() -> None:
    assert len({key_number(1), key_number(True), key_number(1.0)}) == 3


def test_the_borders_between_the_parts_of_a_key_count() -> None:
    assert len({key_number("ab", "c"), key_number("a", "bc"), key_number("abc"), key_number("ab", "c", "")}) == 4


def test_a_lone_surrogate_is_a_key_like_any_other() -> None:
    assert key_number("\ud800") != key_number("\ud801")


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_numbers_do_not_depend_on_the_hash_seed(hash_seed: str) -> None:
    program = "from dialmill.perturbers.core.rng import Rng; r = Rng(7, 'x', 'é'); print([r.below(10**9) for _ in range(3)])"
    environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": "."}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    rng = Rng(7, "x", "é")
    assert result.stdout.strip() == str([rng.below(10**9) for _ in range(3)])


def test_the_global_generator_is_neither_read_nor_changed() -> None:
    random.seed(5)
    before = random.getstate()
    first = [Rng("key").random() for _ in range(3)]
    assert random.getstate() == before
    random.seed(6)
    assert [Rng("key").random() for _ in range(3)] == first


@given(PART, st.integers(1, 50))
def test_draws_stay_in_range(key: object, n: int) -> None:
    rng = Rng(key)
    items = list(range(n))
    assert 0 <= rng.below(n) < n
    assert rng.choice(items) in items
    assert sorted(rng.sample(items, n)) == items
    assert len(set(rng.sample(items, n // 2))) == n // 2
    assert rng.weighted(items, [i + 1.0 for i in range(n)]) in items
    assert not rng.chance(0.0) and rng.chance(1.0)


def test_weights_are_followed() -> None:
    rng = Rng("weights")
    drawn = Counter(rng.weighted("abc", (1.0, 3.0, 4.0)) for _ in range(4000))
    assert drawn["a"] / 4000 == pytest.approx(0.25, abs=0.03)
    assert drawn["b"] / 4000 == pytest.approx(0.5, abs=0.03)


def test_a_shuffle_reaches_every_order() -> None:
    orders = Counter()  # type: ignore[var-annotated]
    for key in range(3000):
        items = [0, 1, 2]
        Rng("shuffle", key).shuffle(items)
        orders[tuple(items)] += 1
    assert len(orders) == 6 and min(orders.values()) > 400
