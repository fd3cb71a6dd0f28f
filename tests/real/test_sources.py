"""The sources on the published corpora; counts are those that the corpora's descriptions give."""

from __future__ import annotations

import json
import time
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import find_inputs, head_of
from dialmill.pipelines.sources.spans import whole

from tests.pipelines.source_tools import Read, read_paths


def _check(read: Read) -> Counter[str]:
    """Holds the laws over all that was read; counts what there is."""
    count: Counter[str] = Counter()
    for dialogue in read.dialogues.values():
        for number, turn in enumerate(dialogue.turns):
            assert (turn.turn, turn.speaker) == (number, "system" if number % 2 else "user")
            assert turn.speaker == "user" or not turn.state
            count["turns"] += 1
            for span in turn.spans:
                assert span.start is not None and span.end is not None
                assert span.text == turn.utterance[span.start : span.end]
                assert whole(turn.utterance, span.start, span.end)
                count["spans"] += 1
            for entry in turn.state:
                assert all(value.strip() and "|" not in value for value in entry.values)
    return count


@pytest.fixture(scope="module")
def val_and_test(real: Path) -> Read:
    folder = real / "multiwoz21" / "convlab2"
    names = ["val.json.zip", "test.json.zip", "valListFile", "testListFile", "trainListFile"]
    return read_paths(registry.get("multiwoz21"), [folder / name for name in names])


def test_multiwoz21_val_and_test(val_and_test: Read) -> None:
    read = val_and_test
    assert not read.rejects and not read.repeated
    assert Counter(dialogue.split for dialogue in read.dialogues.values()) == {"valid": 999, "test": 1000}
    assert len(read.absent) == 8434  # the train list, whose dialogues are not in the input
    count, notes = _check(read), read.notes()
    print(dict(count), dict(notes))
    assert count["turns"] == 14_730 + 14_744
    # The release has 37,892 spans with their start before their end, of which 1,354 are not the value up to punctuation, and 4 with it behind.
    assert count["spans"] >= 37_892 - 1_354
    assert notes["span_mismatch"] < 300
    assert notes["span_moved"] < 50
    # 612 + 574 user turns and 79 + 79 system turns.
    assert notes["acts_missing"] == 612 + 574 + 79 + 79
    assert set(notes) <= {"span_mismatch", "span_moved", "acts_missing", "span_ambiguous", "goal_text_conflict"}
    assert notes["goal_text_conflict"] < 5


def test_multiwoz21_single_domain_dialogues(val_and_test: Read) -> None:
    single = Counter(dialogue.domains[0] for dialogue in val_and_test.dialogues.values() if len(dialogue.domains) == 1)
    assert {domain: single[domain] for domain in ("attraction", "train", "hotel", "restaurant")} == {
        "attraction": 23,
        "train": 63,
        "hotel": 123,
        "restaurant": 112,
    }


def test_multiwoz21_states_hold_what_the_metadata_hold(val_and_test: Read, real: Path) -> None:
    """Counted by code that shares nothing with the source."""
    expected = found = 0
    for name in ("val", "test"):
        with zipfile.ZipFile(real / "multiwoz21" / "convlab2" / f"{name}.json.zip") as archive:
            content = json.loads(archive.read(f"{name}.json"))
        for source_id, record in content.items():
            turns = val_and_test.dialogues[source_id].turns
            for number in range(1, len(record["log"]), 2):
                cells = {
                    (domain, ("book " if section == "book" else "") + slot.lower())
                    for domain, sections in record["log"][number]["metadata"].items()
                    for section, slots in sections.items()
                    for slot, value in slots.items()
                    if slot != "booked" and value not in ("", "not mentioned", "none")
                }
                state = turns[number - 1].state
                assert {(entry.domain, entry.slot) for entry in state} == cells
                expected += len(cells)
                found += len(state)
    assert expected == found == 40_237 + 40_674 + 775 + 1_169
    multiple = [entry for d in val_and_test.dialogues.values() for t in d.turns for entry in t.state if len(entry.values) > 1]
    assert len(multiple) == 19
    cafe = {value for d in val_and_test.dialogues.values() for t in d.turns for entry in t.state for value in entry.values if value.startswith("caf")}
    assert "caf\u00e9 jello galery" in cafe and not any("\u8068" in value for value in cafe)


