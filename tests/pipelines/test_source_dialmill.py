"""dialmill's own records: one bad line costs itself, a file cut off stops the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.pipelines.sources.dialmill import Dialmill
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import encode

import dialmill as dm

from .source_tools import read_data
from .tools import call

SOURCE = Dialmill()


def _line(name: str) -> bytes:
    turns = (Turn(0, "user", "a cheap room"), Turn(1, "system", "here"))
    return encode(Dialogue(dialogue_id=f"{name}/standard/0", source="x", source_id=name, split="test", turns=turns))


BAD = {
    "no JSON": (b'{"dialogue_id": "B", "sour', "not_json"),
    "no record": (b'{"a": 1}', "wrong_type"),
    "an id of another type": (b'{"source_id": 3}', "wrong_type"),
    "an empty id": (b'{"source_id": ""}', "wrong_type"),
    "not UTF-8": (b'{"source_id": "\xff"}', "not_utf8"),
    "NaN": (b'{"source_id": NaN}', "bad_number"),
    "too deep": (b"[" * 50_000, "not_json"),
}


@pytest.mark.parametrize(("line", "reason"), BAD.values(), ids=list(BAD))
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_bad_line_is_rejected_under_the_name_of_its_place(line: bytes, reason: str, place: int) -> None:
    lines = [_line("A"), _line("C")]
    lines.insert(place - 1, line)
    read = read_data(SOURCE, {"dir/test.jsonl": b"\n".join(lines) + b"\n"})
    assert set(read.dialogues) == {"A", "C"}
    assert {name: error.reason for name, error in read.rejects.items()} == {f"test.jsonl:{place}": reason}
    assert all(error.evidence for error in read.rejects.values())


def test_a_last_line_without_its_end() -> None:
    """Not JSON, it is a file cut off; JSON, it is a record like another, good or bad."""
    with pytest.raises(InputError, match=r"test\.jsonl: line 2 is cut off"):
        read_data(SOURCE, {"test.jsonl": _line("A") + b"\n" + _line("B")[:-20]})
    assert set(read_data(SOURCE, {"test.jsonl": _line("A") + b"\n" + _line("B")}).dialogues) == {"A", "B"}
    assert set(read_data(SOURCE, {"test.jsonl": _line("A") + b'\n{"a": 1}'}).rejects) == {"test.jsonl:2"}


def test_a_run_goes_on_without_the_bad_line(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_bytes(_line("A") + b"\n{broken}\n" + _line("B") + b"\n")
    result = call("perturb", "--input", tmp_path / "mine.jsonl", "--with", "typos:rate=0.5", "--output", tmp_path / "out", "--quiet")
    assert result.code == 0, result
    (rejects,) = (tmp_path / "out" / "rejects").glob("*.jsonl")
    reject = json.loads(rejects.read_text("utf-8").splitlines()[0])
    assert (reject["reason"], reject["source_id"], reject["file"]) == ("not_json", "mine.jsonl:2", "mine.jsonl")
    standard = (tmp_path / "out" / "dialogues" / "standard" / "test.jsonl").read_text("utf-8")
    assert len(standard.splitlines()) == 2


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("x.jsonl", _line("A").decode(), "dialogues"),
        ("x.jsonl", "{broken}\n" + _line("A").decode(), "dialogues"),
        ("out/dialogues/typos/test.jsonl", _line("A").decode(), "other"),
        ("out/dialogues/standard/test_hard.jsonl", _line("A").decode(), "other"),
        ("out/rejects/read.jsonl", '{"stage": "read", "reason": "not_json", "evidence": "x"}', "other"),
        ("x.jsonl", '{"a": 1}', None),
        ("x.json", _line("A").decode(), None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role


MINIMAL = {"dialogue_id": "A", "turns": [{"speaker": "user", "utterance": "a cheap room"}, {"speaker": "system", "utterance": "here"}]}


def _parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_record_takes_the_defaults_of_what_it_lacks(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"mine.{form}"
    if form == "jsonl":
        path.write_text(json.dumps(MINIMAL) + "\n", "utf-8")
    else:
        _parquet(path, [MINIMAL])
    (found,) = dm.read(path)
    assert found == Dialogue(dialogue_id="A", source="dialmill", source_id="A", turns=(Turn(0, "user", "a cheap room"), Turn(1, "system", "here")))


def test_id_and_text_will_do_where_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "A", "turns": [{"speaker": "user", "text": "a cheap room", "domain": "hotel"}]}\n', "utf-8")
    with pytest.raises(DialmillError, match="unknown field `domain`"):
        next(dm.read(path, "dialmill"))
    path.write_text('{"id": "A", "turns": [{"speaker": "user", "text": "a cheap room"}]}\n', "utf-8")
    assert [turn.utterance for turn in next(dm.read(path, "dialmill")).turns] == ["a cheap room"]


def test_records_of_version_1_are_read() -> None:
    line = json.loads(_line("A"))
    del line["payload"]
    for turn in line["turns"]:
        del turn["role"], turn["payload"]
    assert read_data(SOURCE, {"x.jsonl": json.dumps(line).encode()}).dialogues == read_data(SOURCE, {"x.jsonl": _line("A")}).dialogues


def test_both_files_of_an_output_folder_are_one_corpus(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(_line("A") + b"\n" + _line("B") + b"\n")
    assert call("perturb", "--input", tmp_path / "in.jsonl", "--with", "typos", "--output", tmp_path / "out", "--quiet").code == 0
    folder = tmp_path / "out" / "dialogues" / "standard"
    assert {one.name for one in folder.iterdir()} >= {"test.jsonl", "test.parquet"}
    both, lines, table = ([one.to_dict() for one in dm.read(path)] for path in (folder, folder / "test.jsonl", folder / "test.parquet"))
    assert both == lines and len(lines) == 2
    for one in (*lines, *table):
        one.pop("lineage")
    assert table == lines
