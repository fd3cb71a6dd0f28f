"""The simulated domain: dialogues that hold the laws, differ, and flow through a build like a corpus."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from dialmill.perturbers import get
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.simulator import simulate
from dialmill.schemas import Dialogue
from dialmill.schemas.validate import check_dialogue

from tests import oracle
from tests.pipelines.source_tools import read_paths
from tests.pipelines.tools import DATA, plain, records


def _named(dialogues: list[Dialogue]) -> set[str]:
    """The values of the slots that name something."""
    cells = [cell for one in dialogues for turn in one.turns for cell in turn.state if cell.slot in ("name", "task", "person")]
    return {value.lower() for cell in cells for value in cell.values}


def test_dialogues_differ_and_are_the_same_again() -> None:
    made = [simulate(number, 1) for number in range(450)]
    assert len({tuple(turn.utterance for turn in one.turns) for one in made}) == 450
    assert made[:20] == [simulate(number, 1) for number in range(20)] and made[0] != simulate(0, 2)
    assert len({turn.utterance for one in made for turn in one.turns if turn.speaker == "user"}) > 600
    for one in made:
        assert check_dialogue(one.replace(dialogue_id=f"{one.source_id}/standard/0")) == []
        assert [turn.speaker for turn in one.turns] == ["user", "system"] * (len(one.turns) // 2)
        last = one.turns[-2].state
        assert {cell.slot for cell in last} >= {"task", "day", "time"} and one.goal is not None and one.goal.inform == last
        for turn in one.turns:
            for span in turn.spans:
                assert (span.text or "").lower() == span.value.lower()


def test_a_change_of_mind_changes_the_state() -> None:
    changed = 0
    for number in range(200):
        states = [{cell.slot: cell.values[0] for cell in turn.state} for turn in simulate(number, 1).turns if turn.speaker == "user"]
        changed += any(before.get(slot) not in (None, after[slot]) for before, after in pairwise(states) for slot in after)
    assert 25 < changed < 80


def test_its_values_become_unseen() -> None:
    seen = _named([simulate(number, 1) for number in range(450)])
    for number in range(100):
        source = simulate(number, 1).replace(dialogue_id=f"RMD{number:05d}/standard/0")
        made = get("entities")().perturb(source, 1)
        assert oracle.relabelled(source, made) == []
        assert _named([made]) and not _named([made]) & seen


def test_the_source_reads_an_order() -> None:
    read = read_paths(registry.get("reminder"), [DATA / "reminder" / "order.json"])
    assert not read.rejects and [dialogue.split for dialogue in read.dialogues.values()] == ["train"] * 5 + ["valid"] * 5 + ["test"] * 15


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"dialmill_simulates": "reminder", "seed": 1, "train": -1, "valid": 0, "test": 4}',
        '{"dialmill_simulates": "weather", "seed": 1, "train": 1, "valid": 0, "test": 4}',
    ],
)
def test_a_wrong_order_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        list(registry.get("reminder").pieces("dialogues", "order.json", text.encode()))


def test_raddle_has_the_unseen_domain_and_out_of_domain_turns(tmp_path: Path) -> None:
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out", "simulated=reminder", "suites=standard,unseen,ood", "hard_baselines=")
    standard, unseen, ood = (records(tmp_path / "out", suite) for suite in ("standard", "unseen", "ood"))
    reminders = [one for one in standard if one.source == "reminder"]
    assert {split: sum(one.split == split for one in reminders) for split in ("train", "test")} == {"train": 50, "test": 400}
    assert sum(one.source == "reminder" for one in unseen) == 400 and {one.split for one in unseen} == {"test"}
    assert {one.domains for one in ood} == {("attraction",)} and {one.split for one in ood} == {"train", "test"}
    assert all(sum("oos" in turn.labels for turn in one.turns) == 1 for one in ood)
    trained = {turn.utterance.casefold() for one in ood if one.split == "train" for turn in one.turns if "oos" in turn.labels}
    tested = {turn.utterance.casefold() for one in ood if one.split == "test" for turn in one.turns if "oos" in turn.labels}
    assert trained and tested and not trained & tested
    fresh, known = _named(unseen), _named([one for one in standard if one.split == "train"])
    assert fresh and known and not fresh & (known - {"dontcare"})
    turns = json.loads((tmp_path / "out/release/ood/attraction.test.soloist.json").read_text("utf-8"))
    assert sum(turn.get("dp") == "dp : out_of_domain" for turn in turns) == sum(one.split == "test" for one in ood)
