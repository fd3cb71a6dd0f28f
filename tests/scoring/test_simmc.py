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


def test_arguments_by_the_published_script(gold: Path) -> None:
    path = gold / "simmc2_dials_dstc10_devtest_api_calls.json"
    document = json.loads(path.read_text("utf-8"))
    document[0]["actions"][1]["action_supervision"]["args"] |= {"info": [], "focus": "x"}
    path.write_text(json.dumps(document), "utf-8")
    turns = [
        {"turn_id": 0, "action": "Search", "attributes": {"color": ["red", "red", "green"], "type": "coat"}},
        {"turn_id": 1, "action": "Search", "attributes": {}},
    ]
    # Of two colours one is found, two of three that are given are right; of the wrong action the empty argument counts, and not what is ignored.
    colours = 2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2 + 1e-5)
    found = _scored(gold, [{"dialog_id": 7, "predictions": turns}], official=True)["metrics"]["action"]
    assert found["attribute_accuracy"] == pytest.approx((colours + 1 + 0 + 0) / 4, abs=1e-12)
    assert _scored(gold, [{"dialog_id": 7, "predictions": turns}])["metrics"]["action"]["attribute_accuracy"] == pytest.approx((0.5 + 1 + 0) / 3)


def test_states(gold: Path) -> None:
    states = [
        {"turn_id": 0, "frames": [{"act": "INFORM:GET", "slots": [["type", "coat"], ["price", "cheap"]]}]},
        {
            "turn_id": 1,
            "frames": [{"act": "ASK:GET", "slots": [["customerReview", "4"]], "request_slots": ["price"], "objects": ["3", 9]}, {"act": "X"}],
        },
    ]
    found = _scored(gold, [{"dialog_id": 7, "states": states}])["metrics"]["dst"]
    assert (found["act_f1"], found["slot_f1"], found["act_slot_accuracy"], found["joint_accuracy"]) == (0.5, 1.0, 0.5, 0.0)
    assert found["request_slot_f1"] == pytest.approx(2 / 3) and found["request_slot_prec"] == 1.0
    assert (found["object_prec"], found["object_rec"]) == (0.5, 0.5)


def test_states_in_the_official_form(gold: Path) -> None:
    document = json.loads((gold / "simmc2_dials_dstc10_devtest.json").read_text("utf-8"))
    document["dialogue_data"][0]["dialogue"][1]["transcript_annotated"]["act_attributes"]["objects"] = [3]
    found = _scored(gold, document)["metrics"]
    assert found.keys() == {"dst"} and found["dst"]["act_slot_accuracy"] == 1.0 and found["dst"]["object_rec"] == 0.5
    assert found["dst"]["joint_accuracy"] == 0.5, "of 2.x it asks for the objects too"


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
        ("You cannot (really) wanna get it -- do you?", 'He said "gonna be 4:30, or 1,000"...'),
        ("Rock 'n' roll, y'all'd've known it's blue/green's!", "''It'' isn't: 'tis \u201cnew\u201d; 50% & more"),
    ],
)
def test_bleu_is_the_one_of_nltk(said: str, due: str) -> None:
    translate = pytest.importorskip("nltk.translate.bleu_score")
    tokenize = pytest.importorskip("nltk.tokenize")
    cut = tokenize.NLTKWordTokenizer().tokenize
    assert bleu.tokens(said) == cut(said.lower()) and bleu.tokens(due) == cut(due.lower())
    for number in (1, 7):
        smoothing = getattr(translate.SmoothingFunction(), f"method{number}")
        for one, other in ((said, due), (said, said), ("", due)):
            theirs = translate.sentence_bleu([bleu.tokens(other)], bleu.tokens(one), smoothing_function=smoothing)
            assert bleu.sentence_bleu(bleu.tokens(one), bleu.tokens(other), number) == pytest.approx(theirs, abs=1e-12)


