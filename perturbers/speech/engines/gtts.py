"""Google Translate's voice by the gTTS package: an unofficial endpoint, rate limited."""

from __future__ import annotations

import importlib
import io
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from dialmill.perturbers.speech.engines.protocol import EngineInfo
from dialmill.perturbers.speech.errors import SpeechFailed
from dialmill.perturbers.speech.noise import Audio, resample


class Gtts:
    """Google Translate's voice by the gTTS package: needs a network, and is rate limited.

    Calls of all threads keep `gap` seconds apart; a failed one is tried again up to `tries` times, waiting twice as long each time and up to as much
    again by chance; then the utterance fails.
    """

    info: ClassVar[EngineInfo] = EngineInfo(
        name="gtts",
        kind="tts",
        languages=("en", "zh"),
        licence="MIT",
        about="Google Translate's voice, over the network",
        modules=("gtts", "soundfile", "numpy"),
        extra="gtts",
    )
    stored = True
    #: voice -> (gTTS's language code, top-level domain, which decides the accent)
    VOICES: ClassVar[dict[str, tuple[str, str]]] = {
        "en-us": ("en", "com"),
        "en-gb": ("en", "co.uk"),
        "en-au": ("en", "com.au"),
        "zh-cn": ("zh-CN", "com"),
        "zh-tw": ("zh-TW", "com"),
    }

    def __init__(self, gap: float = 0.5, tries: int = 5, timeout: float = 20.0, sleep: Callable[[float], None] = time.sleep) -> None:
        self.info.require()
        self.digest = "gtts"
        self._gap, self._tries, self._timeout, self._sleep = gap, tries, timeout, sleep
        self._lock = threading.Lock()
        self._next = 0.0
        self._jitter = random.Random(0)

    def voices(self, language: str) -> Sequence[str]:
        return tuple(voice for voice in self.VOICES if voice.startswith(language))

    def synthesise(self, text: str, voice: str) -> Audio:
        import soundfile

        language, tld = self.VOICES[voice]
        gtts = importlib.import_module("gtts")
        problem: Exception | None = None
        for attempt in range(self._tries):
            if attempt:
                self._sleep(self._gap * 2**attempt * (1 + self._jitter.random()))
            self._wait()
            try:
                buffer = io.BytesIO()
                gtts.gTTS(text, lang=language, tld=tld, timeout=self._timeout, lang_check=False).write_to_fp(buffer)
                buffer.seek(0)
                data, rate = soundfile.read(buffer, dtype="float32", always_2d=True)
                if len(data):
                    return resample(data.mean(axis=1), rate)
                problem = SpeechFailed("empty audio")
            except Exception as error:  # gTTS lets errors of requests, urllib3, base64 and its own through; soundfile its own.
                problem = error
        raise SpeechFailed(f"gtts failed {self._tries} times: {problem}")

    def _wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            wait = max(0.0, self._next - now)
            self._next = max(now, self._next) + self._gap
        if wait:
            self._sleep(wait)
