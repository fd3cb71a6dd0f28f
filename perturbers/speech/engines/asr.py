"""Recognisers: audio to text. One small protocol, several engines.

    engine            extra            licence   note
    whisper           speech           MIT       Whisper on CTranslate2, 8-bit, one thread; tiny.en for English, base for Chinese
    openai-whisper    openai-whisper   MIT       OpenAI's own package on PyTorch, ten times slower, the same transcripts
    pocketsphinx      pocketsphinx     BSD       English, no weights to fetch; weak, and useless in babble

The language always comes from the dialogue and the task is always to transcribe: left to guess, Whisper takes short turns for other
languages or translates them (case B20).
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.speech.engines.weights import DEFAULT_SIZE, Weights, file_digest, find
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed
from dialmill.perturbers.speech.noise import RATE, Audio


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a recogniser heard. `nbest` are its best hypotheses with their scores (mean log probabilities), the first being `text`; one where
    the engine gives no others."""

    text: str
    nbest: tuple[tuple[str, float], ...] = ()


class Asr(Protocol):
    """A recogniser. `digest` names what decides its output besides the audio."""

    name: str
    digest: str

    def hear(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        """One transcript for each audio, empty where nothing was heard. Raises `SpeechFailed`."""
        ...


#: (longest speech, window), in seconds. A Whisper encoder is given 30 s whatever the audio; on a window with 1.4 s to spare it is up to five times
#: as fast and as good (32 utterances of up to 4.6 s: 4.6 % in 7 s, 5.1 % in 6 s, 4.3 % in 10 s), on a tighter one it begins to loop.
WINDOWS = ((4.6, 6), (7.0, 9), (12.0, 14), (29.0, 30))
#: Utterances decoded together.
_BATCH = 8


class Whisper:
    """Whisper on CTranslate2: greedy (or a beam of `nbest`), no 3-gram twice, so that it doesn't loop."""

    name = "whisper"

    def __init__(self, weights: Weights, nbest: int = 1) -> None:
        for module in ("ctranslate2", "tokenizers", "numpy"):
            if importlib.util.find_spec(module) is None:
                raise EngineMissing(f"the whisper engine needs {module}; it comes with the extra: pip install 'dialmill[speech]'")
        self.weights = weights
        self.nbest = nbest
        self.digest = f"whisper {weights.sha256[:16]} ctranslate2 {metadata.version('ctranslate2')} int8 nbest {nbest}"
        self.multilingual = weights.multilingual
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            ctranslate2 = importlib.import_module("ctranslate2")
            model = ctranslate2.models.Whisper(str(self.weights.folder), device="cpu", compute_type="int8", intra_threads=1, inter_threads=1)
            tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(self.weights.folder / "tokenizer.json"))
            self._loaded = model, tokenizer
        return self._loaded

    def hear(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
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


class OpenaiWhisper:
    """OpenAI's own package. `model` is a name ("tiny.en") or the path of a .pt file; without a network only a path, or a file in its cache, works:
    `convert` makes one of weights that are here."""

    name = "openai-whisper"

    def __init__(self, model: str, nbest: int = 1) -> None:
        if importlib.util.find_spec("whisper") is None:
            raise EngineMissing("openai-whisper is not installed; it comes with the extra: pip install 'dialmill[openai-whisper]'")
        self.model = model
        # A file is named by what is in it: it may lie elsewhere, or change.
        named = file_digest(Path(model))[:16] if Path(model).is_file() else model
        self.digest = f"openai-whisper {metadata.version('openai-whisper')} {named}"
        self._lock = threading.Lock()
        self._loaded: Any = None

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = importlib.import_module("whisper").load_model(self.model, device="cpu")
            except (OSError, RuntimeError) as error:
                raise EngineMissing(f"openai-whisper has no weights for {self.model!r} ({error}); give the path of a .pt file") from error
        return self._loaded

    def hear(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        whisper = importlib.import_module("whisper")
        found = []
        with self._lock:
            model = self._load()
            options = whisper.DecodingOptions(task="transcribe", language=language, without_timestamps=True, fp16=False)
            for audio in audios:
                result = whisper.decode(model, whisper.log_mel_spectrogram(whisper.pad_or_trim(audio), n_mels=model.dims.n_mels), options)
                found.append(Transcript(result.text.strip(), ((result.text.strip(), float(result.avg_logprob)),)))
        return found


class Pocketsphinx:
    """CMU PocketSphinx with the English model of its wheel."""

    name = "pocketsphinx"

    def __init__(self, nbest: int = 1) -> None:
        if importlib.util.find_spec("pocketsphinx") is None:
            raise EngineMissing("pocketsphinx is not installed; it comes with the extra: pip install 'dialmill[pocketsphinx]'")
        self.nbest = nbest
        self.digest = f"pocketsphinx {metadata.version('pocketsphinx')} nbest {nbest}"
        self._lock = threading.Lock()

    def hear(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        if language != "en":
            raise EngineMissing(f"pocketsphinx has an English model only, not {language!r}")
        import numpy as np

        found = []
        with self._lock:
            for audio in audios:
                # A new decoder each time: its cepstral means adapt from utterance to utterance, which would make the order matter.
                decoder = importlib.import_module("pocketsphinx").Decoder(samprate=float(RATE), loglevel="FATAL")
                decoder.start_utt()
                decoder.process_raw(np.round(audio * 32767).astype("<i2").tobytes(), full_utt=True)
                decoder.end_utt()
                best = decoder.hyp()
                text = _plain(best.hypstr) if best else ""
                others = (
                    [(_plain(one.hypstr), float(one.score)) for _, one in zip(range(self.nbest), decoder.nbest(), strict=False) if one]
                    if best
                    else []
                )
                found.append(Transcript(text, tuple(others) if self.nbest > 1 and others else ((text, 0.0),)))
        return found


def _plain(text: str) -> str:
    """PocketSphinx's words without its marks for fillers and variants: "<sil> the(2) hotel" is "the hotel"."""
    return " ".join(re.sub(r"\(\d+\)", "", word) for word in text.split() if not word.startswith(("<", "[", "++")))


def make(name: str, language: str, nbest: int = 1, network: bool = True) -> Asr:
    """A recogniser from "ENGINE" or "ENGINE:MODEL": whisper, whisper:base, whisper:PATH, openai-whisper:tiny.en, pocketsphinx. "auto" is whisper.

    Raises:
        OptionError: no such engine; the message lists the known.
        EngineMissing: the engine or its weights are not here; the message says what brings them.
    """
    engine, _, model = name.partition(":")
    if engine in ("auto", "whisper", "faster-whisper"):
        if importlib.util.find_spec("ctranslate2") is None:
            raise EngineMissing("the whisper engine is not installed; it comes with the extra: pip install 'dialmill[speech]'")
        return Whisper(find(model or DEFAULT_SIZE.get(language, "base"), network), nbest)
    if engine == "openai-whisper":
        return OpenaiWhisper(model or DEFAULT_SIZE.get(language, "base"), nbest)
    if engine == "pocketsphinx":
        return Pocketsphinx(nbest)
    if engine == "fake":
        from dialmill.perturbers.speech.engines.fakes import FakeAsr

        return FakeAsr()
    raise OptionError(f"speech: there is no recogniser {engine!r}; the known ones are: {', '.join(ENGINES)}")


ENGINES: tuple[str, ...] = ("auto", "whisper", "openai-whisper", "pocketsphinx", "fake")
Factory = Callable[[], Asr]