def test_a_full_stop_is_a_mark_where_a_sentence_ends() -> None:
    # As NLTK's sentence model has it for lower-case text: short forms keep theirs but at the end, letters and numbers before a word.
    assert bleu.tokens("Ok. It is rated 3.6. The XL. Or S. too? Yes (it is.) And 5.") == (
        ["ok.", "it", "is", "rated", "3.6.", "the", "xl", ".", "or", "s.", "too", "?", "yes", "(", "it", "is", ".", ")", "and", "5", "."]
    )
    assert bleu.tokens("They are 3.6. $5, and 4. 5 is ok.") == ["they", "are", "3.6", ".", "$", "5", ",", "and", "4", ".", "5", "is", "ok", "."]


def test_method_7_by_hand() -> None:
    # Four of four words: each precision is the mean of itself and its neighbours; before the first stands 2, after the fourth nothing (0 of 1).
    first = (2 + 1 + 1) / 3
    second = (first + 1 + 1) / 3
    third = (second + 1 + 1) / 3
    fourth = (third + 1 + 0) / 3
    assert bleu.sentence_bleu(list("abcd"), list("abcd"), 7) == pytest.approx((first * second * third * fourth) ** 0.25)


def test_the_published_scripts_compare_what_is_written(gold: Path) -> None:
    states = [
        {"turn_id": 0, "frames": [{"act": "REQUEST:GET", "slots": [["type", "coat"], ["price", "cheap "]]}]},
        {
            "turn_id": 1,
            "frames": [{"act": "ASK:GET", "slots": [["customerReview", "4"]], "request_slots": ["price", "brand"], "objects": ["3", 5]}],
        },
    ]
    ours = _scored(gold, [{"dialog_id": 7, "states": states}])["metrics"]["dst"]
    assert (ours["slot_f1"], ours["object_f1"], ours["joint_accuracy"]) == (1, 1, 1)
    theirs = _scored(gold, [{"dialog_id": 7, "states": states}], official=True)["metrics"]["dst"]
    # "cheap " is not "cheap", "4" not 4.0, and "3" not 3.
    assert (theirs["slot_f1"], theirs["object_f1"], theirs["joint_accuracy"]) == (pytest.approx(1 / 3), 0.5, 0)


def _sized(gold: Path, value: Any) -> dict[str, Any]:
    document = json.loads((gold / "simmc2_dials_dstc10_devtest.json").read_text("utf-8"))
    document["dialogue_data"][0]["dialogue"][0]["transcript_annotated"]["act_attributes"]["slot_values"] = {"availableSizes": value}
    found: dict[str, Any] = document
    return found


@pytest.mark.parametrize(
    ("said", "right"), [(["XL", "S"], True), ("['S', 'XL']", True), ("('XL', 'S')", True), (["S"], False), ("XL", False), ("S, XL", False)]
)
def test_sizes_are_one_value_of_the_published_scripts(said: Any, right: bool, gold: Path) -> None:
    (gold / "simmc2_dials_dstc10_devtest.json").write_text(json.dumps(_sized(gold, ["S", "XL"])), "utf-8")
    found = _scored(gold, _sized(gold, said), official=True)["metrics"]["dst"]
    assert found["slot_f1"] == (1.0 if right else 0.5)


def test_precision_of_nothing(gold: Path) -> None:
    states = [{"turn_id": turn, "frames": [{"act": "ASK:GET"}]} for turn in (0, 1)]
    ours = _scored(gold, [{"dialog_id": 7, "states": states}])["metrics"]["dst"]
    theirs = _scored(gold, [{"dialog_id": 7, "states": states}], official=True)["metrics"]["dst"]
    assert [(one["object_prec"], one["object_rec"], one["object_f1"]) for one in (ours, theirs)] == [(1, 0, 0), (0, 0, 0)]


