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

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.speech import points, tuning
from dialmill.perturbers.speech.options import Options, SpeechOptions
from dialmill.perturbers.speech.perturber import Speech
from dialmill.perturbers.speech.plan import make_plan, point_name
from dialmill.perturbers.speech.wer import Errors, Rate, corpus_rate
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode


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


def calibrate(
    options: Options, dialogues: Sequence[Dialogue], seed: int, turns: int = 80, check_turns: int = 300, steps: int = 5
) -> tuple[Options, Point]:
    """The options with the SNR that gives `options.wer`, and how well it does.

    Args:
        options: with engine "audio" or "auto"; its `snr` is taken as the place to start from, if it is not "auto".
        dialogues: of one language; the sample for the search and the held-out check come from different ones.
        seed: any integer.
        turns, check_turns: user turns in the search and in the check.
        steps: of the bisection; each halves the interval, 24 dB wide at first.

    Raises:
        OptionError: no audio path here for the language, or no dialogues.
    """
    if not dialogues:
        raise OptionError("speech: there are no dialogues to calibrate on")
    names = {dialogue.source_id for dialogue in tuning.sample(dialogues, turns, seed)}
    rest = [dialogue for dialogue in dialogues if dialogue.source_id not in names]
    fitted, tried = tuning.bisect(options, dialogues, seed, turns, steps)
    held_out, parts, skipped = verify(fitted, tuning.sample(rest or dialogues, check_turns, seed + 1), seed + 1)
    return fitted, Point(dict(fitted.given_snr() or {}), tuple(tried), held_out, parts, skipped)


def verify(options: SpeechOptions, dialogues: Sequence[Dialogue], seed: int) -> tuple[Rate, dict[str, Rate], int]:
    """The corpus rate over `dialogues`; the rates by kind of noise and by voice; and how many turns were skipped."""
    every: list[Errors] = []
    groups: dict[str, list[Errors]] = {}
    skipped = 0
    for dialogue in dialogues:
        result = tuning.measure(options, dialogue, seed)
        skipped += result.skipped
        every += result.errors
        for name in (result.voice, result.noise):
            groups.setdefault(name, []).extend(result.errors)
    return corpus_rate(every), {name: corpus_rate(groups[name]) for name in sorted(groups)}, skipped


def store(options: SpeechOptions, language: str, point: Point, what: str) -> None:
    """Stores the search's curve for every kind of noise, so that a rebuild with these options doesn't search again.

    Args:
        options: those that the search began with.
        language: of the dialogues.
        what: what it was measured on, in a few words.
    """
    steps = sorted(point.steps)
    plan = make_plan(options, language, levels=False)
    for kind, level in tuning.start_levels(options).items():
        curve = points.Curve(tuple(round(level + shift, 2) for shift, _ in steps), tuple(rate for _, rate in steps))
        points.store(point_name(options, kind, plan), curve, {"measured_on": what, **point.to_dict()}, options.cache_folder)


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
        start = "|".join(f"{kind}={level:g}" for kind, level in tuning.START.items()) if options.get("noise", "mix") == "mix" else "12"
        speech = Speech.from_options({"wer": given.wer, "engine": "audio", "snr": start, **options})
        assert isinstance(speech, Speech)
        dialogues = read(given.input)
        fitted, point = calibrate(speech, dialogues, given.seed, given.turns, given.check_turns, given.steps)
        if given.store:
            store(speech, dialogues[0].language, point, given.input.name)
    except (OptionError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(json.dumps(point.to_dict(), indent=1))
    print(f"use: speech:wer={given.wer:g},snr={fitted.snr}", file=sys.stderr)


if __name__ == "__main__":
    main()