def test_multiwoz21_is_read_fast(val_and_test: Read, real: Path) -> None:
    """CPU time per dialogue; the bound leaves room for a machine that is shared."""
    source = registry.get("multiwoz21")
    with zipfile.ZipFile(real / "multiwoz21" / "convlab2" / "test.json.zip") as archive:
        data = archive.read("test.json")
    pieces = [(key, [Piece(kind, 0, 0, raw)]) for key, kind, raw in source.pieces("dialogues", "data.json", data)][:200]
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        for source_id, own in pieces:
            source.parse(source_id, own)
        best = min(best, (time.process_time() - begin) / len(pieces))
    print(f"multiwoz21: {1000 * best:.3f} ms of CPU per dialogue")
    assert best < 0.003


@pytest.mark.parametrize("name", ["data.json.zip", "annotated_user_da_with_span_full.json.zip"])
def test_titan_loses_nothing(real: Path, name: str) -> None:
    """A modified copy with damaged labels: every dialogue is read, what is wrong is noted."""
    folder = real / "multiwoz21" / "titan_derived"
    read = read_paths(registry.get("multiwoz21"), [folder / name, folder / "valListFile.json", folder / "testListFile.json"])
    assert len(read.dialogues) + len(read.rejects) == 903
    assert not read.rejects
    count, notes = _check(read), read.notes()
    print(dict(count), dict(notes))
    assert count["turns"] == 14_188
    assert notes["user_metadata"] == 1
    splits = Counter(dialogue.split for dialogue in read.dialogues.values())
    listed = {split: sum(1 for line in (folder / f"{split}ListFile.json").read_text().split()) for split in ("val", "test")}
    assert splits["valid"] + splits["test"] + len(read.absent) == listed["val"] + listed["test"]
    if name.startswith("annotated"):
        assert notes["act_malformed"] == 10
        # 13,243 of 19,815 spans do not fit the tokens they name; most are found elsewhere.
        assert 5_000 < notes["span_moved"] + notes["span_mismatch"] <= 13_243
        # 19,815 claims, of which some say the same twice.
        assert 13_000 < count["spans"] <= 19_815 - notes["span_mismatch"]
        states = [turn.state for turn in read.dialogues["SNG1371"].turns]
        assert any(entry.values == ("yu garden",) for entry in states[8])


def test_multiwoz22(real: Path) -> None:
    source, folder = registry.get("multiwoz22"), real / "multiwoz22"
    whole_ones = read_paths(source, [folder / "original_examples.json", folder / "schema.json"])
    assert (len(whole_ones.dialogues), _check(whole_ones)["turns"]) == (5, 46)
    truncated = sorted((folder / "truncated_first_dialogues").rglob("*.json"))
    read = read_paths(source, truncated)
    assert not read.rejects
    assert (len(read.dialogues), _check(read)["turns"]) == (21, 42)
    assert Counter(dialogue.split for dialogue in read.dialogues.values()) == {"train": 17, "valid": 2, "test": 2}
    notes = whole_ones.notes() + read.notes()
    assert "span_mismatch" not in notes and "span_moved" not in notes
    # The spans of the frames, read without the source: each is found again, at its place or widened to whole words.
    frames = 0
    for path in [folder / "original_examples.json", *truncated]:
        content = json.loads(path.read_text())
        for record in content if isinstance(content, list) else []:
            for turn in record.get("turns", []):
                for slot in (slot for frame in turn["frames"] for slot in frame.get("slots", []) if "start" in slot):
                    dialogue = (whole_ones if path.name == "original_examples.json" else read).dialogues[record["dialogue_id"].removesuffix(".json")]
                    spans = dialogue.turns[int(turn["turn_id"])].spans
                    assert any(
                        span.start is not None and span.end is not None and span.start <= slot["start"] and span.end >= slot["exclusive_end"]
                        for span in spans
                    )
                    frames += 1
    assert frames == 23


