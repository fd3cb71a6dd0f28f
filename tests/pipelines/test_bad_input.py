"""What bad input gets: a bad file stops the run before anything is written; a bad record is rejected with its reason and the run goes on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .tools import DATA, Result, call, corpus, manifest, plain, records, rejects, spawn, talk

GOOD = (DATA / "multiwoz21/data.json").read_bytes()


def refused(result: Result, *words: str, code: int = 1) -> None:
    """Exit code, one clear message on stderr, no traceback, nothing on stdout."""
    assert result.code == code, result
    assert result.out == ""
    assert "Traceback" not in result.err and "fault of dialmill" not in result.err, result.err
    for word in words:
        assert word in result.err, result.err


def build(inputs: Path, out: Path, *words: object) -> Result:
    return call("build", "splits", "--input", inputs, "--output", out, "--quiet", *words)


FILES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("is empty",)),
    "blank": (b" \n\t", ("is empty",)),
    "cut off in an object": (GOOD[: len(GOOD) // 2], ("is cut off",)),
    "cut off in the last bracket": (GOOD.rstrip()[:-1], ("is cut off",)),
    "cut off early": (GOOD[:300], ("is cut off",)),
    "not JSON": (b"id,text\n1,hello\n", ("is not JSON", "line 1")),
    "broken in the middle": (GOOD[:5000] + b"}}]]" + GOOD[5000:], ("is not JSON", "line")),
    "another JSON": (b'{"name": "x", "version": 1}', ("not of a known format",)),
    "an array": (b"[1, 2, 3]", ("not of a known format",)),
    "Latin-1": (b'{"name": "h\xf4tel"}', ("is not UTF-8", "0xf4")),
    "UTF-16": (GOOD.decode().encode("utf-16"), ("is binary",)),
    "binary": (bytes(range(256)) * 30, ("is binary",)),
    "nothing in it": (b"{}", ("not of a known format",)),
    "nested too deeply": (b'{"D1": {"log": [{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}}", ()),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_stops_the_run_before_anything_is_written(name: str, tmp_path: Path) -> None:
    content, words = FILES[name]
    path = tmp_path / "in" / "broken.json"
    path.parent.mkdir()
    path.write_bytes(content)
    refused(build(path, tmp_path / "out"), *words)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in"], "nothing written, nothing left"
    if words:
        assert str(path) in build(path, tmp_path / "out").err, "the message names the file"


def test_three_faults_at_once_are_three_messages(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_bytes(b"")
    (tmp_path / "train.json").write_bytes(GOOD[:9000])
    paths = [tmp_path / f"{name}.json" for name in ("dev", "train", "test")]
    result = call("build", "splits", "--input", *paths, "--output", tmp_path / "out")
    refused(result, "dev.json: is empty", "train.json: is cut off", "test.json: does not exist")
    assert len(result.err.splitlines()) == 3
    assert not (tmp_path / "out").exists()


def test_allow_missing_goes_on_without_what_is_missing_or_empty_but_not_without_what_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "data.json").write_bytes(GOOD)
    (tmp_path / "cut.json").write_bytes(GOOD[:9000])
    usable = [tmp_path / name for name in ("empty.json", "data.json", "missing.json")]
    refused(call("build", "splits", "--input", *usable, "--output", tmp_path / "out"), "is empty", "does not exist")
    done = call("build", "splits", "--input", *usable, "--output", tmp_path / "out", "--allow-missing", "--quiet")
    assert done == (0, "", "")
    assert [item["path"] for item in manifest(tmp_path / "out")["inputs"]] == ["data.json"]
    cut = call("build", "splits", "--input", *usable, tmp_path / "cut.json", "--output", tmp_path / "no", "--allow-missing")
    refused(cut, "cut.json: is cut off")
    refused(call("build", "splits", "--input", tmp_path / "gone", "--output", tmp_path / "no", "--allow-missing"), "no dialogues")


def test_a_folder_without_dialogues_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    refused(build(tmp_path / "in", tmp_path / "out"), str(tmp_path / "in"), "no dialogues of a known format")
    (tmp_path / "in/notes.md").write_text("hello")
    (tmp_path / "in/valListFile.json").write_text("SNG1.json\n")
    refused(build(tmp_path / "in", tmp_path / "out"), "none with dialogues to read")


def test_the_wrong_format_is_said(tmp_path: Path) -> None:
    for name in ("multiwoz22", "risawoz"):
        refused(build(DATA / "multiwoz21/data.json", tmp_path / "out", "--format", name), "multiwoz")
        assert not (tmp_path / "out").exists()
    refused(build(DATA / "multiwoz21", tmp_path / "out", "--format", "mwoz"), "multiwoz21", "risawoz", code=2)


def _zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name + ".json", content)
    return path


def _broken(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _damaged(content: bytes) -> bytes:
    """One byte of the compressed data changed: the archive opens, its member doesn't unpack."""
    return content[:5000] + bytes([content[5000] ^ 0xFF]) + content[5001:]


