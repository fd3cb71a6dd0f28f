"""The audio path: synthesise a turn, put noise over it, transcribe that, and make the transcript's errors edits of the turn.

A turn goes forward through six files. Each takes what the one before it made, and none of them calls back; this file hands it on:

    speakable.py         the utterance as the words that are spoken
    engines/VOICE.py     their audio (`Tts.synthesise`)
    noise.py             room, noise at the turn's SNR, microphone and telephone line
    engines/RECOGNISER   the transcript (`Asr.transcribe`)
    guards.py            whether the transcript is to be believed; if not, the turn begins again with another draw of the noise
    align.py             the turn with the errors as edits, and its spans

Which engines, voices and SNRs these are is decided before (`plan`). Transcripts are kept in the cache by all that decides them. A turn whose audio is
longer than recognisers take at once goes through in parts, cut at its clauses (`clauses.py`), and comes out joined; audio that is too short to hold
what was said is not transcribed at all, for a recogniser invents words for it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.speech import noise
from dialmill.perturbers.speech.align import apply_transcript
from dialmill.perturbers.speech.cache import Cache, digest, write_whole
from dialmill.perturbers.speech.clauses import parts_of
from dialmill.perturbers.speech.engines import augment
from dialmill.perturbers.speech.engines import registry as engines
from dialmill.perturbers.speech.engines.protocol import Asr, Transcript, Tts
from dialmill.perturbers.speech.errors import AudioTooShort, SpeechFailed
from dialmill.perturbers.speech.forms import fillers
from dialmill.perturbers.speech.guards import hallucinated
from dialmill.perturbers.speech.noise import Audio, noise_name
from dialmill.perturbers.speech.options import SpeechOptions
from dialmill.perturbers.speech.plan import Plan
from dialmill.perturbers.speech.speakable import speakable, words
from dialmill.schemas import Turn

#: Raised whenever the audio of one and the same condition changes.
_VERSION = 1
#: Recognisers take 30 s at once; parts of a longer turn are made of so many seconds at most.
LONGEST, PART = 28.0, 22.0
#: Audio is too short for what was said below this many seconds, and below so many for each spoken word (Chinese: character): the fastest speech
#: that is understood has eight words in a second, and recognisers invent words for less.
_SHORTEST, _WORD = 0.1, 0.06
#: Samples below this share of the loudest are the silence around the voice; a voice below this level (of 1) says nothing.
_QUIET, _SILENT = 0.02, 1e-3


@dataclass(frozen=True, slots=True)
class Condition:
    """How one utterance is spoken and what is done to it.

    Args:
        voice: a voice of the engine.
        noise: "white", "pink", "babble", "none", or a folder of recordings.
        snr: signal-to-noise ratio in dB.
        seed: of the noise, in [0, 2**32).
        telephone: the band of a telephone line.
        reverb: reverberation time in seconds, 0 for none.
        clipping: share of the samples that is clipped, in [0, 1).
        augment: effects of audiomentations (`augment.load`), "" for none.
    """

    voice: str
    noise: str
    snr: float
    seed: int
    telephone: bool = False
    reverb: float = 0.0
    clipping: float = 0.0
    augment: str = ""


@dataclass(frozen=True, slots=True)
class Transcription:
    """A transcript, or why there is none: "tts_failed", "audio_too_short" or "asr_failed"; and the audio, where it was made just now."""

    transcript: Transcript | None
    failure: str | None = None
    audio: Audio | None = field(default=None, compare=False)


class Transcribed(NamedTuple):
    """A turn after its way through the channel, with the condition it was spoken in and what was recognised."""

    turn: Turn
    condition: Condition
    transcription: Transcription


def transcribe_turns(
    plan: Plan, options: SpeechOptions, turns: Sequence[Turn], key: tuple[object, ...]
) -> tuple[dict[int, Transcribed], dict[int, str]]:
    """Turns of one dialogue through the channel, all together since engines work on batches.

    Args:
        plan: for the dialogue's language, with SNRs.
        turns: with something to speak in each.
        key: identifies the dialogue and variant; voice, kind of noise and every draw depend on it.

    Returns:
        By the turns' numbers, those with a transcript to be believed, and why the others have none (`tts_failed`, `audio_too_short` or `asr_failed`).
    """
    channel = open_channel(plan)
    voice, kind = plan.speaker(key)
    done: dict[int, Transcribed] = {}
    failed: dict[int, str] = {}
    pending = list(turns)
    for attempt in range(options.tries):
        conditions = [_condition(options, voice, kind, plan.snr[kind], (*key, turn.turn, attempt)) for turn in pending]
        results = channel.transcribe([speakable(turn.utterance, plan.language) for turn in pending], conditions)
        rejected = []
        for turn, condition, result in zip(pending, conditions, results, strict=True):
            if result.transcript is None:
                failed[turn.turn] = result.failure or "asr_failed"
            elif hallucinated(turn.utterance, result.transcript.text, plan.language, options.ceiling):
                failed[turn.turn] = "asr_failed"
            else:
                pauses = turn_fillers(options, turn, plan.language, (*key, turn.turn))
                made = apply_transcript(turn, result.transcript.text, plan.language, options.output, pauses, options.values)
                done[turn.turn] = Transcribed(made, condition, result)
                continue
            rejected.append(turn)
        pending = rejected
        if not pending:
            break
    return done, {number: reason for number, reason in failed.items() if number not in done}


def turn_fillers(options: SpeechOptions, turn: Turn, language: str, key: tuple[object, ...]) -> list[tuple[int, str]]:
    """The pauses of a turn that its speaker fills, in plain output; `key` identifies the turn and variant."""
    if not options.fillers or options.output != "plain":
        return []
    return fillers(Rng(*key, "fillers"), options.fillers, len(words(turn.utterance, language)), language)


def _condition(options: SpeechOptions, voice: str, kind: str, snr: float, key: tuple[object, ...]) -> Condition:
    level = round(snr + options.spread * (2 * Rng(*key, "snr").random() - 1), 2)
    return Condition(voice, kind, level, noise_seed(*key), options.telephone, options.reverb, options.clipping, options.augment)


def open_channel(plan: Plan) -> Channel:
    """The channel of a plan, on the process's engines."""
    opened = engines.open_engines(plan.engines)
    return Channel(opened.tts, opened.asr, plan.language, opened.cache)


