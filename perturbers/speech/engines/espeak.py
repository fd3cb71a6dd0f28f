"""espeak-ng, run as a program: quick and robotic, with many voices."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from dialmill.perturbers.speech.engines.protocol import EngineInfo
from dialmill.perturbers.speech.errors import SpeechFailed
from dialmill.perturbers.speech.noise import Audio, read


class Espeak:
    """espeak-ng as a program of its own (GPL-3: not linked). English only: its Mandarin has a character error rate of 69 % and more."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="espeak-ng",
        kind="tts",
        languages=("en",),
        licence="GPL-3.0",
        about="quick, robotic, run as a program",
        modules=("numpy",),
        program="espeak-ng",
        install="apt-get install espeak-ng",
    )
    stored = False
    _BASES = ("en-us", "en-gb")
    _VARIANTS = ("", "+f2", "+m3", "+m7")

    def __init__(self) -> None:
        self.info.require()
        program = self._program = str(shutil.which("espeak-ng"))
        version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout.split("Data")[0]
        self.digest = version.strip()

    def voices(self, language: str) -> Sequence[str]:
        return tuple(base + variant for variant in self._VARIANTS for base in self._BASES) if language == "en" else ()

    def synthesise(self, text: str, voice: str) -> Audio:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "speech.wav"
            # The text goes by standard input, so that none of it is read as an option.
            done = subprocess.run(
                [self._program, "-v", voice, "--stdin", "-w", str(path)], input=text.encode(), capture_output=True, timeout=60, check=False
            )
            if done.returncode or not path.is_file():
                raise SpeechFailed(f"espeak-ng failed: {done.stderr.decode(errors='replace').strip()[:200]}")
            return read(path)
