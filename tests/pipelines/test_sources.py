"""What all sources share: cutting files into pieces, and the errors a user sees."""

from __future__ import annotations

import json

import pytest
from dialmill.pipelines.core.errors import InputError, RecordError, UsageError
from dialmill.pipelines.sources import reading as base
from dialmill.pipelines.sources import registry


def test_unknown_sources_list_the_known() -> None:
    with pytest.raises(UsageError, match="multiwoz21, multiwoz22"):
        registry.get("multiwoz99")


@pytest.mark.parametrize("layout", [None, 0, 2, "\t"])
def test_items_are_cut_without_a_change(layout: int | str | None) -> None:
    content = {'a "quoted" \\ key': {"n": 1, "list": [1, "}"]}, "ü": [], "": "text"}
    data = json.dumps(content, indent=layout).encode()
    items = base.json_object_items("f.json", data)
    assert [(key, json.loads(raw)) for key, raw in items] == list(content.items())


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": {"x": 1}, "b": 2, "a": {"x": 2}}',
        b'{"a":{"x":1},"b":2,"a":{"x":2}}',
        b'\n{ "a" : {"x": 1} ,\n"b": 2, "a":\n{"x": 2}}\n',
    ],
)
def test_a_key_that_stands_twice_gives_two_items(data: bytes) -> None:
    """JSON parsers keep the last; the first must not vanish."""
    assert [(key, json.loads(raw)) for key, raw in base.json_object_items("f.json", data)] == [("a", {"x": 1}), ("b", 2), ("a", {"x": 2})]


@pytest.mark.parametrize("reader", [base.json_object_items, base.json_array_items])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'{"a": [1, 2', "cut off"),
        (b'[{"a": "b', "cut off"),
        (b'{"a" 1}', "line 1, column 6"),
        (b"\xff\xfe{}", "not UTF-8: byte 0 is 0xff"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" + b"1" * 5000 + b'], "', "is not JSON"),
        (b"3", "found a number"),
    ],
)
def test_a_file_at_fault_is_told_with_its_place(reader, data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        reader("corpus.json", data)
    assert message in str(caught.value)
    assert str(caught.value).startswith("corpus.json: ")


def test_a_byte_order_mark_is_no_fault() -> None:
    assert base.json_object_items("f.json", b'\xef\xbb\xbf{"a": 1}') == [("a", b"1")]


def test_object_and_array_are_not_confused() -> None:
    with pytest.raises(InputError, match="expected a JSON object of dialogues by id, found an array"):
        base.json_object_items("f.json", b"[]")
    with pytest.raises(InputError, match="expected a JSON array of dialogues, found an object"):
        base.json_array_items("f.json", b"{}")


@pytest.mark.parametrize(
    ("data", "reason", "evidence"),
    [
        (b'{"a": NaN}', "bad_number", "NaN"),
        (b'{"a": -Infinity}', "bad_number", "-Infinity"),
        (b'{"a": 1e999}', "bad_number", ""),
        (b'{"a": "\\ud83d"}', "lone_surrogate", "U+D83D"),
        (b'{"a": "\\ud83d\\ude00 \\udc00"}', "lone_surrogate", "U+DC00"),
        (b'{"a": "\xff"}', "not_utf8", "byte 7"),
        (b'{"a": ', "not_json", ""),
        (b"[" * 100_000, "not_json", ""),
    ],
)
def test_a_record_at_fault_is_told_by_reason(data: bytes, reason: str, evidence: str) -> None:
    with pytest.raises(RecordError) as caught:
        base.load_record(data)
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


def test_one_bad_record_leaves_the_file_readable() -> None:
    """NaN and lone surrogates are one record's fault."""
    items = dict(base.json_object_items("f.json", b'{"a": {"x": NaN}, "b": {"x": 1}, "c": {"x": "\\ud800"}}'))
    assert base.load_record(items["b"]) == {"x": 1}
    for key, reason in (("a", "bad_number"), ("c", "lone_surrogate")):
        with pytest.raises(RecordError) as caught:
            base.load_record(items[key])
        assert caught.value.reason == reason


@pytest.mark.parametrize("data", [b"A.json\nB.json\n", b"A\nB", b"\xef\xbb\xbfA.json\r\nB\r\n\r\n", b'["A.json", "B.json"]', b"  A.json \n\n B.json"])
def test_split_lists_in_every_spelling(data: bytes) -> None:
    assert base.list_lines("valListFile.json", data) == ["A", "B"]


@pytest.mark.parametrize(
    ("data", "message"), [(b"\n", "empty"), (b'{"a": 1}', "JSON object"), (b"[1]", "expected a dialogue id"), (b"\xff", "UTF-8")]
)
def test_what_is_no_split_list(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        base.list_lines("valListFile.json", data)


def test_a_record_without_an_id_gets_a_name_to_be_rejected_under() -> None:
    data = b'[{"dialogue_id": "A.json"}, {}, {"dialogue_id": 3}, 7, {"dialogue_id": "B", "x": NaN}]'
    found = list(base.records_with_id("dir/dialogues_001.json", data))
    assert [name for name, _ in found] == ["A.json", "dialogues_001.json#1", "dialogues_001.json#2", "dialogues_001.json#3", "B"]


def test_splits_that_disagree() -> None:
    pieces = [base.Piece("split", 0, 0, b"train"), base.Piece("split", 1, 0, b"test")]
    with pytest.raises(RecordError) as caught:
        base.official_split(pieces)
    assert caught.value.reason == "conflicting_splits"
    assert base.official_split([*pieces[:1], *pieces[:1]]) == "train"
    assert base.official_split([]) is None


@pytest.mark.parametrize(
    ("record", "kind", "reason", "evidence"),
    [
        ({}, str, "missing_key", "log[3].text"),
        ({"text": 1}, str, "wrong_type", "log[3].text: expected a string, found a number"),
        ({"text": None}, str, "wrong_type", "found null"),
        ({"text": True}, int, "wrong_type", "expected an integer, found a boolean"),
        ([], str, "wrong_type", "log[3]: expected an object, found an array"),
    ],
)
def test_evidence_is_the_path_of_the_key(record: object, kind: type, reason: str, evidence: str) -> None:
    with pytest.raises(RecordError) as caught:
        base.take(record, "text", kind, "log[3]")
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


def test_notes_are_sorted_and_none_leave_no_trace() -> None:
    notes = base.Notes()
    assert notes.lineage() == ()
    notes.add("span_mismatch", 2)
    notes.add("acts_missing", 0)
    notes.add("act_malformed")
    (step,) = notes.lineage()
    assert (step.step, step.outcome, step.reasons) == ("read@1", "read", ("act_malformed:1", "span_mismatch:2"))