def test_risawoz(real: Path) -> None:
    folder = real / "risawoz"
    read = read_paths(registry.get("risawoz"), [folder / "zh_fewshot.json", folder / "dataset_split_ids_dict.json"])
    assert not read.rejects
    assert (len(read.dialogues), len(read.absent)) == (100, 11_100)
    assert {dialogue.split for dialogue in read.dialogues.values()} == {"train"}
    count, notes = _check(read), read.notes()
    print(dict(count), dict(notes))
    assert count["turns"] == 2 * 659
    assert count["spans"] > 750

    # 6 turns lose a slot that the turn before had, and the record says so.
    lost = 0
    for dialogue in read.dialogues.values():
        states = [{(entry.domain, entry.slot) for entry in turn.state} for turn in dialogue.turns if turn.speaker == "user"]
        lost += sum(bool(before - after) for before, after in pairwise(states))
    assert lost == 6

    # Every informed value is in the ontology, up to the ontology's own blanks.
    ontology = json.loads((folder / "RiSAWOZ-Database-and-Ontology" / "Ontology" / "ontology.json").read_text())
    known = {(d.lower(), s.lower(), str(v).replace(" ", "")) for d, slots in ontology.items() for s, values in slots.items() for v in values}
    values = {(entry.domain, entry.slot, v) for d in read.dialogues.values() for t in d.turns for entry in t.state for v in entry.values}
    assert not [item for item in values if (item[0], item[1], item[2].replace(" ", "")) not in known]


@pytest.mark.parametrize(
    ("name", "dialogues", "turns", "spans", "languages"),
    [
        ("kvret/data.zip", 3030, 15_913, 7_365, {"en"}),
        ("camrest/data.zip", 676, 5_488, 3_963, {"en"}),
        ("crosswoz/dummy_data.json", 10, 156, 151, {"zh"}),
        ("sgd/dummy_data.json", 10, 200, 170, {"en"}),
        ("tm1/dummy_data.json", 10, 222, 167, {"en"}),
        ("multiwoz21/dummy_data.json", 10, 120, 108, {"en"}),
    ],
)
def test_convlab(real: Path, name: str, dialogues: int, turns: int, spans: int, languages: set[str]) -> None:
    """`spans` are those that the release places in the text, of which at most two cut a word; values without a place are found beyond them."""
    read = read_paths(registry.get("convlab"), [real / "convlab3_unified" / name])
    assert not read.rejects and not read.repeated
    count, notes = _check(read), read.notes()
    print(name, dict(count), dict(notes))
    assert (len(read.dialogues), count["turns"]) == (dialogues, turns)
    assert count["spans"] >= spans - 2
    assert notes["span_mismatch"] <= 2 and notes["span_moved"] == 0
    assert {dialogue.language for dialogue in read.dialogues.values()} == languages
    if name.endswith(".zip"):
        assert {dialogue.split for dialogue in read.dialogues.values()} == {"train", "valid", "test"}


def test_sgd(real: Path) -> None:
    read = read_paths(registry.get("sgd"), sorted((real / "sgd").rglob("*.json")))
    assert not read.rejects and not read.repeated
    assert Counter(dialogue.split for dialogue in read.dialogues.values()) == {"valid": 68, "test": 128}
    count, notes = _check(read), read.notes()
    print(dict(count), dict(notes))
    assert count["turns"] == 998 + 1_536
    # Every one of the release's spans holds, at its place, and has an act's value; those of closed lists are found beyond them.
    assert set(notes) <= {"span_ambiguous"}
    found = {(key, turn.turn, span.start, span.end) for key, d in read.dialogues.items() for turn in d.turns for span in turn.spans}
    given = 0
    for path in sorted((real / "sgd").rglob("dialogues_*.json")):
        for record in json.loads(path.read_text()):
            for number, turn in enumerate(record["turns"]):
                for slot in (slot for frame in turn["frames"] for slot in frame["slots"]):
                    assert (f"{path.parent.name}/{record['dialogue_id']}", number, slot["start"], slot["exclusive_end"]) in found
                    given += 1
    assert given == 813 + 907


def test_crosswoz(real: Path) -> None:
    read = read_paths(registry.get("crosswoz"), [real / "crosswoz" / "val.json.zip"])
    assert not read.rejects and not read.repeated
    assert Counter(dialogue.split for dialogue in read.dialogues.values()) == {"valid": 500}
    count, notes = _check(read), read.notes()
    print(dict(count), dict(notes))
    assert count["turns"] == 8_458
    assert notes["acts_missing"] == 99
    assert set(notes) <= {"acts_missing", "span_ambiguous"}
    # 10,989 acts have a value, of which 223 name a domain and 833 are not literally in the text.
    acts = [act for d in read.dialogues.values() for turn in d.turns for act in turn.acts if act.value is not None]
    assert 10_800 < len(acts) <= 6_254 + 645 + 4_090 + 223
    assert count["spans"] > 10_989 - 833 - 223
    # The states, counted by code that shares nothing with the source.
    with zipfile.ZipFile(real / "crosswoz" / "val.json.zip") as archive:
        content = json.loads(archive.read("val.json"))
    for key, record in content.items():
        for number, message in enumerate(record["messages"]):
            if message["role"] == "sys":
                query = message["sys_state_init"]
                cells = {(domain, slot) for domain, slots in query.items() for slot, v in slots.items() if v and slot != "selectedResults"}
                assert {(entry.domain, entry.slot) for entry in read.dialogues[key].turns[number - 1].state} == cells


