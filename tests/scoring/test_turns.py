"""State tracking, Inform and Success, detection: against other computations on random input, and the policy for values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.core.errors import InputError
from dialmill.schemas import Goal, SlotName
from dialmill.schemas.dialogue import SlotValues
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scoring.making import dialogue, own, score, write_gold, write_lines

NAMES = ["hotel area", "hotel stars", "train day"]
STATES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["east", "west", "4"]), max_size=3)


def _record(turn: int, state: dict[str, str], name: str = "d", suite: str = "standard", **more: Any) -> dict[str, Any]:
    entries = [{"domain": key.split()[0], "slot": key.split()[1], "values": value.split("|")} for key, value in state.items()]
    return {"dialogue_id": f"{name}/{suite}/0", "turn": turn, "state": entries, **more}


@settings(max_examples=60)
@given(st.lists(st.tuples(STATES, STATES), min_size=1, max_size=6))
def test_state_metrics_by_sets(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[dict[str, str], dict[str, str]]]) -> None:
    folder = tmp_path_factory.mktemp("states")
    # A first turn that names every slot fixes the ontology.
    rows = [(dict.fromkeys(NAMES, "4"), dict.fromkeys(NAMES, "4")), *rows]
    gold = write_gold(folder, [dialogue("d", [right for right, _ in rows])])
    guesses = write_lines(folder / "g.jsonl", [_record(2 * number, said) for number, (_, said) in enumerate(rows)])
    found = score("splits", gold, guesses)["metrics"]
    sets = [(set(right.items()), set(said.items())) for right, said in rows]
    both, due, told = (sum(len(one) for one in kind) for kind in zip(*((a & b, a, b) for a, b in sets), strict=True))
    assert found["jga"] == pytest.approx(100 * sum(a == b for a, b in sets) / len(sets))
    assert found["slot_precision"] == pytest.approx(100 * both / told if told else 0)
    assert found["slot_recall"] == pytest.approx(100 * both / due if due else 0)
    assert found["slot_f1"] == pytest.approx(200 * both / (due + told) if both else 0)
    wrong = sum(len({slot for slot, _ in a ^ b}) for a, b in sets)
    assert found["slot_accuracy"] == pytest.approx(100 * (1 - wrong / (3 * len(sets))))


@settings(max_examples=40)
@given(st.lists(st.tuples(STATES, STATES), min_size=1, max_size=5))
def test_cross_lingual_metrics_are_convlab_s(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[dict[str, str], dict[str, str]]]) -> None:
    folder = tmp_path_factory.mktemp("cross")
    rows = [(dict.fromkeys(NAMES, "4"), dict.fromkeys(NAMES, "4")), *rows]
    gold = write_gold(folder, [dialogue("d", [right for right, _ in rows])])
    submission = [
        {"hotel": {name.split()[1]: said.get(name, "") for name in NAMES[:2]}, "train": {"day": said.get(NAMES[2], "none")}} for _, said in rows
    ]
    (folder / "submission1.json").write_text(json.dumps({"d": submission}))
    found = score("cross-lingual", gold, folder / "submission1.json")["metrics"]
    tp = fp = fn = right_slots = joint = 0
    for right, said in rows:
        turn = True
        for name in NAMES:
            a, b = right.get(name, ""), said.get(name, "")
            right_slots += a == b
            tp += a == b != ""
            fn += a not in (b, "")
            fp += b not in (a, "")
            turn &= a == b
        joint += turn
    assert found["joint accuracy"] == pytest.approx(joint / len(rows))
    assert found["slot"]["accuracy"] == pytest.approx(right_slots / (3 * len(rows)))
    assert found["slot"]["precision"] == pytest.approx(tp / (tp + fp) if tp + fp else 1)
    assert found["slot"]["recall"] == pytest.approx(tp / (tp + fn) if tp + fn else 1)
    assert found["slot"]["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))


@pytest.mark.parametrize(
    ("right", "said", "joint"),
    [
        ({"hotel area": "East"}, {"hotel area": " east "}, True),
        ({"hotel area": "don't care"}, {"hotel area": "dontcare"}, True),
        ({"hotel area": "dontcare"}, {}, False),
        ({}, {"hotel area": "none"}, True),
        ({}, {"hotel area": "not mentioned"}, True),
        ({"hotel area": "north|centre"}, {"hotel area": "centre"}, True),
        ({"hotel area": "north"}, {"hotel area": "north|centre"}, False),
        ({"hotel stars": "4"}, {"hotel stars": "４"}, True),
        ({"hotel name": "ｷﾞ cafe"}, {"hotel name": "ギ cafe"}, True),
        ({"hotel area": "east"}, {"hotel area": "eastern"}, False),
    ],
)
def test_policy_for_values(right: dict[str, str], said: dict[str, str], joint: bool, tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [dialogue("d", [right])])
    found = score("splits", gold, write_lines(tmp_path / "g.jsonl", [_record(0, said)]))
    assert found["metrics"].get("jga", 100) == 100 * joint
    assert "dontcare" in found["policy"]["dontcare"]


def test_identity_is_100_in_english_and_chinese(tmp_path: Path) -> None:
    made = [dialogue("d", [{"hotel area": "east"}]), dialogue("e", [{"酒店 区域": "姑苏 区"}], language="zh")]
    made[1] = made[1].replace(turns=(made[1].turns[0], made[1].turns[1].replace(utterance="左转")))
    gold = write_gold(tmp_path, made)
    found = score("splits", gold, write_lines(tmp_path / "g.jsonl", [line for one in made for line in own(one)]))
    assert set(found["metrics"].values()) == {100.0}
    assert found["metrics"] == found["ceiling"]
    assert found["policy"]["tokenizer"] == "en: 13a, zh: zh"
    assert {"dialmill", "numpy", "sacrebleu"} <= found["versions"].keys()
    empty = write_lines(tmp_path / "h.jsonl", [line | {"response": "", "state": []} for one in made for line in own(one)])
    found = score("splits", gold, empty)
    assert found["metrics"]["bleu"] == found["metrics"]["jga"] == 0


def _goal() -> Goal:
    area = SlotValues("hotel", "area", ("east",))
    return Goal("", inform=(area,), request=(SlotName("hotel", "phone"),))


@pytest.mark.parametrize(
    ("state", "response", "inform", "success"),
    [
        ({"hotel area": "east"}, "[hotel_name] is at [hotel_phone]", 100, 100),
        ({"hotel area": "east"}, "[hotel_name] it is", 100, 0),
        ({"hotel area": "west"}, "[hotel_name] is at [hotel_phone]", 0, 0),
        ({"hotel area": "east"}, "call [hotel_phone]", 0, 0),
    ],
)
def test_inform_and_success(state: dict[str, str], response: str, inform: int, success: int, tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [dialogue("d", [{"hotel area": "east"}]).replace(goal=_goal(), domains=("hotel",))])
    guesses = write_lines(tmp_path / "g.jsonl", [_record(0, state, delexicalised=response)])
    found = score("raddle", gold, guesses)
    assert (found["metrics"]["inform"], found["metrics"]["success"]) == (inform, success)
    assert found["metrics"]["combined"] == pytest.approx(0.5 * (inform + success) + found["metrics"]["bleu"])
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "hotel_db.json").write_text(json.dumps([{"name": "a", "area": "east"}, {"name": "b", "area": "west"}]))
    by_entities = score("raddle", gold, guesses, database=str(tmp_path / "db"))
    assert (by_entities["metrics"]["inform"], by_entities["metrics"]["success"]) == (inform, success)
    assert by_entities["policy"]["inform"] != found["policy"]["inform"]


def test_detection_and_intents(tmp_path: Path) -> None:
    labels = [("oos",), ("oos",), ("intent:find",), ("intent:book",)]
    said = [["oos"], [], ["oos"], ["intent:book"]]
    made = [dialogue(f"d{number}", [{"hotel area": "east"}], labels=one) for number, one in enumerate(labels)]
    gold = write_gold(tmp_path, made)
    lines = [_record(0, {"hotel area": "east"}, f"d{number}", labels=one) for number, one in enumerate(said)]
    found = score("raddle", gold, write_lines(tmp_path / "g.jsonl", lines))["metrics"]
    assert (found["ood_precision"], found["ood_recall"], found["ood_f1"]) == (50, 50, 50)
    assert found["intent_accuracy"] == 50
    lines[2]["intent"] = "find"
    assert score("raddle", gold, write_lines(tmp_path / "g.jsonl", lines))["metrics"]["intent_accuracy"] == 100


def test_a_corpus_of_intents_takes_labels_alone(tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [dialogue("d", [{}], labels=("intent:find",))])
    guesses = write_lines(tmp_path / "g.jsonl", [{"dialogue_id": "d/standard/0", "turn": 0, "labels": ["intent:find"]}])
    assert score("splits", gold, guesses)["metrics"] == {"intent_accuracy": 100}


def _bad(tmp_path: Path, *lines: dict[str, Any]) -> str:
    gold = write_gold(tmp_path, [dialogue("d", [{"hotel area": "east"}, {"hotel area": "west"}]), dialogue("e", [{}])])
    with pytest.raises(InputError) as caught:
        score("splits", gold, write_lines(tmp_path / "g.jsonl", lines), "standard")
    return str(caught.value)


def test_missing_unknown_and_repeated_turns_are_told(tmp_path: Path) -> None:
    right = [_record(0, {}), _record(2, {}), _record(0, {}, "e")]
    assert "no prediction for dialogue d/standard/0, turn 2; the gold has 3, of which 2" in _bad(tmp_path / "a", right[0], right[2])
    assert "predicts dialogue d/standard/0, turn 1, which the gold doesn't have" in _bad(tmp_path / "b", *right, _record(1, {}))
    assert "holds the turn d/standard/0, turn 2 twice" in _bad(tmp_path / "c", *right, right[1])
    assert "its ids look like 'd/standard/0'" in str(_bad(tmp_path / "d", _record(0, {}, "zz")))


def test_wrong_forms_are_told_with_line_and_path(tmp_path: Path) -> None:
    assert "line 1: turn: " in _bad(tmp_path / "a", _record(0, {}) | {"turn": "0"})
    assert "line 2: state[0].values" in _bad(
        tmp_path / "b", _record(0, {}), _record(2, {}) | {"state": [{"domain": "a", "slot": "b", "values": "c"}]}
    )
    assert "has no response for dialogue d/standard/0, turn 2" in _bad(
        tmp_path / "c", _record(0, {}, response="x"), _record(2, {}), _record(0, {}, "e")
    )


def test_official_compat_is_convlab_3_s(tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [dialogue("d", [{"hotel name": "the lodge"}])])
    guesses = write_lines(tmp_path / "g.jsonl", [_record(0, {"hotel name": "thelodge|x", "taxi day": "4"})])
    assert score("splits", gold, guesses)["metrics"]["jga"] == 0
    assert score("splits", gold, guesses, official=True)["metrics"]["jga"] == 100
