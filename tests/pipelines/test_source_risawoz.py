"""RiSAWOZ: pairs to turns, segmentation taken out, spans found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.sources.risawoz import RiSAWOZ
from dialmill.schemas import Act, SlotValues

from .source_tools import parse, read_data

SOURCE = RiSAWOZ()


def _pair(turn_id: int, user: str, system: str, state: dict[str, Any], told: dict[str, Any], acts: list[Any], answers: list[Any]) -> dict[str, Any]:
    return {
        "turn_id": turn_id,
        "turn_domain": ["餐厅"],
        "user_utterance": user,
        "system_utterance": system,
        "belief_state": {"inform slot-values": state, "turn_inform": told, "turn request": []},
        "user_actions": acts,
        "system_actions": answers,
        "db_results": ["数据库检索结果：成功匹配个数为1", "{'直达': true}"],
    }


def _record() -> dict[str, Any]:
    first = {"餐厅-区域": "东岸 区"}
    second = {"餐厅-区域": "东岸 区", "电视剧-制片国家/地区": "日本", "电脑-CPU": "Inter  Core i5"}
    return {
        "dialogue_id": "restaurant_goal_1-5###90201",
        "goal": "restaurant_goal_1-5: 你想吃饭。",
        "domains": ["餐厅", "电视剧"],
        "dialogue": [
            _pair(
                0,
                "东岸区有什么吃的？",
                "海天楼不错。",
                first,
                first,
                [["Inform", "餐厅", "区域", "东岸 区"]],
                [["Recommend", "餐厅", "名称", "海天 楼"]],
            ),
            _pair(
                1,
                "电话多少？",
                "0512-3388。",
                second,
                {},
                [["Request", "餐厅", "电话号码", ""], ["Bye", "通用", "", ""]],
                [["Inform", "餐厅", "电话号码", "0512 - 3388"]],
            ),
        ],
    }


def test_a_pair_is_two_turns() -> None:
    dialogue = parse(SOURCE, _record())
    assert [(turn.turn, turn.speaker, turn.utterance) for turn in dialogue.turns] == [
        (0, "user", "东岸区有什么吃的？"),
        (1, "system", "海天楼不错。"),
        (2, "user", "电话多少？"),
        (3, "system", "0512-3388。"),
    ]
    assert dialogue.language == "zh"
    assert dialogue.domains == ("餐厅", "电视剧")
    assert dialogue.goal is not None and dialogue.goal.text == "restaurant_goal_1-5: 你想吃饭。"
    assert dialogue.lineage == ()


def test_states_without_the_blanks_of_segmentation() -> None:
    turns = parse(SOURCE, _record()).turns
    assert turns[0].state == (SlotValues("餐厅", "区域", ("东岸区",)),)
    assert turns[2].state == (
        SlotValues("餐厅", "区域", ("东岸区",)),
        SlotValues("电视剧", "制片国家/地区", ("日本",)),
        SlotValues("电脑", "cpu", ("Inter Core i5",)),
    )
    assert turns[1].state == turns[3].state == ()


def test_a_slot_that_the_source_drops_is_dropped() -> None:
    record = _record()
    record["dialogue"][1]["belief_state"]["inform slot-values"] = {}
    assert parse(SOURCE, record).turns[2].state == ()


def test_acts() -> None:
    turns = parse(SOURCE, _record()).turns
    assert turns[0].acts == (Act("inform", "餐厅", "区域", "东岸区"),)
    assert turns[2].acts == (Act("request", "餐厅", "电话号码"), Act("bye", "通用"))
    assert turns[3].acts == (Act("inform", "餐厅", "电话号码", "0512-3388"),)


def test_spans_are_found_in_the_text() -> None:
    turns = parse(SOURCE, _record()).turns
    assert [(turn.turn, span.start, span.text, span.slot) for turn in turns for span in turn.spans] == [
        (0, 0, "东岸区", "区域"),
        (1, 0, "海天楼", "名称"),
        (3, 0, "0512-3388", "电话号码"),
    ]


def test_what_is_odd_is_noted() -> None:
    record = _record()
    record["dialogue"][0]["user_actions"] = ["Inform", ["Inform", "餐厅"], ["Inform", "餐厅", "区域", []], ["Inform", "餐厅", "是否地铁直达", True]]
    record["dialogue"][1]["system_actions"] = []
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[0].acts == (Act("inform", "餐厅", "是否地铁直达", "yes"),)
    assert dialogue.lineage[0].reasons == ("act_malformed:3", "acts_missing:1")


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("dialogue"), "missing_key", "dialogue"),
        (lambda r: r["dialogue"].clear(), "empty_dialogue", "dialogue"),
        (lambda r: r["dialogue"][1].pop("user_utterance"), "missing_key", "dialogue[1].user_utterance"),
        (lambda r: r["dialogue"][1].pop("belief_state"), "missing_key", "dialogue[1].belief_state"),
        (lambda r: r["dialogue"][1]["belief_state"].pop("inform slot-values"), "missing_key", "dialogue[1].belief_state.inform slot-values"),
        (lambda r: r["dialogue"][1]["belief_state"]["inform slot-values"].__setitem__("区域", "x"), "wrong_type", "区域"),
        (lambda r: r["dialogue"][1].__setitem__("system_utterance", 3), "wrong_type", "dialogue[1].system_utterance"),
        (lambda r: r["dialogue"][1].__setitem__("system_actions", {}), "wrong_type", "dialogue[1].system_actions"),
        (lambda r: r["dialogue"].reverse(), "odd_turn_order", "dialogue[1].turn_id is 0 after 1"),
        (lambda r: r.__setitem__("domains", ["餐厅", None]), "wrong_type", "domains: expected strings, found null"),
        (lambda r: r.__setitem__("goal", {}), "wrong_type", "goal"),
    ],
)
def test_what_is_refused_is_told_with_its_place(damage: Any, reason: str, evidence: str) -> None:
    record = _record()
    damage(record)
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, record)
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


def test_the_official_lists() -> None:
    ids = {
        "all_(11200)_new.json": ["restaurant_goal_1-5###90201", "x###1"],
        "all_train10000.json": ["x###1"],
        "all_test600_new.json": ["restaurant_goal_1-5###90201"],
        "single_test370_new.json": ["restaurant_goal_1-5###90201"],
    }
    read = read_data(SOURCE, {"dialogues.json": json.dumps([_record()]).encode(), "dataset_split_ids_dict.json": json.dumps(ids).encode()})
    assert read.dialogues["restaurant_goal_1-5###90201"].split == "test"
    assert read.absent == {"x###1"}
    with pytest.raises(InputError, match="names no list"):
        read_data(SOURCE, {"dataset_split_ids_dict.json": b'{"a": []}'})


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("zh_fewshot.json", '[{"dialogue": [{"user_utterance": "x", "belief_state": {}', "dialogues"),
        ("dataset_split_ids_dict.json", "{", "splits"),
        ("DB/car_db.json", "[", "other"),
        ("ontology.json", "{", "other"),
        ("x.json", '[{"user_utterance": "x"}]', None),
        ("x.json", '[{"dialogue_id": "A.json", "turns": []}]', None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role
