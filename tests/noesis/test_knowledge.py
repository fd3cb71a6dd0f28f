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
