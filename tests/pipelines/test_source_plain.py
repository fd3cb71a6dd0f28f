"""One's own data: each form of it, the words people use, and what is said where something is missing."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dialmill.pipelines.core.errors import DialmillError, InputError, RecordError, UsageError
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue

import dialmill as dm

from .source_tools import read_data
from .tools import call, records

CSV = """dialogue_id,turn,speaker,text,intent,slots
d1,0,user,I need a cheap hotel in the north,book_hotel,"price=cheap;area=north"
d1,1,bot,How many nights?,ask,
d1,2,user,Two nights from Tuesday please,inform,"nights=two;day=Tuesday"
d2,0,user,what's my balance,check_balance,
"""
DIALOGUE: dict[str, Any] = {
    "id": "d1",
    "turns": [
        {"speaker": "user", "text": "I need a cheap hotel in the north", "intent": "book_hotel", "slots": {"price": "cheap", "area": "north"}},
        {"speaker": "bot", "text": "How many nights?", "intent": "ask"},
        {"speaker": "user", "text": "Two nights from Tuesday please", "intent": "inform", "slots": {"nights": "two", "day": "Tuesday"}},
    ],
}
SECOND: dict[str, Any] = {"id": "d2", "turns": [{"speaker": "user", "text": "what's my balance", "intent": "check_balance"}]}


def read(files: Mapping[str, bytes], fields: Mapping[str, str] | None = None) -> dict[str, Dialogue]:
    found = read_data(registry.get("plain").chosen(fields or {}), files)
    assert not found.rejects
    return found.dialogues


def parquet(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def one(**turn: Any) -> Dialogue:
    """A dialogue of one turn."""
    (found,) = read({"a.jsonl": json.dumps({"id": "x", "turns": [turn]}).encode()}).values()
    return found


def _semicolons() -> bytes:
    """The table as other spreadsheets write it: a byte order mark, semicolons, CRLF."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=";").writerows(csv.reader(io.StringIO(CSV)))
    return b"\xef\xbb\xbf" + stream.getvalue().encode()


def _rows() -> bytes:
    """A row a turn under other names, and not in order."""
    turns = [("d1", at, turn) for at, turn in enumerate(DIALOGUE["turns"])] + [("d2", 0, SECOND["turns"][0])]
    rows = [{"conversation_id": key, "turn_id": at, "sender": t["speaker"], "message": t["text"]} | t for key, at, t in reversed(turns)]
    return "".join(json.dumps({name: value for name, value in row.items() if name not in ("speaker", "text")}) + "\n" for row in rows).encode()


def _without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def _table() -> bytes:
    turns = [{**turn, "slots": json.dumps(turn.get("slots"))} for turn in DIALOGUE["turns"]]
    return parquet([{**DIALOGUE, "turns": turns}, SECOND])


FORMS = {
    "CSV": {"a.csv": CSV.encode()},
    "CSV of another spreadsheet": {"a.csv": _semicolons()},
    "CSV that says what parts its cells": {"a.csv": b"\xef\xbb\xbfsep=;\r\n" + _semicolons().removeprefix(b"\xef\xbb\xbf")},
    "TSV": {"a.tsv": CSV.replace('"', "").replace(",", "\t").encode()},
    "JSON lines": {"a.jsonl": f"{json.dumps(DIALOGUE)}\n{json.dumps(SECOND)}\n".encode()},
    "a JSON array": {"a.json": json.dumps([DIALOGUE, SECOND]).encode()},
    "an object around all of them": {"a.json": json.dumps({"version": 1, "Dialogues": [DIALOGUE, SECOND]}, indent=1).encode()},
    "turns by another name": {
        "a.jsonl": "".join(json.dumps({"messages": one["turns"], **_without(one, "turns")}) + "\n" for one in (DIALOGUE, SECOND)).encode()
    },
    "Parquet": {"a.parquet": _table()},
    "rows as JSON lines": {"a.jsonl": _rows()},
}


