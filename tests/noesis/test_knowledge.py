"""Manual pages and the spellings of "unknown"."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from dialmill.pipelines.benchmarks.noesis import manuals
from dialmill.pipelines.benchmarks.noesis.advising import about, known_titles
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.core.unknown import known
from dialmill.pipelines.sources.advising import Advising
from dialmill.schemas.validate import validate_record

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


MDOC = r""".Dd May 1, 2031
.Dt FROB 1
.Os
.Sh NAME
.Nm frob
.Nd turn things over
.Sh SYNOPSIS
.Nm
{}
.Sh DESCRIPTION
The
.Nm
utility turns.
"""


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (".Op Fl a | Fl l", "[-a | -l]"),
        (".Op Fl abc Ar file ...", "[-abc file ...]"),
        (".Fl a | b", "-a | -b"),
        (".Op Fl o Ns = Ns Ar value .", "[-o=value]."),
        (".Fl Fl long Ns Op = Ns Ar when", "--long[=when]"),
        (".Ar", "file ..."),
        (".Fl", "-"),
        (".Xr ls 1 , Xr cat 1 .", "ls(1), cat(1)."),
        (".Pf ( Ar x )", "(x)"),
        (".Pq Em so to say ,", "(so to say),"),
        (".Oo Fl a\n.Oc", "[-a]"),
        (".Sm off\n.Oo Ar user Li @ Oc Ar host\n.Sm on\n.Ar x", "[user@]host x"),
        (".Cm set Ns Sq x", "set‘x’"),
        (".Dq Li a b", "“a b”"),
        (r".Em \&No so", "No so"),
        ('.Em "Fl a"', "Fl a"),
        (".No see Fn main int char", "see main(int, char)"),
        (".Bx 4.4", "4.4BSD"),
        (".Fx 7.0 .", "FreeBSD 7.0."),
        (".St -p1003.1-2008", "IEEE Std 1003.1-2008 (“POSIX.1”)"),
        (".Lk https://frob.example frob", "frob: https://frob.example"),
        (".An -nosplit", ""),
        (r".Fl a \" a comment", "-a"),
    ],
)
def test_mdoc_is_shown_as_mandoc_shows_it(source: str, shown: str) -> None:
    page = manuals.read("frob.1", MDOC.replace("{}", source).encode())
    assert page.text == f"NAME\nfrob – turn things over\n\nSYNOPSIS\nfrob {shown}".rstrip() + "\n\nDESCRIPTION\nThe frob utility turns."


def test_displays_keep_their_lines_and_lists_their_items() -> None:
    source = ".Bd -literal -offset indent\nmake  it\nso\n.Ed\nfilled\nup\n.Bl -tag\n.It Fl a\nall\n.It Fl b Ar x , Fl c\nboth\n.El"
    page = manuals.read("frob.1", f".Dd x\n.Dt X 1\n.Sh A\n{source}\n".encode())
    assert page.text == "A\nmake  it\nso\nfilled up\n-a\nall\n-b x, -c\nboth"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r".IP \(bu 2", "•"),
        (r'.BR a " \*(Lt" b', "a <b"),
        (r".OP \-x file", "[-x file]"),
        (r".B x \" a comment", "x"),
        (r".UR https://x.example" + "\nhere\n.UE .", "https://x.example\nhere\n."),
        (r"\m[blue]\s-2x\s0\m[] \h'1n'y\w'z'", "x y"),
        (r".MR ls 1 ,", "ls(1),"),
    ],
)
def test_man_macros(source: str, shown: str) -> None:
    assert manuals.read("x.1", f".TH X 1\n.SH A\n{source}\n".encode()).text == f"A\n{shown}"


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


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([{"label": "Accept", "position": -1}], "bad_label"),
        ([{"label": "Reject", "position": -1}, {"label": "Accept", "position": 1}], "bad_label"),
        ([{"label": "No Decision Yet", "position": -2}], "bad_label"),
        ([{"label": "Accept", "position": 2}], "bad_label"),
        ([{"label": "accept", "position": 1}], "bad_label"),
        ([{"label": "Accept", "position": True}], "wrong_type"),
        ([{"label": "Accept"}], "missing_key"),
        ([{"label": "No Decision Yet", "position": -1}], None),
        ([{"label": "Accept", "position": 1}], None),
    ],
)
def test_a_label_of_success_stands_at_a_message(labels: list[dict[str, object]], reason: str | None) -> None:
    messages = [
        {"speaker": "student", "utterance": "What next?", "paraphrases": []},
        {"speaker": "advisor", "utterance": "MILL 280.", "paraphrases": []},
    ]
    data = json.dumps({"conversation-id": "a", "messages": messages, "profile": {}, "success-labels": labels}).encode()
    piece = Piece("dialogue", 0, 0, data)
    if reason is None:
        assert Advising().extra([piece])
        return
    with pytest.raises(RecordError) as refused:
        Advising().extra([piece])
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("label", "position", "right"),
    [
        ("Accept", -1, False),
        ("Reject", -1, False),
        ("No Decision Yet", 2, False),
        ("Accept", 0, True),
        ("Reject", 3, True),
        ("No Decision Yet", -1, True),
    ],
)
def test_a_released_label_of_success_stands_at_a_message(label: str, position: int, right: bool) -> None:
    message = {"date": "", "time": "", "speaker": "student", "utterance": "What next?"}
    example = {
        "data-split": "dev",
        "example-id": 1,
        "scenario": 3,
        "messages-so-far": [message],
        "success-labels": [{"label": label, "position": position}],
    }
    assert (not validate_record("noesis-dstc8", [example])) is right


def test_a_course_is_named_by_its_title_too(tmp_path: Path) -> None:
    """Candidates are about the courses that the answer is about, or a ranker by titles would find it."""
    records = [
        {"Course": "MILL 492", "CourseTitle": "Introduction to Artificial Intelligence"},
        {"Course": "EECS281", "CourseTitle": "Data Structures & Algorithms"},
        {"Course": "MILL 999", "CourseTitle": "Data structures and algorithms"},
        {"Course": "STUDIO", "CourseTitle": "Drawing"},
    ]
    (tmp_path / "course-info.json").write_text(json.dumps(records), "utf-8")
    titles = known_titles([InputFile(0, str(tmp_path / "course-info.json"), "course-info.json", "advising", "knowledge", 1)])
    assert titles == {"introduction to artificial intelligence": 492, "data structures and algorithms": 281}
    assert about("How about Introduction to Artificial Intelligence?", titles).themes == (492,)
    assert about("Take data structures & algorithms, then MILL 492.", titles).themes == (281, 492)
    assert about("Structures of data", titles).themes == () and about("Data Structures & Algorithms").themes == ()
