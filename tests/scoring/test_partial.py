"""What can be scored is scored: without a library for one metric, and from predictions in the form of another project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.registry import file_kinds
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.disentangle import metrics
from dialmill.pipelines.scoring import bleu, disentanglement
from dialmill.schemas import Goal, SlotName, Span, Turn
from dialmill.schemas.dialogue import SlotValues
from dialmill.schemas.validate import validate_file

from tests.pipelines.tools import call
from tests.scoring.making import dialogue, own, score, write_gold, write_lines


def test_without_sacrebleu_all_but_bleu_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = dialogue("d", [{"hotel area": "east"}, {"hotel area": "west"}])
    gold = write_gold(tmp_path, [one])
    guesses = write_lines(tmp_path / "g.jsonl", own(one))
    whole = score("splits", gold, guesses)
    monkeypatch.setattr(bleu, "available", lambda: False)
    found = score("splits", gold, guesses)
    assert set(whole["metrics"]) - set(found["metrics"]) == {"bleu"} and found["metrics"]["jga"] == 100
    assert any("sacrebleu" in note and "bleu" in note for note in found["notes"]) and "sacrebleu" not in found["versions"]
    assert found["counts"]["responses"] == 2


def _booking() -> Any:
    """A dialogue about a hotel with a goal, whose answers offer one and give its phone."""
    one = dialogue("SNG1", [{"hotel area": "east"}, {"hotel area": "east", "hotel book day": "monday"}])
    turns = list(one.turns)
    turns[1] = Turn(1, "system", "Alpha is nice", spans=(Span(0, 5, "Alpha", "hotel", "name", "alpha"),))
    turns[3] = Turn(3, "system", "call 123", spans=(Span(5, 8, "123", "hotel", "phone", "123"),))
    goal = Goal(inform=(SlotValues("hotel", "area", ("east",)),), request=(SlotName("hotel", "phone"),))
    return one.replace(turns=tuple(turns), goal=goal, domains=("hotel",))


def test_predictions_of_multiwoz_evaluation_are_read(tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [_booking()])
    entries = [
        {"response": "[name] is nice", "state": {"hotel": {"area": "east"}}, "active_domains": ["hotel"]},
        {"response": "call [phone]", "state": {"hotel": {"area": "east", "day": "monday"}}},
    ]
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"sng1.json": entries}))
    report = validate_file(path, kinds=file_kinds())
    assert report.ok and report.schema == "predictions-mwzeval"
    found = score("splits", gold, path)["metrics"]
    assert (found["jga"], found["inform"], found["success"]) == (100, 100, 100) and found["bleu"] == pytest.approx(100)
    entries[1]["state"] = {"hotel": {"area": "west"}}
    path.write_text(json.dumps({"SNG1": entries}))
    assert score("splits", gold, path)["metrics"]["jga"] == 50


def test_responses_without_states_are_scored_as_such(tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [_booking()])
    path = tmp_path / "predictions.json"
    entries: list[dict[str, Any]] = [{"response": "[name] is nice"}, {"response": "call [phone]", "active_domains": ["hotel"]}]
    entries[0]["active_domains"] = ["hotel"]
    path.write_text(json.dumps({"sng1": entries}))
    found = score("splits", gold, path)
    assert found["metrics"].keys() == {"inform", "success", "bleu", "combined"} and found["metrics"]["success"] == 100
    assert any("no states" in note for note in found["notes"])
    path.write_text(json.dumps({"sng1": [entries[0], entries[1] | {"state": {}}]}))
    with pytest.raises(InputError, match="without a state"):
        score("splits", gold, path)


def test_the_form_of_mwzeval_may_name_the_gold_s_own_ids(tmp_path: Path) -> None:
    made = _booking()
    gold = write_gold(tmp_path, [made])
    (tmp_path / "p.json").write_text(json.dumps({made.dialogue_id: [{"response": "", "state": {}} for turn in made.turns if turn.speaker == "user"]}))
    assert score("splits", gold, tmp_path / "p.json")["metrics"]["jga"] >= 0


def test_predictions_are_written_in_the_form_of_mwzeval_and_score_the_same(tmp_path: Path) -> None:
    made = _booking()
    gold = write_gold(tmp_path, [made])
    lines = own(made)
    for line in lines:
        line["delexicalised"] = "[hotel_name] has [value_count] stars"
    ours, theirs = write_lines(tmp_path / "p.jsonl", lines), tmp_path / "theirs.json"
    done = call("score", "splits", "--gold", gold, "--predictions", ours, "--mwzeval", theirs, "--quiet")
    assert done.code == 0, done.err
    written = json.loads(theirs.read_text("utf-8"))
    assert validate_file(theirs, kinds=file_kinds()).schema == "predictions-mwzeval"
    ((name, entries),) = written.items()
    assert name == made.source_id.lower() and all(entry["response"] == "[name] has [choice] stars" for entry in entries)
    first, again = score("splits", gold, ours), score("splits", gold, theirs)
    for metric in ("jga", "inform", "success"):
        assert again["metrics"][metric] == first["metrics"][metric]
    assert "not comparable" in first["policy"]["leaderboard"]
    assert call("score", "splits", "--gold", gold, "--predictions", ours, theirs, "--mwzeval", theirs).code == 2


@pytest.mark.parametrize(("name", "words"), [("other", "other"), ("sng1", "has 1 turns")])
def test_what_does_not_fit_the_gold_is_named(name: str, words: str, tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [_booking()])
    (tmp_path / "p.json").write_text(json.dumps({name: [{"response": "", "state": {}}]}))
    with pytest.raises(InputError, match=words):
        score("splits", gold, tmp_path / "p.json")


def test_without_scipy_all_but_the_matching_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.annotation.txt").write_text("0 0 -\n0 1 -\n2 2 -\n1 3 -\n")
    whole = disentanglement.score(str(tmp_path), str(tmp_path))
    monkeypatch.setattr(metrics, "matches", lambda: False)
    found = disentanglement.score(str(tmp_path), str(tmp_path))
    assert set(whole["metrics"]) - set(found["metrics"]) == {"one_to_one"} and found["metrics"]["link_f"] == 100
    assert any("SciPy" in note for note in found["notes"]) and set(found["versions"]) == {"numpy"}
    assert "1-1" not in disentanglement.text(found) and "1-1" in disentanglement.text(whole)
