"""The audio path: words to voice, noise over it, and a recogniser's transcript of that; stored by what decides it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib import resources
from pathlib import Path

from dialmill.perturbers.core.rng import key_number
from dialmill.perturbers.speech import noise
from dialmill.perturbers.speech.cache import Cache, digest, write_whole
from dialmill.perturbers.speech.engines import augment
from dialmill.perturbers.speech.engines.asr import Asr, Transcript
from dialmill.perturbers.speech.engines.tts import Tts
from dialmill.perturbers.speech.errors import SpeechFailed
from dialmill.perturbers.speech.noise import Audio

#: Raised whenever the audio of one and the same condition changes.
_VERSION = 1


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
class Heard:
    """A transcript, or why there is none: "tts_failed" or "asr_failed"; and the audio, where it was made just now."""

    transcript: Transcript | None
    failure: str | None = None
    audio: Audio | None = field(default=None, compare=False)


class Studio:
    """A voice engine and a recogniser for one language."""

    def __init__(self, tts: Tts, asr: Asr, language: str, cache: Cache) -> None:
        self.tts, self.asr, self.language, self.cache = tts, asr, language, cache
        self._pool: Audio | None = None
        self._folders: dict[str, str] = {}

    def audio(self, text: str, condition: Condition) -> Audio:
        """The audio that the recogniser gets; `text` is speakable. Room first, then noise, then the microphone and the line,
        then the effects of `augment`.

        Raises:
            SpeechFailed: the voice engine gave none.
        """
        audio = self.tts.speak(text, condition.voice)
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
            return noise.babble(samples, condition.seed, self._babble())
        return noise.recording(samples, condition.seed, condition.noise)

    def _babble(self) -> Audio:
        if self._pool is None:
            import numpy as np

            lines = (resources.files("dialmill.perturbers.speech") / "data" / f"babble.{self.language}.txt").read_text("utf-8").splitlines()
            voices = self.tts.voices(self.language)
            parts = [self.tts.speak(line, voices[place % len(voices)]) for place, line in enumerate(lines)]
            # Every voice as loud as the others, and without the silence around it.
            self._pool = np.concatenate([_voiced(part) for part in parts])
        return self._pool

    def noise_name(self, kind: str) -> str:
        """What names the noise in keys: of a folder, its recordings' contents."""
        if kind in noise.NAMES or kind == "none":
            return kind
        if kind not in self._folders:
            hasher = sha256()
            for path in noise.recordings(kind):
                hasher.update(sha256(path.read_bytes()).digest())
            self._folders[kind] = f"recordings {hasher.hexdigest()[:24]}"
        return self._folders[kind]

    def key(self, text: str, condition: Condition) -> str:
        """The cache key of a transcript."""
        return digest("asr", _VERSION, self.tts.digest, self.asr.digest, self.language, text, self._named(condition))

    def _named(self, condition: Condition) -> dict[str, object]:
        """A condition's fields; what lies somewhere on this machine is named by what is in it."""
        fields = {**asdict(condition), "noise": self.noise_name(condition.noise)}
        if not condition.augment:
            del fields["augment"]
        else:
            fields["augment"] = augment.load(condition.augment).digest
        return fields

    def hear(self, texts: Sequence[str], conditions: Sequence[Condition]) -> list[Heard]:
        """What the recogniser hears of each text (speakable), one condition each; what is stored isn't computed again."""
        found: list[Heard | None] = []
        keys = [self.key(text, condition) for text, condition in zip(texts, conditions, strict=True)]
        for key in keys:
            stored = self.cache.get_json(key)
            found.append(None if stored is None else Heard(Transcript(stored["text"], tuple((text, score) for text, score in stored["nbest"]))))
        audios: dict[int, Audio] = {}
        for place, heard in enumerate(found):
            if heard is None:
                try:
                    audios[place] = self.audio(texts[place], conditions[place])
                except SpeechFailed:
                    found[place] = Heard(None, "tts_failed")
        if audios:
            try:
                transcripts: Sequence[Transcript | None] = self.asr.hear(list(audios.values()), self.language)
            except SpeechFailed:
                transcripts = [None] * len(audios)
            for place, transcript in zip(audios, transcripts, strict=True):
                if transcript is None:
                    found[place] = Heard(None, "asr_failed")
                    continue
                found[place] = Heard(transcript, audio=audios[place])
                self.cache.put_json(keys[place], {"text": transcript.text, "nbest": [list(one) for one in transcript.nbest]})
        return [heard if heard is not None else Heard(None, "asr_failed") for heard in found]

    def keep(self, text: str, condition: Condition, heard: Heard, path: Path) -> None:
        """Writes the audio as a WAV file (made again where the transcript came from the cache), and beside it a JSON file that says how it was made
        and what was heard, hypotheses in DSTC10's form."""
        transcript = heard.transcript
        assert transcript is not None
        write_whole(path, noise.wav_bytes(self.audio(text, condition) if heard.audio is None else heard.audio))
        about = {
            "said": text,
            "text": transcript.text,
            "nbest": [{"hyp": heard, "score": score} for heard, score in transcript.nbest],
            **self._named(condition),
        }
        write_whole(path.with_suffix(".json"), json.dumps(about, ensure_ascii=False, indent=1).encode() + b"\n")


def _voiced(audio: Audio) -> Audio:
    import numpy as np

    loud = np.flatnonzero(np.abs(audio) > 0.02 * max(float(np.abs(audio).max()), 1e-9))
    part = audio[loud[0] : loud[-1] + 1] if len(loud) else audio
    power = noise.active_power(part)
    return (part / np.float32(power**0.5 or 1.0)).astype(np.float32)


def noise_seed(*key: object) -> int:
    """A seed for numpy's RandomState from a key."""
    return key_number("noise", *key) % 2**32
