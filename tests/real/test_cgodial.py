"""The CGoDial benchmarks on the published corpora they are made from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines.sources import registry

from tests import published
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
    assert set(manifest(rbd)["overlap"]) <= {"train/valid"} and manifest(rbd)["overlap"]["train/valid"]["exact"] > 5


def test_a_hundred_dialogues_of_risawoz_get_their_questions_and_four_versions(real: Path, tmp_path: Path) -> None:
    plain("cgodial-sbd", [real / "risawoz" / "zh_fewshot.json"], tmp_path / "out", "hard_baselines=")
    assert call("verify", tmp_path / "out").code == 0 and call("validate", tmp_path / "out" / "release").code == 0
    dialogues = json.loads((tmp_path / "out/release/data/processed/data_for_damd.json").read_text("utf-8"))
    assert len(dialogues) == 100 and {len(versions) for versions in dialogues.values()} == {4}
    for log in [log for versions in dialogues.values() for log in versions.values()]:
        for turn in log:
            assert published.slot_turn_right(turn["sys_act"], turn["sys_act"], turn["turn_succ"]), "the right answer is right as published"
    kinds = [{turn["type"] for turn in versions["log"]} for versions in dialogues.values()]
    asked, unknown = (sum(kind in one for one in kinds) for kind in ("extra_know", "out_of_know"))
    # Probabilities 0.5 and 0.6, but for dialogues in which no question has a place.
    assert 35 <= asked <= 60 and 45 <= unknown <= 75
    spoken = [(a["user"], b["user"]) for one in dialogues.values() for a, b in zip(one["log"], one["log_asr1"], strict=True)]
    assert sum(a != b for a, b in spoken) > 0.7 * len(spoken)
