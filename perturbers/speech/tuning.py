"""Tunes the audio path to the corpus that it will read out: how hard its words are decides, beside the noise, how many are misheard.

How the WER falls with the SNR is known for the engines that come with dialmill, from other text. A corpus moves that curve to one side; two rounds
on a keyed sample find out by how many dB, the second at the level that the first one asks for, with other turns and other noise. Where no curve is
known the level is searched by bisection (`calibrate.bisect`). Each language is tuned by itself. What is found is stored by everything that decides
it, so that a rebuild doesn't search. The check on dialogues that took no part, with fresh noise, is the suite itself: its WER stands in the manifest,
also that of the held-out dialogues alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dialmill.perturbers.speech import points
from dialmill.perturbers.speech.cache import digest
from dialmill.perturbers.speech.fit.calibrate import bisect, measured, spoken_turns
from dialmill.perturbers.speech.wer import Errors, corpus_rate
from dialmill.schemas import Dialogue

if TYPE_CHECKING:
    from dialmill.perturbers.speech.channel import Plan, Speech

#: User turns in each of the two rounds, and in each step of a bisection, at most.
TURNS, BISECTION_TURNS, BISECTION_STEPS = 450, 80, 5
#: How far a corpus can lie from the known curve, in dB.
_WIDEST = 12.0
#: How far corpora lie from the known curves, and kinds of noise from each other, in dB (SD, on real MultiWOZ), and the variance that a word adds to
#: the WER. Where a curve is flat, near what is misheard in silence, a level says little of the errors, and these keep it from running away.
_FAR, _APART, _VARIANCE = 2.0, 0.35, 0.54
#: Raised whenever the search comes to other levels.
_VERSION = 5


def tune(speech: Speech, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
    """What `tuned` needs, for each language of the sample that has an audio path here: {"en": {"snr": dB by kind of noise, "point": the name it is
    stored by, "steps": how it was found, "dialogues": the ids of those that took part}}. Empty where there is nothing to tune: no audio path, no
    noise, no dialogues.

    Args:
        dialogues: a sample, in an order that does not depend on the run.
        seed: the run seed.
    """
    if speech.noise == "none":
        return {}
    found = {}
    for language in sorted({dialogue.language for dialogue in dialogues} & speech.languages):
        own = [dialogue for dialogue in dialogues if dialogue.language == language and spoken_turns(dialogue)]
        if own and speech.audio_missing(language) is None:
            found[language] = _tune(speech, language, own, seed)
    return found


def _tune(speech: Speech, language: str, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
    plan = speech.plan(language, tuned=True)
    rounds = _halves(dialogues)
    name = _name(speech, plan, rounds, seed)
    took_part = sorted({dialogue.source_id for half in rounds for dialogue in half})
    known = points.corpus_point(name, speech.cache_folder)
    if known is not None and set(known) == set(speech.kinds()):
        return {"snr": known, "point": name, "steps": [], "dialogues": took_part}
    curves = {kind: speech.curve(kind, plan.studio) for kind in speech.kinds()}
    whole = {kind: curve for kind, curve in curves.items() if curve is not None}
    if len(whole) == len(curves):
        snr, steps = _shift(speech, whole, rounds, seed)
    else:
        both = [dialogue for half in rounds for dialogue in half]
        fitted, tried = bisect(speech, both, seed, BISECTION_TURNS, BISECTION_STEPS)
        snr, steps = dict(fitted.given_snr() or {}), [list(one) for one in tried]
    if speech.cache != "off":
        points.store_corpus_point(name, snr, {"wer": speech.wer, "language": language, "steps": steps}, speech.cache_folder)
    return {"snr": snr, "point": name, "steps": steps, "dialogues": took_part}


def tuned(speech: Speech, found: Mapping[str, Any]) -> Speech:
    """The perturber at the levels that `tune` found."""
    return speech.with_snr(**{language: one["snr"] for language, one in found.items()}) if found else speech


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


def _name(speech: Speech, plan: Plan, rounds: tuple[list[Dialogue], list[Dialogue]], seed: int) -> str:
    """The name of the point: engines by their models (a library's version moves the WER by less than the search can see), options, texts, seed."""
    from dialmill.perturbers.speech.channel import plain_asr

    texts = [[turn.utterance for turn in dialogue.turns if turn.speaker == "user"] for half in rounds for dialogue in half]
    noise = {kind: plan.studio.noise_name(kind) for kind in speech.kinds()}
    engines = [plan.studio.tts.name, plain_asr(plan.studio), plan.studio.language]
    return digest("corpus point", _VERSION, speech.step, engines, noise, speech.effects, speech.wer, texts, seed)


def _shift(
    speech: Speech, curves: Mapping[str, points.Curve], rounds: tuple[list[Dialogue], list[Dialogue]], seed: int
) -> tuple[dict[str, float], list[list[float]]]:
    """SNRs, and (mean shift in dB, measured WER) of both rounds."""
    start = {kind: curve.snr_for(speech.wer) for kind, curve in curves.items()}
    offsets = dict.fromkeys(start, 0.0)
    # For each kind what the rounds say of its offset, one over the variance, and that times the offset.
    information, weighted = dict.fromkeys(start, 0.0), dict.fromkeys(start, 0.0)
    steps: list[list[float]] = []
    for number, half in enumerate(rounds):
        levels = {kind: round(start[kind] + offset, 2) for kind, offset in offsets.items()}
        at = _at(speech, levels)
        every: list[Errors] = []
        for kind in start:
            found, _ = measured(at, [one for one in half if at.speaker(one, seed + 1 + number, 0)[1] == kind], seed + 1 + number)
            rate = corpus_rate(found)
            slope = (curves[kind].wer_at(start[kind] - 1.5) - curves[kind].wer_at(start[kind] + 1.5)) / 3
            told = rate.length * slope**2 / _VARIANCE
            information[kind] += told
            weighted[kind] += told * _offset(curves[kind], levels[kind], rate.rate)
            every += found
        steps.append([round(sum(offsets.values()) / len(offsets), 2), corpus_rate(every).rate])
        offsets = _shrunk(weighted, information)
    return {kind: round(start[kind] + offset, 2) for kind, offset in offsets.items()}, steps


def _shrunk(weighted: Mapping[str, float], information: Mapping[str, float]) -> dict[str, float]:
    """The offset of each kind of noise: its own as far as what was measured bears it out, else that of all, else none."""
    common = sum(weighted.values()) / (sum(information.values()) + _FAR**-2)
    return {kind: (weighted[kind] + common * _APART**-2) / (told + _APART**-2) for kind, told in information.items()}


def _at(speech: Speech, levels: Mapping[str, float]) -> Speech:
    return replace(speech.with_snr(dict(levels)), keep_audio="")


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