@pytest.mark.parametrize("files", FORMS.values(), ids=list(FORMS))
def test_every_form_gives_the_same_dialogues(files: dict[str, bytes]) -> None:
    found = read(files)
    assert set(found) == {"d1", "d2"}
    first = found["d1"]
    assert [(turn.speaker, turn.utterance) for turn in first.turns] == [
        ("user", "I need a cheap hotel in the north"),
        ("system", "How many nights?"),
        ("user", "Two nights from Tuesday please"),
    ]
    assert [(span.slot, span.text) for turn in first.turns for span in turn.spans] == [
        ("price", "cheap"), ("area", "north"), ("nights", "Two"), ("day", "Tuesday")
    ]  # fmt: skip
    assert {entry.slot: entry.values for entry in first.turns[2].state} == {
        "price": ("cheap",), "area": ("north",), "nights": ("two",), "day": ("Tuesday",)
    }  # fmt: skip
    assert first.turns[0].labels == ("intent:book_hotel",) and first.language == "en" and first.source_id == "d1"


@pytest.mark.parametrize(
    "slots",
    [
        {"area": "north", "price": ["cheap"]},
        {"hotel": {"area": "north", "price": "cheap"}},
        "area=north; price = cheap",
        "area:north;price:cheap",
        '{"area": "north", "price": "cheap"}',
        [{"slot": "area", "value": "north"}, {"entity": "price", "value": "cheap", "start": 2, "end": 7}],
        [["area", "north"], ["price", "cheap"]],
    ],
)
def test_slots_are_written_in_many_ways(slots: Any) -> None:
    turn = one(speaker="user", text="a cheap room in the north", slots=slots).turns[0]
    assert [(span.slot, span.text) for span in turn.spans] == [("price", "cheap"), ("area", "north")]
    assert {(act.act, act.slot, act.value) for act in turn.acts} == {("inform", "area", "north"), ("inform", "price", "cheap")}


def test_a_slot_may_be_asked_for_and_a_value_may_not_stand_in_the_text() -> None:
    found = one(speaker="user", text="what is the phone number of the cheap one", slots={"phone": "?", "price": "cheap", "area": "north"})
    assert [(act.act, act.slot, act.value) for act in found.turns[0].acts] == [
        ("request", "phone", None), ("inform", "price", "cheap"), ("inform", "area", "north")
    ]  # fmt: skip
    assert [span.slot for span in found.turns[0].spans] == ["price"]
    assert found.lineage[0].reasons == ("slot_values:2", "slot_values_located:1")


@pytest.mark.parametrize(
    ("word", "speaker"),
    [
        ("Customer", "user"), ("AGENT", "system"), ("assistant", "system"), ("Human", "user"), ("bot:", "system"), ("Agent 2", "system"),
        ("客服", "system"), ("用户", "user"), ("顾客：", "user"), ("机器人", "system"),
    ],
)  # fmt: skip
def test_the_usual_words_for_speakers_are_known(word: str, speaker: str) -> None:
    assert one(speaker=word, text="hello").turns[0].speaker == speaker


def test_tool_turns_are_carried_through() -> None:
    turns = [
        {"speaker": "user", "text": "my balance"},
        {"speaker": "tool", "text": '{"balance": 20}', "name": "bank"},
        {"speaker": "bot", "text": "It is 20"},
    ]
    (found,) = read({"a.jsonl": json.dumps({"id": "x", "turns": turns}).encode()}).values()
    assert [turn.speaker for turn in found.turns] == ["user", "other", "system"]
    assert found.turns[1].role == "tool" and json.loads(found.turns[1].payload or "") == turns[1] and not found.turns[1].utterance


def test_fields_and_speakers_are_mapped() -> None:
    data = {"a.csv": b"call;who;said\n7;Kunde;ich brauche ein Hotel im Norden\n7;Berater;gern\n7;Frau Roth;wie lange?\n"}
    found = read(data, {"id": "call", "speaker": "who", "text": "said", "user": "kunde", "system": "Berater|Frau Roth"})
    assert [turn.speaker for turn in found["7"].turns] == ["user", "system", "system"]
    assert found["7"].language == "und", "no rule of ours is for German"


