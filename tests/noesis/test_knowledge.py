"""Manual pages and the spellings of "unknown"."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from dialmill.pipelines.benchmarks.noesis import manuals
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.unknown import known

ROFF = b""".\\" a comment
.TH FROB 1 "May 2031"
.SH NAME
frob \\- turn things over
.SH OPTIONS
.TP
.BR \\-v , " --verbose"
Say \\fBmore\\fP. \\(lqQuoted\\(rq.
.de XX
hidden
..
.PP
The end\\&.
"""


def test_a_page_s_source_becomes_text() -> None:
    page = manuals.read("/man/frob.1.gz", gzip.compress(ROFF))
    assert (page.name, page.section) == ("frob", "1")
    assert page.text.startswith("NAME\nfrob - turn things over\n\nOPTIONS")
    assert "-v, --verbose" in page.text and "Say more. “Quoted”." in page.text and page.text.endswith("The end.")
    assert "hidden" not in page.text and "comment" not in page.text


def test_a_formatted_page_stays_as_it_is() -> None:
    page = manuals.read("ls.txt", "N\bNA\bAME\n  ls – list".encode())
    assert page == ("ls", "", "NAME\n  ls – list")


def test_pages_are_found_in_folders(tmp_path: Path) -> None:
    for name in ("man1/b.1", "a.txt", "README.md", "man8/c.8.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(ROFF) if name.endswith("gz") else ROFF)
    assert [Path(path).name for path in manuals.pages([str(tmp_path), str(tmp_path / "a.txt")])] == ["a.txt", "b.1", "c.8.gz"]
    with pytest.raises(InputError, match="does not exist"):
        manuals.pages([str(tmp_path / "gone")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no manual pages"):
        manuals.pages([str(tmp_path / "empty")])
    with pytest.raises(InputError, match="damaged"):
        manuals.read("x.1.gz", b"no gzip")


@pytest.mark.parametrize("text", ["", " ", "unknown", "UNKNOWN ", "N/A", "n.a.", "?", "-", "TBD", "none", "not  available"])
def test_unknown_is_null(text: str) -> None:
    assert known({"a": text, "b": [text, "x"], "c": {text: text}}) == {"a": None, "b": ["x"], "c": {text: None}}


def test_what_is_known_stays() -> None:
    record = {"a": "No", "b": 0, "c": False, "d": ["none of these"], "e": "Unknown Pleasures"}
    assert known(record) == record


@pytest.mark.parametrize("key", ["StartTime", "EndTime", "TimeOfDay", "start_time", "End"])
@pytest.mark.parametrize("text", ["0:00:00", "00:00", "0:00", "00:00:00.0", "12:00 AM"])
def test_a_time_that_was_never_set_is_null(key: str, text: str) -> None:
    assert known({key: text, "Section": {"K. Ashdown": {key: text}}}) == {key: None, "Section": {"K. Ashdown": {key: None}}}
    assert known({key: "9:00:00", "Description": text}) == {key: "9:00:00", "Description": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 - 3", {"min": 1, "max": 3}),
        ("2-4", {"min": 2, "max": 4}),
        ("1.5 – 3", {"min": 1.5, "max": 3}),
        ("1 to 6", {"min": 1, "max": 6}),
        ("1 至 3", {"min": 1, "max": 3}),
        ("4", 4),
        (4, 4),
        ("arranged", "arranged"),
    ],
)
def test_credits_are_numbers_and_ranges(text: object, value: object) -> None:
    assert known({"Credits": text}) == {"Credits": value} and known({"CreditHours": text}) == {"CreditHours": value}
    assert known({"Description": text}) == {"Description": text}, "other fields are none of its business"


def test_a_name_may_be_spelled_as_unknown_is() -> None:
    record = {"Area": "NA", "Instructor": "Nan", "CourseTitle": "Nil", "Section": {"NA": {"DaysOfClass": "NA"}}, "Workload": "NA"}
    assert known(record) == record | {"Section": {"NA": {"DaysOfClass": None}}, "Workload": None}
    assert known({"Area": "n/a", "Instructor": "unknown", "Category": "none", "Department": "?"}) == dict.fromkeys(
        ("Area", "Instructor", "Category", "Department")
    )
    assert known({"Areas": ["NA", "Theory", "n/a"], "Days": ["NA", "Mo"]}) == {"Areas": ["NA", "Theory"], "Days": ["Mo"]}