@dataclass(frozen=True)
class Channel:
    """A voice engine and a recogniser for one language, and the cache of what they made."""

    tts: Tts
    asr: Asr
    language: str
    cache: Cache

    def transcribe(self, texts: Sequence[str], conditions: Sequence[Condition]) -> list[Transcription]:
        """What the recogniser makes of each text (speakable), one condition each; what is in the cache isn't computed again."""
        keys = [self.key(text, condition) for text, condition in zip(texts, conditions, strict=True)]
        found = [self._cached(key) for key in keys]
        spoken: dict[int, list[Audio]] = {}
        for place, known in enumerate(found):
            if known is None:
                try:
                    spoken[place] = self.audios(texts[place], conditions[place])
                except AudioTooShort:
                    found[place] = Transcription(None, "audio_too_short")
                except SpeechFailed:
                    found[place] = Transcription(None, "tts_failed")
        if spoken:
            try:
                transcripts = iter(self.asr.transcribe([audio for audios in spoken.values() for audio in audios], self.language))
            except SpeechFailed:
                transcripts = iter(())
            for place, audios in spoken.items():
                parts = [part for _, part in zip(audios, transcripts, strict=False)]
                if len(parts) == len(audios):
                    transcript = _joined(parts, self.language)
                    found[place] = Transcription(transcript, audio=_one_audio(audios))
                    self.cache.put_json(keys[place], {"text": transcript.text, "nbest": [list(one) for one in transcript.nbest]})
        return [one if one is not None else Transcription(None, "asr_failed") for one in found]

    def _cached(self, key: str) -> Transcription | None:
        stored = self.cache.get_json(key)
        if stored is None:
            return None
        return Transcription(Transcript(stored["text"], tuple((text, score) for text, score in stored["nbest"])))

    def audio(self, text: str, condition: Condition) -> Audio:
        """`audios` as one."""
        return _one_audio(self.audios(text, condition))

    def audios(self, text: str, condition: Condition) -> list[Audio]:
        """The audio that the recogniser gets, in parts that it takes at once; `text` is speakable.

        Raises:
            SpeechFailed: the voice engine gave none.
            AudioTooShort: it gave too little for the text.
        """
        return [
            self._recorded(audio, condition if not place else replace(condition, seed=noise_seed(condition.seed, "part", place)))
            for place, audio in enumerate(self._said(text, condition.voice))
        ]

    def _said(self, text: str, voice: str) -> list[Audio]:
        """The text as the voice says it, in parts where it is long."""
        audio = self.tts.synthesise(text, voice)
        if voiced(audio) < max(_SHORTEST, _WORD * len(words(text, self.language))):
            raise AudioTooShort(f"{len(audio) / noise.RATE:.2f} s of audio for {text[:60]!r}")
        seconds = len(audio) / noise.RATE
        parts = parts_of(text, self.language, int(seconds / PART) + 1) if seconds > LONGEST else [text]
        return [audio] if len(parts) == 1 else [one for part in parts for one in self._said(part, voice)]

    def _recorded(self, audio: Audio, condition: Condition) -> Audio:
        """A voice as it is recorded: room first, then noise, then the microphone and the line, then the effects of `augment`."""
        if condition.reverb:
            audio = noise.reverb(audio, condition.reverb, condition.seed)
        if condition.noise != "none":
            audio = noise.mix(audio, self._noise(len(audio), condition), condition.snr)
        if condition.clipping:
            audio = noise.clip(audio, condition.clipping)
        if condition.telephone:
            audio = noise.telephone(audio)
        return augment.load(condition.augment).apply(audio, condition.seed) if condition.augment else audio

    def _noise(self, samples: int, condition: Condition) -> Audio:
        if condition.noise in noise.KINDS:
            return noise.KINDS[condition.noise](samples, condition.seed)
        if condition.noise == "babble":
            return noise.babble(samples, condition.seed, _babble(self.tts, self.language))  # type: ignore[arg-type]  # every engine hashes by identity
        return noise.recording(samples, condition.seed, condition.noise)

    def key(self, text: str, condition: Condition) -> str:
        """The cache key of a transcript."""
        return digest("asr", _VERSION, self.tts.digest, self.asr.digest, self.language, text, _portable(condition))

    def write_audio(self, text: str, condition: Condition, transcription: Transcription, path: Path) -> None:
        """Writes the audio as a WAV file (made again where the transcript came from the cache), and beside it a JSON file that says how it was made
        and what was recognised, hypotheses in DSTC10's form."""
        transcript = transcription.transcript
        assert transcript is not None
        audio = self.audio(text, condition) if transcription.audio is None else transcription.audio
        write_whole(path, noise.wav_bytes(audio))
        about = {
            "said": text,
            "text": transcript.text,
            "nbest": [{"hyp": hypothesis, "score": score} for hypothesis, score in transcript.nbest],
            **_portable(condition),
        }
        write_whole(path.with_suffix(".json"), json.dumps(about, ensure_ascii=False, indent=1).encode() + b"\n")