def test_clinc(real: Path) -> None:
    read = read_paths(registry.get("clinc"), [real / "clinc_oos" / "data_full.json"])
    assert not read.rejects and not read.repeated
    assert Counter(dialogue.split for dialogue in read.dialogues.values()) == {"train": 15_100, "valid": 3_100, "test": 5_500}
    labels = Counter(dialogue.turns[0].labels[0] for dialogue in read.dialogues.values())
    assert labels.pop("oos") == 1_200
    assert len(labels) == 150 and set(labels.values()) == {150}
    assert read.dialogues["oos_test/17"].split == "test"


def test_taskmaster(real: Path) -> None:
    read = read_paths(registry.get("taskmaster"), [real / "taskmaster" / f"tm{number}.original_examples.json" for number in (1, 2, 3)])
    assert not read.rejects and not read.repeated
    count, notes = _check(read), read.notes()
    print(dict(count), dict(notes))
    assert len(read.dialogues) == 15
    # 83 + 66 utterances of Taskmaster 2 become 127 turns; the others take turns as they are.
    assert count["turns"] == 118 + 127 + 90
    assert (notes["turns_merged"], notes["opening_dropped"]) == (19, 3)
    assert "span_mismatch" not in notes and "span_moved" not in notes and "span_malformed" not in notes


#: What each folder of published corpora is, as `find_inputs` tells it: the sources of its dialogues, acts and splits; nothing for foreign formats.
FOLDERS: dict[str, set[str]] = {
    "clinc_oos": {"clinc"},
    "convlab3_unified": {"convlab"},
    "crosswoz": {"crosswoz"},
    "dstc9_track2": {"crosswoz", "multiwoz21"},
    "multiwoz21": {"multiwoz21"},
    "multiwoz22": {"multiwoz22"},
    "risawoz": {"risawoz"},
    "sgd": {"sgd"},
    "simmc2": {"simmc"},
    "taskmaster": {"taskmaster"},
    "tau_bench": {"messages"},
    "woz20": {"woz20"},
    "xrisawoz_fewshot": {"risawoz"},
}
TASK_ORIENTED = ["dialmill", *sorted({name for names in FOLDERS.values() for name in names})]


def test_every_file_is_told_apart(real: Path) -> None:
    """Nothing is claimed by two sources, side files neither, and each corpus is known for what it is."""
    for folder in sorted(path for path in real.iterdir() if path.is_dir()):
        if folder.name not in FOLDERS:
            try:
                found = find_inputs([str(folder)])
            except DialmillError:
                continue
            assert not {one.source for one in found} & set(TASK_ORIENTED), folder.name
            continue
        found = find_inputs([str(folder)])
        assert {one.source for one in found} == FOLDERS[folder.name], folder.name
        for one in found:
            head = head_of(one.path)
            assert [name for name in registry.names() if registry.get(name).role(one.path, head) is not None] == [one.source], one.shown


def test_woz20(real: Path) -> None:
    read = read_paths(registry.get("woz20"), [real / "woz20" / "woz20.zip"])
    assert not read.rejects and not read.repeated
    assert Counter((one.language, one.split) for one in read.dialogues.values()) == {
        ("en", "train"): 600, ("en", "valid"): 200, ("en", "test"): 400, ("de", "test"): 400
    }  # fmt: skip
    # 6,658 entries, each a user turn, and before all but the first of a dialogue a system turn.
    assert _check(read)["turns"] == 2 * 6658 - 1600


def test_tau_bench(real: Path) -> None:
    read = read_paths(registry.get("messages"), [real / "tau_bench" / "gpt-4o-airline.json.zip"])
    assert not read.rejects and not read.repeated and len(read.dialogues) == 200
    roles = Counter((turn.role, turn.speaker) for one in read.dialogues.values() for turn in one.turns)
    assert sum(roles.values()) == 5308 and roles["user", "user"] == 1490 and roles["tool", "other"] == 1164 and roles["system", "other"] == 200
    assert roles["assistant", "other"] + roles["assistant", "system"] == 2454
