"""Finds how much noise gives a word error rate, on a sample of the corpus itself, and verifies it on turns and noise it has not seen.

    python -m dialmill.perturbers.speech.fit.calibrate --input dialogues.jsonl --wer 0.3 [--option tts=piper]... [--store]

`--input` holds canonical records (dialogues/standard/*.jsonl of any build). The search moves the SNR of all kinds of noise together by
bisection, always with the same turns and the same noise, so that only the level differs between its steps; the result is then measured on
other turns with other seeds, and reported with its 95 % confidence interval, by kind of noise and by voice.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech import points
from dialmill.perturbers.speech.channel import Speech
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import Errors, Rate, corpus_rate, errors
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode

#: SNRs between which the search looks, as a shift of every kind's starting point, in dB.
_WIDEST = 12.0
#: Starting points where no curve is known.
_START = {"white": 16.0, "pink": 12.0, "babble": 16.0}


@dataclass(frozen=True)
class Point:
    """What was found: the SNR by kind of noise, the search's steps, and what the check on held-out turns gave (all, and by kind and voice)."""

    snr: dict[str, float]
    steps: tuple[tuple[float, float], ...]
    held_out: Rate
    parts: dict[str, Rate]
    skipped: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "snr": self.snr,
            "steps": [list(step) for step in self.steps],
            "held_out": self.held_out._asdict(),
            "parts": {name: rate._asdict() for name, rate in self.parts.items()},
            "skipped": self.skipped,
        }


def sample(dialogues: Sequence[Dialogue], turns: int, seed: int) -> list[Dialogue]:
    """Dialogues drawn by key until they hold `turns` user turns that can be spoken."""
    order = sorted(dialogues, key=lambda dialogue: Rng(seed, "calibrate", dialogue.source_id).random())
    chosen: list[Dialogue] = []
    count = 0
    for dialogue in order:
        if count >= turns:
            break
        chosen.append(dialogue)
        count += spoken_turns(dialogue)
    return chosen


def spoken_turns(dialogue: Dialogue) -> int:
    """How many user turns have something to speak."""
    return sum(turn.speaker == "user" and bool(words(turn.utterance, dialogue.language)) for turn in dialogue.turns)


def measured(speech: Speech, dialogues: Sequence[Dialogue], seed: int) -> tuple[list[Errors], int]:
    """The errors that every user turn came out with (none for a turn that was skipped), and how many were skipped."""
    found: list[Errors] = []
    skipped = 0
    for dialogue in dialogues:
        made = speech.perturb(dialogue, seed)
        skipped += sum(skip.reason != "unspeakable" for skip in made.lineage[-1].skipped)
        for before, after in zip(dialogue.turns, made.turns, strict=True):
            if before.speaker == "user" and words(before.utterance, dialogue.language):
                found.append(errors(before.utterance, after.utterance, dialogue.language))
    return found, skipped


def calibrate(
    speech: Speech, dialogues: Sequence[Dialogue], seed: int, turns: int = 80, check_turns: int = 300, steps: int = 5
) -> tuple[Speech, Point]:
    """The perturber with the SNR that gives `speech.wer`, and how well it does.

    Args:
        speech: with engine "audio" or "auto"; its `snr` is taken as the place to start from, if it is not "auto".
        dialogues: of one language; the sample for the search and the held-out check come from different ones.
        seed: any integer.
        turns, check_turns: user turns in the search and in the check.
        steps: of the bisection; each halves the interval, 24 dB wide at first.

    Raises:
        OptionError: no audio path here for the language, or no dialogues.
    """
    if not dialogues:
        raise OptionError("speech: there are no dialogues to calibrate on")
    names = {dialogue.source_id for dialogue in sample(dialogues, turns, seed)}
    rest = [dialogue for dialogue in dialogues if dialogue.source_id not in names]
    fitted, tried = bisect(speech, dialogues, seed, turns, steps)
    held_out, parts, skipped = verify(fitted, sample(rest or dialogues, check_turns, seed + 1), seed + 1)
    return fitted, Point(dict(fitted.given_snr() or {}), tuple(tried), held_out, parts, skipped)


