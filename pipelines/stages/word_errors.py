"""Counts of recognition errors: what each suite of speech came to, by language, voice, noise and SNR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from dialmill.perturbers.core.rng import key_number
from dialmill.perturbers.speech.conditions import Conditions, band_order
from dialmill.perturbers.speech.wer import add_to_sums, errors, rate_of_sums
from dialmill.pipelines.core.counters import SPEECH_ALONE
from dialmill.schemas import Dialogue, Turn

#: To compare two texts costs half of what the ASR error simulator takes for one: of its dialogues, one of so many is measured.
_TEXT_SHARE = 4


def measured(dialogue: Dialogue, conditions: Conditions, tuned_on: Set[str]) -> Iterator[tuple[Turn, list[tuple[str, str]]]]:
    """The user turns that were said, with what they were said under. Inserted turns were said by nobody. `tuned_on` are the source ids of the
    dialogues that the level was tuned on: the others are told apart as held out."""
    part = [("tuning", "took part" if dialogue.source_id in tuned_on else "held out")] if tuned_on else []
    for turn in dialogue.turns:
        if turn.speaker == "user" and not turn.inserted:
            yield turn, [*conditions.of(turn), *part]


def count(dialogue: Dialogue, suite: str, seed: int, sums: dict[str, dict[str, int]], tuned_on: Set[str]) -> None:
    """Adds the errors of a variant to `sums`; nothing if no speech channel had it."""
    conditions = Conditions(dialogue)
    if not conditions.spoken or (not conditions.whole and key_number(seed, "heard", dialogue.dialogue_id) % _TEXT_SHARE):
        return
    for turn, under in measured(dialogue, conditions, tuned_on):
        of_turn = errors(turn.source_text, turn.utterance, dialogue.language)
        if of_turn.length:
            for kind, label in [("all", ""), *under]:
                add_to_sums(sums.setdefault(f"{suite}\n{dialogue.language}\n{kind}\n{label}", {}), of_turn)


def report(sums: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The counts as the manifest has them: suite -> language -> corpus WER (fractions; Chinese: CER) with its 95 % interval, and by condition; where
    other steps change turns before they are spoken, the errors of the speech alone beside it (`speech_alone`)."""
    found: dict[str, Any] = {}
    for key in sorted(sums, key=lambda key: (*key.split("\n")[:3], band_order(key.split("\n")[3]))):
        suite, language, kind, label = key.split("\n")
        rate = {name: round(value, 4) for name, value in rate_of_sums(sums[key])._asdict().items()}
        of_language = found.setdefault(suite, {}).setdefault(language, {})
        if kind == "all":
            of_language.update(rate)
        elif kind == SPEECH_ALONE:
            of_language[SPEECH_ALONE] = rate
        else:
            of_language.setdefault("by", {}).setdefault(kind, {})[label] = rate
    return found