def test_a_right_response_has_more_than_1_of_2_x_by_the_published_script(gold: Path) -> None:
    turns = [{"turn_id": 0, "response": "Here is one by the door."}, {"turn_id": 1, "response": "It is 4 dollars."}]
    assert _scored(gold, [{"dialog_id": 7, "predictions": turns}])["metrics"]["generation"]["bleu"] == 1
    found = _scored(gold, [{"dialog_id": 7, "predictions": turns}], official=True)
    assert found["metrics"]["generation"]["bleu"] == pytest.approx(found["ceiling"]["generation"]["bleu"]) and any(
        "in generation.bleu" in note for note in found["notes"]
    )
    assert found["metrics"]["generation"]["bleu"] > 1.05


@pytest.mark.parametrize("official", [False, True])
def test_what_has_to_be_asked(official: bool, gold: Path) -> None:
    path = gold / "simmc2_dials_dstc10_devtest.json"
    document = json.loads(path.read_text("utf-8"))
    first, second = document["dialogue_data"][0]["dialogue"]
    first["transcript_annotated"] |= {"disambiguation_label": 0, "disambiguation_candidates": []}
    second["transcript_annotated"] |= {"disambiguation_label": 1, "disambiguation_candidates": [3, 5, 9]}
    path.write_text(json.dumps(document), "utf-8")
    turns = [
        {"turn_id": 0, "disambiguation_label": True, "disambiguation_candidates": [4]},
        {"turn_id": 1, "disambiguation_label": True, "disambiguation_candidates": [3, 5, 5]},
    ]
    found = _scored(gold, [{"dialog_id": 7, "predictions": turns}], official=official)["metrics"]
    assert found.keys() == {"disambiguation", "ambiguous_candidates"} and found["disambiguation"] == {"accuracy": 0.5}
    assert found["ambiguous_candidates"] == {"rec": pytest.approx(2 / 3), "prec": pytest.approx(2 / 3), "f1": pytest.approx(2 / 3)}
    states = [{"turn_id": at, "frames": [{"act": "X", "disambiguation_candidates": some}]} for at, some in ((0, []), (1, [3, 7]))]
    reached = _scored(gold, [{"dialog_id": 7, "states": states}], "states.json", official)["metrics"]["dst"]
    assert (reached["disamb_candidate_rec"], reached["disamb_candidate_prec"]) == (pytest.approx(1 / 3), 0.5)


def test_the_label_of_2_0_stands_beside_the_frame(gold: Path) -> None:
    path = gold / "simmc2_dials_dstc10_devtest.json"
    document = json.loads(path.read_text("utf-8"))
    document["dialogue_data"][0]["dialogue"][1]["disambiguation_label"] = 1
    path.write_text(json.dumps(document), "utf-8")
    found = _scored(gold, [{"dialog_id": 7, "predictions": [{"turn_id": 1, "disambiguation_label": 0}]}])["metrics"]
    assert found == {"disambiguation": {"accuracy": 0.0}}


def test_joint_accuracy_of_1_0_is_of_act_and_slots(tmp_path: Path) -> None:
    folder = tmp_path / "gold"
    folder.mkdir()
    entry = {
        "turn_idx": 0,
        "transcript": "A coat?",
        "system_transcript": "Here.",
        "belief_state": [{"act": "DA:REQUEST", "slots": [["type", "coat"]]}],
    }
    document = {"split": "devtest", "dialogue_data": [{"dialogue": [entry], "dialogue_idx": 7, "domains": ["fashion"]}]}
    (folder / "fashion_devtest_dials.json").write_text(json.dumps(document), "utf-8")
    frames = [{"act": "DA:REQUEST", "slots": [["type", "coat"]], "objects": [3]}]
    for official in (False, True):
        found = _scored(folder, [{"dialog_id": 7, "states": [{"turn_id": 0, "frames": frames}]}], official=official)["metrics"]["dst"]
        assert found["joint_accuracy"] == 1.0
    # 1.0's script smooths by method 1, which gives a short right response less than 1.
    reached = _scored(folder, [{"dialog_id": 7, "predictions": [{"turn_id": 0, "response": "Here."}]}], "said.json", True)["metrics"]["generation"]
    assert reached["bleu"] == pytest.approx((0.1 * 0.1) ** 0.25)


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
