"""OpenAI's own Whisper package on PyTorch: ten times slower than `whisper`, the same transcripts."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from dialmill.perturbers.core.weights import PackagedFiles, file_digest, own_files
from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript
from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.noise import Audio
from dialmill.perturbers.speech.weights import DEFAULT_SIZE


class OpenaiWhisper:
    """OpenAI's own package. `model` is a name ("tiny.en") or the path of a .pt file; without a network only a path, or a file in its cache, works:
    `fit.convert` makes one of weights that are here."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="openai-whisper",
        kind="asr",
        languages=("en", "zh"),
        licence="MIT",
        about="OpenAI's own package, on PyTorch",
        modules=("whisper", "torch"),
        extra="openai-whisper",
        weights=(
            PackagedFiles(
                "whisper",
                "openai-whisper==20250625",
                {
                    "assets/gpt2.tiktoken": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
                    "assets/mel_filters.npz": "7450ae70723a5ef9d341e3cee628c7cb0177f36ce42c44b7ed2bf3325f0f6d4c",
                    "assets/multilingual.tiktoken": "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
                },
            ),
        ),
    )

    def __init__(self, model: str) -> None:
        self.info.require("whisper")
        self.info.checked()
        self.model = model
        if Path(model).is_file():
            own_files(Path(model).parent, (Path(model).name,))
        # A file is named by what is in it: it may lie elsewhere, or change.
        named = file_digest(Path(model))[:16] if Path(model).is_file() else model
        self.digest = f"openai-whisper {metadata.version('openai-whisper')} {named}"
        self._lock = threading.Lock()
        self._loaded: Any = None

    @classmethod
    def open(cls, model: str, language: str, nbest: int, network: bool) -> OpenaiWhisper:
        return cls(model or DEFAULT_SIZE.get(language, "base"))

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = importlib.import_module("whisper").load_model(self.model, device="cpu")
            except (OSError, RuntimeError) as error:
                raise EngineMissing(f"openai-whisper has no weights for {self.model!r} ({error}); give the path of a .pt file") from error
        return self._loaded

    def transcribe(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        whisper = importlib.import_module("whisper")
        found = []
        with self._lock:
            model = self._load()
            options = whisper.DecodingOptions(task="transcribe", language=language, without_timestamps=True, fp16=False)
            for audio in audios:
                result = whisper.decode(model, whisper.log_mel_spectrogram(whisper.pad_or_trim(audio), n_mels=model.dims.n_mels), options)
                found.append(Transcript(result.text.strip(), ((result.text.strip(), float(result.avg_logprob)),)))
        return found
