"""Donors in the pipeline: gathered before the filters, equal on every engine, overlap stated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.schemas.dialogue import decode

from .tools import DATA, hashes, plain


def made(folder: Path, suite: str = "paraphrase") -> list[str]:
    """The origins of wordings in a suite's test split."""
    lines = (folder / "dialogues" / suite / "test.jsonl").read_bytes().splitlines()
    return [reason.partition(": ")[2] for line in lines for step in decode(line).lineage for reason in step.reasons if reason.startswith("turn ")]


#: Paraphrases by donors alone: composed ones come from nobody.
_BY_DONORS = "perturbations.paraphrase=paraphrase:engine=donors"


def test_donors_come_from_the_whole_input_and_the_manifest_says_so(tmp_path: Path) -> None:
    raddle = tmp_path / "out"
    plain("raddle", [DATA / "multiwoz21"], raddle, _BY_DONORS, "suites=paraphrase")
    donors = [origin for origin in made(raddle) if origin.startswith("paraphrase donor")]
    assert donors
    assert any("in no split" in origin for origin in donors), "dialogues that the filters refuse lend their wording too"
    manifest = json.loads((raddle / "manifest.json").read_text())
    counted = {name: number for name, number in manifest["notes"].items() if name.startswith("paraphrase: ")}
    assert sum(counted.values()) == len(donors)
    shared = sum(number for name, number in counted.items() if name.endswith(("donor in train", "donor in valid")))
    assert bool(shared) == any("paraphrase" in warning for warning in manifest["warnings"])
    assert not list(raddle.glob("pool*")), "the pool is no part of the output"


def test_the_training_split_alone_may_lend(tmp_path: Path) -> None:
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out", "donors_from=train", "suites=paraphrase", _BY_DONORS)
    donors = [origin for origin in made(tmp_path / "out") if origin.startswith("paraphrase donor")]
    assert all(origin.endswith("(train)") for origin in donors)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["recipe"]["donors_from"] == "train"


def test_another_corpus_may_lend_on_every_engine(tmp_path: Path) -> None:
    settings = [f"donors_from={DATA / 'multiwoz21'}", "suites=paraphrase,simplification", _BY_DONORS]
    plain("raddle", [DATA / "multiwoz22"], tmp_path / "plain", *settings)
    build.run(build.make_job(benchmarks.load_recipe("raddle", None, settings), [str(DATA / "multiwoz22")], str(tmp_path / "beam")))
    assert hashes(tmp_path / "plain") == hashes(tmp_path / "beam")
    donors = [origin for origin in made(tmp_path / "plain") if origin.startswith("paraphrase donor")]
    assert all(origin.endswith("(in no split)") for origin in donors)


def test_a_corpus_that_is_not_there_is_told_before_the_run(tmp_path: Path) -> None:
    from dialmill.pipelines.core.errors import DialmillError

    with pytest.raises(DialmillError, match="nowhere"):
        build.make_job(benchmarks.load_recipe("raddle", None, ["donors_from=/nowhere"]), [str(DATA / "multiwoz21")], str(tmp_path / "out"))
