"""A recogniser that hears all but the last word of what the test voice says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dialmill.perturbers.speech.engines.fakes import FakeAsr
from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript
from dialmill.perturbers.speech.noise import Audio


class Parrot(FakeAsr):
    """Repeats what it hears, but for the end."""

    info: ClassVar[EngineInfo] = EngineInfo("parrot", "asr", ("en",), "CC0-1.0", "repeats all but the last word", ("numpy",))
    digest = "parrot 1"

    def transcribe(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        heard = super().transcribe(audios, language)
        return [Transcript(text, ((text, 0.0),)) for text in (" ".join(one.text.split()[:-1]) or one.text for one in heard)]