def _encrypted(content: bytes) -> bytes:
    """The flag of encryption set on the member, in its own header and in the directory."""
    changed = bytearray(content)
    changed[6] |= 1
    changed[content.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_broken, "is no zip archive, or cut off"),
        (_damaged, "is damaged"),
        (_encrypted, "is encrypted"),
        (lambda content: b"", "is empty"),
        (lambda content: b"hello", "is no zip archive"),
    ],
)
def test_bad_zips(change: Callable[[bytes], bytes], words: str, tmp_path: Path) -> None:
    path = _zip(tmp_path / "corpus.zip", data=GOOD)
    path.write_bytes(change(path.read_bytes()))
    refused(build(path, tmp_path / "out"), str(path), words)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["corpus.zip"]


def test_a_zip_with_a_bad_member_names_both(tmp_path: Path) -> None:
    path = _zip(tmp_path / "corpus.zip", data=GOOD[:50_000])
    refused(build(path, tmp_path / "out"), f"{path}!data.json", "is cut off")
    refused(build(_zip(tmp_path / "none.zip"), tmp_path / "out"), "no dialogues")


def test_exclamation_marks_in_folders_are_no_zip_members(tmp_path: Path) -> None:
    _zip(corpus(tmp_path / "wow! such data", {"d1": talk(1)}) / "more.zip", data=json.dumps({"d2.json": _dialogue(2)}).encode())
    plain("splits", [tmp_path / "wow! such data"], tmp_path / "out")
    assert {record.source_id for record in records(tmp_path / "out")} == {"d1", "d2"}


def _dialogue(number: int = 1, **changes: Any) -> dict[str, Any]:
    log = [{"text": text, "metadata": {}, "dialog_act": {}, "span_info": []} for text in talk(number)]
    return {"goal": {"hotel": {"info": {"area": "east"}}}, "log": log, **changes}


def _no_text() -> dict[str, Any]:
    made = _dialogue()
    del made["log"][1]["text"]
    return made


def _with(key: str, value: Any) -> dict[str, Any]:
    made = _dialogue()
    made["log"][2][key] = value
    return made


