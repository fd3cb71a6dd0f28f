"""How tuning fits the suite, and what a user is told of work that takes long."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.core import progress
from dialmill.perturbers.speech.perturber import Speech
from dialmill.pipelines.core.progress import Progress
from dialmill.pipelines.stages.tuning import told, within
from dialmill.schemas import Dialogue, Turn

from tests.pipelines.tools import corpus, plain, records, talk


def _dialogue(name: str, users: int, language: str = "en") -> Dialogue:
    turns = tuple(Turn(at, "user", f"turn {at}") for at in range(users))
    return Dialogue(dialogue_id=name, source="x", source_id=name, language=language, turns=turns)


def test_a_sample_has_no_more_turns_than_the_suite() -> None:
    some = [_dialogue(f"d{number}", 4) for number in range(9)] + [_dialogue("zh", 5, "zh")]
    chosen = within(some, {"en": 11, "zh": 0})
    assert [one.source_id for one in chosen] == ["d0", "d1"]
    assert [one.source_id for one in within(some, {"en": 1, "zh": 20})] == ["d0", "zh"]


@pytest.mark.parametrize("test_size", [1, 3])
def test_a_build_tunes_on_no_more_turns_than_its_suite_has(test_size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite takes the test split alone, and the input has many dialogues besides."""
    given: list[int] = []

    def tune(speech: Speech, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
        given.append(sum(turn.speaker == "user" for dialogue in dialogues for turn in dialogue.turns))
        return {}

    monkeypatch.setattr(Speech, "tunable", lambda speech: True)
    monkeypatch.setattr(Speech, "takes_long", lambda speech, language: language == "en")
    monkeypatch.setattr(Speech, "seconds_per_turn", lambda speech, dialogues, seed: 0.25)
    monkeypatch.setattr(Speech, "tune", tune)
    said: list[str] = []
    monkeypatch.setattr(progress, "NOTICES", said)
    source = corpus(tmp_path / "in", {f"D{number}": talk(number) for number in range(40)})
    settings = (
        "splits=hash",
        f"test_size={test_size}",
        "suites=standard,noisy",
        "perturbations.noisy=speech:engine=text,wer=0.6",
        "perturbed_splits=test",
    )
    plain("splits", [source], tmp_path / "out", *settings)
    turns = 2 * len(records(tmp_path / "out", "standard", "test"))
    assert given == [turns] and 0 < turns <= 2 * test_size, "a dialogue has two user turns"
    assert said == [told("noisy", turns, 0.25)] and "engine=text takes seconds" in said[0]
    assert not progress.TASKS, "the line of a suite ends with it"


def test_the_line_says_what_runs_how_much_is_left_and_how_long() -> None:
    stream = io.StringIO()
    with Progress(quiet=True, stream=stream) as shown, progress.task("tuning speech@3 (en)", 200, "turns") as task:
        assert shown.line().endswith("tuning speech@3 (en): 0 of at most 200 turns")
        task.advance(50)
        task.began -= 10
        assert shown.line().endswith("tuning speech@3 (en): 50 of at most 200 turns, about 30 s left")
    assert "tuning" not in shown.line()


def test_what_takes_long_is_told_before_it_begins() -> None:
    stream = io.StringIO()
    with Progress(quiet=False, stream=stream):
        progress.notice(told("speech", 1200, 0.2))
    assert "suite speech: about 1,200 turns x 0.2 s = 4 min by audio" in stream.getvalue() and "engine=text takes seconds" in stream.getvalue()
