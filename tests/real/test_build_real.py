"""Whole builds of published corpora: validation and test data of MultiWOZ 2.1, the TITAN copy, the RiSAWOZ sample."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.pipelines.tools import call, manifest, records


@pytest.fixture(scope="module")
def raddle(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real") / "raddle"
    # One perturbed suite, no hard set: what the others make of real dialogues, their own tests say.
    settings = ("--set", "suites=standard,typos", "--set", "hard_baselines=")
    result = call("build", "raddle", "--input", real / "multiwoz21/convlab2", "--output", out, *settings)
    assert result.code == 0, result.err
    return out


def test_raddle_has_the_single_domain_dialogues_there_are(raddle: Path) -> None:
    domains = Counter(record.domains[0] for record in records(raddle))
    assert domains == {"attraction": 23, "train": 63, "hotel": 123, "restaurant": 112}
    made = manifest(raddle)
    assert made["splits"] == "hash", "validation and test data alone have no official training set"
    assert any("no data for its official train" in warning for warning in made["warnings"])
    train, test = (Counter(record.domains[0] for record in records(raddle, "standard", split)) for split in ("train", "test"))
    for domain, number in domains.items():
        wanted = (50, 100 if domain == "attraction" else 200)
        assert train[domain] + test[domain] == number
        assert abs(train[domain] - number * wanted[0] / sum(wanted)) <= 1, "train and test shrink alike"
    assert {stage["name"]: stage for stage in made["stages"]}["read"] == {"name": "read", "in": 1999, "out": 1999, "made": 0, "rejected": {}}


def test_raddle_variants_are_noisy_and_labelled(raddle: Path) -> None:
    assert call("verify", raddle).code == 0
    typos = records(raddle, "typos", "test")
    books = {stage["name"]: stage for stage in manifest(raddle)["stages"]}
    assert len(typos) >= 0.99 * len(records(raddle, "standard", "test"))
    turns = books["typos turns"]
    assert turns["out"] >= 0.9 * turns["in"], turns
    for record in typos:
        assert all(span.status == "kept" for turn in record.turns for span in turn.spans), "protect mode"


@pytest.mark.parametrize("inputs", ["multiwoz21/titan_derived", "risawoz"])
def test_messy_and_partial_corpora_are_read_whole(inputs: str, real: Path, tmp_path: Path) -> None:
    result = call("perturb", "--input", real / inputs, "--with", "typos:rate=0.2", "--set", "hard_baselines=", "--output", tmp_path / "out")
    assert result.code == 0, result.err
    books = {stage["name"]: stage for stage in manifest(tmp_path / "out")["stages"]}
    assert books["read"]["in"] == sum(item["records"] for item in manifest(tmp_path / "out")["inputs"]) > 0
    assert books["typos"]["out"] >= 0.95 * books["standard"]["out"] > 0
    assert not {"reader_failed", "perturber_failed", "invalid_record"} & {reason for stage in books.values() for reason in stage["rejected"]}
    assert call("verify", tmp_path / "out").code == 0
