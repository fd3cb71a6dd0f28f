"""Metrics of rankings against a plain count over all orders, on random input."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.scores import request as scoring_request
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.scoring.evaluate import evaluate
from dialmill.pipelines.scoring.ranking import read_rankings
from hypothesis import given, settings
from hypothesis import strategies as st

POOL = [f"CANDIDATE{number:03d}" for number in range(8)]


def _score(folder: Path, truth: dict[str, list[str]], guesses: dict[str, list[str]], official: bool = False) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "advising_test_subtask_3.targets.tsv").write_text("".join(f"{example}\t{','.join(right)}\n" for example, right in truth.items()))
    items = [{"example-id": int(one), "candidate-ranking": [{"candidate-id": name} for name in ranked]} for one, ranked in guesses.items()]
    (folder / "guesses.json").write_text(json.dumps(items))
    return evaluate(scoring_request("noesis-advising", Settings(str(folder), official=official), [str(folder / "guesses.json")]))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(st.sampled_from(POOL), min_size=1, max_size=3, unique=True), st.permutations(POOL)), min_size=1, max_size=5))
def test_noesis_by_definition(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[list[str], list[str]]]) -> None:
    truth = {str(number): right for number, (right, _) in enumerate(rows)}
    guesses = {str(number): ranked[:6] for number, (_, ranked) in enumerate(rows)}
    found = _score(tmp_path_factory.mktemp("noesis"), truth, guesses)["metrics"]
    reciprocal = precision = official = hits = 0.0
    for number, right in truth.items():
        ranked = guesses[number]
        places = [ranked.index(one) + 1 for one in right if one in ranked]
        reciprocal += 1 / min(places) if places else 0
        hits += 1 in places
        precision += sum(sum(other in right for other in ranked[:place]) / place for place in places) / len(right)
        official += sum((index + 1) / (ranked.index(one) + 1) for index, one in enumerate(right) if one in ranked) / len(right)
    assert found["MRR"] == pytest.approx(reciprocal / len(rows))
    assert found["R@1"] == pytest.approx(hits / len(rows))
    assert found["MAP"] == pytest.approx(precision / len(rows))
    assert found["MAP_official"] == pytest.approx(official / len(rows))
    assert found["final"] == pytest.approx((found["MRR"] + found["R@10"]) / 2)


def test_none_counts_as_a_candidate(tmp_path: Path) -> None:
    found = _score(tmp_path, {"1": ["NONE"], "2": [POOL[0]]}, {"1": [POOL[1], "NONE"], "2": ["NONE", POOL[0]]})["metrics"]
    assert (found["MRR"], found["R@1"], found["R@10"]) == (0.5, 0, 1)
    assert found["NONE"] == {"precision": 0, "recall": 0, "f1": 0}


def test_ids_are_text_and_case_does_not_count_but_officially(tmp_path: Path) -> None:
    truth, guesses = {"1": [POOL[0]]}, {"1": [POOL[0].lower()]}
    assert _score(tmp_path, truth, guesses)["metrics"]["R@1"] == 1
    assert _score(tmp_path, truth, guesses, official=True)["metrics"]["R@1"] == 0


def test_a_missing_example_is_an_error_and_officially_wrong(tmp_path: Path) -> None:
    truth, guesses = {"1": [POOL[0]], "2": [POOL[1]]}, {"1": [POOL[0]]}
    with pytest.raises(InputError, match="no prediction for example 2"):
        _score(tmp_path, truth, guesses)
    assert _score(tmp_path, truth, guesses, official=True)["metrics"]["R@1"] == 0.5
    with pytest.raises(InputError, match="predicts example 3"):
        _score(tmp_path, {"1": [POOL[0]]}, {"1": [POOL[0]], "3": [POOL[0]]})


def test_right_answers_of_the_release_s_own_files(tmp_path: Path) -> None:
    option = {"candidate-id": POOL[0], "utterance": "yes"}
    head = {"data-split": "test", "example-id": 7, "messages-so-far": [], "options-for-next": [option], "scenario": 4}
    (tmp_path / "ubuntu_test_subtask_4.json").write_text(json.dumps([head | {"options-for-correct-answers": []}]))
    (tmp_path / "g.jsonl").write_text(json.dumps({"example_id": 7, "candidates": [{"candidate_id": "NONE", "score": 1}]}))
    found = evaluate(scoring_request("noesis-ubuntu", Settings(str(tmp_path)), [str(tmp_path / "g.jsonl")]))
    assert (found["suite"], found["metrics"]["R@1"], found["metrics"]["NONE"]["f1"]) == ("subtask_4", 1, 1)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"example_id": 1, "candidates": [{"candidate_id": "A"}, {"candidate_id": "A"}]}, "twice"),
        ({"example_id": 1, "candidates": [{"candidate_id": "A", "score": 1}, {"candidate_id": "B", "score": 2}]}, "scores rise"),
        ({"example_id": 1, "candidates": [{"candidate-id": "A"}]}, "line 1.*candidate"),
        ({"example_id": 1, "candidates": []}, "candidates"),
    ],
)
def test_bad_rankings_are_told(line: Any, what: str, tmp_path: Path) -> None:
    (tmp_path / "g.jsonl").write_text(json.dumps(line))
    with pytest.raises(InputError, match=what):
        read_rankings(str(tmp_path / "g.jsonl"))


def _example(number: int, names: list[str], right: list[str], **more: Any) -> dict[str, Any]:
    options = {"options-for-next": [{"candidate-id": name, "utterance": name} for name in names]} if names else {}
    answers = [{"candidate-id": name, "utterance": name} for name in right]
    return {"example-id": number, "messages-so-far": [], **options, "options-for-correct-answers": answers, **more}


def _noesis(folder: Path, suite: str, ranked: list[str], official: bool = False) -> dict[str, Any]:
    items = [{"example-id": 1, "candidate-ranking": [{"candidate-id": name} for name in ranked]}]
    (folder / "guesses.json").write_text(json.dumps(items))
    return evaluate(scoring_request("noesis-ubuntu", Settings(str(folder), official=official), [str(folder / "guesses.json")], suite))


@pytest.mark.parametrize("beside", [False, True])
def test_a_candidate_that_is_not_offered_is_an_error(beside: bool, tmp_path: Path) -> None:
    """Also where the right answers are read from the table beside the examples; NONE may always be ranked, and case doesn't count."""
    (tmp_path / "ubuntu_test_subtask_1.json").write_text(json.dumps([_example(1, POOL, [POOL[1]])]))
    if beside:
        (tmp_path / "ubuntu_test_subtask_1.targets.tsv").write_text(f"1\t{POOL[1]}\n")
    assert _noesis(tmp_path, "subtask_1", [POOL[1].lower(), "NONE"])["metrics"]["R@1"] == 1
    with pytest.raises(InputError, match=r"example 1 ranks the candidate 'ZZZ', which is none of its 8 options .*and 1 more"):
        _noesis(tmp_path, "subtask_1", [POOL[1], "ZZZ", "YYY"])
    scored = _noesis(tmp_path, "subtask_1", [POOL[1], "ZZZ"], official=True)
    assert any("'ZZZ'" in note for note in scored["notes"])


