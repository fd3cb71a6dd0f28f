"""DSTC9 Track 2 on the real corpora: the labels of the official validation dialogues, cell by cell, and what people's translations show."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.translation.certificate import problem
from dialmill.perturbers.translation.surfaces import find
from dialmill.pipelines.benchmarks.cross_lingual import cells

from tests.pipelines.tools import plain
from tests.scoring.making import score


def _zipped(path: Path, name: str) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read(name))
    return found


def _bare(value: str) -> str:
    """A value as the official scorer compares it: without blanks."""
    return "".join(value.split())


@pytest.fixture(scope="module")
def chinese(real: Path) -> dict[str, Any]:
    return _zipped(real / "dstc9_track2/multiwoz_zh/human_val_data.zip", "human_val.json")


def test_the_chinese_labels_are_the_official_ones(real: Path, tmp_path: Path, chinese: dict[str, Any]) -> None:
    lexicon = real / "dstc9_track2/multiwoz_zh/vocab_dict.json"
    plain("dstc9-track2", [real / "multiwoz21/convlab2/val.json.zip"], tmp_path / "out", f"lexicon={lexicon}", "splits=keep")
    ours = _zipped(tmp_path / "out/release/multiwoz_zh/val.json.zip", "val.json")
    cells = filled = 0
    for name, dialogue in chinese.items():
        for mine, official in zip(ours[name]["log"], dialogue["log"], strict=True):
            assert mine.keys() >= official.keys() and mine["metadata"].keys() == official["metadata"].keys()
            for domain, sections in official["metadata"].items():
                for section, slots in sections.items():
                    for slot, value in slots.items():
                        assert _bare(mine["metadata"][domain][section][slot]) == _bare(value), (name, domain, slot)
                        cells += 1
                        filled += value != ""
    assert (cells, filled) == (61_541, 16_341)


def test_the_english_labels_are_what_the_lexicon_holds(real: Path, tmp_path: Path) -> None:
    official = _zipped(real / "dstc9_track2/crosswoz_en/human_val_data.zip", "human_val.json")
    lexicon = real / "dstc9_track2/crosswoz_en/vocab_dict.json"
    plain("dstc9-track2", [real / "crosswoz"], tmp_path / "out", f"lexicon={lexicon}", "splits=keep")
    ours = _zipped(tmp_path / "out/release/crosswoz_en/val.json.zip", "val.json")
    rejects = (tmp_path / "out/rejects/translated.jsonl").read_text("utf-8")
    differ = set()
    for name, dialogue in official.items():
        if name not in ours:
            assert f'"source_id":"{name}"' in rejects and "value_untranslated" in rejects
            continue
        for mine, theirs in zip(ours[name]["messages"], dialogue["messages"], strict=True):
            for domain, slots in theirs.get("sys_state_init", {}).items():
                for slot, value in slots.items():
                    if slot != "selectedResults" and _bare(mine["sys_state_init"][domain][slot]) != _bare(value):
                        differ.add((slot, value))
    # People translated these two by hand, otherwise than their own lexicon has them.
    assert differ == {("name", "Attractions with a score of 4.5 or above"), ("dishes", "soil,beans,powder")}
    assert len(official.keys() - ours.keys()) == 2


def test_peoples_translations_pass_and_their_values_are_found(real: Path, chinese: dict[str, Any]) -> None:
    source = _zipped(real / "multiwoz21/convlab2/val.json.zip", "val.json")
    turns = refused = values = found = 0
    for name, dialogue in chinese.items():
        for before, after in zip(source[name]["log"], dialogue["log"], strict=True):
            turns += 1
            refused += problem(before["text"], after["text"], ("en", "zh"), [], []) is not None
            for act, pairs in after["dialog_act"].items():
                for slot, value in () if "请求" in act else pairs:
                    if value.strip() not in ("?", "none", ""):
                        values += 1
                        found += find(slot, value, after["text"], "zh") is not None
    assert refused < 0.025 * turns, "some of these are faults of the official text: a wrong time, a number that is missing"
    assert found > 0.9 * values


@pytest.mark.parametrize("name", ["multiwoz_zh", "crosswoz_en"])
def test_the_official_cells_given_as_a_submission_score_full(real: Path, tmp_path: Path, name: str) -> None:
    gold = tmp_path / "human_val.json.zip"
    gold.write_bytes((real / f"dstc9_track2/{name}/human_val_data.zip").read_bytes())
    submission = tmp_path / "submission1.json"
    submission.write_text(json.dumps(cells.read(str(gold)), ensure_ascii=False), "utf-8")
    found = score("cross-lingual", gold, submission)["metrics"]
    assert found["joint accuracy"] == found["slot"]["accuracy"] == found["slot"]["f1"] == 1
