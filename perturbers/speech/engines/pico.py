"""SVOX Pico: the default English voice, American and British; 30 ms an utterance, the same audio every time."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import ClassVar

from dialmill.perturbers.core.weights import PackagedFiles
from dialmill.perturbers.speech.engines.protocol import EngineInfo
from dialmill.perturbers.speech.errors import SpeechFailed
from dialmill.perturbers.speech.noise import Audio


class Pico:
    """SVOX Pico (py-nanotts), in a process of its own (`pico_process`). A voice is a region, and a speaker made of it by pitch and speed."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="pico",
        kind="tts",
        languages=("en",),
        licence="Apache-2.0",
        about="default English voice, 8 speakers, deterministic",
        modules=("py_nanotts", "numpy"),
        extra="speech",
        weights=(
            PackagedFiles(
                "py_nanotts",
                "py-nanotts==0.1.1",
                {
                    "lang/en-GB_kh0_sg.bin": "8f9f5d13a920a9f3371517178d42ce89b835f1e587760c2db280beb593c388fa",
                    "lang/en-GB_ta.bin": "57998f6423236dea25cd572a73b13f371e64155840e31b571eba7fca0b521b7e",
                    "lang/en-US_lh0_sg.bin": "d6946526696d9eb085f7b23b1fbdf7a9986caca658b645e9eb73c6514fd4789d",
                    "lang/en-US_ta.bin": "3a2a4d23de2a44dbbff50f69dcb9486be53b6d0a871d77cdc35f45c3e25e82aa",
                },
            ),
        ),
    )
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
        self.info.require()
        self.info.checked()
        self.digest = f"pico {metadata.version('py-nanotts')}"
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def voices(self, language: str) -> Sequence[str]:
        return tuple(self.SPEAKERS) if language == "en" else ()

    def synthesise(self, text: str, voice: str) -> Audio:
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
            script = str(Path(__file__).with_name("pico_process.py"))
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
