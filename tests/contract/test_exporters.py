"""What every exporter must keep to, in every suite and both languages: what is read back is the record, ids are the source's, bytes are the same."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dialmill.pipelines.build import make_job, run
from dialmill.pipelines.cli.verify import verify_folder
from dialmill.pipelines.core.carried import KEY
from dialmill.pipelines.core.exporter import SPLITS, Suite
from dialmill.pipelines.exporters import registry, writing
from dialmill.pipelines.exporters.tasks.tracking import score_acts, score_state
from dialmill.schemas import Dialogue

import dialmill as dm
from tests.pipelines.tools import DATA, call, hashes, spawn

#: Corpora of both languages; Taskmaster's dialogues don't always begin with the user or end with the system, SGD's ids have a part of the corpus.
CORPORA = ("multiwoz21", "risawoz", "sgd", "taskmaster", "crosswoz")
WITH = ("typos", "disfluency+speech:engine=text,wer=0.4", "out_of_scope")
ROUND_TRIPS = [name for name in registry.names() if registry.get(name).reads_back and registry.get(name).keeps_labels]
TASKS = ("inspect", "lm-eval", "promptfoo")
#: Formats of what one source alone has; tests/pipelines/test_tau2.py has tau2's ids.
OWN = ("tau2",)


@pytest.fixture(scope="module", params=CORPORA)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder of a corpus with suites of noise, of errors that change values, and of inserted turns; two variants each, all exported."""
    folder: Path = tmp_path_factory.mktemp(request.param) / "out"
    specs = [word for spec in WITH for word in ("--with", spec)]
    words = ("perturb", "--input", DATA / request.param, *specs, "--output", folder, "--variants", 2, "--limit", 14, "--quiet")
    done = call(*words, "--export", ",".join(registry.names()))
    assert done.code == 0, done.err
    return folder


def suites(folder: Path) -> list[str]:
    """The suites of an output folder."""
    found: list[str] = json.loads((folder / "manifest.json").read_bytes())["recipe"]["suites"]
    return found


def as_exported(record: Dialogue, name: str) -> Dialogue:
    """A record without what says how it came to be, which is no part of a corpus."""
    turns = tuple(turn.replace(original=None, edits=(), role=None, payload=None) for turn in record.turns)
    return record.replace(dialogue_id=name, source_id=name, source="", suite="", variant=0, lineage=(), turns=turns, payload=None)


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_what_is_read_back_is_the_record(built: Path, name: str) -> None:
    compared = 0
    for suite in suites(built):
        exported = Suite(str(built), suite)
        wanted = {exported.exported_id(one): as_exported(one, exported.exported_id(one)) for one in exported.records()}
        read = {one.source_id: one for one in dm.read(built / "export" / name / suite)}
        assert read.keys() == wanted.keys()
        for key, one in read.items():
            assert one.source == registry.get(name).reads_back and as_exported(one, key) == wanted[key]
        compared += len(wanted)
    assert compared > 50


@pytest.mark.parametrize("name", [name for name in registry.names() if name not in (*TASKS, *OWN)])
def test_ids_are_the_sources_and_numbered_where_there_are_variants(built: Path, name: str) -> None:
    for suite in suites(built):
        exported = Suite(str(built), suite)
        wanted = [exported.exported_id(one) for one in exported.records()]
        assert any(one.endswith("~1") for one in wanted) == (suite != "standard")
        # The ids of SGD recur in its parts, which our ids say in front; MultiWOZ 2.2 writes ".json" behind them.
        wanted = [one.partition("/")[2] or one for one in wanted] if name == "sgd" else wanted
        wanted = [f"{one}.json" for one in wanted] if name == "multiwoz22" else wanted
        assert sorted(exported_ids(built / "export" / name / suite, name)) == sorted(wanted)


def exported_ids(folder: Path, name: str) -> Iterator[str]:
    """The ids of the dialogues that stand in an export."""
    if name == "convlab":
        with zipfile.ZipFile(folder / "data.zip") as archive:
            yield from (one["original_id"] for one in json.loads(archive.read("data/dialogues.json")))
    elif name == "multiwoz21":
        yield from json.loads((folder / "data.json").read_bytes())
    elif name in ("multiwoz22", "sgd"):
        for path in sorted(folder.rglob("dialogues_*.json")):
            yield from (one["dialogue_id"] for one in json.loads(path.read_bytes()))
    elif name == "messages":
        yield from (line["id"] for path in sorted(folder.glob("*.jsonl")) for line in json_lines(path))
    elif name == "rasa":
        for path in sorted(folder.glob("*/*.yml")):
            loaded = yaml.safe_load(path.read_text("utf-8"))
            entries = [*loaded.get("stories", ()), *(one for block in loaded.get("nlu", ()) for one in block["examples"])]
            yield from (one["metadata"][KEY]["id"] for one in entries if "id" in one["metadata"][KEY])
    else:
        raise AssertionError(f"say here how the ids of {name} are found")


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_chats_are_read_back_turn_by_turn(built: Path) -> None:
    for suite in suites(built):
        exported = Suite(str(built), suite)
        wanted = {exported.exported_id(one): [(turn.speaker, turn.utterance) for turn in one.turns if turn.utterance] for one in exported.records()}
        read = {one.source_id: [(turn.speaker, turn.utterance) for turn in one.turns] for one in dm.read(built / "export" / "messages" / suite)}
        assert read == wanted


