"""What the two benchmarks of NOESIS share: the kinds of their files, the check of a release, and the baseline that ranks candidates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.noesis import kinds
from dialmill.pipelines.benchmarks.noesis.check import check_release
from dialmill.pipelines.benchmarks.noesis.release import schema_of, split_of
from dialmill.pipelines.benchmarks.shared import ranking_predictor
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.predictor import Predictor


class Noesis(Benchmark):
    """Next-utterance selection in the form of DSTC7 Task 1 or DSTC8 Track 2."""

    paper = "Gunasekara et al. (2019), DSTC7 Task 1: Noetic End-to-End Response Selection"
    takes_records = True
    # An example's answer is the next line of its conversation.
    answers_in_dialogues = True
    panel, labels_are_classes = "responses", False
    kinds = kinds.KINDS

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return Checked(*check_release(folder, manifest))

    def predictor(self) -> Predictor:
        return ranking_predictor

    def split_of(self, path: str) -> str | None:
        return split_of(path)

    def schema_of(self, path: str, blind: bool) -> str | None:
        return schema_of(path)
