"""Splits: official lists or a deterministic hash, few-shot subsets that nest, sizes that are upper bounds, copies that stay together, overlap."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.stages.overlap import likeness, signature
from dialmill.pipelines.stages.split import Fact, SplitPlanner, by_fraction
from dialmill.schemas import Dialogue, Turn
from hypothesis import given, settings
from hypothesis import strategies as st

from .tools import DATA, call, corpus, manifest, plain, records, talk


def _ids(folder: Path, split: str) -> set[str]:
    return {record.source_id for record in records(folder, "standard", split)}


def _plan(facts: list[Fact], **keys: object) -> dict[str, list[str]]:
    """Ids by split, as the stages assign them; "" for those no split takes."""
    recipe = Recipe("splits", **keys)  # type: ignore[arg-type]
    import msgspec

    planner = SplitPlanner(recipe)
    halves = [planner.create(), planner.create()]
    for number, fact in enumerate(facts):
        halves[number % 2] = planner.add(halves[number % 2], ("fact", msgspec.msgpack.encode(fact)))
    layout = planner.extract_output(planner.merge(halves))
    found: dict[str, list[str]] = {"train": [], "valid": [], "test": [], "": []}
    for fact in facts:
        split, reason = layout.assign(fact, recipe)
        assert (split is None) == bool(reason)
        found[split or ""].append(fact.source_id)
    return found


_FACTS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([None, "train", "valid", "test"]), st.integers(0, 15)), max_size=40)


def _facts(drawn: list[tuple[str, str | None, int]]) -> list[Fact]:
    return [Fact("s", group, official, rank << 60, f"d{number}") for number, (group, official, rank) in enumerate(drawn)]


@settings(max_examples=150)
@given(_FACTS, st.sampled_from(["auto", "official", "hash"]), st.integers(0, 6), st.integers(0, 6), st.booleans())
def test_plans_keep_to_their_sizes_and_nest(drawn: list[tuple[str, str | None, int]], mode: str, train: int, test: int, proportional: bool) -> None:
    facts = _facts(drawn)
    keys = {"splits": mode, "group_by": "domain", "test_size": test, "proportional": proportional}
    small = _plan(facts, train_size=train, **keys)
    group = {fact.source_id: fact.group for fact in facts}
    for split, size in (("train", train), ("test", test)):
        assert max(Counter(group[one] for one in small[split]).values(), default=0) <= size
    assert sorted(one for found in small.values() for one in found) == sorted(group), "each in one split or refused"
    if not proportional:
        large = _plan(facts, train_size=train + 3, **keys)
        assert set(small["train"]) <= set(large["train"]), "a smaller training set is part of a larger"
        assert small["test"] == large["test"]
    if mode == "hash":
        ranks = {fact.source_id: (fact.group, fact.rank) for fact in facts}
        assert not {ranks[one] for one in small["train"]} & {ranks[one] for one in small["test"]}, "copies never face each other"


@given(st.integers(0, 2**64 - 1), st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 1))
def test_fractions_follow_the_rank(rank: int, train: float, valid: float, test: float) -> None:
    fractions = {"train": train, "valid": valid, "test": test}
    assert fractions[by_fraction(rank, fractions)] > 0


def test_few_shot_sets_nest_are_deterministic_and_counted_per_domain(tmp_path: Path) -> None:
    for size in (2, 5):
        plain("raddle", [DATA / "multiwoz21"], tmp_path / str(size), f"train_size={size}", "suites=standard")
        domains = Counter(record.domains[0] for record in records(tmp_path / str(size), "standard", "train"))
        assert domains == dict.fromkeys(("attraction", "hotel", "restaurant", "train"), size)
    assert _ids(tmp_path / "2", "train") < _ids(tmp_path / "5", "train")
    assert _ids(tmp_path / "2", "test") == _ids(tmp_path / "5", "test")
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "zero", "train_size=0", "suites=standard")
    assert _ids(tmp_path / "zero", "train") == set() and _ids(tmp_path / "zero", "test") == _ids(tmp_path / "5", "test")
    assert call("verify", tmp_path / "zero").code == 0


def test_fifty_are_part_of_five_hundred(tmp_path: Path) -> None:
    corpus(tmp_path / "in", {f"d{number}": talk(number)[:2] for number in range(640)})
    for size in (50, 500):
        made = plain("splits", [tmp_path / "in"], tmp_path / str(size), f"train_size={size}", "splits=hash", "fractions=train=0.9,test=0.1")
        assert len(_ids(tmp_path / str(size), "train")) == size and not any("wanted" in warning for warning in made["warnings"])
    assert _ids(tmp_path / "50", "train") < _ids(tmp_path / "500", "train")


def test_sizes_are_upper_bounds_and_the_shortfall_is_said(raddle: Path) -> None:
    made = manifest(raddle)
    assert {warning for warning in made["warnings"] if warning.startswith("hotel")} == {
        "hotel: train has 7 dialogues of the 50 wanted: the input holds no more",
        "hotel: test has 2 dialogues of the 200 wanted: the input holds no more",
    }
    assert "hotel: test has 2 dialogues of the 200 wanted" in (raddle / "README.md").read_text("utf-8")


def test_without_a_training_set_train_and_test_shrink_alike(tmp_path: Path) -> None:
    """Validation and test data alone: hash, and 50 to 200 stays 1 to 4."""
    dialogues = {f"d{number}": talk(number) for number in range(30)}
    corpus(tmp_path / "in", dialogues, val=[f"d{n}" for n in range(15)], test=[f"d{n}" for n in range(15, 30)])
    made = plain("raddle", [tmp_path / "in"], tmp_path / "out", "suites=standard")
    assert made["splits"] == "hash"
    assert (len(_ids(tmp_path / "out", "train")), len(_ids(tmp_path / "out", "test"))) == (6, 24)
    assert any("no data for its official train" in warning for warning in made["warnings"])


def test_what_no_list_of_multiwoz_names_is_train(tmp_path: Path) -> None:
    dialogues = {f"d{number}": talk(number) for number in range(9)}
    corpus(tmp_path / "in", dialogues, val=["d1", "d2"], test=["d3"])
    made = plain("splits", [tmp_path / "in"], tmp_path / "out")
    assert made["splits"] == "official"
    assert {split: len(_ids(tmp_path / "out", split)) for split in ("train", "valid", "test")} == {"train": 6, "valid": 2, "test": 1}


def test_auto_falls_back_to_hash_and_says_so_everywhere(tmp_path: Path) -> None:
    """A RiSAWOZ sample whose dialogues are all of the training list."""
    shutil.copytree(DATA / "risawoz", tmp_path / "in")
    lists = json.loads((DATA / "risawoz/dataset_split_ids_dict.json").read_text("utf-8"))
    train = {one for name, ids in lists.items() if "train" in name for one in ids}
    data = json.loads((DATA / "risawoz/dialogues.json").read_text("utf-8"))
    (tmp_path / "in/dialogues.json").write_text(json.dumps([one for one in data if one["dialogue_id"] in train], ensure_ascii=False), "utf-8")
    result = call("build", "splits", "--input", tmp_path / "in", "--output", tmp_path / "out")
    assert result.code == 0
    assert sum(len(_ids(tmp_path / "out", split)) for split in ("train", "valid", "test")) == 20
    assert manifest(tmp_path / "out")["splits"] == "hash"
    for text in (result.err, (tmp_path / "out/README.md").read_text("utf-8"), json.dumps(manifest(tmp_path / "out"))):
        assert "risawoz has no data for its official valid" in text and "split by a deterministic hash instead" in text


def test_modes_are_obeyed(tmp_path: Path) -> None:
    official = plain("splits", [DATA / "multiwoz22"], tmp_path / "official", "splits=official")
    hashed = plain("splits", [DATA / "multiwoz22"], tmp_path / "hash", "splits=hash")
    assert (official["splits"], hashed["splits"]) == ("official", "hash")
    assert {split: len(_ids(tmp_path / "official", split)) for split in ("train", "valid", "test")} == {"train": 20, "valid": 7, "test": 7}
    assert _ids(tmp_path / "official", "test") != _ids(tmp_path / "hash", "test")
    assert not any("deterministic hash" in warning for warning in hashed["warnings"]), "what was asked for is no warning"
    corpus(tmp_path / "in", {f"d{number}": talk(number) for number in range(5)})
    made = plain("splits", [tmp_path / "in"], tmp_path / "none")
    assert any("came without split lists" in warning for warning in made["warnings"])


def test_copies_stay_together_in_hash_splits_and_are_counted_in_official_ones(tmp_path: Path) -> None:
    """d9 is d7 in capitals, d8 nearly d7."""
    long = [line for number in (50, 51, 52) for line in talk(number)]
    near = [*long[:-1], long[-1] + " indeed"]
    dialogues = {f"d{number}": talk(number) for number in range(7)} | {"d7": long, "d8": near, "d9": [text.upper() for text in long]}
    corpus(tmp_path / "in", dialogues, val=["d8"], test=["d9"])
    for seed in range(6):
        plain("splits", [tmp_path / "in"], tmp_path / "hash", "splits=hash", "fractions=train=0.5,test=0.5", seed=seed)
        place = {record.source_id: record.split for record in records(tmp_path / "hash")}
        assert place["d7"] == place["d9"]
    made = plain("splits", [tmp_path / "in"], tmp_path / "official")
    assert made["overlap"] == {"train/test": {"exact": 1}, "train/valid": {"near": 1}, "valid/test": {"near": 1}}
    assert "train/test: 1 pairs of exact copies" in made["warnings"]
    assert "1 pairs of exact copies" in (tmp_path / "official/README.md").read_text("utf-8")
    assert call("verify", tmp_path / "official").code == 0


def _said(*texts: str) -> Dialogue:
    turns = tuple(Turn(number, "system" if number % 2 else "user", text) for number, text in enumerate(texts))
    return Dialogue(dialogue_id="d", source="s", source_id="d", turns=turns)


def test_short_dialogues_are_not_alike_for_what_they_lack() -> None:
    one, other = (signature(_said(text), "train") for text in ("hello there friend", "book a taxi"))
    assert likeness(one, other) < 0.5
    assert likeness(one, one) == 1
    assert likeness(signature(_said("?!"), "train"), signature(_said("..."), "train")) == 0


def test_a_dialogue_in_two_official_lists_is_rejected(tmp_path: Path) -> None:
    corpus(tmp_path / "in", {f"d{number}": talk(number) for number in range(4)}, val=["d1", "d2"], test=["d2", "d3"])
    plain("splits", [tmp_path / "in"], tmp_path / "out")
    assert {record.source_id: record.split for record in records(tmp_path / "out")} == {"d0": "train", "d1": "valid", "d3": "test"}
