"""The subsets of a build: few-shot sets nest and have every domain and label, and test_hard holds what baselines get wrong, with the reasons."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from dialmill.pipelines.baselines.panel.given import read_predictions
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.stages.hard import check_rows
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
    train = {record.source_id: record for record in records(built_with(), "standard", "train")}
    settings = (("few_shot=0.05",), (), ("few_shot=0.5",), ("few_shot=8",), ("few_shot=20",))
    shares, counts = ([_few(built_with(*setting)) for setting in some] for some in (settings[:3], settings[3:]))
    for share, few in zip((0.05, 0.1, 0.5), shares, strict=True):
        assert len(few) >= max(1, int(share * len(train) + 0.5)) and set(few) <= train.keys()
    for sets in (shares, counts):
        for smaller, larger in pairwise(sets):
            assert set(smaller) <= set(larger), "a smaller set is part of a larger one"
    assert _few(built_with("few_shot=0", "hard_baselines=")) == []
    cards = [(built_with(*setting) / "README.md").read_text("utf-8") for setting in (settings[0], settings[3])]
    assert "repeats 5% of train, at least 5 of each domain" in cards[0] and "repeats 8 dialogues of each domain of train" in cards[1]
    for number, few in ((5, shares[0]), (8, counts[0]), (20, counts[1])):
        for domain in sorted({name for record in train.values() for name in record.domains}):
            there = sum(domain in record.domains for record in train.values())
            assert sum(domain in train[name].domains for name in few) >= min(number, there), (number, domain)


def test_few_shot_has_every_label_of_test(tmp_path: Path) -> None:
    plain("cgodial-fbd", [DATA / "flow"], tmp_path / "out", "suites=standard", "few_shot=0.01")
    train, test = (records(tmp_path / "out", "standard", split) for split in ("train", "test"))
    few = {one.source_id for one in map(decode, (tmp_path / "out/few_shot/standard/train.jsonl").read_bytes().splitlines())}
    having: dict[str, set[str]] = {}
    for one in train:
        for turn in one.turns:
            for label in turn.labels if turn.speaker == "user" else ():
                having.setdefault(label, set()).add(one.source_id)
    wanted = {label for one in test for turn in one.turns if turn.speaker == "user" for label in turn.labels} & having.keys()
    assert len(wanted) > 10 and few < {one.source_id for one in train}
    assert all(len(having[label] & few) >= min(5, len(having[label])) for label in wanted)


def test_few_shot_is_taken_from_every_group(raddle: Path) -> None:
    whole = {record.dialogue_id: record for record in records(raddle, "standard", "train")}
    few = [decode(line) for line in (raddle / "few_shot/standard/train.jsonl").read_bytes().splitlines()]
    assert all(whole[one.dialogue_id] == one for one in few)
    for domain in ("attraction", "hotel", "restaurant", "train"):
        there = sum(one.domains == (domain,) for one in whole.values())
        assert sum(one.domains == (domain,) for one in few) >= min(5, there)


REASON = re.compile(r"(update|acts|label)_missed: turn (\d+)(?: of the unperturbed text)?: (.+) by (\d) of (\d) baselines \(([\w, ]+)\)")


def test_the_hard_share_is_chosen_and_its_reasons_are_facts(raddle: Path) -> None:
    """What is told of a turn stands in the record: a slot that came to a value, an act that the turn has, what the text spells."""
    seen = 0
    for suite in manifest(raddle)["recipe"]["suites"]:
        number, hard = len(records(raddle, suite, "test")), records(raddle, suite, "test_hard")
        assert len(hard) <= int(0.25 * number + 0.5), suite
        for record in hard:
            assert record.lineage[-1].step == "test_hard@4"
            for reason in record.lineage[-1].reasons:
                told = REASON.fullmatch(reason)
                assert told is not None, reason
                turn, names = record.turns[int(told[2])], told[6].split(", ")
                assert turn.speaker == "user" and len(names) == int(told[4]) and 2 * len(names) > int(told[5]) and len(set(names)) == len(names)
                if told[1] == "update" and " = " in told[3]:
                    slot, value = told[3].split(" = ")
                    assert any(slot == f"{cell.domain} {cell.slot}" and value.startswith(cell.values[0]) for cell in turn.state), reason
                    if "neither this turn" in value or "doesn't spell" in value:
                        assert value.partition(",")[0].lower() not in turn.utterance.lower(), reason
                seen += 1
    assert seen > 10
    counts = {stage["name"]: stage for stage in manifest(raddle)["stages"]}["test_hard"]
    assert counts["out"] == sum(len(records(raddle, suite, "test_hard")) for suite in manifest(raddle)["recipe"]["suites"])
    assert set(counts["rejected"]) <= {"not_hard", "not_judged"}


def test_the_check_stands_in_manifest_and_card_and_says_that_it_has_no_power(raddle: Path) -> None:
    found = manifest(raddle)["hard"]
    for suite, one in found.items():
        assert one["units"] == len(records(raddle, suite, "test")) and one["hard"] == len(records(raddle, suite, "test_hard"))
        assert one["power"] is False, "a handful of dialogues shows nothing"
        for figures in one.get("check", {}).values():
            assert all(0 <= figure["low"] <= figure["mean"] <= figure["high"] <= 1 for figure in figures.values())
            assert all(figure["below"] == (figure["hard"] < figure["low"]) for figure in figures.values())
    card = (raddle / "README.md").read_text("utf-8")
    page = (raddle / "report.html").read_text("utf-8")
    assert "## Hard test sets" in card and "no power" in card and 'id="hard-sets"' in page and "no power" in page


def test_a_check_with_power_has_a_row_for_each_figure() -> None:
    figure = {"test": 0.7, "hard": 0.5, "low": 0.65, "mean": 0.69, "high": 0.75, "below": True}
    suite = {"units": 400, "hard": 100, "power": True, "check": {"words": {"jga": figure, "update": figure | {"hard": 0.7, "below": False}}}}
    assert check_rows({"standard": suite}) == [
        ("standard", "100 of 400", "words", "jga", "70.0", "50.0", "65.0 to 75.0", "below"),
        ("standard", "100 of 400", "words", "update", "70.0", "70.0", "65.0 to 75.0", "not below"),
    ]


def test_a_larger_share_holds_a_smaller_one_and_none_leaves_it_empty(built_with) -> None:  # type: ignore[no-untyped-def]
    small, large = (
        {one.dialogue_id for one in records(built_with(share), "standard", "test_hard")} for share in ("hard_share=0.1", "hard_share=0.5")
    )
    assert small < large and len(large) == int(0.5 * len(records(built_with(), "standard", "test")) + 0.5)
    for setting in ("hard_share=", "hard_share=0", "hard_baselines="):
        assert records(built_with(setting), "standard", "test_hard") == [], setting


def test_your_own_models_have_a_say(built_with, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    test = records(built_with(), "standard", "test")
    lines, wrong = [], set()
    for number, record in enumerate(test):
        for turn in record.turns:
            if turn.speaker == "user":
                state = [{"domain": cell.domain, "slot": cell.slot, "values": list(cell.values)} for cell in turn.state]
                if number % 2:
                    state.append({"domain": "hotel", "slot": f"nonsense {turn.turn}", "values": ["x"]})
                lines.append({"dialogue_id": record.dialogue_id, "turn": turn.turn, "state": state})
        if number % 2:
            wrong.add(record.dialogue_id)
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    out, both = tmp_path / "out", tmp_path / "both"
    plain("splits", [DATA / "multiwoz21"], out, *SETTINGS, f"hard_baselines={file}")
    hard = records(out, "standard", "test_hard")
    assert hard and {one.dialogue_id for one in hard} <= wrong, "alone it decides"
    assert all(f"which stays empty, by 1 of 1 baselines ({file})" in reason for one in hard for reason in one.lineage[-1].reasons)
    given = [item for item in manifest(out)["inputs"] if item["path"] == str(file)]
    assert len(given) == 1 and given[0]["records"] is None
    assert call("verify", out).code == 0
    plain("splits", [DATA / "multiwoz21"], both, *SETTINGS, f"hard_baselines=auto,{file}")
    assert str(file) in manifest(both)["hard"]["standard"]["check"], "beside the others it is checked as they are"


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
    [
        ("few_shot=-1", ("few_shot",)),
        ("hard_share=1.5", ("hard_share", "0 to 1")),
        ("hard_baselines=bert", ("bert", "auto", "neighbours")),
        ("hard_baselines=tracker", ("tracker", "auto", "neighbours")),
        ("hard_baselines=words,bm25", ("bm25", "can't judge splits", "neighbours")),
        ("hard_threshold=2", ("hard_threshold", "hard_share")),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting: str, words: tuple[str, ...], tmp_path: Path) -> None:
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--set", setting)
    assert done.code == 2 and all(word in done.err for word in words), done.err


def test_labels_of_turns_are_judged(tmp_path: Path) -> None:
    plain("splits", [DATA / "clinc"], tmp_path / "out", "splits=hash", "fractions=train=0.5,test=0.5")
    test, hard = (records(tmp_path / "out", "standard", split) for split in ("test", "test_hard"))
    assert len(hard) == int(0.25 * len(test) + 0.5)
    told = [reason for one in hard for reason in one.lineage[-1].reasons]
    assert told and all(reason.startswith("label_missed: turn 0: ") for reason in told)


def test_a_whole_folder_is_read_once_as_input(built_with, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = built_with()
    plain("splits", [folder], tmp_path / "again", "splits=keep")
    assert manifest(tmp_path / "again")["stages"][0]["rejected"] == {}
    ids = [record.source_id for record in records(folder)]
    assert sorted(ids) == sorted(record.source_id for record in records(tmp_path / "again"))


def test_what_is_learned_is_the_same_on_beam_and_leave_no_trace(built_with, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = built_with()
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    assert call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", *words, "--quiet").code == 0
    assert hashes(tmp_path / "out", "dialogues", "few_shot") == hashes(folder, "dialogues", "few_shot")
    assert not list((tmp_path / "out").rglob("*.bin"))
    assert all(encode(record) for record in records(folder))
