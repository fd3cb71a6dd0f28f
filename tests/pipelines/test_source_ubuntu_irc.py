"""Logs as a source: forms, line counts, links, places."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from dialmill.pipelines.core.errors import DialmillError, InputError, RecordError
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import find_inputs
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .tools import DATA

SOURCE = registry.get("ubuntu_irc")
assert isinstance(SOURCE, MessageSource)


def _pieces(*given: tuple[str, bytes]) -> list[Piece]:
    return [Piece(kind, number, 0, data) for number, (kind, data) in enumerate(given)]  # type: ignore[arg-type]


def test_one_form_of_a_log_is_read_and_the_others_counted() -> None:
    roles = {one.shown: one.role for one in find_inputs([str(DATA / "ubuntu_irc")])}
    assert roles["dev/2011-05-20_09.raw.txt"] == "dialogues"
    assert roles["dev/2011-05-20_09.ascii.txt"] == "form"
    assert roles["dev/2011-05-20_09.annotation.txt"] == "links"
    raw = [str(path) for path in (DATA / "ubuntu_irc").rglob("*.raw.txt")]
    assert {one.role for one in find_inputs(raw)} == {"dialogues"}


def test_case_b02_lines_end_at_line_feeds_alone() -> None:
    log = b"l[10:00] <a> one\x1etwo\n\n[10:01] <b> three\n"
    read, links = SOURCE.read("x", _pieces(("dialogue", log), ("links", b"0 2 -\n")))
    assert [(line.nick, line.kind) for line in read.lines] == [("a", "message"), ("", "blank"), ("b", "message")]
    assert links == [(0, 2)]
    with pytest.raises(RecordError) as refused:
        SOURCE.read("x", _pieces(("dialogue", log), ("form", b"4")))
    assert refused.value.reason == "line_counts_differ"


def test_case_b01_the_clock_goes_round() -> None:
    log = b"l[11:58] <ana> silent\n[12:01] <bo> ana: run it\n[12:59] <ana> trying\n[01:02] <bo> ana: any luck?\n"
    messages = SOURCE.messages("2006-03-04", _pieces(("dialogue", log)))
    minutes = [message.minute or 0 for message in messages]
    assert [later - earlier for earlier, later in itertools.pairwise(minutes)] == [3, 58, 3]
    assert [message.line for message in messages] == [0, 1, 2, 3]


@pytest.mark.parametrize("links", [b"0 9 -\n", b"0 x -\n", b"0\n", b"0 1 - -\n", b"\n", b"0 99999999999 -\n"])
def test_bad_links_are_told(links: bytes) -> None:
    with pytest.raises(RecordError) as refused:
        SOURCE.read("x", _pieces(("dialogue", b"l[10:00] <a> one\n"), ("links", links)))
    assert refused.value.reason == "bad_links" and refused.value.evidence


@pytest.mark.parametrize(
    ("path", "name", "split"),
    [
        ("logs/train/2004-11-15_03.ascii.txt", "2004-11-15_03", b"train"),
        ("x.zip!dev/a.raw.txt", "a", b"valid"),
        ("2007/01/02/#ubuntu.txt", "2007-01-02-#ubuntu", None),
        ("a.b.tok.txt", "a.b", None),
    ],
)
def test_a_path_names_log_and_split(path: str, name: str, split: bytes | None) -> None:
    found = list(SOURCE.pieces("dialogues", path, b"[10:00] <a> one\n"))
    assert found[0][:2] == (name, "dialogue")
    assert [data for _, kind, data in found if kind == "split"] == ([split] if split else [])


def test_a_plain_text_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear diary,\nnothing happened today.\n")
    with pytest.raises(DialmillError, match="not of a known format"):
        find_inputs([str(tmp_path / "notes.txt")])
    (tmp_path / "notes.txt").write_text("[10:00] <a> one\n[10:01] <b> two\n")
    assert find_inputs([str(tmp_path / "notes.txt")])[0].role == "dialogues"


@settings(max_examples=100)
@given(st.binary(max_size=300), st.sampled_from(["dialogues", "links", "form"]))
@example(b"\xef\xbb\xbf", "dialogues")
def test_any_bytes_are_read_or_refused(data: bytes, role: str) -> None:
    try:
        pieces = [Piece(kind, 0, 0, content) for _, kind, content in SOURCE.pieces(role, "a.raw.txt", data)]  # type: ignore[arg-type]
        if role == "dialogues":
            log, links = SOURCE.read("a", pieces)
            assert links is None and len(log.lines) == len(data.rstrip(b"\n").split(b"\n")) + data.count(b"\n") - data.rstrip(b"\n").count(
                b"\n"
            ) - data.endswith(b"\n")
    except (InputError, RecordError) as error:
        assert str(error)
