"""NOESIS from the annotated #ubuntu logs, against what was counted on them by other means."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.pipelines.tools import call, plain, records

#: Two-party conversations that pass the four filters, with annotated links; counted independently, with another rule for who is addressed, and
#: without the rule that the opening asks something, which refuses a few more (without it 57 and 108 are found).
ACCEPTED = {"dev": 56, "test": 105}


@pytest.fixture(scope="module")
def built(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build from dev and test; `splits=official` takes them as they are, without a training part."""
    folder = real / "irc-disentanglement"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    out = tmp_path_factory.mktemp("noesis") / "out"
    plain("noesis-ubuntu", [folder / "dev", folder / "test"], out, "links=annotated", "splits=official", "subtasks=1,4")
    return out


def test_as_many_conversations_as_counted(built: Path) -> None:
    for split, due in ACCEPTED.items():
        found = len(records(built, "standard", {"dev": "valid"}.get(split, split)))
        assert 0.95 * due <= found <= 1.03 * due, split


def test_the_build_passes_verify_and_the_audit(built: Path) -> None:
    verified = call("verify", built)
    assert verified.code == 0, verified.err
    audit = json.loads((built / "manifest.json").read_text())["audit"]["release/ubuntu_test_subtask_1.json"]
    # A conversation serves one subtask, and a third of them is answered before there is a context of three turns.
    assert audit["examples"] >= 25 and audit["chance"] == 0.01
    assert all(audit[ranker] < 0.05 for ranker in ("first", "longest", "names")) and audit["tfidf"] > 0.15


def test_examples_have_the_shape_of_the_released_ones(built: Path) -> None:
    """In 15 released examples speakers alternate, contexts have 3 to 17 turns, and messages of one speaker are joined by ". "."""
    rows = json.loads((built / "release/ubuntu_test_subtask_1.json").read_text())
    lengths = Counter(len(row["messages-so-far"]) for row in rows)
    assert all(length % 2 for length in lengths) and sum(lengths[length] for length in range(3, 18)) > 0.5 * len(rows)
    assert any(". " in message["utterance"] for row in rows for message in row["messages-so-far"])
    assert {len(row["options-for-next"]) for row in rows} == {100}
