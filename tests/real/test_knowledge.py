"""DSTC9 Track 1 on the published files: they pass the official checker's checks, and our questions are no nearer to titles than real ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dialmill.perturbers.insertion.knowledge import Knowledge, load
from dialmill.perturbers.insertion.knowledge.topics import usable

from tests.benchmarks.bench_knowledge import dialogues, figures, made, ours, overlap
from tests.benchmarks.bench_knowledge import real as read_real
from tests.pipelines.tools import call


@pytest.fixture
def track(real: Path) -> Path:
    folder = real / "dstc9_track1"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    return folder


def test_the_bases_are_read_whole(track: Path) -> None:
    train, test = load(str(track / "data/knowledge.json")), load(str(track / "data_eval/knowledge.json"))
    assert (len(train), len(test)) == (2900, 12039)
    assert (len(train.repeated), len(test.repeated)) == (2, 34), "1 and 17 entities hold a title twice"
    assert all(test.find(one.domain, one.entity_id, one.doc_id) == one for one in train.snippets())
    for base in (train, test):
        allowed, refused = usable(base, "en")
        assert sum(map(len, allowed.values())) + sum(refused.values()) == len(base)
        assert sum(refused.values()) < 0.35 * len(base)


@pytest.mark.parametrize(
    "words",
    [
        ("data",),
        ("data_eval/test/labels.json",),
        ("data_eval/knowledge.json",),
        ("subset_with_logs",),
        ("results/baseline/entry0.json", "--gold", "data_eval/test"),
    ],
)
def test_published_files_pass(words: tuple[str, ...], track: Path) -> None:
    result = call("validate", *(word if word.startswith("--") else track / word for word in words))
    assert result.code == 0, result.err


def test_questions_are_no_nearer_to_titles_than_real_ones(real: Path, track: Path) -> None:
    path = str(track / "data/knowledge.json")
    some = dialogues([real / "multiwoz21" / "convlab2" / "val.json.zip"])[:250]
    _, asked = ours(made(some, Knowledge(knowledge=path), "test"))
    _, theirs = read_real(track / "subset_with_logs/val", load(path))
    mine, real_ones = overlap(asked), overlap(theirs)
    assert len(asked) > 400
    assert mine["of_question"] < real_ones["of_question"] + 0.05 and mine["same_words"] < 0.1


@pytest.mark.skipif(os.environ.get("DIALMILL_FULL") != "1", reason="a minute of CPU: DIALMILL_FULL=1")
def test_trained_on_ours_tested_on_theirs(real: Path) -> None:
    found = figures(real)
    ours_, theirs = found["detection"]["a"]["dstc10"], found["detection"]["b"]["dstc10"]
    assert ours_["f1"] >= 0.85 * theirs["f1"] and ours_["recall"] >= 0.85 * theirs["recall"]
    assert found["detection"]["a"]["dstc9_recall"] >= 0.85 * found["detection"]["b"]["dstc9_recall"]
    for among in ("entity", "all"):
        assert abs(found["selection"][among]["ours_test"] - found["selection"][among]["real"]) <= 0.1, among
