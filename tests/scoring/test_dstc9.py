"""DSTC9 Track 1: charging for detection, ids of mixed types, files of another length, short answers, several systems."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.scores import request as scoring_request
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.scoring import wordnet
from dialmill.pipelines.scoring.evaluate import evaluate, mean_reciprocal_ranks
from hypothesis import given, settings
from hypothesis import strategies as st

SNIPPETS = [("hotel", 1, 0), ("hotel", 1, 1), ("hotel", 11, 0), ("taxi", "*", 1)]
KNOWLEDGE = {
    "hotel": {
        "1": {"name": "A", "docs": {"0": {"title": "t", "body": "b"}, "1": {"title": "t", "body": "b"}}},
        "11": {"name": "B", "docs": {"0": {"title": "t", "body": "b"}}},
    },
    "taxi": {"*": {"name": None, "docs": {"1": {"title": "t", "body": "b"}}}},
}


def _target(*snippets: tuple[str, Any, Any], response: str = "yes they do have it") -> dict[str, Any]:
    return {
        "target": True,
        "knowledge": [dict(zip(("domain", "entity_id", "doc_id"), one, strict=True)) for one in snippets],
        "response": response,
    }


def _score(folder: Path, labels: list[Any], *systems: list[Any], official: bool = False) -> dict[str, Any]:
    (folder / "test").mkdir(parents=True, exist_ok=True)
    (folder / "knowledge.json").write_text(json.dumps(KNOWLEDGE))
    (folder / "test" / "labels.json").write_text(json.dumps(labels))
    paths = [folder / f"entry{number}.json" for number in range(len(systems))]
    for path, system in zip(paths, systems, strict=True):
        path.write_text(json.dumps(system))
    return evaluate(scoring_request("dstc9-track1", Settings(str(folder), official=official), [str(path) for path in paths]))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.none() | st.sampled_from(SNIPPETS), st.none() | st.permutations(SNIPPETS)), min_size=1, max_size=8))
def test_detection_and_selection_by_definition(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    labels = [{"target": False} if right is None else _target(right) for right, _ in rows]
    guesses = [{"target": False} if said is None else _target(*said) for _, said in rows]
    found = _score(tmp_path_factory.mktemp("dstc9"), labels, guesses)["metrics"]
    due, told = sum(right is not None for right, _ in rows), sum(said is not None for _, said in rows)
    both = [(right, said) for right, said in rows if right is not None and said is not None]

    def charged(total: float) -> float:
        precision, recall = total / told if told else 0, total / due if due else 0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0

    assert found["detection"]["f1"] == pytest.approx(charged(len(both)))
    assert found["selection"]["mrr@5"] == pytest.approx(charged(sum(1 / (said.index(right) + 1) for right, said in both)))
    assert found["selection"]["r@1"] == pytest.approx(charged(sum(said[0] == right for right, said in both)))
    assert found["generation"]["bleu-4"] == pytest.approx(charged(len(both)))


def test_ids_as_text_match_and_officially_do_not(tmp_path: Path) -> None:
    labels, guesses = [_target(("hotel", 1, 0)), _target(("taxi", "*", 1))], [_target(("hotel", "1", "0")), _target(("taxi", "*", 1))]
    assert _score(tmp_path, labels, guesses)["metrics"]["selection"]["r@1"] == 1
    assert _score(tmp_path, labels, guesses, official=True)["metrics"]["selection"]["r@1"] == 0.5
    # Entity 1 is not entity 11: ids are compared whole.
    assert _score(tmp_path, labels[:1], [_target(("hotel", 11, 0))])["metrics"]["selection"]["r@1"] == 0


def test_a_short_file_is_an_error_and_officially_cut(tmp_path: Path) -> None:
    labels = [_target(("hotel", 1, 0))] * 5
    with pytest.raises(InputError, match=r"has 4 predictions, .* 5 labels; the first without its other half is item 4"):
        _score(tmp_path, labels, labels[:4])
    found = _score(tmp_path, labels, labels[:4], official=True)
    assert found["metrics"]["detection"]["f1"] == 1
    assert any("scored are the first 4" in note for note in found["notes"])


def test_unknown_snippets_are_told(tmp_path: Path) -> None:
    found = _score(tmp_path, [_target(("hotel", 1, 0))], [_target(("hotel", 99, 0))])
    assert any("1 predicted snippets are not in knowledge.json, the first at item 0" in note for note in found["notes"])


def test_short_answers_are_right_and_empty_ones_are_not(tmp_path: Path) -> None:
    labels = [_target(("hotel", 1, 0), response="Yes."), _target(("hotel", 1, 0), response="它有免费停车。")]
    found = _score(tmp_path, labels, labels)
    assert set(found["metrics"]["generation"].values()) == {1.0}
    assert _score(tmp_path, labels, labels, official=True)["metrics"]["generation"]["bleu-4"] < 0.01
    empty = [one | {"response": ""} for one in labels]
    assert set(_score(tmp_path, labels, empty)["metrics"]["generation"].values()) == {0.0}


def test_without_wordnet_meteor_is_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialmill.pipelines.benchmarks.dstc9.scorer.folder", lambda: None)
    labels = [_target(("hotel", 1, 0))]
    found = _score(tmp_path, labels, labels)
    assert "meteor" not in found["metrics"]["generation"]
    assert "WordNet 3.0" in found["notes"][0] and wordnet.VARIABLE in found["notes"][0]


def test_systems_are_ranked_by_mean_reciprocal_rank(tmp_path: Path) -> None:
    labels = [_target(("hotel", 1, 0)), {"target": False}]
    better, worse = [_target(("hotel", 1, 0)), _target(("hotel", 1, 0))], [_target(("hotel", 1, 1)), _target(("hotel", 1, 0))]
    found = _score(tmp_path, labels, worse, better)
    assert list(found["systems"]) == ["entry1", "entry0"]
    ranks = found["metrics"]["mean_reciprocal_rank"]
    assert ranks["entry1"] == 1 and 0.5 <= ranks["entry0"] < 1
    by_hand = mean_reciprocal_ranks({"a": {"x": 1.0, "y": 0.2}, "b": {"x": 0.5, "y": 0.2}, "c": {"x": 0.1, "y": 0.9}}, ("x", "y"))
    assert by_hand == pytest.approx({"a": (1 + 1 / 2) / 2, "b": (1 / 2 + 1 / 2) / 2, "c": (1 / 3 + 1) / 2})


@pytest.mark.parametrize(
    ("guess", "what"),
    [
        ({"target": True, "knowledge": [], "response": "x"}, r"\[0\].knowledge"),
        ({"target": "true"}, r"\[0\].target"),
        ({"target": True, "knowledge": [{"domain": "hotel", "entity_id": 1, "doc_id": 0}]}, "response"),
    ],
)
def test_bad_forms_are_told(guess: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what):
        _score(tmp_path, [_target(("hotel", 1, 0))], [guess])


def test_without_nltk_all_but_meteor_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [{"target": True, "knowledge": [{"domain": "taxi", "entity_id": "*", "doc_id": 1}], "response": "yes you can"}, {"target": False}]
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(labels))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "nltk" else importlib.machinery.PathFinder.find_spec(name))
    found = evaluate(scoring_request("dstc9-track1", Settings(str(tmp_path)), [str(path)]))
    assert found["metrics"]["detection"]["f1"] == 1 and "meteor" not in found["metrics"]["generation"]
    assert any("METEOR is left out" in note for note in found["notes"])
