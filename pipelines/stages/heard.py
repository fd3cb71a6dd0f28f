"""The books of recognition errors: what each suite of speech came to, by language, voice, noise and SNR."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from perturbers.rng import key_number
from perturbers.speech.wer import add_to_sums, errors, rate_of_sums
from schemas import Dialogue, Turn

_STEP_NAME = "speech@"
_CONDITION = re.compile(r"(voice|noise): (.+)|turn (\d+): (-?[\d.]+) dB")
#: SNRs are told in steps of so many dB.
SNR_STEP = 3
#: To compare two texts costs half of what the text channel takes for one: of its dialogues, one of so many is measured.
_TEXT_SHARE = 4


class Conditions:
    """How the turns of a dialogue were spoken, as its lineage tells."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.whole: list[tuple[str, str]] = []
        self.levels: dict[int, str] = {}
        self.failed: list[int] = []
        self.steps = [step for step in dialogue.lineage if step.step.startswith(_STEP_NAME)]
        for step in self.steps:
            self.failed += [skip.turn for skip in step.skipped if skip.reason != "unspeakable"]
            for reason in step.reasons:
                match = _CONDITION.fullmatch(reason)
                if match and match[1]:
                    self.whole.append((match[1], match[2]))
                elif match:
                    low = int(float(match[4]) // SNR_STEP) * SNR_STEP
                    self.levels[int(match[3])] = f"{low} to {low + SNR_STEP} dB"

    def of(self, turn: Turn) -> list[tuple[str, str]]:
        """(kind, label) pairs: voice, noise, snr."""
        return [*self.whole, *([("snr", self.levels[turn.turn])] if turn.turn in self.levels else [])]


def measured(dialogue: Dialogue, conditions: Conditions) -> Iterator[tuple[Turn, list[tuple[str, str]]]]:
    """The user turns that were said, with what they were said under. Inserted turns were said by nobody."""
    for turn in dialogue.turns:
        if turn.speaker == "user" and not turn.inserted:
            yield turn, conditions.of(turn)


def count(dialogue: Dialogue, suite: str, seed: int, heard: dict[str, dict[str, int]]) -> None:
    """Adds the errors of a variant to the books; nothing if no speech channel had it."""
    conditions = Conditions(dialogue)
    if not conditions.steps or (not conditions.whole and key_number(seed, "heard", dialogue.dialogue_id) % _TEXT_SHARE):
        return
    for turn, under in measured(dialogue, conditions):
        of_turn = errors(turn.source_text, turn.utterance, dialogue.language)
        if of_turn.length:
            for kind, label in [("all", ""), *under]:
                add_to_sums(heard.setdefault(f"{suite}\n{dialogue.language}\n{kind}\n{label}", {}), of_turn)


def snr_order(label: str) -> tuple[float, str]:
    """Sorts the labels of SNRs by their numbers."""
    match = re.match(r"(-?\d+) to ", label)
    return (float(match[1]) if match else 0.0, label)


def report(heard: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The books as the manifest has them: suite -> language -> corpus WER (fractions; Chinese: CER) with its 95 % interval, and by condition."""
    found: dict[str, Any] = {}
    for key in sorted(heard, key=lambda key: (*key.split("\n")[:3], snr_order(key.split("\n")[3]))):
        suite, language, kind, label = key.split("\n")
        rate = {name: round(value, 4) for name, value in rate_of_sums(heard[key])._asdict().items()}
        of_language = found.setdefault(suite, {}).setdefault(language, {})
        if kind == "all":
            of_language.update(rate)
        else:
            of_language.setdefault("by", {}).setdefault(kind, {})[label] = rate
    return found
