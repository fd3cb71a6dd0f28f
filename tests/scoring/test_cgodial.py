"""CGoDial's slot-based and flow-based scores on small releases."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.cgodial.sbd.scorer import VERSIONS, parse_acts, parse_state
from dialmill.pipelines.core.errors import InputError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scoring.making import score, write_lines


def _sbd(folder: Path, turns: list[dict[str, Any]]) -> Path:
    (folder / "processed").mkdir(parents=True, exist_ok=True)
    (folder / "risawoz").mkdir(exist_ok=True)
    numbered = [{"user": "?", "db": "", "turn_domain": "", "turn_num": number, **turn} for number, turn in enumerate(turns)]
    (folder / "processed" / "data_for_damd.json").write_text(json.dumps({"Hotel_1": dict.fromkeys(VERSIONS, numbered)}, ensure_ascii=False))
    (folder / "risawoz" / "testListFile.json").write_text('["hotel_1"]')
    return folder


def _turn(state: str = "", acts: str = "", response: str = "好的", kind: str = "regular", due: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"constraint": state, "sys_act": acts, "resp": response, "type": kind, "turn_succ": list(due)}


def _results(folder: Path, said: list[tuple[str, str, str]], versions: tuple[str, ...] = VERSIONS) -> Path:
    items = [
        {
            "dial_id": "hotel_1" + ("" if version == "log" else f"-{version}"),
            "turn_num": number,
            "bspn_gen": state,
            "aspn_gen": acts,
            "resp_gen": response,
        }
        for version in versions
        for number, (state, acts, response) in enumerate(said)
    ]
    path = folder / "eval_test_results.json"
    path.write_text(json.dumps(items, ensure_ascii=False))
    return path


def test_states_and_acts_are_parsed() -> None:
    assert parse_state("[餐厅] 区域=姑苏区|价位= 中等 [酒店] 星级=5") == {
        ("餐厅", "区域"): frozenset(["姑苏区"]),
        ("餐厅", "价位"): frozenset(["中等"]),
        ("酒店", "星级"): frozenset(["5"]),
    }
    assert parse_acts("[餐厅] [recommend] 名称|区域 [general]") == {"recommend": {"名称", "区域"}, "general": set()}
    assert parse_state("") == {} and parse_acts("") == {}


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_slot_based_by_definition(tmp_path_factory: pytest.TempPathFactory, marks: list[tuple[bool, bool]]) -> None:
    folder = tmp_path_factory.mktemp("sbd")
    state, acts = "[酒店] 星级=5", "[酒店] [inform] 电话"
    gold = _sbd(folder, [_turn(state, acts, due=("电话",))] * len(marks))
    found = score("cgodial-sbd", gold, _results(folder, [(state if a else "", acts if b else "[酒店] [inform] 地址", "好的") for a, b in marks]))[
        "metrics"
    ]
    jga = 100 * sum(a for a, _ in marks) / len(marks)
    success = 100.0 * all(b for _, b in marks)
    assert (found["jga"], found["success"]) == (pytest.approx(jga), success)
    assert found["bleu"] == pytest.approx(100)
    assert found["comb"] == pytest.approx(0.5 * (jga + success) + 100)
    assert found["comb_as_printed"] == pytest.approx(math.sqrt(jga * success * 100))
    assert found["turn_success_regular"] == pytest.approx(100 * sum(b for _, b in marks) / len(marks))


def test_acts_that_must_be_there_and_slots_as_a_whole(tmp_path: Path) -> None:
    turns = [_turn("", "[通用] [fallback] OOS", kind="out_of_know", due=("OOS",)), _turn("", "[酒店] [inform] 电话", due=("电话",))]
    gold = _sbd(tmp_path, turns)
    said = [("", "[通用] [inform] OOS", "好的"), ("", "[酒店] [inform] 电话号码", "")]
    found = score("cgodial-sbd", gold, _results(tmp_path, said))["metrics"]
    assert (found["turn_success_out_of_know"], found["turn_success_regular"]) == (0, 0)
    assert score("cgodial-sbd", gold, _results(tmp_path, said), official=True)["metrics"]["turn_success_regular"] == 100
    assert found["bleu"] < 100


def test_versions_are_suites(tmp_path: Path) -> None:
    gold = _sbd(tmp_path, [_turn("[酒店] 星级=5")])
    results = _results(tmp_path, [("[酒店] 星级=5", "", "好的")])
    found = score("cgodial-sbd", gold, results, "all")
    assert list(found["metrics"]) == ["standard", "spoken", "test_std"]
    assert (found["counts"]["spoken"]["turns"], found["counts"]["test_std"]["turns"]) == (3, 4)
    assert list(found["robustness"]["suites"]) == ["spoken"]
    assert score("cgodial-sbd", gold, _results(tmp_path, [("", "", "")], ("log",)))["suite"] == "standard"
    with pytest.raises(InputError, match="no prediction for dialogue Hotel_1, turn 0, version log_asr0"):
        score("cgodial-sbd", gold, _results(tmp_path, [("", "", "")], ("log",)), "spoken")
    record = {"dialogue_id": "Hotel_1/standard/0", "turn": 0, "state": [{"domain": "酒店", "slot": "星级", "values": ["5"]}], "delexicalised": "好的"}
    assert score("cgodial-sbd", gold, write_lines(tmp_path / "g.jsonl", [record]))["metrics"]["jga"] == 100


def _fbd(folder: Path) -> Path:
    (folder / "bank").mkdir(parents=True, exist_ok=True)
    log = [
        {"sys_response": "您好", "sys_action": "开场"},
        {"sys_response": "请讲", "usr_query": "查卡", "usr_intent": "查询", "asr_results": ["查咖", "茶卡"]},
        {"sys_response": "什么卡", "usr_query": "嗯", "usr_intent": "拒识", "asr_results": ["嗯嗯"]},
    ]
    (folder / "bank" / "selected_simu_data.jsonasr.json").write_text(json.dumps({"a": log, "b": log}, ensure_ascii=False))
    (folder / "bank" / "test_ids.json").write_text('["a"]')
    return folder


def test_flow_based(tmp_path: Path) -> None:
    gold = _fbd(tmp_path)
    said = [{}, {"pred_label": {"origin": "查询", "asr_0": "查询", "asr_1": "办卡"}}, {"pred_label": {"origin": "基本通用.重听", "asr_0": "拒识"}}]
    (tmp_path / "results.json").write_text(json.dumps({"a": said, "b": said}, ensure_ascii=False))
    found = score("cgodial-fbd", gold, tmp_path / "results.json", "all")["metrics"]
    assert found["standard"] == {"turn_acc": 50, "turn_acc_all": 100, "dial_acc": 0}
    assert found["asr"] == {"turn_acc": pytest.approx(200 / 3), "turn_acc_all": pytest.approx(200 / 3), "dial_acc": 50}
    assert found["test_std"]["turn_acc"] == 60
    official = score("cgodial-fbd", gold, tmp_path / "results.json", "test_std", official=True)["metrics"]
    assert (official["turn_acc"], official["turn_acc_all"]) == (60, 80)  # three versions of a right turn, two of a wrong one


def test_flow_based_lines_count_turns_as_the_records_do(tmp_path: Path) -> None:
    gold = _fbd(tmp_path)
    lines = [{"dialogue_id": "a/standard/0", "turn": turn, "labels": ["node:" + node]} for turn, node in ((2, "查询"), (4, "拒识"))]
    found = score("cgodial-fbd", gold, write_lines(tmp_path / "g.jsonl", lines))
    assert (found["suite"], found["metrics"]["dial_acc"]) == ("standard", 100)
    with pytest.raises(InputError, match="no prediction for dialogue a, turn 4, version origin"):
        score("cgodial-fbd", gold, write_lines(tmp_path / "g.jsonl", lines[:1]))
