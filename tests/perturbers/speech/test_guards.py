"""Hallucinations are told from transcripts."""

from __future__ import annotations

import pytest
from dialmill.perturbers.speech.guards import longest_run, right_script, suspicious
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import errors


def verdict(reference: str, transcript: str, language: str = "en", ceiling: float = 0.8) -> str | None:
    said = [word.text for word in words(reference, language)]
    heard = [word.text for word in words(transcript, language)]
    return suspicious(said, heard, transcript, language, errors(reference, transcript, language), ceiling)


@pytest.mark.parametrize(
    ("reference", "transcript", "language", "problem"),
    [
        ("yes please", "thank you. " * 24, "en", "loop"),
        ("i need a hotel in the east", "Thanks for watching!", "en", "wer"),
        ("yes please", "", "en", "empty"),
        ("yes please", "...", "en", "empty"),
        ("Continue", "계속", "en", "wrong_script"),
        ("好的", "Okay, good.", "zh", "wrong_script"),
        ("i need a hotel", "i need a hotel in the east of the town of my mother and her sister too", "en", "length"),
        ("i need a hotel in the east with free parking", "hotel", "en", "length"),
        ("no no no", "no no no", "en", None),
        ("no no no", "No, no, no, no, no.", "en", "loop"),
        ("yes", "guess", "en", None),
        ("a café please", "a café please", "en", None),
        ("好的", "好滴", "zh", None),
        ("我想看 NBA 比赛", "我想看NBA比赛", "zh", None),
        ("i want a train and a bus and a car", "it is my it is my it is my it is my", "en", "loop"),
    ],
)
def test_verdicts(reference: str, transcript: str, language: str, problem: str | None) -> None:
    assert verdict(reference, transcript, language) == problem


def test_run() -> None:
    assert longest_run(["a", "b", "a", "b", "a", "b"]) == 3
    assert longest_run([]) == 0
    assert longest_run(["a", "b"]) == 1


def test_script() -> None:
    assert right_script("12", "en")
    assert not right_script("はい", "zh")
