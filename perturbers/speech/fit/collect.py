"""Pairs of what was said and what was recognised, by the audio path: the training data of the ASR error simulator.

    python -m dialmill.perturbers.speech.fit.collect --language en --count 700 --output pairs.jsonl
    python -m dialmill.perturbers.speech.fit.collect --input dialogues/standard/train.jsonl --count 2000 --output pairs.jsonl

Without `--input` the sentences are dialmill's own. Voice, kind of noise and SNR are drawn anew for every sentence. A run that was cut off goes on
where it stopped, for the cache has what it did.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.cache import write_whole
from dialmill.perturbers.speech.channel import Condition, noise_seed, open_channel
from dialmill.perturbers.speech.fit.calibrate import read
from dialmill.perturbers.speech.fit.sentences import sentences
from dialmill.perturbers.speech.options import MIX, SpeechOptions
from dialmill.perturbers.speech.perturber import Speech
from dialmill.perturbers.speech.plan import make_plan
from dialmill.perturbers.speech.speakable import speakable, words

#: SNRs that give word error rates from the recogniser's floor to about 60 %, in dB.
LEVELS = {"en": (4.0, 26.0), "zh": (-4.0, 20.0)}
_TOGETHER = 8


def pairs(options: SpeechOptions, language: str, texts: Sequence[str], seed: int, low: float, high: float) -> Iterator[dict[str, object]]:
    """{"ref", "hyp", "noise", "snr", "voice"} for every text that can be spoken, voice, noise and level drawn at random by `seed`."""
    plan = make_plan(options, language)
    channel = open_channel(plan)
    jobs = []
    for place, text in enumerate(texts):
        rng = Rng(seed, "collect", place)
        kind, level, voice = rng.choice(MIX), round(low + (high - low) * rng.random(), 2), rng.choice(plan.voices)
        if words(text, language):
            jobs.append((text, Condition(voice, kind, level, noise_seed(seed, place))))
    for start in range(0, len(jobs), _TOGETHER):
        part = jobs[start : start + _TOGETHER]
        results = channel.transcribe([speakable(text, language) for text, _ in part], [condition for _, condition in part])
        for (text, condition), result in zip(part, results, strict=True):
            if result.transcript is not None:
                yield {"ref": text, "hyp": result.transcript.text, "noise": condition.noise, "snr": condition.snr, "voice": condition.voice}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m dialmill.perturbers.speech.fit.collect", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--input", type=Path, help="JSON lines of canonical records; their user turns are spoken")
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--count", type=int, default=700)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--snr", type=float, nargs=2, help="lowest and highest, in dB")
    parser.add_argument("--option", action="append", default=[], help="options of the perturber (tts, asr, voices, cache), as name=value")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    low, high = given.snr or LEVELS[given.language]
    try:
        speech = Speech.from_options({"engine": "audio", "snr": "10", **dict(option.split("=", 1) for option in given.option)})
        assert isinstance(speech, Speech)
        if given.input is None:
            texts = sentences(given.language, given.count, given.seed)
        else:
            texts = [turn.utterance for dialogue in read(given.input) for turn in dialogue.turns if turn.speaker == "user"]
            Rng(given.seed, "collect").shuffle(texts)
        lines = []
        for pair in pairs(speech, given.language, texts[: given.count], given.seed, low, high):
            lines.append(json.dumps(pair, ensure_ascii=False) + "\n")
            if sys.stderr.isatty():
                print(f"\r{len(lines)} of {given.count}", end="", file=sys.stderr)
        write_whole(given.output, "".join(lines).encode())
    except (OptionError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(f"{given.output}: {len(lines)} pairs")


if __name__ == "__main__":
    main()