RECORDS: dict[str, tuple[Any, str]] = {
    "missing key": ({"goal": {}}, "missing_key"),
    "missing text": (_no_text(), "missing_key"),
    "text is a number": (_with("text", 7), "wrong_type"),
    "text is null": (_with("text", None), "wrong_type"),
    "log is text": (_dialogue(log="hello"), "wrong_type"),
    "a turn is a list": (_dialogue(log=[[], []]), "wrong_type"),
    "no turns": (_dialogue(log=[]), "empty_dialogue"),
    "no object": ("hello", "wrong_type"),
    "null": (None, "wrong_type"),
    "lone surrogate": (_with("text", "half \ud83d of it"), "lone_surrogate"),
    "not a number": (_with("x", float("nan")), "bad_number"),
    "infinity": (_with("x", float("inf")), "bad_number"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_bad_record_is_rejected_with_its_reason_and_the_run_goes_on(name: str, tmp_path: Path) -> None:
    record, reason = RECORDS[name]
    corpus(tmp_path / "in", {"good": talk(1), "better": talk(2)})
    data = json.loads((tmp_path / "in/data.json").read_text())
    (tmp_path / "in/data.json").write_text(json.dumps({"good.json": data["good.json"], "bad.json": record, "better.json": data["better.json"]}))
    made = plain("splits", [tmp_path / "in"], tmp_path / "out")
    assert {one.source_id for one in records(tmp_path / "out")} == {"good", "better"}
    (reject,) = rejects(tmp_path / "out", "read")
    assert reject["reason"] == reason and reject["evidence"]
    assert (reject["file"], reject["index"], reject["source_id"]) == ("data.json", 1, "bad")
    assert any(reason in warning and "rejects/read.jsonl" in warning for warning in made["warnings"])
    assert call("verify", tmp_path / "out").code == 0


def test_where_no_record_can_be_read_the_run_stops(tmp_path: Path) -> None:
    corpus(tmp_path / "in", {"a": {"goal": {}, "log": [{"text": 1}]}, "b": {"log": []}})
    refused(build(tmp_path / "in", tmp_path / "out"), "none of the 2 records", "missing_key 1", "empty_dialogue 1")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_what_only_looks_like_a_corpus_is_told_what_it_is(tmp_path: Path) -> None:
    corpus(tmp_path / "in", {"a": {"log": [{"text": "I need a train ."}]}})
    refused(build(tmp_path / "in", tmp_path / "out"), "data.json is MultiWOZ's test dialogues as DSTC9 Track 2 gives them")
    assert not (tmp_path / "out").exists()


def test_odd_turn_orders(tmp_path: Path) -> None:
    data = json.loads((DATA / "multiwoz22/test/dialogues_001.json").read_text("utf-8"))
    data[0]["turns"][1]["speaker"] = "USER"
    data[1]["turns"] = data[1]["turns"][1:]
    data[2]["turns"][0]["speaker"] = "ROBOT"
    data[3]["turns"] = data[3]["turns"][:-1]
    (tmp_path / "dialogues_001.json").write_text(json.dumps(data), "utf-8")
    plain("splits", [tmp_path / "dialogues_001.json"], tmp_path / "out")
    assert [reject["reason"] for reject in rejects(tmp_path / "out", "read")] == ["odd_turn_order", "odd_turn_order", "wrong_type"]
    assert len(records(tmp_path / "out")) == len(data) - 3, "a dialogue may end on the user's turn"


def test_a_duplicate_id_keeps_the_first_and_says_so(tmp_path: Path) -> None:
    one, other = json.dumps(_dialogue(1)), json.dumps(_dialogue(2))
    (tmp_path / "b.json").write_text(f'{{"D1.json": {one}, "D2.json": {other}, "D1.json": {other}}}')
    (tmp_path / "c.json").write_text(f'{{"D2.json": {one}}}')
    for order in (["b.json", "c.json"], ["c.json", "b.json"]):
        plain("splits", [tmp_path / name for name in order], tmp_path / "out")
        assert {record.source_id: record.turns[0].utterance for record in records(tmp_path / "out")} == {"D1": talk(1)[0], "D2": talk(2)[0]}
        found = {(reject["file"], reject["index"], reject["source_id"], reject["reason"]) for reject in rejects(tmp_path / "out", "read")}
        assert found == {("b.json", 2, "D1", "duplicate_id"), ("c.json", 0, "D2", "duplicate_id")}


def test_ids_that_name_nothing(tmp_path: Path) -> None:
    text = json.dumps({"good.json": _dialogue(1), "": _dialogue(2), "  ": _dialogue(3), "half \ud83d.json": _dialogue(4)})
    (tmp_path / "data.json").write_text(text)
    plain("splits", [tmp_path / "data.json"], tmp_path / "out")
    assert [record.source_id for record in records(tmp_path / "out")] == ["good"]
    assert [reject["reason"] for reject in rejects(tmp_path / "out", "read")] == ["empty_id", "empty_id", "lone_surrogate"]
    assert call("verify", tmp_path / "out").code == 0


def test_ids_that_are_no_safe_file_names_become_no_paths(tmp_path: Path) -> None:
    ids = ["../x", "###", "/etc/passwd", "a\\b", "con", "x" * 300, "-rf", "a b", ".hidden"]
    corpus(tmp_path / "in", {name: talk(place) for place, name in enumerate(ids)})
    plain("raddle", [tmp_path / "in"], tmp_path / "out")
    assert {record.source_id for record in records(tmp_path / "out")} == set(ids)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert call("verify", tmp_path / "out").code == 0


def test_a_reader_that_fails_on_one_record_costs_that_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialmill.pipelines.sources.multiwoz21 import MultiWoz21

    parse = MultiWoz21.parse

    def failing(self: MultiWoz21, source_id: str, pieces: Any) -> Any:
        if source_id == "bad":
            raise KeyError("unforeseen")
        return parse(self, source_id, pieces)

    monkeypatch.setattr(MultiWoz21, "parse", failing)
    corpus(tmp_path / "in", {"good": talk(1), "bad": talk(2)})
    made = plain("splits", [tmp_path / "in"], tmp_path / "out")
    assert rejects(tmp_path / "out", "read")[0]["reason"] == "reader_failed"
    assert any("please report" in warning for warning in made["warnings"])


def test_a_perturber_that_fails_on_one_dialogue_costs_its_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialmill.perturbers import get

    typos = get("typos")
    once = typos.once

    def failing(self: Any, dialogue: Any, seed: int, variant: int, redraw: int) -> Any:
        if dialogue.source_id == "bad" and variant == 1:
            raise ZeroDivisionError("unforeseen")
        return once(self, dialogue, seed, variant, redraw)

    monkeypatch.setattr(typos, "once", failing)
    corpus(tmp_path / "in", {"good": talk(1), "bad": talk(2)})
    done = call("perturb", "--input", tmp_path / "in", "--with", "typos:rate=0.5", "--variants", "3", "--output", tmp_path / "out", "--quiet")
    assert done.code == 0, done.err
    found = [(record.source_id, record.variant) for record in records(tmp_path / "out", "typos")]
    assert sorted(found) == [("bad", 0), ("good", 0), ("good", 1), ("good", 2)]
    found_rejects = [(reject["reason"], reject["variant"]) for reject in rejects(tmp_path / "out", "typos")]
    assert found_rejects == [("perturber_failed", 1), ("perturber_failed", 2)]
    assert call("verify", tmp_path / "out").code == 0


def test_members_of_data_acts_and_lists_are_joined_outward(tmp_path: Path) -> None:
    """The data has a, b and c; the lists name b and d."""
    corpus(tmp_path / "in", {name: talk(place) for place, name in enumerate("abc")}, val=["b"], test=["d"])
    made = plain("splits", [tmp_path / "in"], tmp_path / "out")
    assert {record.source_id for record in records(tmp_path / "out")} == {"a", "b", "c"}
    assert any("ids of the split lists are not in the input" in warning for warning in made["warnings"])


def test_nothing_perturbable_makes_no_variant_and_is_counted(tmp_path: Path) -> None:
    """A dialogue whose turns are all too short to change is no variant of itself."""
    corpus(tmp_path / "in", {"short": ["17:30", "ok", "?", "ok"], "long": talk(1)})
    assert call("perturb", "--input", tmp_path / "in", "--with", "typos", "--output", tmp_path / "out", "--quiet").code == 0
    assert [record.source_id for record in records(tmp_path / "out", "typos")] == ["long"]
    (reject,) = rejects(tmp_path / "out", "typos")
    assert (reject["reason"], reject["source_id"], reject["variant"]) == ("no_edit_possible", "short", 0)


@pytest.mark.parametrize(
    ("setting", "left"),
    [("ascii_only=true", {"café"}), ("max_words=50", {"long"}), ("require_system_end=true", {"open"}), ("min_turns=3", {"café", "long", "clean"})],
)
def test_filters_are_off_unless_asked_and_say_whom_they_refuse(setting: str, left: set[str], tmp_path: Path) -> None:
    """Every filter that is set gives each dialogue it leaves out a reason and evidence."""
    corpus(
        tmp_path / "in",
        {"café": ["the café please", "yes"], "open": ["hello", "hello", "bye"], "long": ["word " * 60, "yes"], "clean": ["hello you", "yes"]},
    )
    plain("splits", [tmp_path / "in"], tmp_path / "all")
    assert len(records(tmp_path / "all")) == 4 and not rejects(tmp_path / "all", "filter")
    plain("splits", [tmp_path / "in"], tmp_path / "some", setting)
    assert {reject["source_id"] for reject in rejects(tmp_path / "some", "filter")} == left
    assert all(reject["reason"] and reject["evidence"] for reject in rejects(tmp_path / "some", "filter"))
    assert {record.source_id for record in records(tmp_path / "some")} == {"café", "open", "long", "clean"} - left


def test_a_commercial_build_leaves_non_commercial_sources_out_and_counts_them(tmp_path: Path) -> None:
    """The licence of one source would bind the whole mixture."""
    inputs = ["--input", DATA / "multiwoz21", DATA / "risawoz"]
    plain("splits", inputs[1:], tmp_path / "all")
    assert call("build", "splits", *inputs, "--output", tmp_path / "free", "--quiet", "--commercial").code == 0
    assert {record.source for record in records(tmp_path / "all")} == {"multiwoz21", "risawoz"}
    assert {record.source for record in records(tmp_path / "free")} == {"multiwoz21"}
    assert {item["source"]: item["licence"] for item in manifest(tmp_path / "all")["inputs"]} == {"multiwoz21": "MIT", "risawoz": "CC BY-NC 4.0"}
    counts = {stage["name"]: stage for stage in manifest(tmp_path / "free")["stages"]}
    assert counts["filter"]["rejected"] == {"licence_non_commercial": 35}
    assert "license: cc-by-nc-4.0" in (tmp_path / "all/README.md").read_text("utf-8")
    assert "license: mit" in (tmp_path / "free/README.md").read_text("utf-8")


def test_the_same_errors_on_workers_of_their_own(tmp_path: Path) -> None:
    """A fault that only the worker sees, on runners that wrap exceptions."""
    (tmp_path / "data.json").write_bytes(GOOD[:5000] + b"}}]]" + GOOD[5000:])
    options = ["--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"]
    done = spawn("build", "splits", "--input", tmp_path / "data.json", "--output", tmp_path / "out", "--", *options)
    assert done.code == 1 and "is not JSON" in done.err and "Traceback" not in done.err
    assert not (tmp_path / "out").exists()
