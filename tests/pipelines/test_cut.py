"""Large files in parts: the parts hold what the file holds, to the byte, and a file that is unsound is told of as if it had been read whole."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.sources import cut, registry
from dialmill.pipelines.sources.inputs import find_inputs
from dialmill.pipelines.sources.reading import json_array_items, json_object_items
from dialmill.pipelines.stages.read import ReadFile
from hypothesis import given, settings
from hypothesis import strategies as st

from .tools import DATA, call, hashes

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def _cut(data: bytes, size: int, name: str = "x.json") -> list[cut.Part]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut, "PART", size)
        return list(cut.parts(name, io.BytesIO(data)))


@settings(max_examples=200)
@given(st.lists(_VALUES, max_size=12), st.integers(1, 60), st.sampled_from([None, 1]), st.booleans())
def test_parts_of_an_array_hold_its_items(items: list[Any], size: int, indent: int | None, marked: bool) -> None:
    data = (b"\xef\xbb\xbf" if marked else b"") + json.dumps(items, ensure_ascii=False, indent=indent).encode() + b" \n"
    parts = _cut(data, size)
    whole = json_array_items("x", data.removeprefix(b"\xef\xbb\xbf"))
    assert [raw for part in parts for raw in json_array_items("x", part)] == whole
    assert [cut.first_of(part) for part in parts] == [sum(len(json_array_items("x", one)) for one in parts[:number]) for number in range(len(parts))]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.text(max_size=5), _VALUES), max_size=12), st.integers(1, 60))
def test_parts_of_an_object_hold_its_items_and_repeated_keys(items: list[tuple[str, Any]], size: int) -> None:
    text = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in items) + "}"
    parsed = [(key, json.loads(raw)) for part in _cut(text.encode(), size) for key, raw in json_object_items("x", part)]
    assert parsed == [(json.loads(json.dumps(key)), json.loads(json.dumps(value))) for key, value in items]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=6), max_size=12), st.integers(1, 30), st.booleans())
def test_parts_of_lines_hold_its_lines(lines: list[str], size: int, ended: bool) -> None:
    data = "\n".join(lines).encode() + (b"\n" if ended and lines else b"")
    parts = _cut(data, size, "x.jsonl")
    assert b"".join(parts) == data.removeprefix(b"\xef\xbb\xbf")
    assert all(part.endswith(b"\n") for part in parts[:-1])
    assert [cut.first_of(part) for part in parts] == [sum(one.count(b"\n") for one in parts[:number]) for number in range(len(parts))]


@pytest.mark.parametrize(
    "data", [b"", b"7", b'{"a": 1', b'{"a": 1,}', b'{"a" 1}', b"[1, 2", b"[1 2]", b"[1] x", b"[1]]", b'["\xff"]', b"[1,", b"[,1]", b'{"a": tru}']
)
def test_unsound_files_are_not_cut(data: bytes) -> None:
    for size in (1, 2, 3, 100):
        with pytest.raises(cut.NotCut):
            _cut(data, size)


def _read(inputs: list[InputFile]) -> tuple[list[Any], bytes]:
    stage = ReadFile(inputs, {one.source: registry.get(one.source) for one in inputs})
    given = [item for one in inputs if one.role != "other" for item in stage.process(one.number)]
    return given, stage.take_counters().pack()


@pytest.mark.parametrize("corpus", ["multiwoz21", "multiwoz22", "risawoz", "crosswoz", "sgd", "convlab"])
def test_sources_read_parts_as_the_whole(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DATA / corpus
    if not folder.is_dir():
        pytest.skip("no small corpus of it comes along")
    inputs = find_inputs([str(folder)])
    whole = _read(inputs)
    monkeypatch.setattr(cut, "PART", 300)
    assert any(registry.get(one.source).cuts and one.size > 600 for one in inputs)
    assert _read(inputs) == whole, "the same pieces under the same numbers, the same digests and counts"


def test_a_large_file_that_breaks_off_is_told_of_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = {f"SNG{number}": {"goal": {}, "log": []} for number in range(40)}
    path = tmp_path / "data.json"
    path.write_text(json.dumps(records)[:-1].replace('"SNG30"', '"SNG30" "x"') + "}")
    said = [call("build", "splits", "--input", path, "--format", "multiwoz21", "--quiet", "--output", tmp_path / "out").err]
    monkeypatch.setattr(cut, "PART", 100)
    said.append(call("build", "splits", "--input", path, "--format", "multiwoz21", "--quiet", "--output", tmp_path / "out").err)
    assert said[0] == said[1] and "data.json: is not JSON" in said[0] and "column" in said[0]


def test_our_own_lines_are_read_in_parts(raddle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("build", "splits", "--input", raddle / "dialogues" / "standard", "--set", "hard_share=", "--quiet", "--output")
    assert call(*words, tmp_path / "whole").code == 0
    monkeypatch.setattr(cut, "PART", 2_000)
    assert call(*words, tmp_path / "parts").code == 0
    assert hashes(tmp_path / "whole") == hashes(tmp_path / "parts")
