"""DSTC9 Track 4's metrics: by hand, beside nltk where it is installed, and what predictions are refused for."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.simmc import bleu
from dialmill.pipelines.core.errors import InputError

from tests.pipelines.tools import call
from tests.scoring.making import score


def _entry(number: int, said: str, answer: str, act: str, slots: dict[str, Any], requests: list[str], objects: list[int]) -> dict[str, Any]:
    attributes = {"slot_values": slots, "request_slots": requests, "objects": objects}
    return {
        "turn_idx": number,
        "transcript": said,
        "system_transcript": answer,
        "transcript_annotated": {"act": act, "act_attributes": attributes},
        "system_transcript_annotated": {"act": "INFORM:GET", "act_attributes": {}},
    }


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """One dialogue of two turns in the official files."""
    folder = tmp_path / "gold"
    folder.mkdir()
    entries = [
        _entry(0, "A cheap coat?", "Here is one by the door.", "REQUEST:GET", {"type": "coat", "price": "cheap"}, [], []),
        _entry(1, "What does the red one cost?", "It is 4 dollars.", "ASK:GET", {"customerReview": 4.0}, ["price", "brand"], [3, 5]),
    ]
    dialogues = {"split": "devtest", "dialogue_data": [{"dialogue": entries, "dialogue_idx": 7, "domain": "fashion"}]}
    (folder / "simmc2_dials_dstc10_devtest.json").write_text(json.dumps(dialogues), "utf-8")
    texts = ["a", "b", "It is 4 dollars.", "Here is one by the door."]
    turns = [{"turn_idx": 0, "retrieval_candidates": [0, 3, 1], "gt_index": 1}, {"turn_idx": 1, "retrieval_candidates": [2, 0, 1], "gt_index": 0}]
    pools = {"system_transcript_pool": {"fashion": texts}, "retrieval_candidates": [{"dialogue_idx": 7, "retrieval_candidates": turns}]}
    (folder / "simmc2_dials_dstc10_devtest_retrieval_candidates.json").write_text(json.dumps(pools), "utf-8")
    actions = [
        {"turn_idx": 0, "action": "Search", "action_supervision": {"args": {"color": ["red", "blue"], "minPrice": 3, "type": "coat"}}},
        {"turn_idx": 1, "action": "Specify", "action_supervision": {"args": {"attributes": ["price"]}}},
    ]
    (folder / "simmc2_dials_dstc10_devtest_api_calls.json").write_text(json.dumps([{"dialog_id": 7, "actions": actions}]), "utf-8")
    return folder


def _scored(gold: Path, predictions: Any, name: str = "own.json", official: bool = False) -> dict[str, Any]:
    path = gold.parent / name
    path.write_text(json.dumps(predictions), "utf-8")
    found: dict[str, Any] = score("dstc9-track4", gold, path, official=official)
    return found


def test_actions(gold: Path) -> None:
    turns = [
        {"turn_id": 0, "action": "Search", "attributes": {"color": ["red", "green"], "type": "coat"}, "action_log_prob": {"Search": -1.0}},
        {"turn_id": 1, "action": "Search", "attributes": {"attributes": ["price"]}, "action_log_prob": {"Specify": -3.0}},
    ]
    found = _scored(gold, [{"dialog_id": 7, "predictions": turns}])["metrics"]["action"]
    # The colours are half right, the type is right, and of the wrong action nothing is.
    assert found["attribute_accuracy"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert (found["action_accuracy"], found["action_perplexity"]) == (0.5, pytest.approx(math.exp(2)))
    del turns[1]["action_log_prob"]
    assert "action_perplexity" not in _scored(gold, [{"dialog_id": 7, "predictions": turns}])["metrics"]["action"]


def test_states(gold: Path) -> None:
    states = [
        {"turn_id": 0, "frames": [{"act": "INFORM:GET", "slots": [["type", "coat"], ["price", "cheap"]]}]},
        {
            "turn_id": 1,
            "frames": [{"act": "ASK:GET", "slots": [["customerReview", "4"]], "request_slots": ["price"], "objects": ["3", 9]}, {"act": "X"}],
        },
    ]
    found = _scored(gold, [{"dialog_id": 7, "states": states}])["metrics"]["dst"]
    assert (found["act_f1"], found["slot_f1"], found["joint_accuracy"], found["joint_accuracy_all"]) == (0.5, 1.0, 0.5, 0.0)
    assert found["request_slot_f1"] == pytest.approx(2 / 3) and found["request_slot_prec"] == 1.0
    assert (found["object_prec"], found["object_rec"]) == (0.5, 0.5)


def test_states_in_the_official_form(gold: Path) -> None:
    document = json.loads((gold / "simmc2_dials_dstc10_devtest.json").read_text("utf-8"))
    document["dialogue_data"][0]["dialogue"][1]["transcript_annotated"]["act_attributes"]["objects"] = [3]
    found = _scored(gold, document)["metrics"]
    assert found.keys() == {"dst"} and found["dst"]["joint_accuracy"] == 1.0 and found["dst"]["object_rec"] == 0.5


def test_a_system_that_gives_every_candidate_one_score_finds_nothing(gold: Path) -> None:
    same = [{"dialog_id": 7, "candidate_scores": [{"turn_id": turn, "scores": [0.5, 0.5, 0.5]} for turn in (0, 1)]}]
    found = _scored(gold, same)
    assert found["metrics"]["retrieval"] == {"r1": 0.0, "r5": 1.0, "r10": 1.0, "mean": 3.0, "mrr": pytest.approx(1 / 3)}
    assert any("share the score" in note for note in found["notes"])
    assert _scored(gold, same, official=True)["metrics"]["retrieval"]["r1"] == 1.0, "the published script"


def test_ranks(gold: Path) -> None:
    scores = [{"turn_id": 0, "scores": [0.9, 0.5, 0.1]}, {"turn_id": 1, "scores": [3, 2, 1]}]
    found = _scored(gold, [{"dialog_id": 7, "candidate_scores": scores}])["metrics"]["retrieval"]
    assert (found["r1"], found["mean"], found["mrr"]) == (0.5, 1.5, 0.75)


def test_responses(gold: Path) -> None:
    turns = [{"turn_id": 0, "response": "Here is one by the window."}, {"turn_id": 1, "response": "it is 4 dollars."}]
    found = _scored(gold, [{"dialog_id": 7, "predictions": turns}])["metrics"]["generation"]["bleu"]
    # Seven tokens each: 6 of 7, 4 of 6, 3 of 5 and 2 of 4 n-grams are right.
    assert found == pytest.approx((1 + (6 / 7 * 4 / 6 * 3 / 5 * 2 / 4) ** 0.25) / 2)


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("Here is one by the window.", "Here is one by the door."),
        ("I don't have it, sorry!", "I don't think we've got that."),
        ("It's $64.50 and it's in S, M and XL.", "That one's $64.50, it comes in XS."),
        ("Yes", "Which one do you mean?"),
        ("one", "Which one?"),
    ],
)
def test_bleu_is_the_one_of_nltk(said: str, due: str) -> None:
    translate = pytest.importorskip("nltk.translate.bleu_score")
    tokenize = pytest.importorskip("nltk.tokenize")
    cut = tokenize.NLTKWordTokenizer().tokenize
    assert bleu.tokens(said) == cut(said.lower()) and bleu.tokens(due) == cut(due.lower())
    smoothing = translate.SmoothingFunction().method1
    theirs = translate.sentence_bleu([bleu.tokens(due)], bleu.tokens(said), smoothing_function=smoothing)
    assert bleu.sentence_bleu(bleu.tokens(said), bleu.tokens(due)) == pytest.approx(theirs)


def test_several_official_files_are_one_system(gold: Path, tmp_path: Path) -> None:
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "retrieval.json").write_text(
        json.dumps([{"dialog_id": 7, "candidate_scores": [{"turn_id": turn, "scores": [3, 2, 1]} for turn in (0, 1)]}])
    )
    (folder / "generation.json").write_text(json.dumps([{"dialog_id": 7, "predictions": [{"turn_id": turn, "response": "Yes."} for turn in (0, 1)]}]))
    assert score("dstc9-track4", gold, folder)["metrics"].keys() == {"retrieval", "generation"}


@pytest.mark.parametrize(
    ("predictions", "told"),
    [
        ([{"dialog_id": 7, "candidate_scores": [{"turn_id": 0, "scores": [1, 2, 3]}]}], "has no prediction for retrieval of dialogue 7, turn 1"),
        ([{"dialog_id": 7, "candidate_scores": [{"turn_id": turn, "scores": [1, 2]} for turn in (0, 1)]}], "2 scores, there are 3 candidates"),
        ([{"dialog_id": 8, "predictions": [{"turn_id": 0, "response": "x"}]}], "has no prediction for generation of dialogue 7"),
        ([{"dialog_id": 7, "suite": "typos", "predictions": []}, {"dialog_id": 7, "predictions": []}], "predicts nothing"),
        ([{"dialog_id": 7, "suite": "typos", "predictions": [{"turn_id": 0, "response": "x"}]}], "predicts suite 'typos'"),
        (
            [{"dialog_id": 7, "predictions": [{"turn_id": 0, "response": "x"}, {"turn_id": 0, "response": "y"}]}],
            "generation of dialogue 7, turn 0 twice",
        ),
        ([{"predictions": []}], "dialog_id"),
    ],
)
def test_what_is_refused(predictions: Any, told: str, gold: Path) -> None:
    with pytest.raises(InputError, match=told):
        _scored(gold, predictions)


def test_the_baseline_is_scored_in_every_suite(tmp_path: Path) -> None:
    from tests.pipelines.tools import DATA, plain

    plain("dstc9-track4", [DATA / "simmc"], tmp_path / "out", "suites=standard,typos")
    made = call("predict-baseline", "dstc9-track4", "--gold", tmp_path / "out", "--output", tmp_path / "baseline.json")
    assert made.code == 0, made.err
    found = score("dstc9-track4", tmp_path / "out", tmp_path / "baseline.json", "all")
    for suite in ("standard", "typos"):
        reached = found["metrics"][suite]
        assert reached["action"]["action_accuracy"] > 0.5 and reached["dst"]["act_f1"] > 0.5 and reached["dst"]["object_rec"] < 0.5
        assert 0 < reached["retrieval"]["mrr"] < 1 and 0 < reached["generation"]["bleu"] < 1
