"""What a speech engine is: it declares itself in an `EngineInfo`, and synthesises (`Tts`) or transcribes (`Asr`).

An engine is a class in a file of its own, listed in `registry`, or brought by another package under the entry-point group ``dialmill.engines``:

    [project.entry-points."dialmill.engines"]
    mine = "my_package.voice:MyVoice"

The class has the attribute `info` and keeps to one of the two protocols here. All audio is mono float32 in [-1, 1] at 16 kHz.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from dialmill.perturbers.core.weights import PackagedFiles
from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.noise import Audio

#: "tts" synthesises speech, "asr" transcribes it, "effects" changes the audio between the two.
Kind = Literal["tts", "asr", "effects"]


@dataclass(frozen=True)
class EngineInfo:
    """What an engine says of itself.

    Args:
        name: as the options `tts` and `asr` have it.
        kind: what it does.
        languages: the languages it can be used for, as "en".
        licence: of the engine, with what is to be known of its models.
        about: a few words for `dialmill list engines`.
        modules: must all be importable for it to work.
        program: must be on the path for it to work; "" for none.
        extra: the extra of dialmill that brings `modules`; "" where something else does.
        install: the command that installs it; "" for that of `extra`.
        weights: the files of packages that it loads, which are checked against their SHA-256 before: ``info.checked()``.
    """

    name: str
    kind: Kind
    languages: tuple[str, ...]
    licence: str
    about: str
    modules: tuple[str, ...] = ()
    program: str = ""
    extra: str = ""
    install: str = ""
    weights: tuple[PackagedFiles, ...] = ()

    @property
    def brings(self) -> str:
        """The command that installs it."""
        return self.install or (f"pip install 'dialmill[{self.extra}]'" if self.extra else "the core")

    @property
    def lacking(self) -> tuple[str, ...]:
        """The modules and the program that are not here. Looks without importing."""
        absent = tuple(module for module in self.modules if importlib.util.find_spec(module) is None)
        return absent if not self.program or shutil.which(self.program) else (*absent, self.program)

    @property
    def installed(self) -> bool:
        """Whether it can be used here."""
        return not self.lacking

    def checked(self) -> list[Path]:
        """The folders of the packages of its weights, all files of `weights` checked.

        Raises:
            WeightsRefused: a file is missing or another one.
        """
        return [files.checked() for files in self.weights]

    def require(self, *needed: str) -> None:
        """Checks that the engine can be used here.

        Args:
            needed: those of `modules` that it can't do without, where it can do without some.

        Raises:
            EngineMissing: it can't be used; the message says what installs it.
        """
        if set(self.lacking) & set(needed) if needed else self.lacking:
            how = f"it comes with the extra: {self.brings}" if self.extra else f"install it, for example by: {self.brings}"
            raise EngineMissing(f"the {self.name} engine is not installed; {how}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a recogniser made of an audio. `nbest` are its best hypotheses with their scores (mean log probabilities), the first being `text`; one
    where the engine gives no others."""

    text: str
    nbest: tuple[tuple[str, float], ...] = ()


class Tts(Protocol):
    """A voice engine; it is made without arguments, and raises `EngineMissing` where it isn't installed.

    `digest` names what decides its output besides text and voice (a version, a model's hash); `stored` says that its audio is to be kept in the cache
    because it takes long, comes over a network, or differs from call to call. Methods are called from several threads.
    """

    digest: str
    stored: bool

    @property
    def info(self) -> EngineInfo:
        """What the engine says of itself; an attribute of its class."""
        ...

    def voices(self, language: str) -> Sequence[str]:
        """The voices for a language, the default ones first; empty if it has none."""
        ...

    def synthesise(self, text: str, voice: str) -> Audio:
        """The text spoken in one of the voices. Raises `SpeechFailed` where the engine gives no audio."""
        ...


class Asr(Protocol):
    """A recogniser. `digest` names what decides its output besides the audio. Methods are called from several threads.

    The language always comes from the dialogue and the task is always to transcribe: left to guess, Whisper takes short turns for other languages or
    translates them.
    """

    digest: str

    @property
    def info(self) -> EngineInfo:
        """What the engine says of itself; an attribute of its class."""
        ...

    @classmethod
    def open(cls, model: str, language: str, nbest: int, network: bool) -> Asr:
        """The recogniser for a language.

        Args:
            model: what stands behind the colon in ``asr=ENGINE:MODEL``, "" for the default.
            language: of what it will transcribe.
            nbest: how many hypotheses it should give.
            network: whether it may fetch weights.

        Raises:
            EngineMissing: the engine or its weights are not here; the message says what brings them.
        """
        ...

    def transcribe(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        """One transcript for each audio, empty where nothing was recognised. Raises `SpeechFailed`."""
        ...
