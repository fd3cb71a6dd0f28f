"""The speech channel as a perturber: by audio (`channel`), or by a model of a recogniser's errors (`confusion`)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from dialmill.perturbers.core import options as option_texts
from dialmill.perturbers.core.contract import DialoguePerturber, Perturber, PerturbResult, PoolRequest, variant_of
from dialmill.perturbers.core.events import SpokenTurn
from dialmill.perturbers.core.options import state
from dialmill.perturbers.core.pools import PoolFile
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.speech import conditions, confusion, tuning
from dialmill.perturbers.speech.align import apply_changes
from dialmill.perturbers.speech.channel import Transcribed, open_channel, timed, transcribe_turns, turn_fillers
from dialmill.perturbers.speech.cues import act_cue
from dialmill.perturbers.speech.engines import augment
from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.noise import check_recordings, noise_name
from dialmill.perturbers.speech.options import LANGUAGES, MIX, VERSION, SpeechOptions
from dialmill.perturbers.speech.plan import Plan, audio_missing, audio_plan, make_plan, resolved, wants_audio
from dialmill.perturbers.speech.speakable import Word, speakable, words
from dialmill.perturbers.speech.turns import SpokenTurns, said_by_users
from dialmill.perturbers.speech.wer import errors
from dialmill.schemas import Dialogue, SkippedTurn, Turn

#: Turns that are timed to say how long a suite will take.
_TIMED = 4
#: Comparing two texts costs half of what the simulator takes to make one.
_COMPARED = 4


@dataclass(frozen=True)
class Speech(SpeechOptions, DialoguePerturber):
    """Recognition errors as a recogniser makes them: the turn is synthesised (TTS), noise goes over it, and a recogniser transcribes it (ASR).

    A turn is written as one from end to end (`output`): plain, as recognisers of calls write, or as the recogniser wrote it; simulated errors may
    also stand in the turn's own writing. The belief state stays (the user did say it); every span says `kept`, `changed` (to what was recognised) or
    `lost`. The lineage says how a dialogue was spoken ("voice: ...", "noise: ...") and every turn of it ("turn 4: 12.31 dB").
    """

    name: ClassVar[str] = "speech"
    version: ClassVar[int] = VERSION
    languages: ClassVar[frozenset[str]] = LANGUAGES
    pool: PoolFile | None = state(default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.given_snr()
        if self.engine != "text" and self.noise not in (*MIX, "mix", "none"):
            # Recordings that can't be heard would leave turns without the noise that the lineage tells of.
            check_recordings(self.noise)
        if self.augment and self.engine != "text":
            augment.load(self.augment)
        if self.model != "auto":
            confusion.load(self.model)
        named = [f"{option}={given}" for option, given in (("tts", self.tts), ("asr", self.asr)) if given != "auto"]
        if self.engine == "audio" or (named and wants_audio(self)):
            # A missing engine stops the run here and not at its first turn.
            problems: list[EngineMissing] = []
            for language in sorted(self.languages):
                try:
                    make_plan(self, language, levels=self.engine == "audio" and self.snr != "auto")
                except EngineMissing as problem:
                    problems.append(problem)
            if len(problems) == len(self.languages):
                if self.engine == "audio":
                    raise problems[0]
                # Who names an engine doesn't want the simulator, on which it has no effect.
                one = " and ".join(named)
                raise EngineMissing(f"speech: {one} can't be used here: {problems[0]}. Leave {one} out for the ASR error simulator") from problems[0]

    @property
    def params(self) -> dict[str, Any]:
        """The options as they came out on this machine (engines with their versions, SNRs), without those that name places on it."""
        return dict(_params(self))

    @property
    def pools(self) -> tuple[PoolRequest, ...]:
        return (PoolRequest(SpokenTurns(), "input"),) if self.engine != "audio" else ()

    def with_pools(self, pools: Mapping[tuple[str, str], PoolFile]) -> Speech:
        return replace(self, pool=pools.get((SpokenTurns.name, "input")))

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        spoken = {turn.turn: words(turn.utterance, dialogue.language) for turn in dialogue.turns if turn.speaker == "user"}
        skipped = {number: "unspeakable" for number, said in spoken.items() if not said}
        turns = [turn for turn in dialogue.turns if spoken.get(turn.turn)]
        key = (seed, self.step, dialogue.source_id, variant)
        plan = audio_plan(self, dialogue.language)
        done: dict[int, Turn] = {}
        reasons: tuple[str, ...] = ()
        if plan is not None:
            transcribed, failed = transcribe_turns(plan, self, turns, key)
            done = {number: one.turn for number, one in transcribed.items()}
            skipped.update(failed)
            reasons = _reasons(plan, transcribed, key)
            if self.keep_audio:
                self._write_audio(plan, dialogue, variant, transcribed)
        elif self.engine == "audio":
            skipped.update({turn.turn: "no_speech_engine" for turn in turns})
        else:
            done = self._simulated(dialogue.language, turns, spoken, key)
        cues = {turn.turn: cue for turn in turns if turn.turn in done and (cue := act_cue(turn, done[turn.turn], dialogue.language))}
        reasons += conditions.cue_reasons(cues)
        after = tuple(done.get(turn.turn, turn) if turn.speaker == "user" else turn for turn in dialogue.turns)
        left = tuple(SkippedTurn(number, skipped[number]) for number in sorted(skipped))
        return PerturbResult(after, dialogue.goal, left, reasons, self._events(dialogue, done, seed, variant))

    def _events(self, dialogue: Dialogue, done: Mapping[int, Turn], seed: int, variant: int) -> tuple[SpokenTurn, ...]:
        """What the speech alone did to turns that steps before it had changed; of simulated errors, for one in `_COMPARED` of such dialogues."""
        before = [turn for turn in dialogue.turns if turn.turn in done]
        if all(turn.original is None for turn in before) or (
            self.engine == "text" and key_number(seed, "spoken", dialogue.source_id, variant) % _COMPARED
        ):
            return ()
        found = (errors(turn.utterance, done[turn.turn].utterance, dialogue.language) for turn in before)
        return tuple(SpokenTurn(dialogue.language, *one) for one in found if one.length)

    def _simulated(self, language: str, turns: Sequence[Turn], spoken: Mapping[int, Sequence[Word]], key: tuple[object, ...]) -> dict[int, Turn]:
        """The turns with errors drawn from the ASR error simulator."""
        model = _simulator(self.model, language, self.pool)
        done = {}
        for turn in turns:
            said = spoken[turn.turn]
            changes = model.distort(said, self.wer, Rng(*key, turn.turn))
            pauses = turn_fillers(self, turn, language, (*key, turn.turn))
            done[turn.turn] = apply_changes(turn, said, changes, language, self.output, pauses, self.values)
        return done

    def _write_audio(self, plan: Plan, dialogue: Dialogue, variant: int, transcribed: Mapping[int, Transcribed]) -> None:
        channel = open_channel(plan)
        for turn in dialogue.turns:
            if turn.turn in transcribed:
                _, condition, transcription = transcribed[turn.turn]
                path = Path(self.keep_audio) / kept_name(dialogue.source_id, variant_of(variant), turn.turn)
                channel.write_audio(speakable(turn.utterance, dialogue.language), condition, transcription, path)

    # What builds ask for.

    def takes_long(self, language: str) -> bool:
        return language in self.languages and audio_missing(self, language) is None

    def seconds_per_turn(self, dialogues: Sequence[Dialogue], seed: int) -> float:
        spoken = [(turn.utterance, one.language) for one in dialogues for turn in one.turns if turn.speaker == "user"]
        language = next((language for _, language in spoken if self.takes_long(language)), None)
        texts = [text for text, of in spoken if of == language and words(text, of)][:_TIMED]
        return 0.0 if language is None or not texts else timed(make_plan(self, language, levels=False), texts)

    def tunable(self) -> bool:
        return self.snr == "auto" and any(audio_missing(self, language) is None for language in self.languages)

    def tune(self, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
        return tuning.tune(self, dialogues, seed)

    def with_tuning(self, found: Mapping[str, Any]) -> Speech:
        if not found or self.engine == "text":
            return self
        return self.with_snr(**{language: one["snr"] for language, one in found.items()})

    def with_audio_dir(self, folder: str) -> Speech:
        return self if self.engine == "text" else replace(self, keep_audio=folder)

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        if self.engine != "auto" or not wants_audio(self):
            return ()
        missing = {language: audio_missing(self, language) for language in sorted(self.languages & set(languages))}
        vain = [one.name for one in option_texts.options(type(self)) if "engine" in one.needs and not one.needs["engine"].holds("text")]
        unread = [name for name in vain if getattr(self, name) != getattr(SpeechOptions, name)]
        told = f"; {', '.join(unread)} {'has' if len(unread) == 1 else 'have'} no effect on them" if unread else ""
        return tuple(
            f"no audio path for {one!r} here, so the ASR error simulator makes its errors ({why}){told}" for one, why in missing.items() if why
        )


@lru_cache(maxsize=8)
def _simulator(model: str, language: str, pool: PoolFile | None) -> confusion.Model:
    """The ASR error simulator, with what the input's users say if that is known."""
    return confusion.load(model, language) if pool is None else confusion.load(model, language).for_input(*said_by_users(pool, language))


def _reasons(plan: Plan, transcribed: Mapping[int, Transcribed], key: tuple[object, ...]) -> tuple[str, ...]:
    """What the lineage says of how a dialogue was spoken; of a dialogue without noise, no levels."""
    voice, kind = plan.speaker(key)
    levels = {} if kind == "none" else {number: one.condition.snr for number, one in transcribed.items()}
    return conditions.reasons(voice, noise_name(kind), levels)


@lru_cache(maxsize=64)
def _params(speech: Speech) -> dict[str, Any]:
    values = {key: value for key, value in Perturber.params.fget(speech).items() if key not in ("cache", "keep_audio")}  # type: ignore[attr-defined]
    by_language = {language: {**values, **resolved(speech, language)} for language in sorted(speech.languages)}
    for key in values:
        options = {language: of[key] for language, of in by_language.items()}
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
