"""Every installed voice transcribed by every installed recogniser in silence: CPU time a turn, size, and WER (Chinese: CER).

    python -m tests.benchmarks.bench_engines DIALOGUES.jsonl [--turns 30] [--tts pico piper] [--asr whisper whisper:base pocketsphinx] [--seed 21]

DIALOGUES.jsonl holds canonical records (dialogues/standard/test.jsonl of any build); their language decides what takes part. The turns of a voice
go round its four default voices. CPU time is user and system time of this process and of its children (Pico and espeak-ng run in processes of their
own), after a turn that loads the models. Sizes are those of the installed packages with what they require beyond dialmill's own requirements.
The interval is that of `wer.corpus_rate`: 95 %, over utterances.
"""

from __future__ import annotations

import argparse
import os
import re
from importlib import metadata
from pathlib import Path

from dialmill.perturbers import OptionError
from dialmill.perturbers.speech.cache import Cache
from dialmill.perturbers.speech.channel import Channel, Condition
from dialmill.perturbers.speech.engines import registry
from dialmill.perturbers.speech.fit.calibrate import read
from dialmill.perturbers.speech.guards import hallucinated
from dialmill.perturbers.speech.options import SpeechOptions
from dialmill.perturbers.speech.plan import choose_voices
from dialmill.perturbers.speech.speakable import speakable, words
from dialmill.perturbers.speech.tuning import sample
from dialmill.perturbers.speech.wer import corpus_rate, errors

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """CPU time so far of this process, of its children that ended, and (Linux) of those that still run."""
    spent = sum(os.times()[:4])
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in listed.read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            spent += (int(fields[11]) + int(fields[12])) / _TICK
    return spent


def _closure(names: list[str]) -> set[str]:
    """Distributions with all that they require, by normalised name; what is not installed is left out."""
    found: set[str] = set()
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        if name in found:
            continue
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        names += [match[0] for one in required if "extra ==" not in one and (match := re.match(r"[\w.-]+", one))]
    return found


def megabytes(modules: tuple[str, ...]) -> float:
    """Size of the distributions that the modules come from, with what they require beyond dialmill's core."""
    homes = metadata.packages_distributions()
    total = 0
    for name in _closure([home for module in modules for home in homes.get(module, ())]) - _closure(["dialmill"]):
        places = [file.locate() for file in metadata.files(name) or ()]
        total += sum(Path(str(place)).stat().st_size for place in places if Path(str(place)).is_file())
    return total / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--tts", nargs="+", help="voice engines; all that are installed and need no network")
    parser.add_argument("--asr", nargs="+", default=["whisper", "whisper:base", "pocketsphinx"])
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args()
    dialogues = sample(read(given.dialogues), given.turns, given.seed)
    language = dialogues[0].language
    texts = [turn.utterance for one in dialogues for turn in one.turns if turn.speaker == "user" and words(turn.utterance, language)][: given.turns]
    installed = [one for one in map(registry.engine_info, registry.REGISTRY.names()) if one.installed]
    for one in installed:
        if one.modules:
            print(f"{one.name}: {megabytes(one.modules):.0f} MB")
    recognisers = {}
    for name in given.asr:
        try:
            recognisers[name] = registry.open_asr(name, language, network=False)
        except OptionError as missing:
            print(f"{name} is left out: {missing}")
    for name in given.tts or [one.name for one in installed if one.kind == "tts" and one.name != "gtts" and language in one.languages]:
        engine = registry.open_tts(name, Cache(None))
        voices = choose_voices(engine, language, "4")
        channel = Channel(engine, next(iter(recognisers.values())), language, Cache(None))
        conditions = [Condition(voices[place % len(voices)], "none", 100.0, 0) for place in range(len(texts))]
        channel.audio(speakable(texts[0], language), conditions[0])
        began = cpu_seconds()
        audios = [channel.audio(speakable(text, language), condition) for text, condition in zip(texts, conditions, strict=True)]
        spent = (cpu_seconds() - began) / len(texts)
        seconds = sum(map(len, audios)) / 16000
        print(f"{engine.digest}: {spent:.3f} CPU s a turn; {len(texts)} turns, {seconds:.0f} s of audio by {', '.join(voices)}", flush=True)
        for asr_name, recogniser in recognisers.items():
            try:
                recogniser.transcribe(audios[:1], language)
            except OptionError as missing:
                print(f"  {asr_name} is left out: {missing}")
                continue
            began = cpu_seconds()
            transcripts = recogniser.transcribe(audios, language)
            spent = (cpu_seconds() - began) / len(texts)
            every, kept = [], []
            for text, got in zip(texts, transcripts, strict=True):
                every.append(errors(text, got.text, language))
                if hallucinated(text, got.text, language, SpeechOptions.ceiling) is None:
                    kept.append(every[-1])
            rate, guarded = corpus_rate(every), corpus_rate(kept)
            print(
                f"  {asr_name} ({recogniser.digest}): {'CER' if language == 'zh' else 'WER'} {rate.rate:.1%} [{rate.low:.1%}, {rate.high:.1%}] of "
                f"{rate.length} words; {guarded.rate:.1%} [{guarded.low:.1%}, {guarded.high:.1%}] without the {len(every) - len(kept)} that "
                f"the channel would reject; {spent:.2f} CPU s a turn",
                flush=True,
            )


if __name__ == "__main__":
    main()
