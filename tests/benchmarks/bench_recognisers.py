"""Recognisers compared on the same audio: word error rate of each, alone and with the guards, and how far each is from the first.

    python -m dialmill.perturbers.speech.fit.convert tiny.en tiny.en.pt
    python -m tests.benchmarks.bench_recognisers DIALOGUES.jsonl --asr whisper openai-whisper:tiny.en.pt [--turns 40] [--wer 0.3] [--seed 21]

DIALOGUES.jsonl holds canonical records (dialogues/standard/test.jsonl of any build). Voice, kind of noise and level are drawn from the seed as the
perturber draws them, at the SNR of the known curves for `--wer`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.cache import Cache
from dialmill.perturbers.speech.channel import Channel, Condition, noise_seed
from dialmill.perturbers.speech.engines import registry
from dialmill.perturbers.speech.fit.calibrate import read
from dialmill.perturbers.speech.guards import hallucinated
from dialmill.perturbers.speech.options import SpeechOptions
from dialmill.perturbers.speech.plan import choose_voices, make_plan
from dialmill.perturbers.speech.speakable import speakable, words
from dialmill.perturbers.speech.tuning import sample
from dialmill.perturbers.speech.wer import corpus_rate, errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("--asr", nargs="+", default=["whisper"])
    parser.add_argument("--tts", default="auto")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--wer", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--show", action="store_true", help="print what was said and what each transcribed")
    given = parser.parse_args()
    dialogues = sample(read(given.dialogues), given.turns, given.seed)
    language = dialogues[0].language
    texts = [turn.utterance for one in dialogues for turn in one.turns if turn.speaker == "user" and words(turn.utterance, language)][: given.turns]
    # Levels are known for the default engines; another voice gets theirs.
    plan = make_plan(SpeechOptions(engine="audio", wer=given.wer), language)
    opened = registry.open_engines(plan.engines)
    voice = opened.tts if given.tts == "auto" else registry.open_tts(given.tts, Cache(None))
    voices = plan.voices if given.tts == "auto" else choose_voices(voice, language, "4")
    channel = Channel(voice, opened.asr, language, Cache(None))
    audios = []
    began = time.process_time()
    for place, text in enumerate(texts):
        rng = Rng(given.seed, "recognisers", place)
        kind = rng.choice(sorted(plan.snr))
        condition = Condition(rng.choice(voices), kind, plan.snr[kind], noise_seed(given.seed, place))
        audios.append(channel.audio(speakable(text, language), condition))
    seconds = sum(map(len, audios)) / 16000
    print(f"{len(texts)} turns, {seconds:.0f} s of audio by {channel.tts.digest}: {(time.process_time() - began) / len(texts):.3f} CPU s a turn")
    transcribed: dict[str, list[str]] = {}
    for name in given.asr:
        engine = registry.open_asr(name, language)
        engine.transcribe(audios[:1], language)
        began = time.process_time()
        transcribed[name] = [transcript.text for transcript in engine.transcribe(audios, language)]
        spent = (time.process_time() - began) / len(texts)
        found = [errors(text, got, language) for text, got in zip(texts, transcribed[name], strict=True)]
        kept = []
        refused = 0
        for text, got, one in zip(texts, transcribed[name], found, strict=True):
            if hallucinated(text, got, language, SpeechOptions.ceiling) is None:
                kept.append(one)
            else:
                refused += 1
        rate, guarded = corpus_rate(found), corpus_rate(kept)
        apart = corpus_rate(errors(first, got, language) for first, got in zip(transcribed[given.asr[0]], transcribed[name], strict=True))
        print(
            f"{name} ({engine.digest}): WER {rate.rate:.1%} [{rate.low:.1%}, {rate.high:.1%}]; {guarded.rate:.1%} without the {refused} transcripts "
            f"that the guards refuse; {apart.rate:.1%} of words unlike {given.asr[0]}'s; {spent:.2f} CPU s a turn"
        )
    if given.show:
        for place, text in enumerate(texts):
            print(text, *(f"  {name}: {got[place]}" for name, got in transcribed.items()), sep="\n")


if __name__ == "__main__":
    main()
