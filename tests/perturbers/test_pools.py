"""Pools: one file whatever the order of what went in, found by key."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialmill.perturbers.core.difficulty import WordingPool
from dialmill.perturbers.core.pools import Entry, Merging, Pool, PoolTable, table_bytes
from dialmill.perturbers.rewording.donors import DonorPool, build_donors
from dialmill.perturbers.speech.turns import SpokenTurns
from hypothesis import given
from hypothesis import strategies as st

import dialmill as dm
from tests.pipelines.tools import DATA
from tests.talk import HOTELS, dialogue


@given(st.dictionaries(st.text(max_size=12), st.binary(max_size=30), max_size=30), st.text(max_size=12))
def test_a_table_gives_back_what_went_in(items: dict[str, bytes], other: str) -> None:
    table = PoolTable(table_bytes(items.items()))
    assert len(table) == len(items)
    assert all(table.get(key) == data for key, data in items.items())
    assert other in items or table.get(other) is None
    assert table_bytes(reversed(list(items.items()))) == table_bytes(items.items())


def test_a_table_is_mapped_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "pool.table"
    path.write_bytes(table_bytes([("b", b"2"), ("a", b"1")]))
    table = PoolTable.open(str(path))
    assert (table.get("a"), table.get("b"), table.get("c")) == (b"1", b"2", None)


def test_another_file_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"x" * 40)
    with pytest.raises(ValueError, match="no pool file"):
        PoolTable.open(str(path))


def test_merging_does_not_depend_on_order_and_keeps_a_bounded_number() -> None:
    pool = DonorPool()
    contributions = [(key, Entry("train", data)) for one in HOTELS for key, data in pool.entries(one)]
    keys = {key for key, _ in contributions}
    for key in keys:
        entries = [entry for other, entry in contributions if other == key]
        assert pool.merge(entries) == pool.merge(reversed(entries))
    words = ["cheap", "nice"]
    many = [dialogue(f"m{n}", [("user", "i need " + " ".join(words[int(bit)] for bit in f"{n:09b}") + " wifi .")]) for n in range(300)]
    assert len(build_donors(many)) >= 1
    entries = [Entry("", data) for one in many for _, data in pool.entries(one)]
    merged = pool.merge(entries)
    assert merged is not None
    assert len(merged) < 256 * 200


@pytest.mark.parametrize("corpus", ["multiwoz21", "risawoz"])
def test_wordings_that_differ_in_their_units_alone_merge_the_same_in_any_order(corpus: str) -> None:
    groups: dict[str, list[Entry]] = {}
    for one in dm.read(DATA / corpus):
        for key, data in DonorPool().entries(one):
            groups.setdefault(key, []).append(Entry("train", data))
    assert any(len(entries) > 1 for entries in groups.values())
    for entries in groups.values():
        assert DonorPool().merge(entries) == DonorPool().merge(reversed(entries))


def test_nothing_to_merge_leaves_the_key_out() -> None:
    assert DonorPool().merge([]) is None


@pytest.mark.parametrize("pool", [DonorPool(), WordingPool(), SpokenTurns()])
@pytest.mark.parametrize("corpus", ["multiwoz21", "risawoz"])
def test_what_is_merged_in_parts_is_what_is_merged_at_once(pool: Pool, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker has all contributions to a key that every dialogue contributes to."""
    monkeypatch.setattr(Merging, "MOST", 3)
    groups: dict[str, list[Entry]] = {}
    for number, one in enumerate(dm.read(DATA / corpus)):
        for key, data in pool.entries(one):
            groups.setdefault(key, []).append(Entry(("train", "test", "")[number % 3], data))
    assert any(len(entries) > 3 for entries in groups.values())
    for entries in groups.values():
        parts = [Merging(pool) for _ in range(3)]
        for number, entry in enumerate(reversed(entries)):
            parts[number * number % 3].add(entry)
        whole = Merging(pool)
        for part in parts:
            whole.add_merged(part.result())
        assert whole.result() == pool.merge(entries)