def voiced(audio: Audio) -> float:
    """How long a voice is heard, in seconds: the audio without the silence around it, 0 where it is silent all through."""
    import numpy as np

    loudest = float(np.abs(audio).max()) if len(audio) else 0.0
    if loudest < _SILENT:
        return 0.0
    heard = np.flatnonzero(np.abs(audio) > _QUIET * loudest)
    return float(heard[-1] + 1 - heard[0]) / noise.RATE


def timed(plan: Plan, texts: Sequence[str]) -> float:
    """Seconds that a turn takes, measured on some (as written) once the engines are loaded; nothing is taken from the cache of transcripts."""
    channel = replace(open_channel(plan), cache=Cache(None))
    said = [speakable(text, plan.language) for text in texts]
    conditions = [Condition(plan.voices[0], "white", 10.0, noise_seed("timed", place)) for place in range(len(said))]
    channel.transcribe(said[:1], conditions[:1])
    began = time.perf_counter()
    channel.transcribe(said, conditions)
    return (time.perf_counter() - began) / len(said)


def _one_audio(audios: Sequence[Audio]) -> Audio:
    import numpy as np

    return audios[0] if len(audios) == 1 else np.concatenate(audios)


def _joined(parts: Sequence[Transcript], language: str) -> Transcript:
    """The transcript of a turn from those of its parts: the best of each, then the second of each, with the mean of their scores."""
    if len(parts) == 1:
        return parts[0]
    blank = "" if language == "zh" else " "
    nbest = tuple(
        (blank.join(text for text, _ in ranked if text), sum(score for _, score in ranked) / len(ranked))
        for ranked in zip(*(part.nbest for part in parts), strict=False)
    )
    return Transcript(blank.join(part.text for part in parts if part.text), nbest)


def _portable(condition: Condition) -> dict[str, object]:
    """A condition's fields; what lies somewhere on this machine is named by what is in it."""
    fields = {**asdict(condition), "noise": noise_name(condition.noise)}
    if not condition.augment:
        del fields["augment"]
    else:
        fields["augment"] = augment.load(condition.augment).digest
    return fields


@lru_cache(maxsize=8)
def _babble(tts: Tts, language: str) -> Audio:
    """The voices of an engine reading sentences of ours, one after the other: what babble is cut from."""
    import numpy as np

    lines = (resources.files("dialmill.perturbers.speech") / "data" / f"babble.{language}.txt").read_text("utf-8").splitlines()
    voices = tts.voices(language)
    parts = [tts.synthesise(line, voices[place % len(voices)]) for place, line in enumerate(lines)]
    # Every voice as loud as the others, and without the silence around it.
    return np.concatenate([_voiced(part) for part in parts])


def _voiced(audio: Audio) -> Audio:
    import numpy as np

    loud = np.flatnonzero(np.abs(audio) > 0.02 * max(float(np.abs(audio).max()), 1e-9))
    part = audio[loud[0] : loud[-1] + 1] if len(loud) else audio
    power = noise.active_power(part)
    return (part / np.float32(power**0.5 or 1.0)).astype(np.float32)


def noise_seed(*key: object) -> int:
    """A seed for numpy's RandomState from a key."""
    return key_number("noise", *key) % 2**32
