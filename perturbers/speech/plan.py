"""How the audio path works for one language with given options on this machine: which engines, which voices, how much noise.

A `Plan` is pure data. Making one looks for the engines and for how the word error rate falls with the noise; carrying it out is `channel`'s.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech import points
from dialmill.perturbers.speech.engines import augment
from dialmill.perturbers.speech.engines import registry as engines
from dialmill.perturbers.speech.engines.protocol import Tts
from dialmill.perturbers.speech.engines.registry import EngineChoice
from dialmill.perturbers.speech.errors import EngineMissing, PointMissing
from dialmill.perturbers.speech.levels import written_levels
from dialmill.perturbers.speech.noise import noise_name
from dialmill.perturbers.speech.options import MIX, SpeechOptions

#: An environment variable: where it is set, "auto" is the ASR error simulator, whatever engines are installed.
NO_AUDIO = "DIALMILL_NO_AUDIO"
#: What decides the WER besides engines, noise and SNR.
_EFFECTS = ("voices", "spread", "telephone", "reverb", "clipping", "ceiling", "tries")


@dataclass(frozen=True)
class Plan:
    """The audio path for one language.

    Args:
        engines: which to open, for `engines.registry.open_engines`.
        tts_name: the voice engine.
        tts, asr: digests of the voice engine and the recogniser.
        voices: those that take part.
        snr: for each kind of noise that a dialogue can get, in dB; empty where it is still to be found.
    """

    engines: EngineChoice
    tts_name: str
    tts: str
    asr: str
    voices: tuple[str, ...]
    snr: dict[str, float] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The language of the dialogues."""
        return self.engines.language

    @property
    def asr_model(self) -> str:
        """The recogniser as the shipped curves have it: engine and first digits of the model's digest."""
        return " ".join(self.asr.split()[:2])

    def speaker(self, key: tuple[object, ...]) -> tuple[str, str]:
        """The voice and the kind of noise of the dialogue and variant that `key` identifies."""
        rng = Rng(*key, "speaker")
        return rng.choice(self.voices), rng.choice(sorted(self.snr))


def make_plan(options: SpeechOptions, language: str, levels: bool = True) -> Plan:
    """The plan for a language.

    Args:
        levels: whether the SNRs that `wer` asks for are looked up too; without them the plan can't be carried out.

    Raises:
        EngineMissing: an engine, its weights, or a voice for the language is missing.
        PointMissing: nobody has measured which SNR gives the WER asked for.
    """
    choice = EngineChoice(options.tts, options.asr, language, options.nbest, options.cache, options.engine == "audio")
    opened = engines.open_engines(choice)
    voices = choose_voices(opened.tts, language, options.voices)
    plan = Plan(choice, opened.tts.info.name, opened.tts.digest, opened.asr.digest, voices)
    return replace(plan, snr={kind: _snr(options, kind, plan) for kind in options.kinds()}) if levels else plan


def audio_plan(options: SpeechOptions, language: str) -> Plan | None:
    """The plan for a language; None where audio is not asked for, or is asked for by "auto" and can't be made here.

    Raises:
        PointMissing: with engine=audio, as for `make_plan`.
    """
    if not wants_audio(options):
        return None
    try:
        return make_plan(options, language)
    except PointMissing:
        if options.engine == "audio":
            raise
        return None
    except EngineMissing:
        return None


def wants_audio(options: SpeechOptions) -> bool:
    """Whether the audio path is wanted, be it here or not."""
    return options.engine != "text" and not (options.engine == "auto" and bool(os.environ.get(NO_AUDIO)))


def audio_missing(options: SpeechOptions, language: str) -> str | None:
    """Why a language has no audio path here, be it wanted or not; None where it has one."""
    if not wants_audio(options):
        return "engine=text asks for the ASR error simulator"
    try:
        make_plan(options, language, levels=False)
    except EngineMissing as missing:
        return str(missing)
    return None


def choose_voices(engine: Tts, language: str, wanted: str) -> tuple[str, ...]:
    """The voices that `wanted` names: a number ("4": the first so many), or names separated by ``|``; spelled as one likes ("en_GB").

    Raises:
        EngineMissing: the engine has no voice for the language.
        OptionError: a name that the engine does not have; the message lists those it has.
    """
    known = tuple(engine.voices(language))
    if not known:
        raise EngineMissing(f"the {engine.info.name} engine has no voice for {language!r}")
    if wanted.isdigit():
        return known[: max(1, int(wanted))]
    chosen = []
    for name in wanted.split("|"):
        plain = name.strip()
        match = next((voice for voice in known if voice.lower() == plain.replace("_", "-").lower()), None)
        if match is None and plain.endswith(".onnx"):
            match = plain
        if match is None:
            raise OptionError(f"speech: {engine.info.name} has no voice {plain!r} for {language}; it has: {', '.join(known)}")
        chosen.append(match)
    return tuple(chosen)


def effects(options: SpeechOptions) -> dict[str, object]:
    """What decides the WER besides engines, noise and SNR, as JSON-able values."""
    found = {key: getattr(options, key) for key in _EFFECTS}
    return {**found, "augment": augment.load(options.augment).digest} if options.augment else found


def known_curve(options: SpeechOptions, kind: str, plan: Plan) -> points.Curve | None:
    """How the WER falls with the SNR for a kind of noise, as it comes with dialmill or was measured here; None where nobody measured it."""
    plain = effects(options) == {key: getattr(SpeechOptions, key) for key in _EFFECTS}
    found = points.shipped(plan.tts_name, plan.asr_model, kind) if plain else None
    return found or points.stored(point_name(options, kind, plan), options.cache_folder)


def point_name(options: SpeechOptions, kind: str, plan: Plan) -> str:
    """The name under which a curve for these options is stored."""
    return points.setting(plan.tts, plan.asr, plan.language, noise_name(kind), effects(options))


def _snr(options: SpeechOptions, kind: str, plan: Plan) -> float:
    given = options.given_snr(plan.language)
    if given is not None:
        return given[kind]
    if kind == "none":
        return 100.0
    curve = known_curve(options, kind, plan)
    if curve is None:
        raise PointMissing(
            f"speech: how much {kind} noise gives a WER of {options.wer:g} with {plan.tts_name}, {plan.asr} and these options has not "
            "been measured yet; builds measure it themselves, in Python do it by python -m dialmill.perturbers.speech.fit.calibrate, or give snr="
        )
    return round(curve.snr_for(options.wer), 2)


def resolved(options: SpeechOptions, language: str) -> dict[str, Any]:
    """What the automatic options come to for one language on this machine."""
    plan = audio_plan(options, language)
    augmented = augment.load(options.augment).digest if options.augment and options.engine != "text" else ""
    if plan is None:
        return {"engine": "text", "snr": "auto", "augment": ""} if options.engine == "auto" else {"augment": augmented}
    snr = written_levels(plan.snr) if options.noise in (*MIX, "mix") else options.snr
    noise = "mix" if options.noise == "mix" else noise_name(options.noise)
    return {"engine": "audio", "tts": plan.tts, "asr": plan.asr, "snr": snr, "noise": noise, "augment": augmented}
