"""SIMMC 2.0's dev set and 2.1's mini set: what is read, what is carried, and the pools, beside the published ones."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.core import registry as perturbers
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, nearly_equal
from dialmill.pipelines.cli.verify import verify_folder
from dialmill.pipelines.sources import registry
from dialmill.pipelines.stages.perturb import value_hit
from dialmill.schemas import Dialogue

import dialmill as dm
from tests.pipelines.source_tools import read_paths
from tests.pipelines.tools import plain
from tests.scoring.making import score

NAME = "simmc2_dials_dstc10_dev"


@pytest.fixture(scope="module")
def official(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published dev set: dialogues and candidates."""
    folder = tmp_path_factory.mktemp("simmc2")
    with zipfile.ZipFile(real / "simmc2/simmc2_dstc10_dev.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def dialogues(real: Path) -> dict[str, Dialogue]:
    return {one.source_id: one for one in dm.read(str(real / "simmc2"))}


def test_every_dialogue_is_read_and_everything_is_carried(real: Path, official: Path, dialogues: dict[str, Dialogue]) -> None:
    read = read_paths(registry.get("simmc"), [real / "simmc2/simmc2_dstc10_dev.zip", real / "simmc2/simmc2.1_dials_dstc11_mini.json"])
    assert not read.rejects and not read.repeated and len(dialogues) == len(read.dialogues) == 573
    for one in json.loads((official / f"{NAME}.json").read_text("utf-8"))["dialogue_data"]:
        dialogue = dialogues[str(one["dialogue_idx"])]
        users = [turn for turn in dialogue.turns if turn.speaker == "user"]
        assert [json.loads(turn.payload or "") for turn in users] == one["dialogue"]
        assert json.loads(dialogue.payload or "") == {key: value for key, value in one.items() if key != "dialogue"}
        for turn, entry in zip(users, one["dialogue"], strict=True):
            assert [label.removeprefix("object:") for label in turn.labels if label.startswith("object:")] == list(
                map(str, dict.fromkeys(entry["transcript_annotated"]["act_attributes"]["objects"]))
            )


def test_values_are_found_where_people_write_them(dialogues: dict[str, Dialogue]) -> None:
    given = found = literal = pointing = about = 0
    for dialogue in dialogues.values():
        for turn in dialogue.turns:
            if turn.speaker != "user" or dialogue.split is None:
                continue
            named = {(cell.slot, value) for cell in turn.state for value in cell.values}
            given += len(named)
            literal += sum(value.lower() in turn.utterance.lower() for _, value in named)
            found += sum(not span.slot.startswith("object") for span in turn.spans)
            about += any(label.startswith("object:") for label in turn.labels)
            pointing += any(span.slot.startswith("object") for span in turn.spans) and any(label.startswith("object:") for label in turn.labels)
    # A turn's frame has the values of the turns before it, too: a third stands nowhere in its text.
    assert (given, literal) == (4076, 2592) and found > 2750
    assert about == 1921 and pointing > 1550, "others say 'those', 'it'"


@pytest.mark.parametrize("name", ["typos", "paraphrase", "disfluency", "simplification", "verbosity", "nlpaug"])
def test_perturbers_keep_objects(name: str, dialogues: dict[str, Dialogue]) -> None:
    some = list(dialogues.values())[:60]
    perturber = perturbers.get(name).from_options({}).with_pool(some)
    changed = 0
    for dialogue in some:
        variant = perturber.perturb(dialogue, seed=2)
        assert value_hit(dialogue, variant) is None
        for before, after in zip(dialogue.turns, variant.turns, strict=True):
            changed += before.utterance != after.utterance
            assert [label for label in before.labels if "object:" in label] == [label for label in after.labels if "object:" in label]
    assert changed > 60


def _pools(folder: Path) -> list[tuple[int, int, list[str], int]]:
    document = json.loads((folder / f"{NAME}_retrieval_candidates.json").read_text("utf-8"))
    pool = document["system_transcript_pool"]["fashion"]
    return [
        (one["dialogue_idx"], turn["turn_idx"], [pool[place] for place in turn["retrieval_candidates"]], turn["gt_index"])
        for one in document["retrieval_candidates"]
        for turn in one["retrieval_candidates"]
    ]


def _faults(folder: Path, dialogues: dict[int, Any]) -> Counter[str]:
    """What is wrong with the pools of a folder, by kind, in turns."""
    found: Counter[str] = Counter()
    key = lru_cache(maxsize=None)(candidate_key)
    number_of = lru_cache(maxsize=None)(lambda text: key_hash(key(text)))
    for name, number, candidates, right in _pools(folder):
        keys = list(map(key, candidates))
        numbers = list(map(number_of, candidates))
        own = {number_of(entry["system_transcript"]) for entry in dialogues[name]["dialogue"]} - {numbers[right]}
        found["turns"] += 1
        found["hundred"] += len(candidates) == 100
        found["right"] += numbers[right] == number_of(dialogues[name]["dialogue"][number]["system_transcript"])
        found["repeated"] += len(set(numbers)) < len(numbers)
        found["own reply"] += bool(own & set(numbers))
        found["near copy"] += any(nearly_equal(one, keys[right]) for place, one in enumerate(keys) if place != right)
    return found


def test_pools_keep_the_rules_that_the_published_ones_break(official: Path, tmp_path: Path) -> None:
    manifest = plain(
        "dstc9-track4", [official / f"{NAME}.json"], tmp_path / "out", "suites=standard", "splits=official", "hard_baselines=", "few_shot=0"
    )
    release = tmp_path / "out/release"
    given = json.loads((official / f"{NAME}.json").read_text("utf-8"))["dialogue_data"]
    dialogues = {one["dialogue_idx"]: one for one in given}
    assert {one["dialogue_idx"]: one for one in json.loads((release / f"{NAME}.json").read_text("utf-8"))["dialogue_data"]} == dialogues
    ours, theirs = _faults(release, dialogues), _faults(official, dialogues)
    assert ours == Counter({"turns": 3494, "hundred": 3494, "right": 3494})
    assert theirs["turns"] == theirs["right"] == 3494 and theirs["own reply"] > 600 and theirs["repeated"] > 0 and theirs["near copy"] > 0
    assert verify_folder(str(tmp_path / "out")).problems == []
    assert {str(one["licence"]) for one in manifest["inputs"]} == {"CC BY-NC-SA 4.0"}
    assert "cc-by-nc-sa-4.0" in (tmp_path / "out/README.md").read_text("utf-8")


def test_the_published_files_are_a_gold_as_they_are(official: Path, tmp_path: Path) -> None:
    scores = [
        {"dialog_id": name, "candidate_scores": [{"turn_id": turn, "scores": [float(at == right) for at in range(len(candidates))]}]}
        for name, turn, candidates, right in _pools(official)
    ]
    path = tmp_path / "right.json"
    path.write_text(json.dumps(scores), "utf-8")
    found = score("dstc9-track4", official, path)
    assert found["metrics"]["retrieval"] == {"r1": 1, "r5": 1, "r10": 1, "mean": 1, "mrr": 1}
    states = score("dstc9-track4", official, official / f"{NAME}.json")["metrics"]["dst"]
    assert states["joint_accuracy"] == states["slot_f1"] == states["object_f1"] == states["request_slot_f1"] == states["act_f1"] == 1
