from itertools import pairwise
from pathlib import Path

import pytest
from dialmill.pipelines.disentangle.frame import Roster
from dialmill.pipelines.disentangle.logs import (
    LogError,
    annotation_path,
    decoded,
    find_logs,
    log_name,
    parse,
    read_annotated,
    read_links,
    read_log,
    split_lines,
    write_links,
)
from hypothesis import given, settings
from hypothesis import strategies as st


def write(folder: Path, name: str, text: str | bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_twelve_hour_clock_wraps_without_a_hole():
    clock, lines = parse(
        [
            "[11:58] <ana> my sound card is silent",
            "[12:01] <bo> ana: run alsamixer",
            "[12:59] <ana> trying",
            "[01:02] <bo> ana: any luck?",
        ]
    )
    assert clock == "12h"
    assert [b.minute - a.minute for a, b in pairwise(lines)] == [3, 58, 3]


def test_twenty_four_hour_clock_crosses_midnight_and_tolerates_a_step_back():
    clock, lines = parse(["[23:58] <a> x", "[00:02] <b> y", "[00:01] <a> z", "[13:00] <a> w"])
    assert clock == "24h"
    assert [line.minute for line in lines] == [1438, 1442, 1442, 1442 + 779]


def test_noon_and_midnight_both_occur_in_twelve_hour_files():
    _, lines = parse(["[12:59] <a> x", "[00:01] <b> y"])
    assert lines[1].minute - lines[0].minute == 12 * 60 - 58


def test_only_the_newline_byte_ends_a_line_and_blank_lines_count(tmp_path):
    data = b"[10:00] <a> one\x1etwo\n\n[10:01] <b> three\n"
    path = write(tmp_path, "x.raw.txt", data)
    write(tmp_path, "x.annotation.txt", "0 2 -\n")
    log = read_log(path)
    assert [(line.kind, line.nick) for line in log.lines] == [("message", "a"), ("blank", ""), ("message", "b")]
    assert log.lines[0].text == "onetwo", "the byte switches strike-through"
    assert read_links(annotation_path(path), len(log.lines)) == [(0, 2)]
    assert len(split_lines("a\u2028b\x85c\x0bd\ne".encode())) == 2


def test_each_line_is_read_in_the_encoding_of_who_wrote_it(tmp_path):
    said = ["[10:00] <léa> my café script fails, naïve as I am", "[10:01] <bo> 用 utf8 就好", "[10:02] <wei> 你好，谢谢", "[10:03] <bo> it’s “fine”"]
    codings = ["latin-1", "utf-8", "gb2312", "cp1252"]
    path = tmp_path / "x.raw.txt"
    path.write_bytes(b"\n".join(line.encode(coding) for line, coding in zip(said, codings, strict=True)))
    log = read_log(path)
    assert [line.text for line in log.lines] == [line.partition("> ")[2] for line in said]
    assert log.lines[0].nick == "léa"
    assert decoded(b"\x81 caf\xe9") == "\ufffd café", "what is nothing in any of them"


def test_kinds_of_lines():
    _, lines = parse(
        [
            "[03:00] <the> hello",
            "[03:01] === kim is now known as kim_afk",
            "[03:02]  * kim_afk shrugs",
            "[03:03] -qwzx:#chan- buy now",
            "=== kim [~k@host.example]  has joined #ubuntu",
            "=== kim [~k@host.example]  has left #ubuntu [bye]",
            "=== kim waves at lou",
            "=== mode/#ubuntu [+o x]  by y",
            "[03:04] <b[]|x >  two blanks",
            "=== Topic for #ubuntu: talk",
            "=== bob[1]  [n=b@host.example]  has joined #ubuntu",
            "=== kim was kicked off #ubuntu by lou (lou)",
            "[03:05] (spam/#ubuntu) hi",
            "=== bur[n] er wonders",
            "[03:06] <{{> y",
            "=== Zoe entered the room.",
        ]
    )

    assert [line.kind for line in lines] == [
        "message",
        "rename",
        "action",
        "notice",
        "join",
        "leave",
        "action",
        "system",
        "message",
        "system",
        "join",
        "system",
        "notice",
        "action",
        "message",
        "join",
    ]
    assert (lines[1].nick, lines[1].text) == ("kim", "kim_afk")
    assert (lines[2].nick, lines[2].text) == ("kim_afk", "shrugs")
    assert lines[3].nick == "qwzx"
    assert (lines[8].nick, lines[8].text) == ("b[]|x", " two blanks")
    assert lines[14].nick == "{{"
    assert lines[4].minute == lines[3].minute


def test_prefixed_and_seconds_stamps():
    _, lines = parse(["#rust 2016-01-01 [10:00:59] <a>\thello", "#rust 2016-01-01 [10:01:00] * b nods"])
    assert [(line.kind, line.nick, line.text) for line in lines] == [("message", "a", "hello"), ("action", "b", "nods")]


def test_raw_is_preferred_then_ascii_then_tok(tmp_path):
    for name in ("a.raw.txt", "a.ascii.txt", "a.tok.txt", "b.tok.txt", "b.raw.txt", "c.tok.txt"):
        write(tmp_path, name, "<s> hello </s>\n" if ".tok" in name else "[10:00] <x> hello\n")
    assert [path.name for path in find_logs(tmp_path)] == ["a.raw.txt", "b.raw.txt", "c.tok.txt"]
    log = read_log(tmp_path / "c.tok.txt")
    assert (log.lines[0].text, log.lines[0].kind, log_name(tmp_path / "c.tok.txt")) == ("hello", "message", "c")


def test_a_byte_order_mark_hides_no_message(tmp_path):
    path = write(tmp_path, "a.raw.txt", "\ufeff[11:58] <ana> my sound card is silent\r\n[12:01] <bo> ana: run alsamixer\r\n")
    write(tmp_path, "a.annotation.txt", "\ufeff0 0 -\r\n0 1 -\r\n")
    assert [line.nick for line in read_log(path).lines] == ["ana", "bo"]
    assert read_links(annotation_path(path)) == [(0, 0), (0, 1)]


def test_formatting_codes_are_no_part_of_what_is_said():
    _, lines = parse(
        ["[10:00] <ann> \x0304red\x03 \x02bold\x02 \x034,12x\x0f y", "[10:01] \x0303<bo>\x03 all\x1d of it\x1d", "[10:02] <bo> \x04ff0000hex"]
    )
    assert [(line.nick, line.text) for line in lines] == [("ann", "red bold x y"), ("bo", "all of it"), ("bo", "hex")]


def test_lines_that_are_not_understood_are_told_apart():
    _, lines = parse(["[09:16] <bo> hi", "%% what is this line 2020 ??", "=== bo waves"])
    assert [line.kind for line in lines] == ["message", "unparsed", "action"]


def test_a_log_of_another_client_is_refused(tmp_path):
    path = write(tmp_path, "x.raw.txt", "12:01 <ann> hi\n12:02 <bo> hello\n[12:03] <ann> odd one\n")
    with pytest.raises(LogError, match=r"2 of 3 lines .* line 1: '12:01 <ann> hi'"):
        read_log(path)


def test_errors_name_the_file_and_the_line(tmp_path):
    with pytest.raises(LogError, match=r"missing\.raw\.txt.*no such log"):
        read_log(tmp_path / "missing.raw.txt")
    with pytest.raises(LogError, match=r"e\.raw\.txt.*empty"):
        read_log(write(tmp_path, "e.raw.txt", ""))
    two = write(tmp_path, "two.ascii.txt", "[10:00] <a> x\n[10:00] <b> y\n")
    write(tmp_path, "two.raw.txt", "[10:00] <a> x\n")
    with pytest.raises(LogError, match=r"2 lines, but two\.raw\.txt has 1"):
        read_log(two)
    with pytest.raises(LogError, match=r"line 2.*message 7 does not exist"):
        read_links(write(tmp_path, "x.annotation.txt", "0 0 -\n7 1 -\n"), 2)
    with pytest.raises(LogError, match=r"line 1: found '0 zero -'"):
        read_links(write(tmp_path, "y.annotation.txt", "0 zero -\n"))
    with pytest.raises(LogError, match="no annotated log"):
        read_annotated(write(tmp_path / "bare", "z.raw.txt", "[10:00] <a> x\n").parent)


def test_links_are_written_in_the_upstream_form_and_read_back(tmp_path):
    path = tmp_path / "n.annotation.txt"
    write_links(path, [(3, 5), (0, 0), (1, 5)])
    assert path.read_bytes() == b"0 0 -\n1 5 -\n3 5 -\n"
    assert read_links(path) == [(0, 0), (1, 5), (3, 5)]
    assert read_links(write(tmp_path, "m.annotation.txt", "5 3 -\n")) == [(3, 5)]


PIECES = st.sampled_from(
    [
        "[10:00] ",
        "[23:59] ",
        "[00:00]",
        "<",
        ">",
        "=== ",
        " * ",
        "-",
        "(",
        ":#c-",
        "/#c)",
        " is now known as ",
        " has joined #c",
        "\x1e",
        "\u2028",
        "\r",
        "a",
        "b[]",
        "é",
        "\udcff",
        " ",
        "\t",
        "\n",
        "mode/#c",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_line_is_lost_or_crashes(text):
    data = text.encode("utf-8", "surrogateescape")
    lines = split_lines(data)
    assert len(lines) == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    _, parsed = parse(lines)
    assert [line.line for line in parsed] == list(range(len(lines)))
    assert all(a.minute <= b.minute for a, b in pairwise(parsed))
    assert len(Roster().read(parsed)) == sum(line.is_talk for line in parsed)


def test_lines_of_three_stars_are_the_server_s() -> None:
    _, lines = parse(["[09:18] *** carl has joined #c", "[09:19] *** topic is tea", "[09:20] <bo> *** not me", "[09:21] * bo waves"])
    assert [(line.kind, line.nick) for line in lines] == [("join", "carl"), ("system", ""), ("message", "bo"), ("action", "bo")]
