"""Few-shot sets that one can train on: of every benchmark they nest, have what test has, and stand in the release as its own loaders read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import registry
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import class_labels, decode

from tests.contract.test_ceilings import BUILDS as EVERY
from tests.pipelines.tools import DATA, plain, records

#: Settings of the two sets of a benchmark, the smaller first.
SIZES = ("few_shot=0.1", "few_shot=0.3")
#: Recorded runs of agents are all test.
BUILDS = {name: how for name, how in EVERY.items() if name not in ("perturb", "agent-noise")} | {
    "noesis-advising": ("advising", ("partials=20", "subtasks=1,3")),
}
#: They have no release of their own for train, or no form of it for a part.
WITHOUT = frozenset({"splits", "dstc9-track2"})


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[tuple[str, str], Path]]:
    """Output folders by benchmark and size, each built when it is first asked for."""
    root = tmp_path_factory.mktemp("few")

    class Built(dict[tuple[str, str], Path]):
        def __missing__(self, key: tuple[str, str]) -> Path:
            source, settings = BUILDS[key[0]]
            plain(key[0], [DATA / source], root / "-".join(key), *settings, key[1], "hard_share=")
            self[key] = root / "-".join(key)
            return self[key]

    yield Built()


def _few(folder: Path) -> dict[str, list[Dialogue]]:
    """The few-shot records by suite."""
    return {path.parent.name: [decode(line) for line in path.open("rb")] for path in sorted(folder.glob("few_shot/*/train.jsonl"))}


def _counts_for(record: Dialogue, labels: bool) -> set[str]:
    found = {f"domain {name}" for name in record.domains}
    return found | ({label for turn in record.turns if turn.speaker == "user" for label in class_labels(turn.labels)} if labels else set())


@pytest.mark.parametrize("name", sorted(BUILDS))
def test_each_domain_and_label_of_test_is_there_five_times(built: Mapping[tuple[str, str], Path], name: str) -> None:
    """The labels of turns that a suite inserts too: what records have counts, of all suites together."""
    folder = built[name, SIZES[0]]
    having: dict[str, set[str]] = {}
    there: dict[str, set[str]] = {}
    wanted: set[str] = set()
    few = _few(folder)
    assert few and all(few.values())
    for suite in few:
        for one in records(folder, suite, "train"):
            for thing in _counts_for(one, registry.get(name).labels_are_classes):
                having.setdefault(thing, set()).add(one.source_id)
        for one in records(folder, suite, "test"):
            wanted |= _counts_for(one, registry.get(name).labels_are_classes)
        for one in few[suite]:
            for thing in _counts_for(one, registry.get(name).labels_are_classes):
                there.setdefault(thing, set()).add(one.source_id)
    assert wanted
    short = {thing: len(there.get(thing, ())) for thing in wanted if len(there.get(thing, ())) < min(5, len(having.get(thing, ())))}
    assert short == {}


@pytest.mark.parametrize("name", sorted(BUILDS))
def test_smaller_sets_are_part_of_larger_ones(built: Mapping[tuple[str, str], Path], name: str) -> None:
    sets = [{one.source_id for some in _few(built[name, size]).values() for one in some} for size in SIZES]
    assert sets[0] and all(smaller <= larger for smaller, larger in pairwise(sets))
    whole = {path.parent.name: set(path.open("rb")) for path in built[name, SIZES[1]].glob("dialogues/*/train.jsonl")}
    for path in built[name, SIZES[1]].glob("few_shot/*/train.jsonl"):
        assert set(path.open("rb")) <= whole[path.parent.name], "the records of train, as they are there"


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _soloist(release: Path) -> set[str]:
    return {turn["name"] for path in release.glob("few_shot/*/*.train.soloist.json") for turn in _json(path)}


def _data_root(release: Path) -> set[str]:
    """The official scripts read train and val below one data root; the base that both ask must be there too."""
    root = release / "few_shot/data"
    for split in ("train", "val"):
        assert len(_json(root / split / "logs.json")) == len(_json(root / split / "labels.json")) > 0
    assert (root / "knowledge.json").read_bytes() == (release / "data/knowledge.json").read_bytes()
    assert (root / "val/logs.json").read_bytes() == (release / "data/val/logs.json").read_bytes()
    return {log[-1]["text"] for log in _json(root / "train/logs.json")}


def _damd(release: Path) -> set[str]:
    """Whatever is neither of val nor of test is trained on."""
    root = release / "few_shot/data"
    lists = {split: _json(root / f"risawoz/{split}ListFile.json") for split in ("train", "val", "test")}
    trained = set(_json(root / "processed/data_for_damd.json")) - set(lists["val"]) - set(lists["test"])
    assert trained == set(lists["train"])
    return trained


def _flows(release: Path) -> set[str]:
    """A list of ids beside that of train, in each scenario that has training dialogues; the logs hold them all."""
    found: set[str] = set()
    for path in sorted(release.glob("data/*/train_ids.json")):
        few = set(_json(path.parent / "train_few_shot_ids.json"))
        assert bool(few) == bool(_json(path)) and few <= set(_json(path))
        assert few <= {name for logs in path.parent.glob("*.jsonasr.json") for name in _json(logs)}
        found |= few
    return found


def _situated(release: Path) -> set[str]:
    (path,) = release.glob("few_shot/simmc*_train.json")
    return {str(one["dialogue_idx"]) for one in _json(path)["dialogue_data"]}


def _sessions(release: Path) -> set[str]:
    return set(_json(release / "few_shot/train.json"))


def _examples(release: Path) -> set[str]:
    """What is asked, of the examples of subtask 1; those of each subtask stand in the whole file."""
    for path in release.glob("few_shot/*_train_subtask_*.json"):
        whole = _json(release / path.name)
        assert all(one in whole for one in _json(path)), path.name
    (path,) = release.glob("few_shot/*_train_subtask_1.json")
    return {" ".join(one["messages-so-far"][-1]["utterance"].split()) for one in _json(path)}


def _advised(release: Path) -> set[str]:
    """The conversations beside the examples, which have paraphrases of turns as well."""
    assert _examples(release)
    return {one["conversation-id"] for one in _json(release / "few_shot/advising_train_conversations.json")}


TRAINED = {
    "raddle": _soloist,
    "dstc9-track1": _data_root,
    "dstc9-track4": _situated,
    "cgodial-sbd": _damd,
    "cgodial-fbd": _flows,
    "cgodial-rbd": _sessions,
    "noesis-ubuntu": _examples,
    "noesis-advising": _advised,
}


@pytest.mark.parametrize("name", sorted(BUILDS.keys() - WITHOUT))
def test_the_release_s_own_loader_trains_on_the_few(built: Mapping[tuple[str, str], Path], name: str) -> None:
    folder = built[name, SIZES[0]]
    trained = TRAINED[name](folder / "release")
    few = [one for some in _few(folder).values() for one in some]
    ids = {part for one in few for part in (one.source_id, one.dialogue_id)}
    said = {" ".join(turn.utterance.split()) for one in few for turn in one.turns}
    assert trained
    if name in ("dstc9-track1", "noesis-ubuntu"):
        assert {" ".join(text.split()) for text in trained} <= said
    else:
        assert trained <= ids and {one.source_id for one in few} == {name.partition("/")[0] for name in trained}


def test_every_benchmark_is_here() -> None:
    assert BUILDS.keys() >= set(registry.names()) - {"dstc9-track3", "agent-noise"}
