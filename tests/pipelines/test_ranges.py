"""Large files in ranges of bytes: whatever the ranges, the same pieces under the same numbers, and what is unsound is told of as ever."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.core.counters import total_packed
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.runners.plain import PlainRunner
from dialmill.pipelines.sources import cut, ranges, registry
from dialmill.pipelines.sources.inputs import find_inputs
from dialmill.pipelines.sources.reading import json_array_items, json_object_items
from dialmill.pipelines.stages import read_ranges
from dialmill.pipelines.stages.read import ReadFile, as_piece
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .tools import DATA, call, hashes

#: Strings that look like structure, end in backslashes, or have characters of several bytes.
_TEXTS = st.text('"\\[]{}:, \n\ta\u00e9\u4e2d\U0001f600', max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_BOM = b"\xef\xbb\xbf"


def _plan(data: bytes, size: int, lines: bool = False) -> ranges.Plan:
    starts = range(0, len(data), size)
    if lines:
        return ranges.plan_lines([ranges.survey_lines(data[start : start + size], start) for start in starts], len(data))
    surveys = [ranges.survey_json(data[start : start + size], start, data[:start]) for start in starts]
    return ranges.plan_json(surveys[::-1], data)


def _parts(data: bytes, size: int, lines: bool = False) -> list[cut.Part]:
    plan = _plan(data, size, lines)
    if not plan.sound:
        raise cut.NotCut
    found = []
    for mine in plan.slices.values():
        part = ranges.part(data[mine.start : mine.end], plan, mine)
        if part is None:
            raise cut.NotCut
        found.append(cut.Part.of(part, mine.first))
    return found


@settings(max_examples=300)
@given(st.lists(_VALUES, max_size=12), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans(), st.booleans())
@example(["\\", '\\"', "[1,2", "\\\\"], 1, None, True, False)
@example([], 1, None, False, False)
def test_ranges_of_an_array_hold_its_items(items: list[Any], size: int, indent: int | None, marked: bool, escaped: bool) -> None:
    data = (_BOM if marked else b"") + b" \r\n" + json.dumps(items, ensure_ascii=escaped, indent=indent).encode() + b" \n"
    parts = _parts(data, size)
    whole = json_array_items("x", data.removeprefix(_BOM))
    assert [raw for part in parts for raw in json_array_items("x", part)] == whole
    assert [cut.first_of(part) for part in parts] == [sum(len(json_array_items("x", one)) for one in parts[:number]) for number in range(len(parts))]


@settings(max_examples=200)
@given(st.lists(st.tuples(_TEXTS, _VALUES), max_size=12), st.integers(1, 40))
def test_ranges_of_an_object_hold_its_items_and_repeated_keys(items: list[tuple[str, Any]], size: int) -> None:
    text = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in items) + "}"
    parsed = [(key, json.loads(raw)) for part in _parts(text.encode(), size) for key, raw in json_object_items("x", part)]
    assert parsed == [(json.loads(json.dumps(key)), json.loads(json.dumps(value))) for key, value in items]


@given(st.lists(st.text("a\u00e9\u4e2d \t", max_size=6), max_size=12), st.integers(1, 30), st.booleans(), st.booleans(), st.booleans())
def test_ranges_of_lines_hold_its_lines(lines: list[str], size: int, ended: bool, marked: bool, crlf: bool) -> None:
    end = "\r\n" if crlf else "\n"
    data = (_BOM if marked else b"") + (end.join(lines) + (end if ended and lines else "")).encode()
    if not data:
        return
    parts = _parts(data, size, lines=True)
    assert b"".join(parts) == data.removeprefix(_BOM)
    assert [cut.first_of(part) for part in parts] == [sum(one.count(b"\n") for one in parts[:number]) for number in range(len(parts))]


def test_a_block_of_a_survey_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps([{"a\\": '"\\\\"', "b": [1, 2, {"c": "],["}]}] * 4).encode()
    whole = ranges.survey_json(data, 7, b"x\\")
    for block in range(1, 12):
        monkeypatch.setattr(ranges, "_LOOKED_AT", block)
        assert ranges.survey_json(data, 7, b"x\\") == whole


_UNSOUND = [b"7", b'"a"', b'{"a": 1', b'{"a": 1,}', b'{"a" 1}', b"[1, 2", b"[1 2]", b"[1] x", b"[1]]", b"[1,", b"[,1]", b"[1,,2]", b'{"a": tru}']


@pytest.mark.parametrize("data", [*_UNSOUND, b"[1,2}", b'{"a": 1]', b"[[1}, 2]", b'["a]', b"[1, ]", b"[1]\n[2]", b"\xef\xbb\xbf"])
def test_what_is_unsound_is_never_passed_over(data: bytes) -> None:
    items = json_object_items if data[:1] == b"{" else json_array_items
    for size in range(1, len(data) + 2):
        with pytest.raises((cut.NotCut, InputError)):
            for part in _parts(data, size):
                items("x", part)


def _whole(inputs: Sequence[InputFile]) -> tuple[list[Any], list[Any]]:
    stage = ReadFile(list(inputs), {one.source: registry.get(one.source) for one in inputs})
    pieces = [(key, as_piece(value)) for one in inputs if one.role != "other" for _, (key, value) in stage.process(one.number)]
    return sorted(pieces), stage.counters.whole_inputs()


def _ranged(inputs: Sequence[InputFile]) -> tuple[list[Any], list[Any], Any]:
    runner = PlainRunner()
    pieces, offsets, reading = read_ranges.read_inputs(runner, inputs, {one.source: registry.get(one.source) for one in inputs})
    counters = total_packed(data for one in reading for _, data in one.counters)
    assert not counters.faults
    return sorted((key, as_piece(value, offsets)) for key, value in pieces), counters.whole_inputs(), offsets


@pytest.mark.parametrize("corpus", ["multiwoz21", "multiwoz22", "risawoz", "crosswoz", "sgd", "convlab", "taskmaster", "fed", "advising"])
@pytest.mark.parametrize("size", [97, 4_000])
def test_sources_read_ranges_as_the_whole(corpus: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DATA / corpus
    if not folder.is_dir():
        pytest.skip("no small corpus of it comes along")
    inputs = find_inputs([str(folder)])
    whole = _whole(inputs)
    monkeypatch.setattr(cut, "PART", size)
    *found, offsets = _ranged(inputs)
    assert offsets, "a file was read in ranges"
    assert tuple(found) == whole, "the same pieces under the same numbers, the same digests and counts"


def _corpus(folder: Path, extra: str = "") -> Path:
    records = json.loads((DATA / "multiwoz21" / "data.json").read_text("utf-8"))
    kept = dict(list(records.items())[:12])
    folder.mkdir()
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    (folder / "data.json").write_text(text[:-2].rstrip() + extra + "\n}\n", "utf-8-sig", newline="\r\n")
    return folder


def test_many_blanks_behind_a_mark_are_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(_BOM + b" \r\n" * 500 + json.dumps({f"SNG{number}": {"goal": {}, "log": []} for number in range(80)}).encode())
    inputs = find_inputs([str(path)], "multiwoz21")
    monkeypatch.setattr(cut, "PART", 1_100)
    pieces, _, _ = _ranged(inputs)
    assert len(pieces) == 80


@pytest.mark.parametrize("runner", [(), pytest.param(("--direct_running_mode=multi_processing", "--direct_num_workers=2"), marks=pytest.mark.slow)])
def test_builds_are_equal_whatever_the_ranges(runner: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a byte order mark, ends of lines of Windows, ids that name nothing, twice, and ones that can't be used."""
    extra = ', "\\ud800": {"goal": {}, "log": []}, "": {}, "SNGX": {"goal": {}, "log": []}, "SNGX": {"goal": 1}, "x\\ud801": {}'
    words = ("build", "splits", "--input", _corpus(tmp_path / "in", extra), "--format", "multiwoz21", "--set", "hard_share=", "--quiet", "--output")
    assert call(*words, tmp_path / "whole").code == 0
    rejects = (tmp_path / "whole" / "rejects" / "read.jsonl").read_text("utf-8")
    assert {json.loads(line)["reason"] for line in rejects.splitlines()} >= {"lone_surrogate", "empty_id", "duplicate_id"}
    monkeypatch.setattr(cut, "PART", 5_003)
    assert call(*words, tmp_path / "ranges", *(("--", *runner) if runner else ())).code == 0
    assert hashes(tmp_path / "whole") == hashes(tmp_path / "ranges")


