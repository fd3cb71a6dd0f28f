"""Whisper on CTranslate2, 8-bit, one thread: the default recogniser; tiny.en for English, base for Chinese."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from typing import Any, ClassVar

from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed
from dialmill.perturbers.speech.noise import RATE, Audio
from dialmill.perturbers.speech.weights import DEFAULT_SIZE, PACKAGED, Weights, find

#: (longest speech, window), in seconds. A Whisper encoder is given 30 s whatever the audio; on a window with 1.4 s to spare it is up to five times
#: as fast and as good (32 utterances of up to 4.6 s: 4.6 % in 7 s, 5.1 % in 6 s, 4.3 % in 10 s), on a tighter one it begins to loop.
WINDOWS = ((4.6, 6), (7.0, 9), (12.0, 14), (29.0, 30))
#: Utterances decoded together.
_BATCH = 8


class Whisper:
    """Whisper on CTranslate2: greedy (or a beam of `nbest`), no 3-gram twice, so that it doesn't loop."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="whisper",
        kind="asr",
        languages=("en", "zh"),
        licence="MIT",
        about="default: Whisper on CTranslate2, 8-bit",
        modules=("ctranslate2", "tokenizers", "numpy"),
        extra="speech",
        weights=tuple(files for packaged in PACKAGED.values() for files in packaged.packages),
    )

    def __init__(self, weights: Weights, nbest: int = 1) -> None:
        self.info.require()
        self.weights = weights
        self.nbest = nbest
        beside = f" files {weights.others}" if weights.others else ""
        self.digest = f"whisper {weights.sha256[:16]} ctranslate2 {metadata.version('ctranslate2')} int8 nbest {nbest}{beside}"
        self.multilingual = weights.multilingual
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @classmethod
    def open(cls, model: str, language: str, nbest: int, network: bool) -> Whisper:
        cls.info.require()
        return cls(find(model or DEFAULT_SIZE.get(language, "base"), network), nbest)

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            ctranslate2 = importlib.import_module("ctranslate2")
            model = ctranslate2.models.Whisper(str(self.weights.folder), device="cpu", compute_type="int8", intra_threads=1, inter_threads=1)
            tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(self.weights.folder / "tokenizer.json"))
            self._loaded = model, tokenizer
        return self._loaded

    def transcribe(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        if not self.multilingual and language != "en":
            raise EngineMissing(f"the Whisper model {self.weights.folder.name} knows English only, not {language!r}")
        found: list[Transcript | None] = [None] * len(audios)
        with self._lock:
            for seconds, places in _groups(audios):
                for start in range(0, len(places), _BATCH):
                    batch = places[start : start + _BATCH]
                    for place, transcript in zip(batch, self._decode([audios[p] for p in batch], language, seconds), strict=True):
                        found[place] = transcript
        return [transcript or Transcript("") for transcript in found]

    def _decode(self, audios: Sequence[Audio], language: str, seconds: int) -> list[Transcript]:
        import numpy as np

        model, tokenizer = self._load()
        ctranslate2 = importlib.import_module("ctranslate2")
        prompt = ["<|startoftranscript|>", *([f"<|{language}|>", "<|transcribe|>"] if self.multilingual else []), "<|notimestamps|>"]
        ids = [tokenizer.token_to_id(token) for token in prompt]
        features = np.ascontiguousarray(np.stack([log_mel(audio, seconds) for audio in audios]))
        try:
            results = model.generate(
                ctranslate2.StorageView.from_array(features),
                [ids] * len(audios),
                beam_size=max(1, self.nbest),
                num_hypotheses=self.nbest,
                no_repeat_ngram_size=3,
                repetition_penalty=1.05,
                max_length=160,
                return_scores=True,
            )
        except RuntimeError as error:
            raise SpeechFailed(f"whisper failed: {error}") from error
        transcripts = []
        for result in results:
            texts = [tokenizer.decode(sequence).strip() for sequence in result.sequences_ids]
            transcripts.append(Transcript(texts[0], tuple(zip(texts, (float(score) for score in result.scores), strict=True))))
        return transcripts


def _groups(audios: Sequence[Audio]) -> list[tuple[int, list[int]]]:
    """Places of the audios by the window they need; longer ones than the longest window are left out (their transcripts are empty)."""
    groups: dict[int, list[int]] = {}
    for place, audio in enumerate(audios):
        window = next((window for longest, window in WINDOWS if len(audio) <= longest * RATE), None)
        if window is not None:
            groups.setdefault(window, []).append(place)
    return sorted(groups.items())


@cache
def _filters() -> Any:
    """Slaney's 80 mel filters over a 400-point FFT at 16 kHz, (80, 201), as Whisper was trained on."""
    import numpy as np

    frequency = np.fft.rfftfreq(400, 1 / RATE)
    mel = np.linspace(0.0, 45.245640471924965, 82)
    hertz = mel * (200 / 3)
    high = mel >= 15
    hertz[high] = 1000 * np.exp(np.log(6.4) / 27 * (mel[high] - 15))
    width = np.diff(hertz)
    ramp = hertz[:, None] - frequency[None]
    low, up = -ramp[:-2] / width[:-1, None], ramp[2:] / width[1:, None]
    return (np.maximum(0, np.minimum(low, up)) * (2 / (hertz[2:82] - hertz[:80]))[:, None]).astype(np.float32)


def log_mel(audio: Audio, seconds: int) -> Any:
    """Whisper's log-mel spectrogram of the first `seconds` of `audio`, padded with silence: float32 of shape (80, 100 * seconds)."""
    import numpy as np

    samples = seconds * RATE
    padded = np.zeros(samples, np.float32)
    padded[: min(len(audio), samples)] = audio[:samples]
    padded = np.pad(padded, 200, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, 400)[::160][:-1] * np.hanning(401)[:-1].astype(np.float32)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    mel = np.log10(np.maximum(_filters() @ power.T.astype(np.float32), 1e-10))
    return ((np.maximum(mel, mel.max() - 8) + 4) / 4).astype(np.float32)