def test_texts_alone_are_user_turns_when_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text\nbook a table\ncancel it\n", "utf-8")
    with pytest.raises(DialmillError, match=r"map=\{\"text\": \"FIELD\""):
        list(dm.read(path))
    found = list(dm.read(path, "plain"))
    assert [(one.source_id, one.turns[0].utterance, one.turns[0].speaker) for one in found] == [
        ("texts.csv:2", "book a table", "user"), ("texts.csv:3", "cancel it", "user")
    ]  # fmt: skip
    assert [one.source_id for one in dm.read(path, map={"text": "text"})] == ["texts.csv:2", "texts.csv:3"]


@pytest.mark.parametrize(("name", "split"), [("train.csv", "train"), ("dev.csv", "valid"), ("test-00000-of-00001.csv", "test"), ("chats.csv", None)])
def test_the_name_of_a_file_says_the_split(name: str, split: str | None) -> None:
    assert {one.split for one in read({name: CSV.encode()}).values()} == {split}


BAD_FILES = {
    "no text": (
        {"a.csv": b"id,speaker,said\n1,user,hi\n"},
        {},
        r"a\.csv: no field holds the text; its fields are: id, speaker, said .*--map text=FIELD",
    ),
    "no id": ({"a.csv": b"speaker,text\nuser,hi\n"}, {}, r"add a field id, or name it with --map id=FIELD"),
    "ids of messages": (
        {"a.csv": b"id,role,text\n1,user,hi\n2,bot,hello\n"},
        {},
        r"an id of its own on every row.*'id' tells messages.*--map id=FIELD",
    ),
    "a mapped field that isn't there": (
        {"a.csv": CSV.encode()},
        {"text": "utterence"},
        r"has no field 'utterence', which --map names; its fields are",
    ),
    "nobody known speaks": ({"a.csv": b"id,speaker,text\n1,Anna,hi\n1,Bert,hello\n"}, {}, r"unknown names: Anna, Bert .*--map user=NAME"),
    "a quotation left open": ({"a.csv": b'id,speaker,text\n1,user,"hi\n1,bot,hello\n'}, {}, r"a\.csv: line 2: "),
    "two columns of a name": ({"a.csv": b"id,text,text\n1,a,b\n"}, {}, r"two columns called 'text'"),
    "not UTF-8": ({"a.csv": b"id,speaker,text\n1,user,caf\xe9\n"}, {}, r"is not UTF-8: byte 26 is 0xe9"),
    "JSON not in UTF-8": ({"a.jsonl": b'{"id": "a", "turns": [{"speaker": "user", "text": "caf\xe9"}]}\n'}, {}, r"is not UTF-8: byte 54 is 0xe9"),
    "cut off": ({"a.jsonl": b'{"id": "a", "turns": [{"speaker": "user", "text": "hi"}]}\n{"id": "b", "tur'}, {}, r"line 2 is cut off"),
    "no Parquet": ({"a.parquet": b"PAR1 nonsense"}, {}, r"is no sound Parquet file"),
    "a header alone": ({"a.csv": b"id,speaker,text\n"}, {}, r"holds no row"),
}


