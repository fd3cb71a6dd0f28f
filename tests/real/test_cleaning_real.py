"""Cleaning on published corpora: faults that are planted in them are found, and next to nothing where none is. tests/benchmarks/bench_cleaning plants
200 of each kind in more corpora."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import bench_cleaning
from tests.pipelines.tools import call, rejects

_CORPORA = {"en": ("sgd/dev",), "zh": ("risawoz/zh_fewshot.json",)}
_FAULTS = 25


@pytest.mark.parametrize("language", _CORPORA)
def test_planted_faults_are_found_and_others_are_not(language: str, real: Path) -> None:
    for kind, found in bench_cleaning.measure(real, language, _FAULTS, _CORPORA).items():
        assert found.planted >= 20 and found.found >= 0.9 * found.planted, f"{kind}: {found}"
        # A car's model ("280TSI") and a flight's number look like a booking's code.
        assert found.falsely <= (0.2 if kind == "redact id" else 0.04) * found.planted, f"{kind}: {found.false}"


def test_turns_that_nobody_translated_are_told(real: Path, tmp_path: Path) -> None:
    """Some dialogues of the German WOZ 2.0 go on in English."""
    done = call("clean", "--input", real / "woz20", "--output", tmp_path / "out", "--check", "language", "--quiet")
    assert done.code == 0
    told = rejects(tmp_path / "out", "filter")
    assert len(told) > 200 and all(one["reason"] == "wrong_language" and "in place of de" in one["evidence"] for one in told)
