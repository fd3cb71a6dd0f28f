"""CrossWOZ: messages to turns, queries to states, spans found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources.crosswoz import CrossWOZ
from dialmill.pipelines.sources.multiwoz21 import MultiWoz21
from dialmill.schemas import Act, SlotName, SlotValues

from .source_tools import parse, read_data

SOURCE = CrossWOZ()


def _query(**slots: Any) -> dict[str, Any]:
    return {"酒店": {"名称": "", **slots, "selectedResults": []}, "出租": {"出发地": "", "目的地": "", "selectedResults": ["出租 (a - b)"]}}


def _record() -> dict[str, Any]:
    wanted = [["General", "greet", "none", "none"], ["Inform", "酒店", "酒店设施-早餐服务", "是"], ["Inform", "酒店", "价格", "300-400元"]]
    asked = [["Select", "酒店", "源领域", "景点"], ["Request", "酒店", "名称", ""]]
    return {
        "sys-usr": [1, 2],
        "goal": [[1, "酒店", "价格", "300-400元", False], [1, "酒店", "名称", "", False], [2, "景点", "名称", "出现在id=1的周边景点里", False]],
        "final_goal": [],
        "task description": ["你要住酒店(id=1)。", "再去玩。"],
        "type": "单领域",
        "messages": [
            {"role": "usr", "content": "你好，300-400元、有早餐服务的酒店", "dialog_act": wanted + asked, "user_state": []},
            {
                "role": "sys",
                "content": "您可以住塔院客栈。",
                "dialog_act": [["Recommend", "酒店", "名称", "塔院客栈"], ["NoOffer", "酒店", "none", "none"]],
                "sys_state": _query(价格="400-500元"),
                "sys_state_init": _query(价格="300-400元", 酒店设施="早餐服务 叫醒服务", 游玩时间="1小时 - 2小时"),
            },
            {"role": "usr", "content": "好", "dialog_act": [], "user_state": []},
        ],
    }


def test_turns_and_states() -> None:
    dialogue = parse(SOURCE, _record())
    assert [(turn.speaker, turn.utterance) for turn in dialogue.turns] == [
        ("user", "你好，300-400元、有早餐服务的酒店"),
        ("system", "您可以住塔院客栈。"),
        ("user", "好"),
    ]
    state = (
        SlotValues("酒店", "价格", ("300-400元",)),
        SlotValues("酒店", "酒店设施", ("早餐服务", "叫醒服务")),
        SlotValues("酒店", "游玩时间", ("1小时 - 2小时",)),
    )
    # The first query counts, not the last; a turn without an answer keeps the state.
    assert [turn.state for turn in dialogue.turns] == [state, (), state]
    assert dialogue.lineage[0].reasons == ("acts_missing:1", "state_missing:1")
    assert (dialogue.language, dialogue.domains) == ("zh", ("酒店",))


def test_acts_and_spans() -> None:
    first, second, _ = parse(SOURCE, _record()).turns
    assert first.acts == (
        Act("greet", "general"),
        Act("inform", "酒店", "酒店设施-早餐服务", "是"),
        Act("inform", "酒店", "价格", "300-400元"),
        Act("select", "酒店", "源领域", "景点"),
        Act("request", "酒店", "名称"),
    )
    assert second.acts == (Act("recommend", "酒店", "名称", "塔院客栈"), Act("nooffer", "酒店"))
    assert [(span.start, span.text, span.slot) for turn in (first, second) for span in turn.spans] == [
        (3, "300-400元", "价格"),
        (4, "塔院客栈", "名称"),
    ]


def test_the_goal() -> None:
    goal = parse(SOURCE, _record()).goal
    assert goal is not None
    assert goal.text == "你要住酒店(id=1)。再去玩。"
    assert goal.inform == (SlotValues("酒店", "价格", ("300-400元",)),)
    assert goal.request == (SlotName("酒店", "名称"),)


def test_what_is_odd_is_noted() -> None:
    record = _record()
    record["messages"][1]["dialog_act"] = ["x", ["Inform", "酒店"], ["Inform", "酒店", "价格", {}], ["Inform", "", "价格", "1元"]]
    assert parse(SOURCE, record).lineage[0].reasons == ("act_malformed:4", "acts_missing:2", "state_missing:1")


@pytest.mark.parametrize(
    ("path", "split"), [("c/val.json", "valid"), ("c/val.json.zip!val.json", "valid"), ("test.json", "test"), ("all.json", None)]
)
def test_the_file_names_the_split(path: str, split: str | None) -> None:
    read = read_data(SOURCE, {path: json.dumps({"11290": _record()}).encode()})
    assert {key: dialogue.split for key, dialogue in read.dialogues.items()} == {"11290": split}


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("messages"), "missing_key", "messages"),
        (lambda r: r["messages"].clear(), "empty_dialogue", "messages"),
        (lambda r: r["messages"].reverse() or r["messages"].pop(0), "odd_turn_order", "the system speaks first"),
        (lambda r: r["messages"][0].__setitem__("role", "x"), "odd_turn_order", "the x speaks first"),
        (lambda r: r["messages"][1].pop("content"), "missing_key", "messages[1].content"),
        (lambda r: r["messages"][1].pop("sys_state_init"), "missing_key", "messages[1].sys_state_init"),
        (lambda r: r["messages"][1]["sys_state_init"]["酒店"].__setitem__("价格", {}), "wrong_type", "messages[1].sys_state_init.酒店.价格"),
        (lambda r: r["goal"].append(["x"]), "wrong_type", "goal[3]"),
    ],
)
def test_what_is_refused_is_told_with_its_place(damage: Any, reason: str, evidence: str) -> None:
    record = _record()
    damage(record)
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, record)
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("val.json", json.dumps({"1": _record()}, indent=4)[:400], "dialogues"),
        ("val.json", '{"PMUL1.json": {"goal": {}, "log": [{"text": "x", "metadata": {}}]}}', None),
        ("usr_da_voc.json", '["General+bye+none+none"', "other"),
        ("database/metro_db.json", '[\n    [\n        "x", {"\u9886\u57df": "y"}', "other"),
        ("database/hotel_db.json", '[{"address": "x"}]', None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role
    if role is not None:
        assert MultiWoz21().role(path, head) is None
