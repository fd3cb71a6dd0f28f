"""Suites against the clean one: drops, intervals, strata, consistency, and how they are shown."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from dialmill.pipelines.benchmarks.scores import request as scoring_request
from dialmill.pipelines.core import bootstrap
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.core.units import Key, Units, columns_of
from dialmill.pipelines.scoring import tables
from dialmill.pipelines.scoring.evaluate import evaluate
from dialmill.pipelines.scoring.shapes import DECODERS
from dialmill.schemas import Edit, Span
from dialmill.schemas.validate import validator

from tests.pipelines.tools import call
from tests.schemas.cases import bad, good
from tests.scoring.making import dialogue, own, score, write_gold, write_lines

STATES = [{"hotel area": "east"}, {"hotel area": "east", "hotel stars": "4"}]


def _build(folder: Path, dialogues: int = 12) -> tuple[Path, list[dict[str, Any]]]:
    """A clean suite and one of typos, and predictions that are right on clean but for the last dialogue, and on typos for every third."""
    made = []
    for number in range(dialogues):
        made.append(dialogue(f"d{number}", STATES))
        noisy = dialogue(f"d{number}", STATES, "typos")
        status = ("kept", "changed", "lost")[number % 3]
        placed = (7, 12, "hotle") if status != "lost" else (None, None, None)
        span = Span(*placed, "hotel", "area", "east", status)  # type: ignore[arg-type]
        first = noisy.turns[0].replace(original="i need a hotel", utterance="i need hotle", edits=(Edit(7, 14, "hotle"),), spans=(span,))
        made.append(noisy.replace(turns=(first, *noisy.turns[1:])))
    lines = [line for one in made for line in own(one)]
    for line in lines:
        name, suite, _ = line["dialogue_id"].split("/")
        number = int(name[1:])
        if (suite == "typos" and number % 3) or (suite == "standard" and number == dialogues - 1):
            line["state"] = []
    return write_gold(folder, made), lines


def test_drop_strata_and_consistency(tmp_path: Path) -> None:
    gold, lines = _build(tmp_path)
    found = score("splits", gold, write_lines(tmp_path / "g.jsonl", lines), "all")
    one = found["robustness"]["suites"]["typos"]
    jga = one["metrics"]["jga"]
    assert (jga["clean"], jga["suite"]) == (pytest.approx(1100 / 12), pytest.approx(400 / 12))
    assert jga["drop"] == pytest.approx(jga["clean"] - jga["suite"])
    assert jga["low"] < jga["drop"] < jga["high"]
    assert one["consistency"] == pytest.approx(
        {"pairs": 24, "both_right": 4 / 12, "right_on_clean_only": 7 / 12, "right_on_variant_only": 0, "both_wrong": 1 / 12, "same": 5 / 12}
    )
    values = one["by"]["values"]
    assert values["kept"]["jga"]["suite"] == 100 and values["lost"]["jga"]["suite"] == 0
    assert values["kept"]["turns"] == values["changed"]["turns"] == values["lost"]["turns"] == 4
    assert set(one["by"]["strength"]) == {"unchanged", "above 40 %"}
    assert set(one["by"]["depth"]) == {"1", "2-3"}
    assert found["metrics"]["typos"]["slot_recall_kept"] == 100
    assert found["metrics"]["typos"]["slot_recall_changed"] == found["metrics"]["typos"]["slot_recall_lost"] == 0


def test_the_gold_s_own_predictions_lose_nothing(tmp_path: Path) -> None:
    gold, lines = _build(tmp_path)
    found = score("splits", gold, write_lines(tmp_path / "g.jsonl", lines), "all")
    assert set(found["ceiling"]["typos"].values()) == {100.0}
    (tmp_path / "again").mkdir()
    again = score("splits", gold, write_lines(tmp_path / "again" / "g.jsonl", reversed(lines)), "all")
    assert again == found  # the order of predictions is nothing


def test_inserted_turns_have_no_pair(tmp_path: Path) -> None:
    clean = dialogue("d", STATES)
    longer = dialogue("d", [STATES[0], STATES[0], STATES[1]], "ood")
    turns = list(longer.turns)
    for place in (2, 3):
        turns[place] = turns[place].replace(labels=("inserted", "oos") if place == 2 else ("inserted",))
    gold = write_gold(tmp_path, [clean, longer.replace(turns=tuple(turns))])
    lines = [line for one in (clean, longer.replace(turns=tuple(turns))) for line in own(one)]
    one = score("splits", gold, write_lines(tmp_path / "g.jsonl", lines), "all")["robustness"]["suites"]["ood"]
    assert (one["turns"], one["pairs"], one["consistency"]["both_right"]) == (3, 2, 1)


def test_draws_are_bootstrap_draws() -> None:
    made = bootstrap.draws(1, 7, 400)
    assert made.shape == (400, 7)
    assert (made.sum(axis=1) == 7).all()
    assert made.mean(axis=0) == pytest.approx(np.ones(7), abs=0.2)
    assert (made == bootstrap.draws(1, 7, 400)).all() and not (made == bootstrap.draws(2, 7, 400)).all()
    assert bootstrap.draws(1, 0, 5).shape == (5, 0)
    # Fixed for ever: the same on every machine and with every numpy.
    assert bootstrap.draws(1, 4, 2).tolist() == [[0.0, 1.0, 2.0, 1.0], [1.0, 1.0, 2.0, 0.0]]


def test_the_interval_is_that_of_a_plain_bootstrap(tmp_path: Path) -> None:
    gold, lines = _build(tmp_path, 30)
    found = score("splits", gold, write_lines(tmp_path / "g.jsonl", lines), "all")["robustness"]["suites"]["typos"]["metrics"]["jga"]
    differences = [100.0 if number % 3 and number != 29 else 0.0 for number in range(30)]
    draw = random.Random(1)
    means = sorted(sum(draw.choice(differences) for _ in range(30)) / 30 for _ in range(2000))
    assert found["low"] == pytest.approx(means[50], abs=6)
    assert found["high"] == pytest.approx(means[1950], abs=6)


def test_sums_by_source() -> None:
    units = Units([Key("a", 0, "0"), Key("b", 0, "0"), Key("a", 0, "1")], columns_of([{"x": 1}, {"x": 2, "y": 5}, {"x": 4}]))
    assert units.by_source({"b": 0, "a": 1}).tolist() == [[2, 5], [5, 0]]
    assert units.by_source({"a": 0}, np.array([0, 0, 2])).tolist() == [[6, 0]]
    assert {name: float(value) for name, value in units.sums().items()} == {"x": 7, "y": 5}


def test_tables_in_three_forms(tmp_path: Path) -> None:
    gold, lines = _build(tmp_path)
    guesses = write_lines(tmp_path / "g.jsonl", lines)
    words = ("score", "splits", "--gold", gold, "--predictions", guesses, "--suite", "all")
    said = call(*words, "--json", tmp_path / "s.json", "--markdown", tmp_path / "s.md", "--latex", tmp_path / "s.tex", "--details")
    assert said.code == 0, said.err
    assert "consistency" in said.out and "typos: jga by values" in said.out
    markdown, latex = (tmp_path / "s.md").read_text("utf-8"), (tmp_path / "s.tex").read_text("utf-8")
    assert "| typos | 91.67 | 33.33 | 58.33 | [" in markdown
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == markdown.count("\n| --- |")
    assert "slot\\_f1" in latex and "95 \\%" in latex
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert {"benchmark", "suite", "metrics", "versions", "counts", "ceiling", "policy", "robustness"} <= scores.keys()
    assert call(*words, "--json", "-", "--quiet").out == (tmp_path / "s.json").read_text("utf-8")


def test_latex_is_escaped() -> None:
    made = tables.latex(tables.tables({"benchmark": "a_b", "suite": "x&y", "metrics": {"50 %": 1.0}, "scale": "percent"}))
    assert "x\\&y" in made and "50 \\%" in made and "a\\_b" in made


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_shapes_take_what_the_schemas_take(name: str) -> None:
    for instance in good(name):
        assert DECODERS[name].decode(json.dumps(instance).encode()) is not None
    for why, _, instance in bad(name):
        assert not validator(name).is_valid(instance)
        with pytest.raises(msgspec.DecodeError):
            raise AssertionError(f"{why}: {DECODERS[name].decode(json.dumps(instance).encode())}")


def test_two_systems_over_all_suites(tmp_path: Path) -> None:
    gold, lines = _build(tmp_path)
    first, second = write_lines(tmp_path / "a.jsonl", lines), write_lines(tmp_path / "b.jsonl", [line | {"state": []} for line in lines])
    found = evaluate(scoring_request("splits", Settings(str(gold)), [str(second), str(first)], "all"))
    assert list(found["systems"]) == ["a", "b"]
    assert tables.text(found, tables.tables(found)).count("\n") >= 2