@pytest.mark.parametrize(("number", "told"), [(1, True), ("1", False)])
def test_ids_that_the_published_script_would_not_find_are_told(number: object, told: bool, tmp_path: Path) -> None:
    (tmp_path / "ubuntu_test_subtask_1.json").write_text(json.dumps([_example(1, POOL, [POOL[1]])]))
    (tmp_path / "guesses.json").write_text(json.dumps([{"example-id": number, "candidate-ranking": [{"candidate-id": POOL[1]}]}]))
    for official in (True, False):
        scored = evaluate(scoring_request("noesis-ubuntu", Settings(str(tmp_path), official=official), [str(tmp_path / "guesses.json")], "subtask_1"))
        assert scored["metrics"]["R@1"] == 1
        assert any("whole numbers" in note for note in scored.get("notes", ())) is (told and official)


def test_candidates_of_a_shared_pool_are_known(tmp_path: Path) -> None:
    (tmp_path / "ubuntu_test_subtask_2.json").write_text(json.dumps([_example(1, [], [POOL[1]])]))
    (tmp_path / "ubuntu_pool_subtask_2.tsv").write_text("".join(f"{name}\ttext\n" for name in POOL))
    assert _noesis(tmp_path, "subtask_2", [POOL[1]])["metrics"]["R@1"] == 1
    with pytest.raises(InputError, match="ranks the candidate 'C99'"):
        _noesis(tmp_path, "subtask_2", [POOL[1], "C99"])


def test_retrieval_based_places_beyond_the_candidates_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "test.json").write_text(json.dumps({"s": {"history": ["?"], "true": ["t"], "false": ["f", "g"]}}, ensure_ascii=False))
    for place, fits in (("2", True), ("3", False), ("t", False)):
        (tmp_path / "g.jsonl").write_text(json.dumps({"example_id": "s", "candidates": [{"candidate_id": "0"}, {"candidate_id": place}]}))
        request = scoring_request("cgodial-rbd", Settings(str(tmp_path)), [str(tmp_path / "g.jsonl")])
        if fits:
            assert evaluate(request)["metrics"]["r_at_1"] == 100
        else:
            with pytest.raises(InputError, match=f"ranks the candidate '{place}'"):
                evaluate(request)


def _rbd(folder: Path, scores: list[float], official: bool = False) -> dict[str, float]:
    folder.mkdir(parents=True, exist_ok=True)
    size = len(scores)
    (folder / "test.json").write_text(json.dumps({"s": {"history": ["?"], "true": ["t"], "false": [f"f{number}" for number in range(size - 1)]}}))
    (folder / "guesses.json").write_text(json.dumps(scores))
    found: dict[str, float] = evaluate(scoring_request("cgodial-rbd", Settings(str(folder), official=official), [str(folder / "guesses.json")]))[
        "metrics"
    ]
    return found


@settings(max_examples=40)
@given(st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_ties_are_settled_by_chance(tmp_path_factory: pytest.TempPathFactory, scores: list[int]) -> None:
    found = _rbd(tmp_path_factory.mktemp("rbd"), [float(one) for one in scores])
    ranks = []
    for order in itertools.permutations(range(6)):
        ranked = sorted(order, key=lambda place: -scores[place])
        ranks.append(ranked.index(0) + 1)
    assert found["mrr"] == pytest.approx(100 * sum(1 / rank for rank in ranks) / len(ranks))
    for cut in (1, 2, 5):
        assert found[f"r_at_{cut}"] == pytest.approx(100 * sum(rank <= cut for rank in ranks) / len(ranks))


def test_constant_scores_are_right_officially_only(tmp_path: Path) -> None:
    assert _rbd(tmp_path / "a", [1.0] * 10)["r_at_1"] == pytest.approx(10)
    assert _rbd(tmp_path / "b", [1.0] * 10, official=True)["r_at_1"] == 100
    with pytest.raises(InputError, match="has 3 scores, the gold has 10"):
        _rbd(tmp_path / "b", [1.0] * 10)
        (tmp_path / "b" / "guesses.json").write_text("[1, 2, 3]")
        evaluate(scoring_request("cgodial-rbd", Settings(str(tmp_path / "b")), [str(tmp_path / "b" / "guesses.json")]))
