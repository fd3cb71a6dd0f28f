"""`verify`, `validate`, `show` and `list`: fresh folders pass, and every kind of tampering is found."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.cli.side_by_side import fitted, marked
from dialmill.schemas import Edit, Turn

from .tools import DATA, call, hashes, manifest, records


def test_fresh_folders_pass(folder: Path) -> None:
    result = call("verify", folder)
    assert result.code == 0 and result.err == "", result
    for word in ("files are as they were written", "counts", "each source in one split", "overlap"):
        assert word in result.out
    told = json.loads(call("verify", folder, "--json", "-").out)
    assert told["ok"] is True and told["problems"] == []
    assert call("verify", folder, "--quiet") == (0, "", "")


def _write(folder: Path, path: str, content: bytes) -> None:
    """Changes a file and its line in the manifest alike, as a careful forger would."""
    (folder / path).write_bytes(content)
    made = manifest(folder)
    for item in made["outputs"]:
        if item["path"] == path:
            item |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(made))


def _edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    made = manifest(folder)
    change(made)
    (folder / "manifest.json").write_text(json.dumps(made))


TEST = "dialogues/typos/test.jsonl"


def _changed_byte(folder: Path) -> None:
    content = bytearray((folder / TEST).read_bytes())
    content[200] ^= 1
    (folder / TEST).write_bytes(content)


def _cut_record(folder: Path) -> None:
    _write(folder, TEST, b"".join((folder / TEST).read_bytes().splitlines(keepends=True)[:-1]))


def _changed_text(folder: Path) -> None:
    content = (folder / TEST).read_bytes()
    found = records(folder, "typos", "test")[0].turns[1].utterance.encode()
    _write(folder, TEST, content.replace(found, found[:-1] + b"!", 1))


def _moved_variant(folder: Path) -> None:
    """A variant goes to the training set, labelled as if it belonged there."""
    record = records(folder, "typos", "test")[0]
    moved = json.loads(json.dumps({**record.to_dict(), "split": "train"}, ensure_ascii=False))
    line = json.dumps(moved, ensure_ascii=False).encode() + b"\n"
    rest = [json.loads(one) for one in (folder / TEST).read_bytes().splitlines()][1:]
    _write(folder, TEST, b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in rest))
    _write(folder, "dialogues/typos/train.jsonl", line)
    _edit(folder, lambda made: _recount(made, {"dialogues/typos/train": 1, "dialogues/typos/test": len(rest)}))


def _recount(made: dict[str, Any], numbers: dict[str, int]) -> None:
    for item in made["outputs"]:
        stem = item["path"].rsplit(".", 1)[0]
        if stem in numbers:
            item["records"] = numbers[stem]


def _stage(made: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(stage for stage in made["stages"] if stage["name"] == name)
    return found


def _one_out_less(made: dict[str, Any]) -> None:
    _stage(made, "filter")["out"] -= 1


def _consistent_lie(made: dict[str, Any]) -> None:
    stage = _stage(made, "typos")
    stage["in"] += 1
    stage["out"] += 1


def _hidden_rejects(made: dict[str, Any]) -> None:
    stage = _stage(made, "filter")
    stage["in"] -= sum(stage["rejected"].values())
    stage["rejected"] = {}


TAMPERING: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed byte": (_changed_byte, f"{TEST}: is not the file that was written"),
    "missing file": (lambda folder: (folder / TEST).unlink(), f"{TEST}: is in the manifest but not in the folder"),
    "extra file": (
        lambda folder: (folder / "dialogues/typos/more.jsonl").write_text("{}"),
        "more.jsonl: is in the folder but not in the manifest",
    ),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "has no manifest.json"),
    "cut manifest": (lambda folder: (folder / "manifest.json").write_bytes((folder / "manifest.json").read_bytes()[:500]), "is cut off"),
    "manifest without counts": (lambda folder: _edit(folder, lambda made: made.pop("stages")), "stages"),
    "inconsistent counts": (lambda folder: _edit(folder, _one_out_less), "'filter' are not consistent"),
    "consistent lie": (lambda folder: _edit(folder, _consistent_lie), "suite 'typos'"),
    "hidden rejects": (lambda folder: _edit(folder, _hidden_rejects), "rejects/filter.jsonl"),
    "record count": (lambda folder: _edit(folder, lambda made: _recount(made, {"release/standard/hotel.test.soloist": 3})), "the manifest says 3"),
    "Parquet count": (lambda folder: _edit(folder, lambda made: made["outputs"][4].update(records=99)), "JSONL form"),
    "overlap": (lambda folder: _edit(folder, lambda made: made.update(overlap={"train/test": {"exact": 5}})), "overlap"),
    "unknown schema": (lambda folder: _edit(folder, lambda made: made["outputs"][1].update(schema="dialog")), "'dialog'"),
    "record cut out": (_cut_record, TEST),
    "changed text": (_changed_text, "are not equal"),
    "moved variant": (_moved_variant, "is in"),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_tampering_is_found(name: str, raddle: Path, tmp_path: Path) -> None:
    change, words = TAMPERING[name]
    folder = tmp_path / "out"
    shutil.copytree(raddle, folder)
    assert call("verify", folder).code == 0
    change(folder)
    result = call("verify", folder)
    assert result.code == 1 and result.out == "" and "Traceback" not in result.err and "fault of dialmill" not in result.err
    assert words in result.err, result.err
    if name != "no manifest":
        assert json.loads(call("verify", folder, "--json", "-").out)["ok"] is False


def test_a_release_of_an_unknown_benchmark_is_checked_as_far_as_it_can_be(raddle: Path, tmp_path: Path) -> None:
    """A plug-in's output, where the plug-in is not installed."""
    shutil.copytree(raddle, tmp_path / "out")
    _edit(tmp_path / "out", lambda made: made.update(benchmark="elsewhere"))
    result = call("verify", tmp_path / "out")
    assert result.code == 0 and "has no benchmark 'elsewhere'" in result.out and "are as they were written" in result.out