@pytest.mark.parametrize(("files", "fields", "message"), BAD_FILES.values(), ids=list(BAD_FILES))
def test_a_file_that_cannot_be_used_says_what_to_do(files: dict[str, bytes], fields: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(files, fields)
    assert re.search(message, str(caught.value)), caught.value


GOOD = {"speaker": "user", "text": "hi"}
BAD_RECORDS = {
    "a stranger": ([GOOD, {"speaker": "Anna", "text": "hi"}], "unknown_speaker", "--map user=Anna"),
    "nobody": ([GOOD, {"text": "hello"}], "no_speaker", "hello"),
    "no text": ([{"speaker": "user", "text": "  "}], "empty_dialogue", "no turn has a text"),
    "a text that is a map": ([GOOD, {"speaker": "user", "text": {"a": 1}}], "wrong_type", "text: expected a text, found an object"),
    "slots without values": ([GOOD | {"slots": "north"}], "bad_slots", "expected slot=value;slot=value, found 'north'"),
    "slots of numbers": ([GOOD | {"slots": 3}], "wrong_type", "slots: expected a map, a list or a text"),
    "turns that are texts and objects": (["hi", GOOD], "wrong_type", "turns: expected an array of objects"),
}


@pytest.mark.parametrize(("turns", "reason", "evidence"), BAD_RECORDS.values(), ids=list(BAD_RECORDS))
def test_a_record_that_cannot_be_used_costs_itself(turns: list[Any], reason: str, evidence: str) -> None:
    lines = [{"id": "good", "turns": [GOOD]}, {"id": "bad", "turns": turns}]
    found = read_data(registry.get("plain"), {"a.jsonl": "\n".join(map(json.dumps, lines)).encode()})
    assert set(found.dialogues) == {"good"}
    error: RecordError = found.rejects["bad"]
    assert error.reason == reason and evidence in error.evidence


def test_a_row_with_too_many_cells_costs_its_dialogue() -> None:
    found = read_data(registry.get("plain"), {"a.csv": (CSV + "d3,0,user,hi, there,x,y,z\n").encode()})
    assert set(found.dialogues) == {"d1", "d2"} and found.rejects["d3"].reason == "too_many_cells"


def test_a_field_that_is_unknown_to_us_cannot_be_mapped() -> None:
    with pytest.raises(UsageError, match="there is no field 'txt'; there are: id, turns, text"):
        registry.get("plain").chosen({"txt": "x"})
    with pytest.raises(UsageError, match="multiwoz21 is a format with fields of its own"):
        registry.get("multiwoz21").chosen({"text": "x"})


def test_a_run_tells_how_many_values_were_found(tmp_path: Path) -> None:
    (tmp_path / "chats.csv").write_text(CSV + 'd3,0,user,a room please,inform,"area=north;price=cheap"\n', "utf-8")
    result = call("perturb", "--input", tmp_path / "chats.csv", "--with", "typos:rate=0.5", "--output", tmp_path / "out")
    assert result.code == 0, result
    assert "4 of 6 slot values located; the others are in rejects/ or unlabelled" in result.out
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert any(warning.startswith("4 of 6 slot values located") for warning in manifest["warnings"])
    typos = records(tmp_path / "out", "typos")
    assert {one.source_id for one in typos} == {"d1", "d2", "d3"}
    assert {span.text for one in typos for turn in one.turns for span in turn.spans if span.status == "kept"} >= {"cheap", "north"}


def test_an_unknown_input_shows_the_smallest_record(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n", "utf-8")
    result = call("perturb", "--input", tmp_path / "x.csv", "--with", "typos", "--output", tmp_path / "out")
    assert result.code == 1
    smallest = '{"id": "d1", "turns": [{"speaker": "user", "text": "I need a hotel"}]}'
    assert smallest in result.err and "docs/own-data.md" in result.err
    (tmp_path / "x.csv").rename(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text(smallest + "\n", "utf-8")
    assert [one.source_id for one in dm.read(tmp_path / "x.jsonl")] == ["d1"]


SIDE_BY_SIDE: dict[str, dict[str, Any]] = {
    "turns of lists": {"id": "x", "turns": {"speaker": ["user", "bot"], "text": ["I need a cheap room", "Where?"]}},
    "lists of a row": {"dialogue_id": "x", "speaker": ["user", "bot"], "utterance": ["I need a cheap room", "Where?"], "domain": "hotel"},
    "texts in turn": {"id": "x", "dialog": ["I need a cheap room", "Where?"]},
    "texts of a row in turn": {"id": "x", "utterance": ["I need a cheap room", "Where?"], "intent": ["book", "ask"]},
}


@pytest.mark.parametrize("form", SIDE_BY_SIDE)
@pytest.mark.parametrize("written", ["json", "parquet"])
def test_turns_may_stand_side_by_side(form: str, written: str) -> None:
    row = SIDE_BY_SIDE[form]
    name, data = ("a.parquet", parquet([row])) if written == "parquet" else ("a.jsonl", json.dumps(row).encode())
    (found,) = read({name: data}).values()
    assert found.source_id == "x" and [(turn.speaker, turn.utterance) for turn in found.turns] == [
        ("user", "I need a cheap room"),
        ("system", "Where?"),
    ]
    assert found.domains == (("hotel",) if "domain" in row else ("general",)) or "domain" not in row
    assert found.turns[0].labels == (("intent:book",) if "intent" in row else ())


def test_a_table_of_texts_and_labels_and_names_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("utterance,label\nbook a room for me,book\n", "utf-8")
    (tmp_path / "b.csv").write_text("对话编号,说话者,消息\n1,用户,我想订一间便宜的房间\n1,客服,好的\n", "utf-8")
    (one,), (other,) = dm.read(tmp_path / "a.csv"), dm.read(tmp_path / "b.csv")
    assert one.turns[0].labels == ("book",) and [turn.speaker for turn in other.turns] == ["user", "system"]


def test_a_file_in_utf_16_and_columns_of_no_known_name_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,speaker,text\n1,user,hi\n".encode("utf-16"))
    with pytest.raises(DialmillError, match=r"is UTF-16.*save it as UTF-8"):
        list(dm.read(tmp_path / "a.csv"))
    (tmp_path / "gb.csv").write_bytes("会话编号,角色,内容\n1,顾客,你好\n".encode("gb18030"))
    with pytest.raises(DialmillError, match=r"gb\.csv: is not UTF-8: byte 0 is 0xbb .*save it as UTF-8"):
        list(dm.read(tmp_path / "gb.csv"))
    (tmp_path / "sep.csv").write_bytes(b"sep=|\r\nid|speaker|text\r\n1|user|hi, there\r\n")
    assert [turn.utterance for one in dm.read(tmp_path / "sep.csv") for turn in one.turns] == ["hi, there"]
    (tmp_path / "call.txt").write_text("Kunde: guten Tag\nBerater: hallo\n", "utf-8")
    with pytest.raises(DialmillError, match=r"a transcript has lines such as .*map=\{\"user\": \"NAME\".*own-data"):
        list(dm.read(tmp_path / "call.txt"))
    (tmp_path / "b.csv").write_text("nr,sprecher,satz\n1,kunde,Guten Tag\n", "utf-8")
    with pytest.raises(DialmillError, match=r"its first line is: nr,sprecher,satz .*map=\{\"text\": \"FIELD\".*own-data"):
        list(dm.read(tmp_path / "b.csv"))


@pytest.mark.parametrize(
    "content",
    [
        {"conversations": [{"id": 1, "role": "user", "text": "hi there"}, {"id": 2, "role": "bot", "text": "hello"}]},
        {"data": [{"id": "a", "turns": [{"speaker": "user", "text": "hi there"}, {"speaker": "bot", "text": "hello"}]}], "by": [1]},
        {"chats": [{"id": "a", "messages": [{"role": "user", "content": "hi there"}, {"role": "assistant", "content": "hello"}]}]},
        {"conversations": [{"from": "human", "value": "hi there"}, {"from": "gpt", "value": "hello"}]},
    ],
)
def test_an_object_is_opened_where_it_is_no_dialogue_itself(content: Any, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content), "utf-8")
    assert [[(turn.speaker, turn.utterance) for turn in one.turns] for one in dm.read(tmp_path / "a.json")] == [
        [("user", "hi there"), ("system", "hello")]
    ]