def test_what_came_as_messages_goes_as_it_came_but_for_what_was_perturbed(tmp_path: Path) -> None:
    source = DATA / "messages" / "support.jsonl"
    words = ("perturb", "--input", source, "--with", "typos:rate=0.5", "--output", tmp_path / "out", "--export", "messages", "--quiet")
    done = call(*words)
    assert done.code == 0, done.err
    came = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    for suite in ("standard", "typos"):
        went = [one for path in sorted((tmp_path / "out" / "export" / "messages" / suite).glob("*.jsonl")) for one in json_lines(path)]
        if suite == "standard":
            assert sorted(map(json.dumps, went)) == sorted(json.dumps(one) for one in came)
        else:
            told = [[message for message in one["messages"] if message["role"] != "user"] for one in went]
            assert all([message for message in one["messages"] if message["role"] != "user"] in told for one in came)
            assert len(went) == len(came) and went != came and all(one.keys() == came[0].keys() for one in went)


@pytest.mark.parametrize("name", TASKS)
def test_tasks_ask_for_every_state_and_every_action_of_the_perturbed_text(built: Path, name: str) -> None:
    for suite in suites(built):
        exported = Suite(str(built), suite)
        folder = built / "export" / name / suite
        records = {exported.exported_id(one): one for one in exported.records()}
        for task, score in (("dst", score_state), ("next_action", score_acts)):
            samples = [
                one for split in SPLITS if (folder / f"{task}.{split}.jsonl").is_file() for one in json_lines(folder / f"{task}.{split}.jsonl")
            ]
            samples = [one | one["vars"] | {"id": one["metadata"]["id"]} if name == "promptfoo" else one for one in samples]
            assert len({one["id"] for one in samples}) == len(samples)
            asked: dict[str, int] = {}
            for one in samples:
                about = one.get("metadata", one)
                asked[about["dialogue_id"]] = asked.get(about["dialogue_id"], 0) + 1
                record = records[about["dialogue_id"]]
                given = record.turns[: about["turn"] + 1]
                text = one["prompt"] if "prompt" in one else "\n".join(message["content"] for message in one["input"])
                assert all(turn.utterance in text for turn in given)
                assert set(score(one["target"], one["target"]).values()) == {1.0}
                assert set(score("no idea", one["target"]).values()) == {0.0}
            for key, record in records.items():
                users = sum(turn.speaker == "user" for turn in record.turns) if any(turn.state for turn in record.turns) else 0
                first = next((number for number, turn in enumerate(record.turns) if turn.speaker == "user"), 0)
                acting = sum(turn.speaker == "system" and bool(turn.acts) for turn in record.turns[first:])
                assert asked.get(key, 0) == (users if task == "dst" else acting)


def test_answers_are_scored_by_slots_and_acts() -> None:
    gold = '{"hotel": {"area": ["centre", "center"], "stars": ["4"]}}'
    assert score_state('The state is {"Hotel": {"area": "Center", "stars": 4}}.', gold) == {"joint_goal_accuracy": 1.0, "slot_f1": 1.0}
    assert score_state('{"hotel": {"area": "centre"}}', gold) == {"joint_goal_accuracy": 0.0, "slot_f1": pytest.approx(2 / 3)}
    assert score_state('{"hotel": {"area": "centre", "stars": "4", "type": "hotel"}}', gold)["joint_goal_accuracy"] == 0.0
    assert score_state("{}", "{}")["joint_goal_accuracy"] == 1.0 and score_state("", "{}")["joint_goal_accuracy"] == 0.0
    assert score_acts('[["inform", "hotel", "name"]]', '[["inform", "hotel", "name"], ["request", "hotel", "area"]]') == {
        "exact_match": 0.0,
        "act_f1": pytest.approx(2 / 3),
    }


def test_an_export_is_in_the_manifest_and_verified(built: Path) -> None:
    listed = [one["path"] for one in json.loads((built / "manifest.json").read_bytes())["outputs"]]
    for name in registry.names():
        assert all(any(path.startswith(f"export/{name}/{suite}/") for path in listed) for suite in suites(built))
    assert verify_folder(str(built)).problems == []


def test_an_output_with_exports_is_still_one_input(built: Path) -> None:
    assert {one.source_id for one in dm.read(built)} == {one.source_id for one in Suite(str(built), "standard").records()}


