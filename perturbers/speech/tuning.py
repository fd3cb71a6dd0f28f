"""Tunes the audio path to the corpus that it will speak: how hard its words are decides, beside the noise, how many are misrecognised.

How the WER falls with the SNR is known for the engines that come with dialmill, from other text. A corpus moves that curve to one side; two rounds
on a seeded sample find out by how many dB, the second at the level that the first one asks for, with other turns and other noise. Where no curve is
known the level is searched by bisection (`bisect`). Each language is tuned by itself. A round ends as soon as its interval is narrow enough, and all
of them together transcribe no more turns than the sample has. Transcripts are in the cache one by one, so that an interrupted search goes on where it
was. What is found is stored by everything that decides it, so that a rebuild doesn't search. The check on dialogues that took no part, with fresh
noise, is the suite itself: its WER stands in the manifest, also that of the held-out dialogues alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialmill.perturbers.core.progress import Task, task
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech import plan as planning
from dialmill.perturbers.speech import points
from dialmill.perturbers.speech.cache import digest
from dialmill.perturbers.speech.channel import transcribe_turns
from dialmill.perturbers.speech.noise import noise_name
from dialmill.perturbers.speech.options import LANGUAGES, STEP, Options, SpeechOptions
from dialmill.perturbers.speech.plan import Plan, audio_missing, make_plan
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import Errors, add_to_sums, corpus_rate, errors, rate_of_sums
from dialmill.schemas import Dialogue

#: User turns in each of the two rounds, and in each step of a bisection, at most.
TURNS, BISECTION_TURNS, BISECTION_STEPS = 450, 80, 5
#: A round ends once the 95 % interval of its WER is this far to either side, but not before so many turns: two such rounds are within 2 points.
_NARROW, _LEAST = 0.028, 150
#: How far a corpus can lie from the known curve or from where a bisection starts, in dB.
_WIDEST = 12.0
#: Where a bisection starts for kinds of noise whose curve isn't known.
START = {"white": 16.0, "pink": 12.0, "babble": 16.0}
#: How far corpora lie from the known curves, and kinds of noise from each other, in dB (SD, on real MultiWOZ), and the variance that a word adds to
#: the WER. Where a curve is flat, near what is misrecognised in silence, a level says little of the errors, and these keep it from running away.
_FAR, _APART, _VARIANCE = 2.0, 0.35, 0.54
#: Raised whenever the search comes to other levels.
_VERSION = 6


def tune(options: SpeechOptions, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
    """What `Speech.with_tuning` needs, for each language of the sample that has an audio path here: {"en": {"snr": dB by kind of noise, "point": the
    name it is stored by, "steps": how it was found, "dialogues": the ids of those that took part}}. Empty where there is nothing to tune: no audio
    path, no noise, no dialogues.

    Args:
        dialogues: a sample, in an order that does not depend on the run.
        seed: the run seed.
    """
    if options.noise == "none":
        return {}
    found = {}
    for language in sorted({dialogue.language for dialogue in dialogues} & LANGUAGES):
        own = [dialogue for dialogue in dialogues if dialogue.language == language and spoken_turns(dialogue)]
        if own and audio_missing(options, language) is None:
            found[language] = _tune(options, language, own, seed)
    return found


def _tune(options: SpeechOptions, language: str, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
    plan = make_plan(options, language, levels=False)
    rounds = _halves(dialogues)
    name = _name(options, plan, rounds, seed)
    known = points.corpus_point(name, options.cache_folder)
    if known is not None and set(known.snr) == set(options.kinds()):
        return {"point": name, **known._asdict()}
    curves = {kind: planning.known_curve(options, kind, plan) for kind in options.kinds()}
    whole = {kind: curve for kind, curve in curves.items() if curve is not None}
    budget = sum(map(spoken_turns, dialogues))
    if len(whole) == len(curves):
        with task(f"tuning {STEP} ({language})", min(budget, 2 * TURNS), "turns") as under_way:
            snr, steps, used = _shift(options, whole, rounds, seed, under_way)
    else:
        together = list({dialogue.source_id: dialogue for half in rounds for dialogue in half}.values())
        turns, number = _affordable(together, budget, seed)
        used = sample(together, turns, seed)
        with task(f"tuning {STEP} ({language})", number * sum(map(spoken_turns, used)), "turns") as under_way:
            fitted, tried = bisect(options, together, seed, turns, number, under_way)
        snr, steps = dict(fitted.given_snr() or {}), [list(one) for one in tried]
    found = points.CorpusPoint(snr, steps, sorted({dialogue.source_id for dialogue in used}))
    if options.cache != "off":
        points.store_corpus_point(name, found, options.cache_folder)
    return {"point": name, **found._asdict()}


def _affordable(dialogues: Sequence[Dialogue], budget: int, seed: int) -> tuple[int, int]:
    """How many turns a bisection may take, and how many steps, so that all steps together transcribe no more than `budget` turns."""
    turns = max(1, min(BISECTION_TURNS, budget // BISECTION_STEPS))
    # Dialogues are taken whole, and the last one may hold more than is missing.
    while turns > 1 and BISECTION_STEPS * sum(map(spoken_turns, sample(dialogues, turns, seed))) > budget:
        turns -= 1
    taken = sum(map(spoken_turns, sample(dialogues, turns, seed)))
    return turns, max(1, min(BISECTION_STEPS, budget // max(taken, 1)))


def _name(options: SpeechOptions, plan: Plan, rounds: tuple[list[Dialogue], list[Dialogue]], seed: int) -> str:
    """The name of the point: engines by their models (a library's version moves the WER by less than the search can see), options, texts, seed."""
    texts = [[turn.utterance for turn in dialogue.turns if turn.speaker == "user"] for half in rounds for dialogue in half]
    noise = {kind: noise_name(kind) for kind in options.kinds()}
    engines = [plan.tts_name, plan.asr_model, plan.language]
    return digest("corpus point", _VERSION, STEP, engines, noise, planning.effects(options), options.wer, texts, seed)


# What a level comes to.


@dataclass(frozen=True)
class Measured:
    """What the channel made of a dialogue: the errors that every user turn came out with (none for a turn without a transcript), how many turns have
    no transcript, and its voice and kind of noise."""

    errors: tuple[Errors, ...]
    skipped: int
    voice: str
    noise: str


def measure(options: SpeechOptions, dialogue: Dialogue, seed: int) -> Measured:
    """What the channel makes of the first variant of a dialogue.

    Raises:
        EngineMissing: there is no audio path here for the language, or its SNRs aren't known.
    """
    plan = make_plan(options, dialogue.language)
    key = (seed, STEP, dialogue.source_id, 0)
    turns = [turn for turn in dialogue.turns if turn.speaker == "user" and words(turn.utterance, dialogue.language)]
    done, failed = transcribe_turns(plan, options, turns, key)
    after = {number: one.turn.utterance for number, one in done.items()}
    found = (errors(turn.utterance, after.get(turn.turn, turn.utterance), dialogue.language) for turn in turns)
    return Measured(tuple(found), len(failed), *plan.speaker(key))


def spoken_turns(dialogue: Dialogue) -> int:
    """How many user turns have something to speak."""
    return sum(turn.speaker == "user" and bool(words(turn.utterance, dialogue.language)) for turn in dialogue.turns)


# The search along known curves.


def _halves(dialogues: Sequence[Dialogue]) -> tuple[list[Dialogue], list[Dialogue]]:
    """Two sets of different dialogues, of `TURNS` user turns each; of a small corpus, its halves."""
    most = min(TURNS, sum(spoken_turns(dialogue) for dialogue in dialogues) // 2)
    halves: tuple[list[Dialogue], list[Dialogue]] = ([], [])
    reached = [0, 0]
    for dialogue in dialogues:
        place = 0 if reached[0] <= reached[1] else 1
        if reached[place] < most or not halves[place]:
            halves[place].append(dialogue)
            reached[place] += spoken_turns(dialogue)
    return halves[0], halves[1] or halves[0]


def _shift(
    options: SpeechOptions, curves: Mapping[str, points.Curve], rounds: tuple[list[Dialogue], list[Dialogue]], seed: int, under_way: Task
) -> tuple[dict[str, float], list[list[float]], list[Dialogue]]:
    """SNRs, (mean shift in dB, measured WER) of both rounds, and the dialogues that took part."""
    start = {kind: curve.snr_for(options.wer) for kind, curve in curves.items()}
    offsets = dict.fromkeys(start, 0.0)
    # For each kind what the rounds say of its offset, one over the variance, and that times the offset.
    information, weighted = dict.fromkeys(start, 0.0), dict.fromkeys(start, 0.0)
    steps: list[list[float]] = []
    used: list[Dialogue] = []
    for number, half in enumerate(rounds):
        levels = {kind: round(start[kind] + offset, 2) for kind, offset in offsets.items()}
        results = _until_narrow(options.with_snr(levels), half, seed + 1 + number, under_way)
        used += half[: len(results)]
        for kind in start:
            rate = corpus_rate(found for one in results if one.noise == kind for found in one.errors)
            slope = (curves[kind].wer_at(start[kind] - 1.5) - curves[kind].wer_at(start[kind] + 1.5)) / 3
            gained = rate.length * slope**2 / _VARIANCE
            information[kind] += gained
            weighted[kind] += gained * _offset(curves[kind], levels[kind], rate.rate)
        every = corpus_rate(found for kind in start for one in results if one.noise == kind for found in one.errors)
        steps.append([round(sum(offsets.values()) / len(offsets), 2), every.rate])
        offsets = _shrunk(weighted, information)
    return {kind: round(start[kind] + offset, 2) for kind, offset in offsets.items()}, steps, used


def _until_narrow(options: SpeechOptions, dialogues: Sequence[Dialogue], seed: int, under_way: Task) -> list[Measured]:
    """What the channel makes of dialogues, one after the other, until the interval of their WER is narrow enough."""
    results: list[Measured] = []
    sums: dict[str, int] = {}
    for dialogue in dialogues:
        results.append(measure(options, dialogue, seed))
        for part in results[-1].errors:
            add_to_sums(sums, part)
        under_way.advance(len(results[-1].errors))
        rate = rate_of_sums(sums)
        if rate.turns >= _LEAST and (rate.high - rate.low) / 2 <= _NARROW:
            break
    return results


def _shrunk(weighted: Mapping[str, float], information: Mapping[str, float]) -> dict[str, float]:
    """The offset of each kind of noise: its own as far as what was measured bears it out, else that of all, else none."""
    common = sum(weighted.values()) / (sum(information.values()) + _FAR**-2)
    return {kind: (weighted[kind] + common * _APART**-2) / (gained + _APART**-2) for kind, gained in information.items()}


def _offset(curve: points.Curve, level: float, rate: float) -> float:
    """By how many dB the corpus is harder than the curve says: where the curve, moved, passes through `rate` at `level`."""
    low, high = -_WIDEST, _WIDEST
    for _ in range(40):
        middle = (low + high) / 2
        if curve.wer_at(level - middle) < rate:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# The search without a curve.


def bisect(
    options: Options, dialogues: Sequence[Dialogue], seed: int, turns: int, steps: int, under_way: Task | None = None
) -> tuple[Options, list[tuple[float, float]]]:
    """The options at the level that gives `options.wer` on `turns` user turns drawn from `dialogues`, and the (shift in dB, WER) of each step.

    The SNR of all kinds of noise moves together, always with the same turns and the same noise, so that only the level differs between steps.
    """
    start = start_levels(options)
    searched = sample(dialogues, turns, seed)
    low, high = -_WIDEST, _WIDEST
    tried: list[tuple[float, float]] = []
    for _ in range(steps):
        middle = (low + high) / 2
        at = _shifted(options, start, middle)
        every: list[Errors] = []
        for dialogue in searched:
            every += measure(at, dialogue, seed).errors
            if under_way is not None:
                under_way.advance(spoken_turns(dialogue))
        rate = corpus_rate(every).rate
        tried.append((middle, rate))
        if rate > options.wer:
            low = middle
        else:
            high = middle
    return _shifted(options, start, _between(tried, options.wer)), tried


def sample(dialogues: Sequence[Dialogue], turns: int, seed: int) -> list[Dialogue]:
    """A seeded sample of dialogues that holds `turns` user turns that can be spoken."""
    order = sorted(dialogues, key=lambda dialogue: Rng(seed, "calibrate", dialogue.source_id).random())
    chosen: list[Dialogue] = []
    count = 0
    for dialogue in order:
        if count >= turns:
            break
        chosen.append(dialogue)
        count += spoken_turns(dialogue)
    return chosen


def start_levels(options: SpeechOptions) -> dict[str, float]:
    """The SNRs that a bisection starts from."""
    given = options.given_snr()
    return given if given is not None else {kind: START.get(kind, 12.0) for kind in options.kinds()}


def _shifted(options: Options, start: Mapping[str, float], shift: float) -> Options:
    return options.with_snr({kind: round(level + shift, 2) for kind, level in start.items()})


def _between(tried: Sequence[tuple[float, float]], target: float) -> float:
    """The shift at which a straight line through the nearest tries on either side gives the target."""
    above = max((one for one in tried if one[1] > target), default=None)
    below = min((one for one in tried if one[1] <= target), default=None)
    if above is None or below is None:
        return tried[-1][0]
    if above[0] >= below[0]:
        return (above[0] + below[0]) / 2
    return above[0] + (below[0] - above[0]) * (above[1] - target) / (above[1] - below[1])
