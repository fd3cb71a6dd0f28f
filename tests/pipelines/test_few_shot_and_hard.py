"""The subsets of a build: few-shot sets nest, and test_hard holds what a baseline gets wrong, with the reasons."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from dialmill.pipelines.baselines.trained import read_predictions
from dialmill.pipelines.core.errors import InputError
from dialmill.schemas.dialogue import decode, encode

from .tools import DATA, call, hashes, manifest, plain, records

SETTINGS = ("splits=hash", "fractions=train=0.7,valid=0.1,test=0.2")


@pytest.fixture(scope="module")
def built_with(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """Builds of the embedded MultiWOZ with some settings, each made once."""
    made: dict[tuple[str, ...], Path] = {}

    def build(*settings: str) -> Path:
        if settings not in made:
            made[settings] = tmp_path_factory.mktemp("few") / "out"
            plain("splits", [DATA / "multiwoz21"], made[settings], *SETTINGS, *settings)
        return made[settings]

    return build


def _few(folder: Path) -> list[str]:
    path = folder / "few_shot/standard/train.jsonl"
    return [decode(line).source_id for line in path.read_bytes().splitlines()] if path.exists() else []


def test_few_shot_sets_have_their_share_and_nest(built_with) -> None:  # type: ignore[no-untyped-def]
    train = {record.source_id for record in records(built_with(), "standard", "train")}
    sets = [_few(built_with(*setting)) for setting in (("few_shot=0.05",), (), ("few_shot=0.5",))]
    for share, few in zip((0.05, 0.1, 0.5), sets, strict=True):
        assert len(few) == max(1, int(share * len(train) + 0.5)) and set(few) <= train
    for smaller, larger in pairwise(sets):
        assert set(smaller) <= set(larger), "a smaller set is part of a larger one"
    assert _few(built_with("few_shot=0", "hard_baselines=")) == []


def test_few_shot_is_taken_from_every_group(raddle: Path) -> None:
    train = dict.fromkeys(("attraction", "hotel", "restaurant", "train"), 0)
    few = dict(train)
    for record in records(raddle, "standard", "train"):
        train[record.domains[0]] += 1
    lines = (raddle / "few_shot/standard/train.jsonl").read_bytes().splitlines()
    whole = {record.dialogue_id: record for record in records(raddle, "standard", "train")}
    for line in lines:
        few[decode(line).domains[0]] += 1
        assert whole[decode(line).dialogue_id] == decode(line)
    assert few == {domain: max(1, int(0.1 * number + 0.5)) for domain, number in train.items()}


def test_every_hard_dialogue_is_missed_by_a_baseline_and_difficult(raddle: Path) -> None:
    seen = 0
    for suite in manifest(raddle)["recipe"]["suites"]:
        for record in records(raddle, suite, "test_hard"):
            difficulty, *why = record.lineage[-1].reasons
            seen += 1
            missed = [reason for reason in why if reason.startswith("wrong: tracker at turns ")]
            assert missed, why
            score = int(difficulty.removeprefix("difficulty: "))
            assert 2.5 < score == min(5, 1 + len(why) - len(missed)) <= 5
    assert seen
    counts = {stage["name"]: stage for stage in manifest(raddle)["stages"]}["test_hard"]
    assert counts["out"] == seen and set(counts["rejected"]) <= {"not_difficult", "baselines_right"}


def test_a_lower_threshold_keeps_more_and_no_baseline_leaves_the_difficulty(built_with) -> None:  # type: ignore[no-untyped-def]
    easy, usual, alone = (
        {one.dialogue_id for one in records(built_with(*settings), "standard", "test_hard")}
        for settings in (("hard_threshold=1.5",), (), ("hard_baselines=",))
    )
    assert usual <= easy and usual <= alone
    assert not any(
        reason.startswith("wrong") for one in records(built_with("hard_baselines="), "standard", "test_hard") for reason in one.lineage[-1].reasons
    )


def test_predictions_of_your_own_decide(built_with, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    test = records(built_with(), "standard", "test")
    lines, wrong = [], set()
    for number, record in enumerate(test):
        for turn in record.turns:
            if turn.speaker == "user":
                state = [{"domain": cell.domain, "slot": cell.slot, "values": list(cell.values)} for cell in turn.state]
                lines.append({"dialogue_id": record.dialogue_id, "turn": turn.turn, "state": state})
        if number % 2:
            lines[-1]["state"] = [{"domain": "hotel", "slot": "nonsense", "values": ["x"]}]
            wrong.add(record.dialogue_id)
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    out = tmp_path / "out"
    plain("splits", [DATA / "multiwoz21"], out, *SETTINGS, f"hard_baselines={file}", "hard_threshold=1.5")
    hard = records(out, "standard", "test_hard")
    assert hard and {one.dialogue_id for one in hard} <= wrong
    assert all(f"wrong: {file} at turns" in one.lineage[-1].reasons[1] and "hotel nonsense" in one.lineage[-1].reasons[1] for one in hard)
    given = [item for item in manifest(out)["inputs"] if item["path"] == str(file)]
    assert len(given) == 1 and given[0]["records"] is None
    assert call("verify", out).code == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"dialogue_id": "a/standard/0", "turn": 0}', ("line 2", "labels")),
        ('{"dialogue_id": "a/standard/0", "turn": 0, "state": [{"domain": "hotel"}]}', ("line 2", "slot")),
        ("nonsense", ("line 2", "JSON")),
    ],
)
def test_a_damaged_prediction_file_says_where(line: str, words: tuple[str, ...]) -> None:
    good = '{"dialogue_id": "a/standard/0", "turn": 0, "labels": ["oos"]}'
    with pytest.raises(InputError) as told:
        read_predictions("mine.jsonl", f"{good}\n{line}\n".encode())
    assert all(word in str(told.value) for word in ("mine.jsonl", *words)), told.value
    found = read_predictions("mine.jsonl", good.encode())
    assert found["a/standard/0"][0].labels == ["oos"] and found["a/standard/0"][0].state is None


def test_a_damaged_prediction_file_stops_the_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("nonsense\n", "utf-8")
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--quiet", "--set", f"hard_baselines={file}")
    assert done.code == 1 and f"{file}, line 1" in done.err, done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "words"),
    [("few_shot=1.5", ("few_shot", "0 to 1")), ("hard_baselines=bert", ("bert", "tracker", "classifier")), ("few_shot=-1", ("few_shot",))],
)
def test_settings_that_make_no_sense_are_refused(setting: str, words: tuple[str, ...], tmp_path: Path) -> None:
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--set", setting)
    assert done.code == 2 and all(word in done.err for word in words), done.err


def test_labels_are_judged_by_the_classifier(tmp_path: Path) -> None:
    plain("splits", [DATA / "clinc"], tmp_path / "out", "splits=hash", "hard_threshold=0")
    test, hard = (records(tmp_path / "out", "standard", split) for split in ("test", "test_hard"))
    assert 0 < len(hard) < len(test), "some intents are told right by a classifier of words and n-grams"
    assert all(reason.startswith("wrong: classifier") for one in hard for reason in one.lineage[-1].reasons[1:2])


def test_a_whole_folder_is_read_once_as_input(built_with, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = built_with()
    plain("splits", [folder], tmp_path / "again", "splits=keep")
    assert manifest(tmp_path / "again")["stages"][0]["rejected"] == {}
    ids = [record.source_id for record in records(folder)]
    assert sorted(ids) == sorted(record.source_id for record in records(tmp_path / "again"))


def test_the_lessons_are_the_same_on_beam_and_leave_no_trace(built_with, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = built_with()
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    assert call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", *words, "--quiet").code == 0
    assert hashes(tmp_path / "out", "dialogues", "few_shot") == hashes(folder, "dialogues", "few_shot")
    assert not list((tmp_path / "out").rglob("*.bin"))
    assert all(encode(record) for record in records(folder))