@pytest.mark.parametrize("size", [100, 1_000])
def test_a_range_that_breaks_off_is_told_of_as_ever(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({f"SNG{number}": {"goal": {}, "log": []} for number in range(80)})
    path = tmp_path / "data.json"
    path.write_text(text)
    inputs = find_inputs([str(path)], "multiwoz21")
    for broken in (
        text[:-1],
        text + "]",
        text.replace('"SNG30"', '"SNG30" "x"'),
        text[:-1] + ",}",
        text.replace('"SNG9": {"goal"', '"SNG9": {"\xff"'),
    ):
        path.write_bytes(broken.encode("latin-1"))
        inputs = [replace(one, size=len(broken)) for one in inputs]
        monkeypatch.setattr(cut, "PART", 8 << 20)
        whole = ReadFile(inputs, {"multiwoz21": registry.get("multiwoz21")})
        for _ in whole.process(0):
            pass
        # A byte that is no UTF-8 costs its record alone.
        assert bool(whole.counters.faults) == ("\xff" not in broken)
        monkeypatch.setattr(cut, "PART", size)
        assert _faults(inputs) == whole.counters.faults, broken[-20:]


def _faults(inputs: Sequence[InputFile]) -> list[str]:
    _, _, reading = read_ranges.read_inputs(PlainRunner(), inputs, {"multiwoz21": registry.get("multiwoz21")})
    return total_packed(data for one in reading for _, data in one.counters).faults


def test_remote_files_are_read_in_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    from dialmill.pipelines.core import files

    content = (DATA / "multiwoz21" / "data.json").read_bytes()
    files.write_bytes("memory://ranges/data.json", content)
    inputs = find_inputs(["memory://ranges/data.json"], "multiwoz21")
    whole = _whole(inputs)
    monkeypatch.setattr(cut, "PART", 50_000)
    *found, offsets = _ranged(inputs)
    assert offsets and tuple(found) == whole
    assert files.read_range("memory://ranges/data.json", 3, 9) == content[3:9]
    assert io.BytesIO(content).read(4) == files.read_range("memory://ranges/data.json", 0, 4)
