"""Blind means blind: an attacker who has all that is published of a folder with held-out labels finds no answer, no unperturbed text, no seed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.verify import verify_folder
from dialmill.pipelines.core.stage import out_pieces
from dialmill.pipelines.stages.items import DialogueRecords, ParsedDialogue, pack_dialogue
from dialmill.pipelines.stages.split import Fact
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode

from dialmill.testing import sample_dialogues
from tests.contract.test_ceilings import BUILDS as EVERY
from tests.pipelines.tools import DATA, plain

SEED = 90210
#: Every registered benchmark, as its ceiling is measured but for these.
BUILDS: dict[str, tuple[str, tuple[str, ...]]] = {name: how for name, how in EVERY.items() if name != "perturb"} | {
    "raddle": ("multiwoz21", ("suites=standard,typos,paraphrase,ood",)),
    "dstc9-track1": ("multiwoz21", ("suites=standard,knowledge,unseen",)),
    "noesis-ubuntu": ("ubuntu_irc", ("links=annotated",)),
    "noesis-advising": ("advising", ("partials=60",)),
    "cgodial-fbd": ("flow", ("train_size=60", "test_size=12")),
    "cgodial-rbd": ("ecd", ()),
    "cgodial-sbd": ("risawoz", ()),
}
#: So short a turn stands in many dialogues.
_LONG = 18


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Path]]:
    """Output folders by benchmark, each built when it is first asked for."""
    root = tmp_path_factory.mktemp("blind")

    class Built(dict[str, Path]):
        def __missing__(self, name: str) -> Path:
            source, settings = BUILDS[name]
            plain(name, [DATA / source], root / name, "held_out_labels=true", *settings, seed=SEED)
            self[name] = root / name
            return self[name]

    yield Built()


def _public(folder: Path) -> dict[str, str]:
    """The text of every published file, by path."""
    files = [one for one in folder.rglob("*") if one.is_file() and "labels" not in one.relative_to(folder).parts[:1]]
    return {str(one.relative_to(folder)): one.read_bytes().decode("utf-8", "ignore") for one in files}


def _private(folder: Path) -> list[Dialogue]:
    """The whole test records."""
    return [decode(line) for path in sorted((folder / "labels/dialogues").glob("*/test.jsonl")) for line in path.read_bytes().splitlines()]


def _said(text: str) -> str:
    """A text as it stands in JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


@pytest.mark.parametrize("name", BUILDS)
def test_neither_the_seed_nor_what_a_rebuild_needs_is_published(built: Mapping[str, Path], name: str) -> None:
    folder = built[name]
    manifest = json.loads((folder / "manifest.json").read_bytes())
    private = json.loads((folder / "labels/manifest.json").read_bytes())
    assert manifest["seed"] is None and private["seed"] == SEED
    assert {one["sha256"] for one in manifest["inputs"]} == {None} and all(one["sha256"] for one in private["inputs"])
    assert not [one for one in manifest["outputs"] if one["path"].startswith("labels/")]
    # How often baselines are right on which set is counted on the labels.
    assert "hard" not in manifest and "## Hard test sets" not in (folder / "README.md").read_text("utf-8")
    telling = {path for path, text in _public(folder).items() if re.search(rf"(?<!\d){SEED}(?!\d)", text)}
    assert not telling


