"""RADDLE's turns are those of SOLOIST's own converter: lower case, delexicalised system turns, counts of a database; our earlier form by a key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks.raddle.turns import count_word, kb, soloist_turns
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.scoring.inform import Database
from dialmill.schemas import Dialogue, Span, Turn
from dialmill.schemas.dialogue import SlotValues

from .tools import DATA, call, plain


def _dialogue() -> Dialogue:
    state = (SlotValues("hotel", "area", ("Centre",)), SlotValues("hotel", "stars", ("4",)))
    turns = (
        Turn(0, "user", "I need a Hotel in the Centre", state=state[:1]),
        Turn(1, "system", "The Gonville Hotel is nice.", spans=(Span(4, 18, "Gonville Hotel", "hotel", "name", "gonville hotel"),)),
        Turn(2, "user", "Has it 4 stars?", state=state),
        Turn(3, "system", "Yes."),
    )
    return Dialogue(dialogue_id="d/standard/0", source="multiwoz21", source_id="d", language="en", split="test", domains=("hotel",), turns=turns)


_ROWS = [{"name": f"h{number}", "area": "centre" if number < 7 else "north", "stars": str(number)} for number in range(9)]


@pytest.mark.parametrize("write", [json.dumps, str, lambda row: json.dumps(json.dumps(row))])
def test_rows_that_are_text_count_as_rows(write: Callable[[object], str]) -> None:
    rows = Database.of({"hotel_db.json": json.dumps([write({**row, "internet": True, "price": None}) for row in _ROWS]).encode()})
    plain = Database.of({"hotel_db.json": json.dumps([{**row, "internet": "yes", "price": ""} for row in _ROWS]).encode()})
    assert rows.entities == plain.entities and len(rows.entities["hotel"]) == len(_ROWS)
    with pytest.raises(InputError, match=r"hotel_db\.json: holds what is no row: hotel\[1\]: 'elm'"):
        Database.of({"hotel_db.json": json.dumps([_ROWS[0], "elm"]).encode()})


@pytest.mark.parametrize("among", [None, ["elm", 3], 7])
def test_what_is_no_row_among_the_rows_of_a_database_is_named(among: object) -> None:
    with pytest.raises(InputError, match=r"hotel_db\.json: holds what is no row: hotel\[2\]"):
        Database.of({"hotel_db.json": json.dumps([*_ROWS[:2], among]).encode()})


@pytest.mark.parametrize("write", [lambda rows: [[row["name"], row] for row in rows], lambda rows: {"hotel": rows}])
def test_pairs_and_tables_of_rows_are_searched_too(write: Callable[[list[dict[str, str]]], object]) -> None:
    held = Database.of({"hotel_db.json": json.dumps(write(_ROWS)).encode()})
    assert held.entities == Database.of({"hotel_db.json": json.dumps(_ROWS).encode()}).entities


def test_numbers_with_a_point_are_searched_and_what_is_not_known_fits_nothing() -> None:
    held = Database.of({"hotel_db.json": b'[{"name": "elm", "score": 4.5}, {"name": "oak", "score": 3.0}, {"name": "ash", "score": null}]'})
    assert held.find("hotel", {"score": frozenset({"4.5"})}) == {0}
    assert held.find("hotel", {"score": frozenset({"3"})}) == {1}
    rows = b'[{"trainID": "TR1", "arriveBy": "07:00"}, {"trainID": "TR2", "arriveBy": null}]'
    assert Database.of({"train_db.json": rows}).find("train", {"arriveby": frozenset({"08:00"})}) == {0}


def test_turns_as_the_authors_write_them() -> None:
    rows = Database.of({"x/hotel_db.json": json.dumps(_ROWS).encode()})
    first, second = soloist_turns(_dialogue(), "authors", rows)
    assert first["history"] == ["user : i need a hotel in the centre"] and first["kb"] == "kb : hotel more than five"
    assert first["reply"] == "system : the [hotel_name] is nice." and first["belief"] == "belief : area = centre"
    assert second["history"] == ["user : i need a hotel in the centre", "system : the [hotel_name] is nice.", "user : has it 4 stars?"]
    assert second["kb"] == "kb : hotel one" and second["belief"] == "belief : area = centre ; stars = 4"


def test_the_surface_form_is_kept_under_a_key() -> None:
    first, second = soloist_turns(_dialogue(), "surface", Database.of({"hotel_db.json": json.dumps(_ROWS).encode()}))
    assert second["history"] == ["user : I need a Hotel in the Centre", "system : The Gonville Hotel is nice.", "user : Has it 4 stars?"]
    assert first["kb"] == "" and first["belief"] == "belief : area = Centre"


@pytest.mark.parametrize(
    ("count", "domain", "word"),
    [
        *((number, "hotel", word) for number, word in enumerate(("zero", "one", "two", "three", "four", "5", "more than five"))),
        *((number, "train", word) for number, word in ((0, "zero"), (2, "one"), (3, "two"), (6, "three"), (40, "four"), (41, "more than five"))),
    ],
)
def test_counts_are_words_in_the_authors_classes(count: int, domain: str, word: str) -> None:
    assert count_word(count, domain) == word


def test_what_is_not_searched_has_no_count() -> None:
    rows = Database.of({"hotel_db.json": json.dumps(_ROWS).encode()})
    assert kb(Turn(0, "user", "hi"), "en", rows) == "kb : none"
    assert kb(Turn(0, "user", "hi", state=(SlotValues("taxi", "departure", ("a",)),)), "en", rows) == "kb : taxi"
    assert kb(Turn(0, "user", "hi", state=(SlotValues("attraction", "area", ("a",)),)), "en", rows) == ""


@pytest.mark.parametrize(
    ("slot", "value", "word"),
    [("leaveat", "05:59", "one"), ("leaveat", "06:00", "zero"), ("arriveby", "07:00", "zero"), ("arriveby", "07:01", "one")],
)
def test_a_train_at_the_very_minute_is_not_counted_as_the_authors_do_not(slot: str, value: str, word: str) -> None:
    rows = Database.of({"train_db.json": json.dumps([{"trainID": "TR1", "leaveAt": "06:00", "arriveBy": "07:00"}]).encode()})
    assert kb(Turn(0, "user", "hi", state=(SlotValues("train", slot, (value,)),)), "en", rows) == f"kb : train {word}"


def _turns(folder: Path) -> list[dict[str, Any]]:
    return [item for path in sorted(folder.glob("release/standard/*.soloist.json")) for item in json.loads(path.read_text("utf-8"))]


def test_a_database_in_the_input_is_counted_in(tmp_path: Path) -> None:
    shutil.copytree(DATA / "multiwoz21", tmp_path / "in")
    (tmp_path / "in/db").mkdir()
    (tmp_path / "in/db/hotel_db.json").write_text(json.dumps(_ROWS))
    plain("raddle", [tmp_path / "in"], tmp_path / "with", "suites=standard")
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "without", "suites=standard")
    plain("raddle", [tmp_path / "in"], tmp_path / "surface", "suites=standard", "turns_form=surface")
    counted, plainly, surface = (_turns(tmp_path / name) for name in ("with", "without", "surface"))
    assert any(turn["kb"].startswith("kb : hotel ") for turn in counted)
    assert {turn["kb"] for turn in plainly} == {""} == {turn["kb"] for turn in surface}
    for turn in counted:
        assert turn["history"] == [line.lower() for line in turn["history"]]
    assert any("[" in line for turn in counted for line in turn["history"] if line.startswith("system"))
    assert any(line != line.lower() for turn in surface for line in turn["history"])
    assert call("verify", tmp_path / "with").code == 0 and call("validate", tmp_path / "with/release").code == 0
