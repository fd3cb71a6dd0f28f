"""Donors in the pipeline: gathered before the filters, equal on every engine, overlap stated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.core.pools import table_bytes
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.stages import pools
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


def test_pools_in_shards_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard has the keys of one hash; a perturber opens those that it asks."""
    settings = ["suites=standard,paraphrase,typos", _BY_DONORS]
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "one", *settings)
    monkeypatch.setattr(pools, "_SHARD_BYTES", 10_000)
    written: list[str] = []
    write = pools.files.create

    def create(path: str) -> Any:
        written.append(path)
        return write(path)

    monkeypatch.setattr(pools.files, "create", create)
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "many", *settings)
    assert hashes(tmp_path / "one") == hashes(tmp_path / "many")
    assert len({path for path in written if "pool-0" in path}) > 10


@pytest.mark.parametrize("remote", [False, True])
def test_a_shard_that_is_not_asked_for_is_not_read(tmp_path: Path, remote: bool) -> None:
    folder = "memory://pools" if remote else str(tmp_path)
    held = {}
    for shard in range(4):
        path = pools.files.join(folder, str(shard))
        content = table_bytes([(f"k{number}", b"%d" % number) for number in range(40) if pools.shard_of(f"k{number}", 4) == shard])
        pools.files.write_bytes(path, content)
        held[shard] = (path, str(shard))
    asked = pools.shard_of("k7", 4)
    found = pools.PoolPaths()
    states = [found.add(found.create(), ("p\ninput", pools.Shards(4, {shard: one}).packed())) for shard, one in held.items()]
    table = pools.pool_in(found.extract_output(found.merge(states)), "p", "input")
    assert table is not None
    for shard in set(range(4)) - {asked}:
        pools.files.remove(pools.files.join(folder, str(shard)))
    assert table.open().get("k7") == b"7"
    assert pools.pool_in({}, "p", "input") is None