@pytest.mark.parametrize("name", BUILDS)
def test_a_folder_is_verified_with_its_private_part_and_without(built: Mapping[str, Path], name: str, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(built[name], tmp_path / "public", ignore=lambda folder, _: ["labels"] if Path(folder) == built[name] else [])
    for folder in (built[name], tmp_path / "public"):
        # Whether the sets of a miniature corpus are easy to guess is no question here.
        problems = [one for one in verify_folder(str(folder)).problems if "can be guessed" not in one and "is guessed" not in one]
        assert not problems, problems


@pytest.mark.parametrize("name", BUILDS)
def test_a_test_dialogue_is_published_in_one_suite(built: Mapping[str, Path], name: str) -> None:
    public = [decode(line) for path in built[name].glob("dialogues/*/test.jsonl") for line in path.read_bytes().splitlines()]
    suites: dict[str, set[str]] = {}
    for one in public:
        suites.setdefault(one.source_id, set()).add(one.suite)
        assert one.turns[-1].speaker == "user" and not any(
            turn.state or turn.acts or turn.spans or turn.labels or turn.original for turn in one.turns
        )
        assert not one.lineage and one.goal is None
    assert all(len(some) == 1 for some in suites.values())
    if benchmarks.get(name).answers_in_dialogues:
        assert not public, "the whole dialogue would answer its instances"
    else:
        assert public


@pytest.mark.parametrize("name", ["raddle", "dstc9-track1", "cgodial-fbd", "cgodial-rbd", "cgodial-sbd"])
def test_the_words_before_a_perturbation_are_nowhere(built: Mapping[str, Path], name: str) -> None:
    public = _public(built[name])
    training = " ".join(text for path, text in public.items() if "train" in path or "valid" in path)
    shown = {one.source_id: one for path in built[name].glob("dialogues/*/test.jsonl") for one in map(decode, path.read_bytes().splitlines())}
    sought = 0
    for record in _private(built[name]):
        if record.suite == "standard" or (record.source_id in shown and shown[record.source_id].suite == "standard"):
            continue
        for turn in record.turns:
            if turn.original is None or len(turn.original) < _LONG or _said(turn.original) in training:
                continue
            sought += 1
            found = [path for path, text in public.items() if _said(turn.original) in text]
            # A flow's wordings are the flow's own, which is public, and stand in other walks as well.
            assert not found or name == "cgodial-fbd", (record.dialogue_id, turn.original, found)
    assert sought or name in ("dstc9-track1", "cgodial-rbd"), "of these a few dialogues are tested, or none perturbed"


@pytest.mark.parametrize("name", ["noesis-ubuntu", "noesis-advising", "cgodial-rbd"])
def test_no_context_has_the_answer_of_another_example(built: Mapping[str, Path], name: str) -> None:
    folder = built[name]
    contexts, examples = [], []
    for path in folder.glob("release/*_test*_subtask_*.json"):
        for one in json.loads(path.read_text("utf-8")):
            assert "options-for-correct-answers" not in one and "success-labels" not in one
            contexts.append({message["utterance"] for message in one["messages-so-far"]})
            examples.append(one)
    answers = {}
    for path in folder.glob("labels/release/ecd_test_subtask_1.json"):
        for one in json.loads(path.read_text("utf-8")):
            answers[str(one["example-id"])] = one["options-for-correct-answers"][0]["utterance"]
    for path in folder.glob("labels/release/*responses*.tsv"):
        for line in path.read_text("utf-8").splitlines():
            number, _, text = line.split("\t", 2)
            answers[number] = text
    assert examples and answers
    seen = Counter(str(one["example-id"]) for one in examples)
    assert max(seen.values()) == 1
    told = [text for text in answers.values() if len(text) > _LONG and any(text in context for context in contexts)]
    assert not told


def test_an_instance_of_track_1_is_the_only_one_of_its_dialogue(built: Mapping[str, Path]) -> None:
    logs = json.loads((built["dstc9-track1"] / "release/data_eval/test/logs.json").read_text("utf-8"))
    begun = Counter(json.dumps(log[:1]) for log in logs)
    assert logs and max(begun.values()) == 1
    assert not (built["dstc9-track1"] / "release/data_eval/test/labels.json").exists()


def test_a_flow_s_test_dialogue_ends_with_the_user(built: Mapping[str, Path]) -> None:
    ids = {one.source_id for one in _private(built["cgodial-fbd"])}
    found = 0
    for path in (built["cgodial-fbd"] / "release/data").glob("*/*.jsonasr.json"):
        for name, turns in json.loads(path.read_text("utf-8")).items():
            if name in ids:
                found += 1
                assert "usr_query" in turns[-1] and not any("usr_intent" in turn or turn.get("asr_results") for turn in turns)
    assert found == len(ids)


def test_paired_suites_are_raddle_s_own_form_and_inserted_turns_have_dialogues_of_their_own(tmp_path: Path) -> None:
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out", "held_out_labels=true", "blind_suites=paired", "suites=standard,typos,ood", seed=SEED)
    ids = {
        suite: {decode(line).source_id for line in (tmp_path / f"out/dialogues/{suite}/test.jsonl").read_bytes().splitlines()}
        for suite in ("standard", "typos", "ood")
    }
    assert ids["typos"] <= ids["standard"] and ids["typos"] and not ids["ood"] & ids["standard"]


def test_rejects_of_test_dialogues_hold_nothing_of_them() -> None:
    dialogue = next(one for one in sample_dialogues("en"))
    parsed = ParsedDialogue(pack_dialogue(dialogue), b"", "f.json", 3, Fact("s", "hotel", None, 0, dialogue.source_id))
    for blind in (False, True):
        _, (_, packed) = DialogueRecords(parsed, dialogue, blind=blind).reject("typos", "no_edit_possible", "said this", "typos", 0)
        (_, _, line), *_ = out_pieces([packed])
        told = json.loads(line)
        assert (told["evidence"], told["source_id"], told["file"]) == (("", None, None) if blind else ("said this", dialogue.source_id, "f.json"))


@pytest.mark.parametrize("name", BUILDS)
def test_which_dialogues_are_hard_is_not_published(built: Mapping[str, Path], name: str) -> None:
    """With the baselines that chose them, which can be trained on the public part, it would say where these are wrong."""
    folder = built[name]
    telling = [path for path in _public(folder) if "hard" in path]
    assert not telling
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert not [one["path"] for one in manifest["outputs"] if "hard" in one["path"]]
    assert list((folder / "labels").rglob("*hard*")), "the private part has them"
    # What an audit counts on the answers of a small test file tells single ones.
    assert not [path for path in manifest.get("audit", {}) if "test" in path]


def test_a_value_of_test_labels_alone_is_in_no_ontology(built: Mapping[str, Path]) -> None:
    folder = built["dstc9-track2"]
    public = [decode(line) for path in folder.glob("dialogues/*/[!t]*.jsonl") for line in path.read_bytes().splitlines()]
    public += [decode(line) for path in folder.glob("dialogues/*/train.jsonl") for line in path.read_bytes().splitlines()]
    known = {value for one in public for turn in one.turns for cell in turn.state for value in cell.values}
    private = {value for one in _private(folder) for turn in one.turns for cell in turn.state for value in cell.values}
    assert private - known
    (path,) = folder.glob("release/*/ontology-data.json")
    listed = {value for slots in json.loads(path.read_bytes()).values() for values in slots.values() for value in values}
    assert listed and not listed & (private - known)


@pytest.mark.parametrize("how", ["single", "paired"])
def test_a_run_of_an_agent_is_published_in_one_suite(built: Mapping[str, Path], how: str, tmp_path: Path) -> None:
    folder = built["agent-noise"]
    if how == "paired":
        source, settings = BUILDS["agent-noise"]
        folder = tmp_path / "out"
        plain("agent-noise", [DATA / source], folder, "held_out_labels=true", "blind_suites=paired", *settings, seed=SEED)
    suites: dict[str, list[str]] = {}
    for path in folder.glob("release/*/test.jsonl"):
        labels = [json.loads(line)["example_id"] for line in (folder / "labels" / path.relative_to(folder)).read_bytes().splitlines()]
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert [one["example_id"] for one in lines] == labels
        for one in lines:
            suites.setdefault(one["run"], []).append(one["suite"])
    assert suites and {len(some) for some in suites.values()} == {1 if how == "single" else 2}
