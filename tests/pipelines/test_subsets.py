"""Few-shot and hard sets in the benchmarks' own releases: the same records in files of the same form, found by verify, score and predict-baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.stage import Out
from dialmill.pipelines.core.subsets import check_subsets, in_subset, repeated, subset_files

from .tools import DATA, call, manifest, plain, records

#: `splits` has no release of its own; the few-shot lists of cgodial-fbd lie with its flows, of which the corpus decides.
NO_RELEASE, BY_FLOW = "splits", "cgodial-fbd"
#: No training data (twice); dialogues in a language that the baselines of the source aren't trained in; files of what editions the input has.
NO_SUBSETS = ("agent-noise", "dstc9-track3", "dstc9-track2", "dstc9-track4")


@pytest.mark.parametrize("name", [name for name in benchmarks.names() if name not in (NO_RELEASE, *NO_SUBSETS)])
def test_every_release_has_its_subsets(name: str) -> None:
    made = benchmarks.load_recipe(name, None, [])
    expected = benchmarks.get(name).expected(made)
    assert any("hard" in path for path in expected)
    assert name == BY_FLOW or any("few_shot" in path or "FewShot" in path for path in expected)
    without = benchmarks.get(name).expected(benchmarks.load_recipe(name, None, ["few_shot=0"]))
    assert without.keys() < expected.keys() or name == BY_FLOW


def test_places_of_subsets() -> None:
    assert in_subset("few_shot", "release/data/train/logs.json") == "release/few_shot/data/train/logs.json"
    assert in_subset("test_hard", "labels/release/a.tsv") == "labels/release/test_hard/a.tsv"
    with pytest.raises(ValueError, match="no file of a release"):
        in_subset("few_shot", "dialogues/standard/train.jsonl")
    one = Out("release/a.json", b"\0", 1, b"{}")
    assert [out.path for out in repeated([one], ["test_hard"])] == ["release/a.json", "release/test_hard/a.json"]
    files = {"release/train.json": "x", "release/test.json": "y", "release/pool.tsv": ""}
    assert set(subset_files(files, 0.0, lambda path: path[8:-5] if "." in path else None)) == {"release/test_hard/test.json"}


@pytest.fixture(scope="module")
def advising(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subsets") / "advising"
    plain("noesis-advising", [DATA / "advising"], folder, "partials=30", "hard_share=1", "few_shot=0.2", "subtasks=1,3,4")
    return folder


def _examples(path: Path) -> dict[int, Any]:
    return {one["example-id"]: one for one in json.loads(path.read_text("utf-8"))}


def test_noesis_examples_are_repeated_with_their_candidates(advising: Path) -> None:
    release = advising / "release"
    conversations = [one["conversation-id"] for one in json.loads((release / "few_shot/advising_train_conversations.json").read_text("utf-8"))]
    few = {json.loads(line)["source_id"] for line in (advising / "few_shot/standard/train.jsonl").read_text("utf-8").splitlines()}
    assert set(conversations) == few
    kept = 0
    for subset, split in (("few_shot", "train"), ("test_hard", "test")):
        for subtask in (1, 3, 4):
            name = f"advising_{split}_subtask_{subtask}"
            whole, part = _examples(release / f"{name}.json"), _examples(release / subset / f"{name}.json")
            assert all(whole[number] == one for number, one in part.items()) and len(part) <= len(whole)
            targets = [line.split("\t")[0] for line in (release / subset / f"{name}.targets.tsv").read_text("utf-8").splitlines()]
            assert sorted(map(int, targets)) == sorted(part)
            kept += len(part)
    assert kept > 20 and call("verify", advising).code == 0
    hard = {one.source_id for one in records(advising, "standard", "test_hard")}
    assert hard


def test_noesis_hard_examples_are_scored(advising: Path, tmp_path: Path) -> None:
    ranked = tmp_path / "ranked.json"
    made = call("predict-baseline", "noesis-advising", "--gold", advising, "--split", "test_hard", "--suite", "subtask_1", "--output", ranked)
    assert made.code == 0, made.err
    words = ("score", "noesis-advising", "--gold", advising, "--predictions", ranked, "--split", "test_hard", "--json", "-")
    scored = json.loads(call(*words).out)
    assert scored["metrics"]["R@1"] < 0.2, "TF-IDF is wrong on nearly all of them: its weights are those of the file here, and of the pool there"
    assert scored["counts"]["examples"] == len(_examples(advising / "release/test_hard/advising_test_subtask_1.json")) > 0


def test_what_is_not_in_the_whole_file_is_found(advising: Path) -> None:
    path = advising / "release/few_shot/advising_train_subtask_1.json"
    before = path.read_bytes()
    try:
        path.write_bytes(before.replace(b'"scenario":1', b'"scenario":9', 1))
        _, problems = check_subsets(advising, manifest(advising))
        assert len(problems) == 1 and "holds 1 records that release/advising_train_subtask_1.json doesn't" in problems[0]
    finally:
        path.write_bytes(before)


def test_labels_that_are_held_out_are_in_no_subset(tmp_path: Path) -> None:
    settings = ("held_out_labels=true", "hard_share=1")
    plain("noesis-advising", [DATA / "advising"], tmp_path / "advising", "partials=5", "subtasks=1", *settings)
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "raddle", "suites=standard", *settings)
    plain("dstc9-track1", [DATA / "risawoz"], tmp_path / "dstc9", "suites=standard,knowledge", *settings)
    plain("cgodial-rbd", [DATA / "ecd"], tmp_path / "ecd", "suites=standard", *settings)
    for name, told in (
        ("advising", "options-for-correct-answers"),
        ("raddle", '"belief"'),
        ("dstc9", '"target"'),
        ("ecd", "options-for-correct-answers"),
    ):
        root = tmp_path / name
        hidden = [path.read_text("utf-8") for path in (root / "labels/release/test_hard").rglob("*.json")]
        # Not even which they are is published.
        assert not (root / "release/test_hard").exists() and list((root / "labels/release/test_hard").iterdir()), name
        shown = [path.read_text("utf-8") for path in (root / "release").rglob("*.json") if "test" in str(path.relative_to(root))]
        assert not any(told in text for text in shown), name
        assert name == "advising" or any(told in text for text in hidden), name
        assert not list((root / "release/test_hard").rglob("*.tsv"))
        assert call("verify", root).code == 0