def test_a_report_may_be_written_again(raddle: Path, tmp_path: Path) -> None:
    shutil.copytree(raddle, tmp_path / "out")
    (tmp_path / "out/report.html").write_text("<html>")
    spoilt = call("verify", tmp_path / "out")
    assert spoilt.code == 1 and "report.html: is not the file that was written" in spoilt.err
    assert call("report", tmp_path / "out", "--quiet") == (0, "", "")
    assert call("verify", tmp_path / "out").code == 0
    assert hashes(tmp_path / "out") == hashes(raddle)


def test_validate_takes_what_is_emitted_and_what_is_read(raddle: Path) -> None:
    for path in [
        *sorted(raddle.rglob("*.json*")),
        *sorted(raddle.rglob("*.parquet")),
        DATA / "multiwoz21/data.json",
        DATA / "risawoz/dialogues.json",
    ]:
        result = call("validate", path)
        assert result.code == 0 and str(path) in result.out, result
    assert call("validate", raddle).code == 0
    assert json.loads(call("validate", raddle / "manifest.json", "--json", "-").out)["ok"] is True


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.jsonl", b'{"dialogue_id": 1}\n', "x.jsonl"),
        ("x.jsonl", b"{\n", "cut off"),
        ("x.json", b"", "is empty"),
        ("x.json", b'{"a": NaN}', "NaN"),
        ("x.json", b'{"a": 1}', "no known kind"),
        ("x.parquet", b"PAR1", "no Parquet file"),
        ("x.zip", b"PK", "no zip archive"),
    ],
)
def test_validate_says_what_is_wrong(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    result = call("validate", tmp_path / name)
    assert result.code == 1 and result.out == "" and words in result.err and "Traceback" not in result.err
    assert call("validate", tmp_path / name, "--quiet").code == 1


def test_a_folder_s_side_files_are_told_of_and_damaged_ones_count(tmp_path: Path) -> None:
    (tmp_path / "side.json").write_text('{"a": 1}')
    assert call("validate", tmp_path).code == 1
    shutil.copy(DATA / "risawoz/dialogues.json", tmp_path)
    result = call("validate", tmp_path)
    assert result.code == 0 and "side.json: not checked" in result.out and "dialogues.json" in result.out
    (tmp_path / "side.json").write_text("")
    assert "is empty" in call("validate", tmp_path).err


def test_validate_and_verify_of_nothing(tmp_path: Path) -> None:
    for command in ("validate", "verify"):
        for path in (tmp_path, tmp_path / "gone"):
            result = call(command, path)
            assert result.code == 1 and str(path) in result.err and result.out == "", result


def test_show_lines_up_a_source_and_its_variants(raddle: Path) -> None:
    record = records(raddle, "typos", "test")[0]
    by_source = call("show", raddle, "--id", record.source_id)
    assert by_source.code == 0 and by_source.err == ""
    changed = next(turn for turn in record.turns if turn.original is not None)
    assert all(f"  {name} " in by_source.out for name in ("standard", "typos")) and "typos@3(" in by_source.out
    assert "[-" in by_source.out and "{+" in by_source.out
    assert changed.original is not None and changed.original.split()[0] in by_source.out
    by_dialogue = call("show", raddle, "--id", record.dialogue_id, "--width", "60")
    assert by_dialogue.code == 0 and "typos" in by_dialogue.out
    assert max(map(len, by_dialogue.out.splitlines()[1:])) <= 60
    # Every line says whose it is, but those that head a turn.
    for line in by_dialogue.out.splitlines()[2:]:
        assert not line or line[:1].isdigit() or line.split()[0] in ("standard", "typos"), line


def shown_ids(*words: object) -> list[str]:
    """The source ids that `show` shows, told by its JSON."""
    done = call("show", *words, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    for one in found["dialogues"]:
        assert all(record["source_id"] == one["source_id"] for record in one["records"])
    return [one["source_id"] for one in found["dialogues"]]


def test_show_without_an_id_takes_dialogues_at_random(raddle: Path) -> None:
    known = {record.source_id for record in records(raddle)}
    some = shown_ids(raddle, "--random", 5, "--seed", 7)
    assert len(set(some)) == 5 and set(some) <= known and shown_ids(raddle, "--random", 5, "--seed", 7) == some
    assert len({tuple(shown_ids(raddle, "--seed", seed)) for seed in range(8)}) > 1
    shown = call("show", raddle, "--random", 2)
    assert shown.code == 0 and re.search(r"the same again: --seed \d+$", shown.out.strip())
    seed = shown.out.rsplit(" ", 1)[1].strip()
    assert call("show", raddle, "--random", 2, "--seed", seed).out.strip() == shown.out.rsplit("\n\n", 1)[0].strip()


def test_show_is_narrowed_by_suite_domain_and_change(raddle: Path) -> None:
    everything = shown_ids(raddle, "--random", 1000)
    assert set(everything) == {record.source_id for record in records(raddle)}
    hotels = shown_ids(raddle, "--random", 1000, "--domain", "hotel")
    assert set(hotels) == {record.source_id for record in records(raddle) if "hotel" in record.domains}
    changed = shown_ids(raddle, "--random", 1000, "--changed", "--suite", "typos")
    assert set(changed) == {record.source_id for record in records(raddle, "typos") if any(turn.original is not None for turn in record.turns)}
    text = call("show", raddle, "--changed", "--suite", "typos", "--id", changed[0]).out
    turns = re.split(r"(?m)^\d+ (?:user|system).*$", text)[1:]
    assert turns and all("[-" in part or "{+" in part for part in turns)
    for words, said in ((["--domain", "moon"], "hotel"), (["--suite", "moon"], "typos"), (["--id", "x", "--domain", "hotel"], "--domain")):
        done = call("show", raddle, *words)
        assert done.code in (1, 2) and said in done.err, done


def test_show_marks_slips_by_letters_and_all_else_by_words() -> None:
    turn = Turn(0, "user", "a hotle please", original="a hotel please", edits=(Edit(5, 7, "le"),))
    assert marked(turn) == "a hot[-el-]{+le+} please" and marked(turn, letters=False) == "a [-hotel-]{+hotle+} please"


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("a cheap hotel", 7, ["a cheap", "hotel"]),
        ("便宜的酒店", 6, ["便宜的", "酒店"]),
        ("酒店 Hotel-Area=北边", 12, ["酒店", "Hotel-Area=", "北边"]),
        ("unbreakable", 4, ["unbreakable"]),
        ("", 4, [""]),
    ],
)
def test_lines_are_as_wide_as_they_look(text: str, room: int, lines: list[str]) -> None:
    assert fitted(text, room) == lines


