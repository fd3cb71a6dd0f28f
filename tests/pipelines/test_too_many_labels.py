"""A record with hundreds of thousands of slots or values costs itself: what learns from states takes memory for each slot."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.baselines.panel import kind
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import MOST_LABELS, bounded
from dialmill.schemas import SlotValues

import dialmill as dm
from dialmill.testing import sample_dialogues
from tests.pipelines.tools import DATA

MANY = 300_000


def _canonical(state: list[dict[str, Any]]) -> dict[str, Any]:
    record = next(iter(dm.read(DATA / "multiwoz21"))).to_dict()
    record |= {"suite": "standard", "dialogue_id": f"{record['source_id']}/standard/0"}
    record["turns"][0]["state"] = state
    return record


@pytest.mark.parametrize("what", ["slots", "values"])
def test_very_many_labels_are_refused_in_plain_words(what: str, tmp_path: Path) -> None:
    slots = [{"domain": "hotel", "slot": f"s{number}", "values": ["v"]} for number in range(MANY)]
    values = [{"domain": "hotel", "slot": "area", "values": [f"v{number}" for number in range(MANY)]}]
    (tmp_path / "x.jsonl").write_text(json.dumps(_canonical(slots if what == "slots" else values)) + "\n", "utf-8")
    started = time.process_time()
    rejects: list[Any] = []
    assert not list(dm.read(tmp_path / "x.jsonl", rejects=rejects))
    assert [one.reason for one in rejects] == ["too_many_labels"] and f"{MOST_LABELS:,}" in rejects[0].evidence
    assert time.process_time() - started < 60


@pytest.mark.parametrize("over", [False, True])
def test_a_record_at_the_limit_is_taken(over: bool) -> None:
    whole = next(iter(sample_dialogues("en")))
    cells = tuple(SlotValues("hotel", f"s{number}", ("v",)) for number in range(MOST_LABELS // 2 + over))
    record = whole.replace(turns=(whole.turns[0].replace(state=cells, acts=(), spans=()), *whole.turns[1:]))
    if not over:
        assert bounded(record) is record
        return
    with pytest.raises(RecordError, match="too_many_labels"):
        bounded(record)


def test_baselines_learn_the_commonest_classes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Task:
        right = type("Right", (), {"label": "", "acts": ["b", "a"], "changed": {}})()

    class Rare:
        right = type("Right", (), {"label": "", "acts": ["c"], "changed": {}})()

    monkeypatch.setattr(kind, "_MOST", 2)
    assert kind.Classes.learn([Task(), Task(), Rare()]).names == [(kind.ACT, "a"), (kind.ACT, "b")]  # type: ignore[list-item]
