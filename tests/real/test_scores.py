"""Scores on published data: the DSTC9 baseline's 14 numbers, definitions of ConvLab and CGoDial on real samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.scoring import wordnet
from dialmill.pipelines.scoring.gold import DialogueGold
from dialmill.pipelines.scoring.tables import flat

from tests.pipelines.tools import call
from tests.scoring.making import score, write_lines


@pytest.fixture(scope="module")
def dstc9(real: Path) -> Path:
    folder = real / "dstc9_track1"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    return folder


@pytest.mark.parametrize("official", [False, True])
def test_the_published_dstc9_baseline_has_its_published_numbers(dstc9: Path, official: bool) -> None:
    found = score("dstc9-track1", dstc9 / "data_eval", dstc9 / "results" / "baseline" / "entry0.json", official=official)
    published = flat(json.loads((dstc9 / "results" / "baseline" / "entry0.score.json").read_text("utf-8")))
    assert len(published) == 14
    if wordnet.folder() is None:
        assert "METEOR is left out" in found["notes"][0]
        del published["generation.meteor"]
    assert flat(found["metrics"]) == pytest.approx(published, abs=1e-12 if official else 1e-6)
    ceiling = flat(found["ceiling"])
    assert set(ceiling.values()) == {1.0} if not official else ceiling["generation.bleu-4"] == pytest.approx(0.9969712266532055, abs=1e-12)


def test_parts_of_the_dstc9_test_set(dstc9: Path) -> None:
    found = score("dstc9-track1", dstc9, dstc9 / "results" / "baseline" / "entry0.json", "all")
    assert {suite: counts["instances"] for suite, counts in found["counts"].items()} == {
        "all_sources": 4181,
        "multiwoz": 2084,
        "sf_written": 1834,
        "sf_spoken": 263,
    }
    assert "robustness" not in found


def _states(gold: DialogueGold) -> Iterator[tuple[dict[str, Any], dict[tuple[str, str], set[str]]]]:
    """Of every third user turn a state without its last slot, of every fifth one with a wrong value, and the gold's own."""
    for number, turn in enumerate(gold.turns("standard")):
        state = [{"domain": one.domain, "slot": one.slot, "values": list(one.values)} for one in turn.turn.state]
        if state and number % 3 == 0:
            del state[-1]
        elif state and number % 5 == 0:
            state[-1]["values"] = ["wrong"]
        line = {"dialogue_id": turn.dialogue.dialogue_id, "turn": turn.turn.turn, "state": state}
        yield line, {(one.domain, one.slot): {"".join(value.lower().split()) for value in one.values} for one in turn.turn.state}


@pytest.mark.parametrize("name", ["kvret", "camrest"])
def test_convlab_s_definitions_on_its_data(real: Path, name: str, tmp_path: Path) -> None:
    folder = real / "convlab3_unified" / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    gold = DialogueGold(str(folder), "test")
    made = list(_states(gold))
    found = score("splits", folder, write_lines(tmp_path / "g.jsonl", (line for line, _ in made)), official=True)["metrics"]
    tp = fp = fn = joint = 0
    for line, right in made:
        said = {(one["domain"], one["slot"]): {"".join(value.lower().split()) for value in one["values"]} for one in line["state"]}
        turn = True
        for slot in right.keys() | said.keys():
            if right.get(slot, set()) & said.get(slot, set()):
                tp += 1
                continue
            turn = False
            fn += slot in right
            fp += slot in said
        joint += turn
    assert found["jga"] == pytest.approx(100 * joint / len(made))
    assert found["slot_precision"] == pytest.approx(100 * tp / (tp + fp))
    assert found["slot_recall"] == pytest.approx(100 * tp / (tp + fn))
    assert 50 < found["jga"] < 90


def test_ties_in_the_e_commerce_corpus(real: Path, tmp_path: Path) -> None:
    source = real / "ecd_sample" / "test.txt"
    if not source.is_file():
        pytest.skip(f"no {source}")
    sessions: dict[str, Any] = {}
    for number, line in enumerate(source.read_text("utf-8").splitlines()):
        label, *context, answer = line.split("\t")
        one = sessions.setdefault(str(number // 10), {"history": context, "true": [], "false": []})
        one["true" if label == "1" else "false"].append(answer)
    (tmp_path / "test.json").write_text(json.dumps(sessions, ensure_ascii=False))
    (tmp_path / "g.json").write_text(json.dumps([0.5] * 10 * len(sessions)))
    assert score("cgodial-rbd", tmp_path, tmp_path / "g.json")["metrics"]["r_at_1"] == pytest.approx(10)
    assert score("cgodial-rbd", tmp_path, tmp_path / "g.json", official=True)["metrics"]["r_at_1"] == 100


def test_risawoz_as_gold_scores_itself(real: Path, tmp_path: Path) -> None:
    folder = real / "risawoz"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    made = [line for line, _ in _states(DialogueGold(str(folder), "train"))]
    said = call("score", "splits", "--gold", folder, "--predictions", write_lines(tmp_path / "g.jsonl", made), "--split", "train", "--json", "-")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert set(found["ceiling"].values()) == {100.0}
    assert 40 < found["metrics"]["jga"] < 95
