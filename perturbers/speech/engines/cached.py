"""A voice engine whose audio is kept in the cache."""

from __future__ import annotations

from collections.abc import Sequence

from dialmill.perturbers.speech.cache import Cache, digest
from dialmill.perturbers.speech.engines.protocol import Tts
from dialmill.perturbers.speech.noise import Audio, wav_bytes


class CachedTts:
    """An engine whose audio is kept in a cache, if it asks for that."""

    def __init__(self, engine: Tts, cache: Cache) -> None:
        self.engine, self.cache = engine, cache
        self.info, self.digest, self.stored = engine.info, engine.digest, engine.stored

    def voices(self, language: str) -> Sequence[str]:
        """The voices of the engine."""
        return self.engine.voices(language)

    def synthesise(self, text: str, voice: str) -> Audio:
        """The engine's audio, from the cache where it is there."""
        import numpy as np

        if not self.stored:
            return self.engine.synthesise(text, voice)
        key = digest("tts", self.digest, voice, text)
        data = self.cache.get(key, ".wav")
        if data is None:
            data = wav_bytes(self.engine.synthesise(text, voice))
            self.cache.put(key, ".wav", data)
        # Read back also when just made, so that a first run and a second one give the same.
        return np.frombuffer(data[44:], "<i2").astype(np.float32) / np.float32(32767)
