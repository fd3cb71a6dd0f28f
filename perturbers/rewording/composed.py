"""Composed turns as rewordings: a dialogue's user turns worded by one speaker, with edits and spans as every variant has them."""

from __future__ import annotations

from collections.abc import Callable

from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View, signals
from dialmill.perturbers.rewording.composer import bank
from dialmill.perturbers.rewording.composer.certificate import of_text
from dialmill.perturbers.rewording.composer.compose import compose, plan_of, speaker
from dialmill.perturbers.rewording.composer.partial import rest_of, whole
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Refusal
from dialmill.perturbers.rewording.wordings import state_before
from dialmill.schemas import Dialogue, Edit, Span, Turn, apply_edits
from dialmill.schemas.dialogue import SpanStatus
from dialmill.schemas.edits import minimal_edits

#: How often a turn is composed until it fits.
_TRIES = 4
#: Names of slots that say how many come along, by their last word.
_COUNTED = ("people", "seats", "riders", "passengers", "travelers", "adults", "party size", "group size")
#: Split of a dialogue -> the half of the clauses that it may say: no wording is met in training and in testing. One in no split is for testing, as
#: the command has it.
_HALVES = {"train": "train"}


class Composing:
    """One variant of one dialogue being composed: the same speaker says all of its turns.

    Args:
        dialogue: whose turns are worded.
        style: "same", "less" or "more" (`composer.plan.STYLES`).
        voice: a voice, or "" for one drawn for the variant; several variants of a dialogue have different ones.
        clauses: "split", the half of the clauses that belongs to the dialogue's split; "all", "train" or "test".
        key: what the choice of a voice comes from (seed, step).
        variant: its number.
        weights: which clauses are likelier (`composer.familiar`).
    """

    def __init__(
        self, dialogue: Dialogue, style: str, voice: str, clauses: str, key: tuple[object, ...], variant: int, weights: bank.Weights | None = None
    ) -> None:
        self._dialogue, self._style = dialogue, style
        half = _HALVES.get(dialogue.split or "", "test") if clauses == "split" else "" if clauses == "all" else clauses
        if not voice:
            order = bank.voices_in_order((*key, dialogue.source_id))
            voice = order[variant % len(order)]
        self._who = speaker(dialogue.language, voice, half, weights=weights) if dialogue.language in ("en", "zh") else None
        self._people = people_of(dialogue)

    def turn(self, view: View, place: int, rng: Rng, fits: Callable[[Turn], bool]) -> Turn | Refusal:
        """The user turn at `place` worded anew, its labels certified, as `fits` takes it; or why it isn't."""
        if self._who is None:
            return Refusal("language_not_supported")
        before = self._dialogue.turns[place - 1] if place else None
        context = Context(view, before, state_before(self._dialogue, place), self._people)
        problem = Refusal("no_edit_possible")
        found = plan_of(context)
        rest = None
        if isinstance(found, Refusal):
            rest = rest_of(context) if view.language == "en" else None
            if rest is None:
                return found
            found = rest.plan
        for _ in range(_TRIES):
            made = compose(context if rest is None else rest.context, self._who, rng, self._style, found)
            if isinstance(made, Refusal):
                return made
            if rest is not None:
                made = whole(context, rest, made)
                lacks = of_text(context, made)
                if lacks is not None:
                    problem = Refusal(lacks)
                    continue
            turn = as_turn(view, made)
            if isinstance(turn, Refusal):
                problem = turn
            elif fits(turn):
                self._who.say(*made.clauses)
                return turn
        return problem


def people_of(dialogue: Dialogue) -> str:
    """How many come along according to a dialogue's states: "1", another number where all of them are above that, "" otherwise."""
    found = {
        value
        for turn in dialogue.turns
        for cell in turn.state
        if cell.slot.replace("_", " ").endswith(_COUNTED)
        for value in cell.values
        if value.isdigit()
    }
    if found == {"1"}:
        return "1"
    return max(found) if found and "1" not in found else ""


def as_turn(view: View, made: Composed) -> Turn | Refusal:
    """The turn with a composed text: one edit over what differs, and each span where its value stands now."""
    turn, text = view.turn, made.text
    if text.split() == turn.utterance.split():
        return Refusal("no_edit_possible")
    edits = minimal_edits(turn.utterance, [Edit(0, len(turn.utterance), text)])
    spans = []
    for span in turn.spans:
        moved = _moved(view, made, span)
        if moved is None:
            return Refusal(f"value_lost: {span.slot}={span.value}")
        spans.append(moved)
    return apply_edits(turn, edits).replace(spans=tuple(spans))


def _moved(view: View, made: Composed, span: Span) -> Span | None:
    """A span in the composed text; None where its value has no place there."""
    if span.start is None or span.end is None:
        return span
    for placed in made.placed:
        if placed.source_start <= span.start and span.end <= placed.source_end:
            start = placed.start + span.start - placed.source_start
            return span.replace(start=start, end=start + span.end - span.start)
    kind = next((place.how for place in view.located if (place.start, place.end) == (span.start, span.end)), "")
    if span.value == "dontcare" or kind == "dontcare":
        for signal in signals(made.text, view.language, Cut(made.text, view.language)):
            if signal.kind == "dontcare":
                shown = made.text[signal.start : signal.end]
                status: SpanStatus = span.status if shown == span.text else "changed"
                return span.replace(start=signal.start, end=signal.end, text=shown, status=status)
        return None
    key = (span.domain, span.slot, span.value)
    for place in view.locator.locate(made.text):
        if (place.domain, place.slot, place.value) == key:
            return span.replace(start=place.start, end=place.end, text=made.text[place.start : place.end])
    return None
