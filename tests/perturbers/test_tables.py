"""Database files as releases write them: rows as objects, as text in Python's or JSON's notation, and rows that can't be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.perturbers import OptionError, get
from dialmill.perturbers.core.tables import as_row, name_of, read_tables


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("{'name': 'elm house', 'internet': true, 'price': null}", {"name": "elm house", "internet": True, "price": None}),
        ("{'名称': '真true味', 'wifi': True, 'price': None}", {"名称": "真true味", "wifi": True, "price": None}),
        ('{"name": "null island", "open": false, "tags": ["true", null]}', {"name": "null island", "open": False, "tags": ["true", None]}),
        ({"name": "oak court"}, {"name": "oak court"}),
        ('{"name": "a\\/b \\ud83d\\ude00", "rate": NaN}', {"name": "a/b \U0001f600", "rate": None}),
        ('"{\\"名称\\": \\"榆园\\", \\"wifi\\": true}"', {"名称": "榆园", "wifi": True}),
        (["榆园", {"名称": "榆园", "评分": 4.5}], {"名称": "榆园", "评分": 4.5}),
        ("['出租 1', {'车型': '#CX'}]", {"name": "出租 1", "车型": "#CX"}),
        ("not a row", None),
        ("[1, 2]", None),
        ("{'name': open('x')}", None),
        (7, None),
    ],
)
def test_rows_in_every_notation(row: object, expected: object) -> None:
    assert as_row(row) == expected


def test_unreadable_rows_are_counted_and_named(tmp_path: Path) -> None:
    path = tmp_path / "hotel_db.json"
    path.write_text(json.dumps(["{'name': 'elm house', 'internet': true}", "{'name': broken", {"name": "oak court"}]), "utf-8")
    found = read_tables(str(path))
    assert [name_of(row) for row in found.rows["hotel"]] == ["elm house", "oak court"]
    entities = get("entities")(db=str(path))
    (said,) = entities.startup_warnings(["en"])
    assert "1 of 3 rows" in said and "hotel[1]" in said and "broken" in said


def test_a_name_is_found_in_a_column_in_capitals() -> None:
    assert name_of({"ID": 1, "Name": " Elm House "}) == "Elm House"


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hotel_db.json"
    path.write_text("[1, 2", "utf-8")
    with pytest.raises(OptionError, match="is not JSON"):
        get("entities")(db=str(path))