@pytest.mark.parametrize("wanted", ["SNG0000", "", "../x", "ü", "\udcff", "SNG7101/nosuite/0"])
def test_show_of_an_unknown_id_names_some_that_there_are(wanted: str, raddle: Path) -> None:
    result = call("show", raddle, "--id", wanted)
    assert result.code == 1 and result.out == "" and "holds no dialogue" in result.err
    assert any(record.source_id in result.err for record in records(raddle))


def test_show_of_no_folder(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        result = call("show", path, "--id", "x")
        assert result.code == 1 and str(path) in result.err


@pytest.mark.parametrize(
    ("what", "some"),
    [
        ("benchmarks", ["raddle", "splits"]),
        ("sources", ["multiwoz21", "multiwoz22", "risawoz"]),
        ("perturbers", ["typos"]),
        ("engines", ["nlpaug"]),
        ("schemas", ["dialogue", "manifest", "soloist"]),
    ],
)
def test_list_names_what_there_is(what: str, some: list[str]) -> None:
    result = call("list", what)
    assert result.code == 0 and result.out.startswith(f"{what}:\n")
    told = json.loads(call("list", what, "--json", "-").out)
    assert list(told) == [what]
    assert set(some) <= {entry["name"] for entry in told[what]}
    for entry in told[what]:
        assert entry["name"] in result.out and entry["about"]
    assert set(json.loads(call("list", "--json", "-").out)) == {"benchmarks", "sources", "exporters", "perturbers", "engines", "runners", "schemas"}


def test_list_shows_the_options_of_a_perturber_and_the_keys_of_a_recipe() -> None:
    told = call("list", "perturbers", "typos").out
    assert "rate" in told and "above 0 and at most 1" in told and "example: typos:rate=0.3" in told
    told = call("list", "recipe", "cgodial-sbd").out
    assert told.index("question_chance") < told.index("few_shot") and "--set question_chance=0.8" in told
    keys = json.loads(call("list", "recipe", "raddle", "--json", "-").out)["raddle"]
    assert {"name", "about", "allowed", "unit", "default", "example", "with"} == set(keys[0])
    for words in (["list", "recipe"], ["list", "engines", "pico"]):
        assert call(*words).code == 2
