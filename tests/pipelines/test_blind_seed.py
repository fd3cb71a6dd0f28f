"""The seed of a build whose labels are held out: with one that can be guessed a rebuild gives them away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines.core import blind

from tests.pipelines.tools import DATA, call


def _build(output: Path, *words: object) -> str:
    said = call("build", "splits", "--input", DATA / "multiwoz21", "--output", output, "--set", "held_out_labels=true", *words)
    assert said.code == 0, said
    return said.err


def _private(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "labels/manifest.json").read_bytes())
    return found


def test_a_long_seed_is_drawn_and_makes_the_same_bytes_again(tmp_path: Path) -> None:
    assert "can be found by trying" not in _build(tmp_path / "one")
    _build(tmp_path / "two")
    seed = _private(tmp_path / "one")["seed"]
    assert isinstance(seed, int) and seed != _private(tmp_path / "two")["seed"]
    assert "seed" not in (tmp_path / "one/report.html").read_text("utf-8").partition("Made by dialmill")[2][:40]
    _build(tmp_path / "again", "--seed", seed)
    for path in ("dialogues/standard/test.jsonl", "labels/dialogues/standard/test.jsonl", "manifest.json", "labels/manifest.json"):
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "again" / path).read_bytes()


def test_a_seed_that_can_be_guessed_is_told_and_not_published(tmp_path: Path) -> None:
    assert "the seed 7 can be found by trying" in _build(tmp_path / "out", "--seed", 7)
    assert "found by trying" in str(_private(tmp_path / "out")["warnings"])
    public = json.loads((tmp_path / "out/manifest.json").read_bytes())
    assert "found by trying" not in str(public["warnings"])


@pytest.mark.parametrize("held", [False, True])
def test_seeds(held: bool) -> None:
    drawn = {blind.run_seed(None, held) for _ in range(20)}
    assert len(drawn) == (20 if held else 1) and all(0 <= one < 2**63 for one in drawn)
    assert blind.run_seed(5, held) == 5
