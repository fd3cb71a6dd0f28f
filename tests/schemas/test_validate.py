"""Validation: verdicts, messages, strictness, and files that are not what they should be."""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from dialmill.schemas import Dialogue, Edit, Step
from dialmill.schemas.arrow import arrow_schema, complete_params, table, write_parquet
from dialmill.schemas.dialogue import encode
from dialmill.schemas.kinds import ANY, FileKind, by_content, by_name
from dialmill.schemas.validate import (
    JsonError,
    Problem,
    Validator,
    check_dialogue,
    check_lint,
    dialogue_problems,
    load,
    parse,
    validate_line,
    validator,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schemas.cases import good, validate_file
from tests.strategies import PARAMS, dialogues

ODD_NUMBERS = [3.0, 1e300, float("nan"), float("inf"), True, False, -1, 0, 2**70]
ODD_REST = [None, "", "\ud800", "kept", "lost", b"x", [], {}, {"\ud800": 1}, {1: 2}, (), [None]]
ODD = ODD_NUMBERS + ODD_REST
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything inside `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in list(items) for place in ((value, key), *_places(inner))]


@pytest.mark.parametrize("name", ["dialogue", "manifest", "dstc9-labels", "multiwoz21"])
@given(data=st.data())
def test_fast_and_slow_side_agree_on_damaged_records(name: str, data: st.DataObject) -> None:
    instance = copy.deepcopy(good(name)[0])
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(_places(instance)))
        kind = data.draw(st.sampled_from(["set", "remove", "add"]))
        if kind == "remove":
            del container[key]
        elif kind == "set" or isinstance(container, list):
            container[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            container["extra"] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        if not _places(instance):
            break
    checked = validator(name)
    problems = checked.errors(instance)
    assert checked.is_valid(instance) == (problems == []), problems
    for problem in problems:
        str(problem).encode("utf-8")  # printable whatever was found


@settings(max_examples=30)
@given(dialogues())
def test_both_sides_take_every_valid_record(dialogue: Dialogue) -> None:
    record = dialogue.to_dict()
    assert validator("dialogue").is_valid(record)
    assert validator("dialogue").errors(record) == []


def test_messages_are_for_people() -> None:
    record = good("dialogue")[0]
    record["turns"][0]["spans"][0]["start"] = 22.0
    del record["goal"]
    texts = [str(problem) for problem in validator("dialogue").errors(record)]
    assert any(text.startswith("turns[0].spans[0].start: 22.0 is not of type 'integer' (write it without point") for text in texts), texts
    assert any(text.startswith("'goal' is a required property") for text in texts), texts
    assert Problem("a.b", "is odd", "3", line=7).__str__() == "line 7: a.b: is odd (found 3)"
    record = good("dialogue")[0]
    record["turns"] = "x" * 10_000
    assert len(str(validator("dialogue").errors(record)[0])) < 400


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(additionalproperties=False), "unknown keyword 'additionalproperties'"),
        (lambda s: s.update(additionalProperties="false"), "'false' is not of type"),
        (lambda s: s["properties"]["a"].update(format="date"), "unknown keyword 'format'"),
        (lambda s: s["properties"]["a"].update(minimun=1), "unknown keyword 'minimun'"),
        (lambda s: s["properties"]["a"].update({"if": {"properties": {}}}), "unknown keyword 'if'"),
        (lambda s: s["properties"]["a"].pop("description"), "/properties/a: has no description"),
        (lambda s: s["properties"]["a"].pop("type"), "/properties/a: has no type"),
        (lambda s: s.pop("additionalProperties"), "(root): does not say which further keys"),
        (lambda s: s.pop("$id"), "$id: is missing"),
        (lambda s: s["properties"].update(b={"description": "b", "type": "array"}), "/properties/b: does not say what its items are"),
        (lambda s: s["properties"].update(b={"$ref": "#/$defs/c", "type": "null"}), "draft 4 ignores keywords beside $ref"),
    ],
)
def test_lint_finds_what_a_validator_would_ignore(change: Any, message: str) -> None:
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:x",
        "title": "x",
        "description": "An x.",
        "type": "object",
        "additionalProperties": False,
        "properties": {"a": {"description": "An a.", "type": "integer"}},
    }
    assert check_lint(schema) == []
    change(schema)
    assert any(message in fault for fault in check_lint(schema)), check_lint(schema)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "is empty"),
        (b"  \r\n", "is empty"),
        (b'{"a": NaN}', "holds NaN"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": 1e999}', "a number out of range"),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', "holds the key 'c' twice"),
        (b'{"a":1,"a":2}', "holds the key 'a' twice"),
        (b'{"a": "\\ud83d"}', "lone surrogate, \\ud83d"),
        (b'{"\\udc00": 1}', "lone surrogate, \\udc00"),
        (b'{"a": "\xff"}', "is not UTF-8: byte 7 is 0xff"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"a": [1, 2', "is cut off"),
        (b'{"a": "wor', "is cut off"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": 1} {"b": 2}', "is not JSON: Extra data"),
        (b"PAR1\0\0\1", "is binary"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"1" * 5000, "digits"),
    ],
)
def test_strict_json(line: bytes, message: str) -> None:
    with pytest.raises(JsonError) as refusal:
        parse(line)
    assert message in str(refusal.value)
    (problem,) = validate_line("dialogue", line)
    assert problem.message == str(refusal.value) or line == b"  \r\n"


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    ),
    st.booleans(),
)
def test_strict_json_takes_all_json(value: Any, ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=ascii_only, indent=1).encode()) == value


def _dialogue() -> Dialogue:
    return Dialogue.from_dict(good("dialogue")[0])


def _turn(dialogue: Dialogue, **changes: Any) -> Dialogue:
    return dialogue.replace(turns=(dialogue.turns[0].replace(**changes), *dialogue.turns[1:]))


def _span(dialogue: Dialogue, index: int, **changes: Any) -> Dialogue:
    spans = list(dialogue.turns[0].spans)
    spans[index] = spans[index].replace(**changes)
    return _turn(dialogue, spans=tuple(spans))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda d: d.replace(dialogue_id="D1"), "dialogue_id: 'D1' is not SOURCE_ID/SUITE/VARIANT, which is 'D1/typos/0'"),
        (lambda d: d.replace(dialogue_id="D1/typos/-1", variant=-1), "variant: -1 is below 0"),
        (lambda d: _turn(d, turn=1), "turns[0].turn: is 1; turns are numbered from 0 in order, so 0 is expected"),
        (lambda d: d.replace(turns=d.turns[::-1]), "turns[0].turn: is 1"),
        (lambda d: _turn(d, speaker="system"), "turns[0].state: a system turn carries no belief state"),
        (lambda d: _span(d, 0, start=21), "turns[0].spans[0]: utterance[21:26] is ' east', text is 'east'"),
        (lambda d: _span(d, 0, text="East"), "turns[0].spans[0]: utterance[22:26] is 'east', text is 'East'"),
        (lambda d: _span(d, 0, start=26), "turns[0].spans[0]: [26, 26) is empty or lies outside"),
        (lambda d: _span(d, 0, start=-4, end=-1, text="eas"), "turns[0].spans[0]: [-4, -1) is empty or lies outside"),
        (lambda d: _span(d, 0, end=99), "turns[0].spans[0]: [22, 99) is empty or lies outside"),
        (lambda d: _span(d, 0, status="lost"), "turns[0].spans[0]: a lost span has null start, end and text, found start, end, text"),
        (lambda d: _span(d, 1, start=0, end=0), "turns[0].spans[1]: a lost span has null start, end and text, found start, end"),
        (lambda d: _span(d, 1, status="kept"), "turns[0].spans[1]: a kept span has start, end and text, found none of them"),
        (lambda d: _span(d, 0, end=None), "turns[0].spans[0]: a kept span has start, end and text, found start, text"),
        (lambda d: _turn(d, original=None), "turns[0].edits: 2 edits, but original is null"),
        (lambda d: _turn(d, edits=()), "turns[0].edits: no edits, but original is set"),
        (lambda d: _turn(d, edits=d.turns[0].edits[:1]), "turns[0].edits: lead from original to 'i need a hotel in the east'"),
        (lambda d: _turn(d, edits=d.turns[0].edits[::-1]), "turns[0].edits: edit [0, 1) overlaps or precedes"),
        (lambda d: _turn(d, edits=(Edit(0, 99, "x"),)), "turns[0].edits: edit [0, 99) lies outside a text of 26"),
        (lambda d: _turn(d, original=d.turns[0].utterance, edits=(Edit(0, 0, ""),)), "turns[0].edits: original equals the utterance"),
        (lambda d: d.replace(lineage=(Step("a@1", 1, {"rate": float("nan")}, "changed"),)), "lineage[0].params.rate: nan is no JSON number"),
    ],
)
def test_what_a_schema_cannot_say(change: Any, fault: str) -> None:
    assert check_dialogue(_dialogue()) == []
    broken = change(_dialogue())
    (found,) = [text for text in check_dialogue(broken) if text.startswith(fault.split(":")[0])][:1]
    assert found.startswith(fault)
    if "nan" not in fault:  # it becomes null on the way
        assert [f"{p.path}: {p.message}" for p in dialogue_problems(broken.to_dict())] == check_dialogue(broken)


def test_lines_are_held_to_schema_and_to_sense() -> None:
    assert validate_line("dialogue", encode(_dialogue()) + b"\n") == []
    assert [p.path for p in validate_line("dialogue", encode(_dialogue().replace(dialogue_id="other")))] == ["dialogue_id"]
    assert [p.path for p in validate_line("dialogue", encode(_dialogue()).replace(b'"variant":0', b'"variant":0.0'))] == ["variant"]
    assert [p.path for p in validate_line("dialogue", encode(_dialogue()).replace(b'"start":22', b'"start":-0'))] == ["turns[0].spans[0]"]
    assert validate_line("reject", json.dumps(good("reject")[0]).encode()) == []


# Files.


def _write(path: Path, content: str | bytes | list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, list):
        content = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_lines_of_a_file(tmp_path: Path) -> None:
    records = good("dialogue")
    report = validate_file(_write(tmp_path / "test.jsonl", records))
    assert report.ok and (report.schema, report.records) == ("dialogue", len(records))
    broken = copy.deepcopy(records)
    broken[1]["variant"] = "0"
    path = _write(tmp_path / "test.jsonl", [*broken, records[0]])
    report = validate_file(path)
    assert [(p.line, p.path) for p in report.problems] == [(2, "variant"), (len(records) + 1, "dialogue_id")]
    assert str(report).splitlines()[0] == f"{path}: line 2: variant: \"0\" is not of type 'integer'"
    assert "is on line 1 already" in str(report)


def test_rejects_are_known_by_their_lines(tmp_path: Path) -> None:
    report = validate_file(_write(tmp_path / "read.jsonl", good("reject")))
    assert report.ok and report.schema == "reject"
    report = validate_file(_write(tmp_path / "rejects" / "read.jsonl", "{\n"))
    assert report.schema == "reject" and [p.line for p in report.problems] == [1]


def test_all_problems_are_counted_and_some_shown(tmp_path: Path) -> None:
    report = validate_file(_write(tmp_path / "a.jsonl", "{}\n" * 50), schema="reject", limit=5)
    assert report.records == 50 and report.count == 50 * 8 and len(report.problems) == 5
    assert str(report).endswith("and 395 more problems")


@pytest.mark.parametrize("name", ["manifest", "soloist", "dstc9-logs", "dstc9-labels", "dstc9-knowledge", "multiwoz21", "multiwoz22", "risawoz"])
def test_documents_are_known_by_their_content(tmp_path: Path, name: str) -> None:
    path = _write(tmp_path / "some.json", json.dumps(good(name)[0], indent=2))
    report = validate_file(path)
    assert report.ok and report.schema == name, str(report)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.write(path, "inner.json")
    report = validate_file(_write(tmp_path / "some.zip", buffer.getvalue()))
    assert report.ok and report.schema == name and report.path.endswith("some.zip!inner.json")


@pytest.mark.parametrize(
    ("name", "kind"), [("labels.json", "dstc9-labels"), ("hotel.test.soloist.json", "soloist"), ("dialogues_001.json", "multiwoz22")]
)
def test_empty_lists_are_known_by_their_name(tmp_path: Path, name: str, kind: str) -> None:
    report = validate_file(_write(tmp_path / name, "[]"))
    assert report.ok and report.schema == kind


def test_items_keep_their_place(tmp_path: Path) -> None:
    labels: list[Any] = [{"target": False} for _ in range(30)]
    labels[17] = {"target": True}
    labels[23] = {"target": True, "knowledge": [{"domain": "hotel", "entity_id": 1, "doc_id": 2.0}], "response": "Yes."}
    report = validate_file(_write(tmp_path / "labels.json", json.dumps(labels)))
    assert [p.path for p in report.problems] == ["[17]", "[17]", "[23].knowledge[0].doc_id"]
    corpus = {f"D{number}.json": {"log": []} for number in range(5)} | {"X": {"log": None}}
    report = validate_file(_write(tmp_path / "data.json", json.dumps(corpus)))
    assert [p.path for p in report.problems] == ["X.log"] and report.records == 6


def test_rows_of_parquet(tmp_path: Path) -> None:
    schema = arrow_schema(params=PARAMS | {"strict": bool, "limit": int})
    records = [complete_params(record, PARAMS | {"strict": bool, "limit": int}) for record in good("dialogue")[:2]]
    path = tmp_path / "test.parquet"
    write_parquet(str(path), [table(records, schema)], schema)
    report = validate_file(path)
    assert report.ok and report.records == 2, str(report)
    records[1]["variant"] = None
    write_parquet(str(path), [table(records, schema)], schema)
    assert [(p.line, p.path) for p in validate_file(path).problems] == [(2, "variant")]
    pq.write_table(pq.read_table(path).drop_columns(["goal"]), path)
    assert "lacks the columns goal" in str(validate_file(path))
    path.write_bytes(path.read_bytes()[:-20])
    assert "no Parquet file, or cut off" in str(validate_file(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.json", None, "No such file"),
        ("empty.json", b"", "is empty"),
        ("cut.json", b'{"D1.json": {"log": [{"te', "is cut off"),
        ("binary.json", b"\x89PNG\0\0", "is binary"),
        ("latin.json", b'{"a": "caf\xe9"}', "is not UTF-8"),
        ("odd.json", b'{"a": 1}', "is of no known kind; name one with --schema: "),
        ("number.json", b"3", "is of no known kind"),
        ("list.json", b"[1]", "is of no known kind"),
        ("empty.parquet", b"", "is empty"),
        ("text.parquet", b"no parquet here", "no Parquet file"),
        ("text.zip", b"no zip here", "is no zip archive"),
        ("binary.jsonl", b"\x89PNG\0\0", "line 1: is binary"),
        ("cut.jsonl", b'{"dialogue_id": "x", "turns": [', "line 1: is cut off"),
        ("nothing", None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_problem(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    report = validate_file(path)
    assert report.count == 1
    assert str(report).startswith(f"{path}: ") and message in str(report) and "\n" not in str(report)


def test_folders_and_names(tmp_path: Path) -> None:
    assert "directory" in str(validate_file(tmp_path)).lower()
    report = validate_file(_write(tmp_path / "empty.jsonl", b""))
    assert report.ok and report.records == 0
    with pytest.raises(KeyError, match=r"there are: .*dialogue, "):
        validate_file(tmp_path / "empty.jsonl", schema="nonsense")
    wrong = validate_file(_write(tmp_path / "logs.json", json.dumps(good("soloist")[0])), schema="manifest")
    assert not wrong.ok and "is not of type 'object'" in str(wrong)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.json", "{}")
        archive.writestr("b.json", "{}")
    assert "holds 2 JSON files" in str(validate_file(tmp_path / "two.zip"))


def test_import_is_light() -> None:
    """`import schemas`, and validation too, load no heavy library before they need it, and never Beam."""
    heavy = "{'pyarrow', 'jsonschema', 'jsonschema_rs', 'apache_beam', 'perturbers', 'pipelines'}"
    code = f"import sys, schemas, dialmill.schemas.validate, dialmill.schemas.arrow; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_schema_of_ones_own() -> None:
    schema = load("reject")
    schema["properties"]["stage"]["enum"] = ["read"]
    own = Validator(schema)
    assert own.is_valid(good("reject")[0]) and not own.is_valid(good("reject")[1])


@pytest.mark.parametrize("name", ["predictions-state", "predictions-labels", "predictions-ranking"])
def test_kind_of_prediction_lines_is_told_by_their_keys(name: str, tmp_path: Path) -> None:
    path = tmp_path / "guesses.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in good(name)), "utf-8")
    report = validate_file(path)
    assert (report.schema, report.ok, report.records) == (name, True, len(good(name)))


@pytest.mark.parametrize("name", ["predictions-noesis", "predictions-cgodial-sbd"])
def test_kind_of_a_prediction_document_is_told_by_its_keys(name: str, tmp_path: Path) -> None:
    path = tmp_path / "guesses.json"
    path.write_text(json.dumps(good(name)[0]), "utf-8")
    report = validate_file(path)
    assert (report.schema, report.ok) == (name, True)


def test_the_kind_with_most_keys_in_common_wins() -> None:
    wide = FileKind("wide", ([{"id": ANY}],), ("*.json",))
    narrow = FileKind("narrow", ([{"id": ANY, "parts": [{"text": ANY}]}],), ("part_*.json",))
    for kinds in ((wide, narrow), (narrow, wide)):
        assert by_content(kinds, [{"id": 1, "parts": [{"text": "a"}]}], lines=False) == "narrow"
        assert by_content(kinds, [{"id": 1, "parts": []}], lines=False) == "wide"
        assert by_content(kinds, [{"id": 1, "parts": "a"}], lines=False) == "wide"
        assert by_name(kinds, Path("release/part_1.json"), lines=False) == "narrow"
        assert by_name(kinds, Path("release/all.json"), lines=False) == "wide"
    assert by_content((wide, narrow), [], lines=False) is None and by_content((wide,), {"id": 1}, lines=False) is None
    assert by_content((wide,), [{"id": 1}], lines=True) is None and by_name((wide,), Path("a.jsonl"), lines=True) is None


def test_a_kind_may_be_exact_and_look_below_any_key() -> None:
    exact = FileKind("exact", ({"pairs": ANY}, {"language": ANY, "pairs": ANY}), exact=True)
    assert by_content((exact,), {"pairs": []}, lines=False) == by_content((exact,), {"pairs": [], "language": "en"}, lines=False) == "exact"
    assert by_content((exact,), {"pairs": [], "more": 1}, lines=False) is None
    below = FileKind("below", ({ANY: {ANY: {"docs": ANY}}},))
    assert by_content((below,), {"hotel": {"1": {"docs": {}}}}, lines=False) == "below"
    for other in ({}, {"hotel": {}}, {"hotel": {"1": []}}, {"hotel": {"1": {"name": "a"}}}, [], 3, None):
        assert by_content((below,), other, lines=False) is None
    nested = FileKind("nested", ([[{"speaker": ANY}]],))
    assert by_content((nested,), [[], [{"speaker": "U"}]], lines=False) == "nested", "an array that holds nothing tells nothing"


def test_a_fault_that_all_lines_have_is_told_three_times(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text("{bad\n" * 30 + '{"dialogue_id": 1}\n', "utf-8")
    report = validate_file(path, "dialogue", limit=100)
    told = str(report).splitlines()
    assert sum("is not JSON" in line for line in told) == 3 and f"{path}: and the same in 27 more lines" in told
    assert any("line 31" in line for line in told) and report.count > 30
