"""The published files of every known kind pass, and their known flaws are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.schemas.cases import validate_file


@pytest.mark.parametrize(
    ("path", "schema", "records"),
    [
        ("dstc9_track1/data/val/labels.json", "dstc9-labels", 9663),
        ("dstc9_track1/data_eval/test/labels.json", "dstc9-labels", 4181),
        ("dstc9_track1/results/baseline/entry0.json", "dstc9-labels", 4181),
        ("dstc9_track1/subset_with_logs/val/logs.json", "dstc9-logs", 176),
        ("dstc9_track1/data/knowledge.json", "dstc9-knowledge", 4),
        ("dstc9_track1/data_eval/knowledge.json", "dstc9-knowledge", 5),
        ("dstc10_track2_task2/data/val/logs.json", "dstc9-logs", 263),
        ("soloist_raddle/reminderbot.soloist.json", "soloist", 34),
        ("soloist_raddle/kb.soloist.json", "soloist", 48),
        ("multiwoz21/convlab2/val.json.zip", "multiwoz21", 999),
        ("multiwoz21/titan_derived/data.json.zip", "multiwoz21", 903),
        ("multiwoz22/original_examples.json", "multiwoz22", 5),
        ("risawoz/zh_fewshot.json", "risawoz", 100),
    ],
)
def test_published_files_are_valid(real: Path, path: str, schema: str, records: int) -> None:
    report = validate_file(real / path)
    assert report.ok, str(report)
    assert (report.schema, report.records) == (schema, records)


def test_a_dialogue_that_stands_twice_in_its_file_is_found(real: Path) -> None:
    report = validate_file(real / "multiwoz21/titan_derived/annotated_user_da_with_span_full.json.zip")
    assert "twice in one object" in str(report)
