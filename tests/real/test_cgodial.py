"""The CGoDial benchmarks on the published corpora they are made from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.sources import registry
from tests.pipelines.source_tools import read_paths
from tests.pipelines.tools import call, manifest, plain


@pytest.fixture(scope="module")
def rbd(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rbd") / "out"
    plain("cgodial-rbd", [real / "ecd_sample"], out)
    return out


def test_the_sample_of_the_e_commerce_corpus_is_read_whole(real: Path) -> None:
    read = read_paths(registry.get("ecd"), [real / "ecd_sample" / f"{part}.txt" for part in ("train", "valid", "test")])
    assert len(read.dialogues) == 77 + 100 + 77
    assert not read.rejects and not read.repeated


def test_its_hard_examples_have_ten_candidates_and_verify_passes(rbd: Path) -> None:
    assert call("verify", rbd).code == 0
    test = json.loads((rbd / "release" / "test.json").read_text("utf-8"))
    assert 40 < len(test) < 100 and all(len(one["false"]) == 9 for one in test.values())
    stages = {stage["name"]: stage for stage in manifest(rbd)["stages"]}
    assert stages["read"]["in"] == stages["read"]["out"] == 254
    assert set(stages["filter"]["rejected"]) == {"ambiguous_candidates", "ambiguous_response", "too_easy"}
    # Train and valid of the sample are the same bytes, which the build tells.
    assert set(manifest(rbd)["overlap"]) <= {"train/valid"} and manifest(rbd)["overlap"]["train/valid"]["exact"] > 20