def bisect(speech: Speech, dialogues: Sequence[Dialogue], seed: int, turns: int, steps: int) -> tuple[Speech, list[tuple[float, float]]]:
    """The perturber at the level that gives `speech.wer` on `turns` user turns drawn from `dialogues`, and the (shift in dB, WER) of each step."""
    start = _start(speech)
    searched = sample(dialogues, turns, seed)
    low, high = -_WIDEST, _WIDEST
    tried: list[tuple[float, float]] = []
    for _ in range(steps):
        middle = (low + high) / 2
        found, _ = measured(_shifted(speech, start, middle), searched, seed)
        rate = corpus_rate(found).rate
        tried.append((middle, rate))
        if rate > speech.wer:
            low = middle
        else:
            high = middle
    return _shifted(speech, start, _between(tried, speech.wer)), tried


def verify(speech: Speech, dialogues: Sequence[Dialogue], seed: int) -> tuple[Rate, dict[str, Rate], int]:
    """The corpus rate over `dialogues`; the rates by kind of noise and by voice; and how many turns were skipped."""
    every: list[Errors] = []
    groups: dict[str, list[Errors]] = {}
    skipped = 0
    for dialogue in dialogues:
        found, failed = measured(speech, [dialogue], seed)
        skipped += failed
        every += found
        for name in speech.speaker(dialogue, seed, 0):
            groups.setdefault(name, []).extend(found)
    return corpus_rate(every), {name: corpus_rate(groups[name]) for name in sorted(groups)}, skipped


def _start(speech: Speech) -> dict[str, float]:
    given = speech.given_snr()
    return given if given is not None else {kind: _START.get(kind, 12.0) for kind in speech.kinds()}


def _shifted(speech: Speech, start: dict[str, float], shift: float) -> Speech:
    return speech.with_snr({kind: round(level + shift, 2) for kind, level in start.items()})


def _between(tried: Sequence[tuple[float, float]], target: float) -> float:
    """The shift at which a straight line through the nearest tries on both sides gives the target."""
    above = max((one for one in tried if one[1] > target), default=None)
    below = min((one for one in tried if one[1] <= target), default=None)
    if above is None or below is None:
        return tried[-1][0]
    if above[0] >= below[0]:
        return (above[0] + below[0]) / 2
    return above[0] + (below[0] - above[0]) * (above[1] - target) / (above[1] - below[1])


def keep(speech: Speech, language: str, point: Point, what: str) -> None:
    """Stores the search's curve for every kind of noise, so that a rebuild with these options doesn't search again."""
    start = _start(speech)
    steps = sorted(point.steps)
    for kind, level in start.items():
        curve = points.Curve(tuple(round(level + shift, 2) for shift, _ in steps), tuple(rate for _, rate in steps))
        points.store(speech.point_name(kind, language), curve, {"measured_on": what, **point.to_dict()}, speech.cache_folder)


def read(path: Path) -> list[Dialogue]:
    """The dialogues of a JSONL file."""
    return [decode(line) for line in path.read_bytes().splitlines() if line.strip()]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m dialmill.perturbers.speech.fit.calibrate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--input", required=True, type=Path, help="JSON lines of canonical records of one language")
    parser.add_argument("--wer", type=float, default=0.3)
    parser.add_argument("--option", action="append", default=[], help="further options of the perturber, as name=value")
    parser.add_argument("--turns", type=int, default=80, help="user turns of the search")
    parser.add_argument("--check-turns", type=int, default=300, help="held-out user turns of the check")
    parser.add_argument("--steps", type=int, default=5, help="steps of the bisection")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", action="store_true", help="keep what the search measured, so that these options find it by snr=auto from now on")
    given = parser.parse_args(arguments)
    try:
        options = dict(option.split("=", 1) for option in given.option)
        start = "|".join(f"{kind}={level:g}" for kind, level in _START.items()) if options.get("noise", "mix") == "mix" else "12"
        speech = Speech.from_options({"wer": given.wer, "engine": "audio", "snr": start, **options})
        assert isinstance(speech, Speech)
        dialogues = read(given.input)
        fitted, point = calibrate(speech, dialogues, given.seed, given.turns, given.check_turns, given.steps)
        if given.store:
            keep(speech, dialogues[0].language, point, given.input.name)
    except (OptionError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(json.dumps(point.to_dict(), indent=1))
    print(f"use: speech:wer={given.wer:g},snr={fitted.snr}", file=sys.stderr)


if __name__ == "__main__":
    main()
