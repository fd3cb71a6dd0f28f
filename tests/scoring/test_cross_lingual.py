"""DSTC9 Track 2 scored on its official files: which cells count, corrected names, and submissions that leave something out."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.cross_lingual import cells

from tests.pipelines.tools import call
from tests.scoring.making import score


def _zh(values: dict[str, str]) -> dict[str, Any]:
    return {
        "旅馆": {"book": {"人数": values.get("人数", "")}, "semi": {"区域": values.get("区域", "未提及")}},
        "警察机关": {"book": {}, "semi": {"名称": "警察局"}},
        "医院": {"book": {}, "semi": {"科室": values.get("科室", "")}},
    }


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    """Two turns of multiwoz_zh, zipped as the track has them."""
    log: list[dict[str, Any]] = []
    for text, state in (("要北部的酒店", {"区域": "北方"}), ("两个人", {"区域": "北方", "人数": "2", "科室": "急诊"})):
        log += [{"text": text, "metadata": {}, "dialog_act": {}}, {"text": "好的", "metadata": _zh(state), "dialog_act": {}}]
    path = tmp_path / "human_val.json.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("human_val.json", json.dumps({"MUL1": {"log": log}}, ensure_ascii=False))
    return path


def _submit(folder: Path, states: list[dict[str, Any]], name: str = "MUL1") -> Path:
    path = folder / "submission1.json"
    path.write_text(json.dumps({name: states}, ensure_ascii=False), "utf-8")
    return path


def test_police_hospital_and_bus_are_not_scored(chinese: Path, tmp_path: Path) -> None:
    right = [{"旅馆": {"区域": "北方", "人数": ""}}, {"旅馆": {"区域": " 北 方", "人数": "2"}}]
    found = score("cross-lingual", chinese, _submit(tmp_path, right))["metrics"]
    assert found["joint accuracy"] == found["slot"]["accuracy"] == found["slot"]["f1"] == 1
    wrong = [{"旅馆": {"区域": "", "人数": "none"}}, {"旅馆": {"区域": "北方", "人数": "3"}}]
    found = score("cross-lingual", chinese, _submit(tmp_path, wrong))["metrics"]
    # Four cells: two right, one of them empty; a wrong value is both a false positive and a false negative.
    assert found["joint accuracy"] == 0 and found["slot"]["accuracy"] == 0.5
    assert (found["slot"]["precision"], found["slot"]["recall"]) == (0.5, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("states", "name", "said"),
    [
        ([{"旅馆": {"区域": "北方", "人数": ""}}], "MUL1", "dialogue 'MUL1' has 1 states, the gold 2 user turns"),
        ([{"旅馆": {"区域": "北方", "人数": ""}}, {}], "MUL1", "dialogue 'MUL1', state 1: lacks 旅馆.人数, 旅馆.区域"),
        ([{"旅馆": {"区域": "北方"}}, {"旅馆": {"区域": "", "人数": ""}}], "MUL1", "state 0: lacks 旅馆.人数"),
        ([{"旅馆": {"区域": "北方", "人数": ""}}] * 2, "MUL2", "MUL2"),
    ],
)
def test_a_submission_that_leaves_something_out_is_refused(chinese: Path, tmp_path: Path, states: list[Any], name: str, said: str) -> None:
    result = call("score", "cross-lingual", "--gold", str(chinese), "--predictions", str(_submit(tmp_path, states, name)))
    assert result.code != 0 and said in result.err


def _query(name: str, kind: str, results: list[str]) -> dict[str, Any]:
    return {"Hotel": {"selectedResults": results, "name": name, "type": kind}, "Taxi": {"selectedResults": [], "from": ""}}


def test_the_only_result_of_a_query_is_its_name_from_then_on_until_the_query_changes() -> None:
    turns = [
        (("", "budget", ["Inn"]), ("", "budget", ["Inn"])),  # found now, known from the next turn on
        (("", "budget", []), ("", "budget", [])),
        (("", "luxury", ["A", "B"]), ("", "luxury", ["A", "B"])),  # another query: what was known is forgotten
        (("", "luxury", []), ("", "luxury", [])),  # two results are no name
    ]
    messages: list[dict[str, Any]] = []
    for first, last in turns:
        messages += [{"role": "usr"}, {"role": "sys", "sys_state_init": _query(*first), "sys_state": _query(*last)}]
    found = cells._turns({"messages": messages})
    assert [turn["Hotel"]["name"] for turn in found] == ["", "Inn", "", ""]
    assert "selectedResults" not in found[0]["Hotel"] and found[0]["Taxi"] == {"from": ""}
