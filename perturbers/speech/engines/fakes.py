"""Engines for tests: they carry the text inside the audio, need nothing installed but numpy, and misbehave on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript
from dialmill.perturbers.speech.noise import RATE, Audio


class FakeTts:
    """Synthesises by writing the UTF-8 bytes of the text into the first samples, behind a tone that noise can be measured against
    and that is as long as speech."""

    info: ClassVar[EngineInfo] = EngineInfo("fake-tts", "tts", ("en", "zh"), "Apache-2.0", "for tests", ("numpy",))
    digest = "fake-tts 1"

    def __init__(self, stored: bool = False, trouble: Callable[[int, str], None] | None = None) -> None:
        """`trouble(call, text)` is called before each utterance and may raise."""
        self.stored = stored
        self.calls = 0
        self._trouble = trouble

    def voices(self, language: str) -> Sequence[str]:
        return ("fake-a", "fake-b", "fake-c")

    def synthesise(self, text: str, voice: str) -> Audio:
        import numpy as np

        self.calls += 1
        if self._trouble is not None:
            self._trouble(self.calls, text)
        data = np.frombuffer(text.encode(), np.uint8).astype(np.float32)
        tone = 0.3 * np.sin(np.arange(RATE // 2 + 400 * len(data)) * 0.2).astype(np.float32)
        return np.concatenate([[np.float32(len(data) / 1e5)], data / 1000, tone]).astype(np.float32)


class FakeAsr:
    """Transcribes what `FakeTts` synthesised, if nothing but scaling by noise levels changed it; else what `answer(text)` makes of the text.

    With noise in it the audio's bytes are gone, so the fake looks texts up by the length of the audio among those it knows.
    """

    info: ClassVar[EngineInfo] = EngineInfo("fake-asr", "asr", ("en", "zh"), "Apache-2.0", "for tests", ("numpy",))
    digest = "fake-asr 1"

    def __init__(self, answer: Callable[[str, int], str] | None = None) -> None:
        """`answer(text, call)` is the transcript for a text; by default the text itself."""
        self.calls = 0
        self.languages: list[str] = []
        self._answer = answer

    @classmethod
    def open(cls, model: str, language: str, nbest: int, network: bool) -> FakeAsr:
        return cls()

    def transcribe(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        import numpy as np

        found = []
        for audio in audios:
            self.calls += 1
            self.languages.append(language)
            size = round(float(audio[0]) * 1e5)
            text = bytes(np.round(audio[1 : 1 + size] * 1000).clip(0, 255).astype(np.uint8)).decode("utf-8", "replace")
            said = self._answer(text, self.calls) if self._answer else text
            found.append(Transcript(said, ((said, 0.0),)))
        return found
