"""ConvLab-3's unified format: acts of three kinds, states with "|", two languages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources.convlab import ConvLab, language_of
from dialmill.schemas import Act, Goal, SlotName, SlotValues

from .source_tools import parse, read_data

SOURCE = ConvLab()


def _acts(*binary: tuple[str, str, str], categorical: tuple[Any, ...] = (), other: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {
        "binary": [{"intent": intent, "domain": domain, "slot": slot} for intent, domain, slot in binary],
        "categorical": [{"intent": "inform", "domain": "Restaurant", "slot": slot, "value": value} for slot, value in categorical],
        "non-categorical": list(other),
    }


def _placed(slot: str, value: str, start: int | None = None, end: int | None = None, intent: str = "inform") -> dict[str, Any]:
    place = {} if start is None else {"start": start, "end": end}
    return {"intent": intent, "domain": "Restaurant", "slot": slot, "value": value, **place}


def _record() -> dict[str, Any]:
    return {
        "dataset": "tiny",
        "data_split": "validation",
        "dialogue_id": "tiny-validation-0",
        "original_id": 7,
        "domains": ["Restaurant", "general"],
        "goal": {"description": "Find <b>food</b>.", "inform": {"restaurant": {"Area": "north"}}, "request": {"restaurant": {"phone": ""}}},
        "turns": [
            {
                "speaker": "user",
                "utterance": "Some Thai food in the north, any price",
                "utt_idx": 0,
                "dialogue_acts": _acts(categorical=(("Area", "north"), ("price range", "dontcare")), other=(_placed("food", "Thai", 5, 9),)),
                "state": {"Restaurant": {"Area": "north", "food": "Thai|Lao", "price range": "dontcare", "name": ""}},
            },
            {
                "speaker": "system",
                "utterance": "Is Lotus Pond fine, or Seven Bowls?",
                "utt_idx": 1,
                "dialogue_acts": _acts(("bye", "General", ""), other=(_placed("name", "Lotus Pond", 3, 13, "Request"),)),
            },
            {"speaker": "user", "utterance": "Yes.", "utt_idx": 2, "dialogue_acts": _acts(("request", "Restaurant", "Phone"))},
        ],
    }


def test_a_dialogue() -> None:
    dialogue = parse(SOURCE, _record(), source_id="tiny-validation-0")
    assert (dialogue.split, dialogue.language, dialogue.domains) == ("valid", "en", ("restaurant",))
    assert dialogue.goal == Goal("Find food.", (SlotValues("restaurant", "area", ("north",)),), (), (), (SlotName("restaurant", "phone"),))
    first, second, third = dialogue.turns
    assert first.acts == (
        Act("inform", "restaurant", "area", "north"),
        Act("inform", "restaurant", "price range", "dontcare"),
        Act("inform", "restaurant", "food", "Thai"),
    )
    assert [(span.start, span.text, span.slot) for span in first.spans] == [(5, "Thai", "food"), (22, "north", "area")]
    assert first.state == (
        SlotValues("restaurant", "area", ("north",)),
        SlotValues("restaurant", "food", ("Thai", "Lao")),
        SlotValues("restaurant", "price range", ("dontcare",)),
    )
    # A request has no value, and yet what it names stands in the text.
    assert second.acts == (Act("request", "restaurant", "name"), Act("bye", "general"))
    assert [(span.text, span.value) for span in second.spans] == [("Lotus Pond", "Lotus Pond")]
    assert second.state == ()
    # A user turn without a state keeps the one before, and says so.
    assert third.state == first.state
    assert third.acts == (Act("request", "restaurant", "phone"),)
    assert dialogue.lineage[0].reasons == ("state_missing:1",)


def test_a_span_that_is_not_there_is_moved_or_left_out() -> None:
    record = _record()
    record["turns"][0]["dialogue_acts"]["non-categorical"] = [_placed("food", "Thai", 0, 4), _placed("name", "Olive Court", 5, 9)]
    dialogue = parse(SOURCE, record)
    assert [(span.start, span.text) for span in dialogue.turns[0].spans] == [(5, "Thai"), (22, "north")]
    assert dialogue.lineage[0].reasons == ("span_mismatch:1", "span_moved:1", "state_missing:1")


def test_several_values_of_one_act() -> None:
    record = _record()
    record["turns"][0]["dialogue_acts"] = _acts(other=(_placed("food", "Thai|Lao"), {"intent": 3}, "x"))
    dialogue = parse(SOURCE, record)
    assert dialogue.turns[0].acts == (Act("inform", "restaurant", "food", "Thai"), Act("inform", "restaurant", "food", "Lao"))
    assert [span.text for span in dialogue.turns[0].spans] == ["Thai"]
    assert "act_malformed:2" in dialogue.lineage[0].reasons


def test_chinese_is_told_and_its_blanks_kept() -> None:
    record = _record()
    text = "游玩时间是1小时 - 2小时"
    record["turns"] = [
        {
            "speaker": "user",
            "utterance": text,
            "dialogue_acts": _acts(other=(_placed("游玩时间", "1小时 - 2小时", 5, 14),)),
            "state": {"景点": {"游玩时间": "1小时 - 2小时", "周边景点": "老戏台|桃林广场"}},
        }
    ]
    dialogue = parse(SOURCE, record)
    assert dialogue.language == "zh"
    assert dialogue.turns[0].state == (SlotValues("景点", "游玩时间", ("1小时 - 2小时",)), SlotValues("景点", "周边景点", ("老戏台", "桃林广场")))
    assert [span.text for span in dialogue.turns[0].spans] == ["1小时 - 2小时"]


@pytest.mark.parametrize(
    ("texts", "language"),
    [(["你好"], "zh"), (["坐CRH去"], "zh"), (["the caf\u8068"], "en"), ([""], "en"), (["ok", "我想去 The Orpheum 看电影吧好吗"], "zh")],
)
def test_languages(texts: list[str], language: str) -> None:
    assert language_of(texts) == language


def test_an_unknown_split_is_none_and_noted() -> None:
    dialogue = parse(SOURCE, _record() | {"data_split": "extra"})
    assert dialogue.split is None
    assert "split_unknown:1" in dialogue.lineage[0].reasons


@pytest.mark.parametrize(
    ("damage", "reason", "evidence"),
    [
        (lambda r: r.pop("data_split"), "missing_key", "data_split"),
        (lambda r: r["turns"].clear(), "empty_dialogue", "turns"),
        (lambda r: r["turns"][1].pop("utterance"), "missing_key", "turns[1].utterance"),
        (lambda r: r["turns"][1].pop("dialogue_acts"), "missing_key", "turns[1].dialogue_acts"),
        (lambda r: r["turns"].pop(1), "odd_turn_order", "turns[1]: two user turns in a row"),
        (lambda r: r["turns"].pop(0), "odd_turn_order", "turns[0]: the system speaks first"),
        (lambda r: r["turns"][0].__setitem__("state", []), "wrong_type", "turns[0].state"),
        (lambda r: r["turns"][0]["state"]["Restaurant"].__setitem__("food", {}), "wrong_type", "turns[0].state.Restaurant.food"),
        (lambda r: r["domains"].append(None), "wrong_type", "domains: expected strings, found null"),
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
        ("x/data.zip!data/dialogues.json", json.dumps([_record()]), "dialogues"),
        ("data/ontology.json", '{"domains": {"navigate": {"slots": {"poi": {"is_categorical": false', "other"),
        ("data/db.json", '[{"poi": "x"}]', None),
        ("dialogues_001.json", '[{"dialogue_id": "1_00000", "services": ["Hotels_1"], "turns": []}]', None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role


def test_a_record_without_an_id_is_named_after_its_place() -> None:
    record = _record()
    del record["dialogue_id"]
    read = read_data(SOURCE, {"dialogues.json": json.dumps([_record(), record]).encode()})
    assert list(read.dialogues) == ["tiny-validation-0"]
    assert read.rejects["dialogues.json#1"].reason == "missing_key"
