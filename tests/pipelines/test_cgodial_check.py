"""`dialmill verify` on CGoDial's release files: what a change of their meaning, and not of their form, is told as."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.insertion.questions import held_out
from dialmill.pipelines.benchmarks import registry as benchmarks

from tests.pipelines.tools import DATA, manifest, plain

INPUTS = {"fbd": [DATA / "flow" / "parcel.yaml"], "rbd": [DATA / "ecd"], "sbd": [DATA / "risawoz"]}
PARCEL, DAMD = "release/data/parcel", "release/data/processed/data_for_damd.json"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp(name) / "out" for name in INPUTS}
    for name, folder in folders.items():
        plain(f"cgodial-{name}", INPUTS[name], folder, "suites=standard")
    return folders


@pytest.mark.parametrize("name", INPUTS)
def test_what_was_built_is_sound(name: str, built: dict[str, Path]) -> None:
    checked, problems = benchmarks.get(f"cgodial-{name}").check_release(built[name], manifest(built[name]))
    assert len(checked) == 1 and not problems


def _first(document: dict[str, Any]) -> Any:
    return next(iter(document.values()))


def _list_twice(document: list[str]) -> None:
    document.append(document[0])


def _unknown_intent(document: dict[str, Any]) -> None:
    _first(document)[0]["usr_intent"] = "不存在"


def _copy_candidate(document: dict[str, Any]) -> None:
    _first(document)["false"][0] = _first(document)["true"][0] + "！"


def _fewer(document: dict[str, Any]) -> None:
    _first(document)["false"].pop()


def _other_state(document: dict[str, Any]) -> None:
    _first(document)["log_asr1"][0]["constraint"] = "[酒店] 星级=9"


def _leak(document: dict[str, Any]) -> None:
    for versions in document.values():
        for turns in versions.values():
            turns[0]["turn_succ"] = [min(held_out("", 0.13))]


@pytest.mark.parametrize(
    ("name", "file", "damage", "told"),
    [
        ("fbd", f"{PARCEL}/dev_ids.json", _list_twice, "is in dev too"),
        ("fbd", f"{PARCEL}/train_ids.json", lambda ids: ids.pop(), "is in no list of a split"),
        ("fbd", f"{PARCEL}/test_ids.json", lambda ids: ids.append("x-1"), "x-1 is in a list but has no dialogue"),
        ("fbd", f"{PARCEL}/selected_simu_data.jsonasr.json", _unknown_intent, "has no intent '不存在'"),
        ("rbd", "release/train.json", _copy_candidate, "nearly equal each other"),
        ("rbd", "release/test.json", _fewer, "has 9 candidates, expected are 10"),
        ("rbd", "release/ecd_dev_subtask_1.json", lambda examples: examples.pop(), "examples, dev.json has"),
        ("sbd", DAMD, _other_state, "differ in more than the transcripts"),
        ("sbd", DAMD, _leak, "which only test may hold"),
        ("sbd", "release/data/risawoz/valListFile.json", _list_twice, "is in val too"),
    ],
)
def test_what_is_wrong_is_told(name: str, file: str, damage: Callable[[Any], object], told: str, built: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(built[name], folder)
    document = json.loads((folder / file).read_text("utf-8"))
    damage(document)
    (folder / file).write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    checked, problems = benchmarks.get(f"cgodial-{name}").check_release(folder, manifest(folder))
    assert not checked and any(told in problem for problem in problems), problems