def test_exported_later_the_bytes_are_the_same_and_verified(built: Path, tmp_path: Path) -> None:
    done = call("export", built, "--to", ",".join(registry.names()), "--output", tmp_path / "later")
    assert done.code == 0, done.err
    assert {key: value for key, value in hashes(tmp_path / "later").items() if key != "manifest.json"} == hashes(built / "export")
    assert verify_folder(str(tmp_path / "later")).problems == []
    (tmp_path / "later" / "convlab" / "standard" / "preprocess.py").write_text("", "utf-8")
    assert any("preprocess.py" in one for one in verify_folder(str(tmp_path / "later")).problems)


def test_workers_write_the_same_bytes_as_the_process_that_starts_them(tmp_path: Path) -> None:
    words = ("perturb", "--input", DATA / "multiwoz21", "--with", "typos", "--limit", "8", "--quiet", "--export", ",".join(registry.names()))
    done = call(*words, "--output", tmp_path / "here")
    assert done.code == 0, done.err
    workers = ("--direct_running_mode=multi_processing", "--direct_num_workers=2")
    assert spawn(*words, "--output", tmp_path / "there", "--", *workers) == (0, "", "")
    assert hashes(tmp_path / "there") == hashes(tmp_path / "here")


def test_what_the_formats_themselves_say_is_most_of_it(built: Path, tmp_path: Path) -> None:
    """Without our key, as other programs read it: texts, speakers and places of values are there, and states but for the names of slots."""
    from dialmill.pipelines.sources.multiwoz21 import MultiWoz21

    (tmp_path / "bare").mkdir()
    for suite in suites(built):
        exported = Suite(str(built), suite)
        data = json.loads((built / "export" / "multiwoz21" / suite / "data.json").read_bytes())
        records = {exported.exported_id(one): one for one in exported.records()}
        assert data.keys() == records.keys()
        for key, one in records.items():
            assert [turn["text"] for turn in data[key]["log"] if turn["text"]] == [turn.utterance for turn in one.turns if turn.utterance]
            for number, turn in enumerate(data[key]["log"]):
                tokens = turn["text"].split()
                for _, _, _, first, last in turn["span_info"]:
                    assert 0 <= first <= last < len(tokens)
                assert bool(turn["metadata"]) == (number % 2 == 1 and any(said.state for said in one.turns))
        bare = {key: {name: value for name, value in one.items() if name != KEY} for key, one in data.items()}
        (tmp_path / "bare" / f"{suite}.json").write_text(json.dumps(bare), "utf-8")
        assert len(list(dm.read(tmp_path / "bare" / f"{suite}.json", format=MultiWoz21.name))) == len(records)


def test_held_out_labels_and_unknown_names_are_refused_before_any_work(tmp_path: Path) -> None:
    done = call("perturb", "--input", DATA / "multiwoz21", "--with", "typos", "--output", tmp_path / "out", "--export", "rasp")
    assert done.code == 2 and "convlab" in done.err and "rasp" in done.err
    words = ("build", "splits", "--input", DATA / "sgd", "--set", "held_out_labels=true", "--output", tmp_path / "out", "--export", "inspect")
    done = call(*words)
    assert done.code == 2 and "held out" in done.err
    assert call("export", tmp_path, "--to", "convlab", "--output", tmp_path / "x").code == 1
    assert list(tmp_path.iterdir()) == []


def test_ids_of_convlab_are_as_its_check_wants_them(built: Path) -> None:
    for suite in suites(built):
        with zipfile.ZipFile(built / "export" / "convlab" / suite / "data.zip") as archive:
            dialogues: list[dict[str, Any]] = json.loads(archive.read("data/dialogues.json"))
            ontology = json.loads(archive.read("data/ontology.json"))
        counts: dict[str, int] = {}
        for one in dialogues:
            number = counts.get(one["data_split"], 0)
            assert one["dialogue_id"] == f"{suite}-{one['data_split']}-{number}"
            counts[one["data_split"]] = number + 1
            for turn in one["turns"]:
                for act in turn["dialogue_acts"]["non-categorical"]:
                    assert "start" not in act or turn["utterance"][act["start"] : act["end"]] == act["value"]
                for kind, acts in turn["dialogue_acts"].items():
                    for act in acts:
                        known = str({"user": True, "system": True, **{key: act[key] for key in ("intent", "domain", "slot")}})
                        either = {known, known.replace("'user': True", "'user': False"), known.replace("'system': True", "'system': False")}
                        assert either & set(ontology["dialogue_acts"][kind])


def test_a_suite_of_nothing_is_warned_about(tmp_path: Path) -> None:
    (tmp_path / "dialogues" / "none").mkdir(parents=True)
    made = list(writing.export(registry.names(), str(tmp_path), ["none"], str(tmp_path / "x")))
    assert len(writing.nothing_exported(registry.names(), ["none"], made)) == len(registry.names())


def test_without_the_option_nothing_is_exported(tmp_path: Path) -> None:
    from dialmill.pipelines.benchmarks.registry import load_recipe

    made = run(make_job(load_recipe("splits"), [str(DATA / "sgd")], str(tmp_path / "out")), plain=True)
    assert not [one for one in made["outputs"] if one["path"].startswith("export/")]
