"""An English turn of which some sentences say what no label has: those stay as they are, at its beginning or its end, and the rest is composed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dialmill.perturbers.core.values import Located
from dialmill.perturbers.rewording.composer.english_places import place_of, words_for
from dialmill.perturbers.rewording.composer.english_plan import plan
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Placed, Plan
from dialmill.schemas import Act, Turn

#: Between two sentences; a full stop inside a number or a name is none.
_BETWEEN = re.compile(r"(?<=[.?!])\s+(?=\S)")
_WORD = re.compile(r"[a-z']+")
_THANKS = frozenset(["thank", "thanks", "appreciate", "cheers"])
#: Kinds of items that make a rest worth composing.
_CONTENT = frozenset({"inform", "request", "book", "check", "goal", "intent"})
#: Most sentences of a turn that is looked at.
_MOST = 5


class Rest(NamedTuple):
    """The part of a turn that is composed: its context and plan, and where it stands in the turn's text."""

    context: Context
    plan: Plan
    start: int
    end: int


def rest_of(context: Context) -> Rest | None:
    """The longest beginning or end of a turn that its labels tell in full; None where there is none, or it says nothing of the task."""
    turn = context.view.turn
    for start, end in _ranges(turn.utterance):
        if _HANGING.search(turn.utterance[end:]) or any(_cut(located, start, end) for located in context.view.located):
            continue
        acts = _acts_in(context, start, end)
        if acts is None:
            continue
        spans = tuple(
            span.replace(start=span.start - start, end=span.end - start)
            for span in turn.spans
            if span.start is not None and span.end is not None and start <= span.start and span.end <= end
        )
        part = turn.replace(utterance=turn.utterance[start:end], spans=spans, acts=acts)
        inner = context._replace(view=context.view.locator.view(part), partial=True)
        found = plan(inner)
        if isinstance(found, Plan) and any(item.kind in _CONTENT for item in found.items):
            return Rest(inner, found, start, end)
    return None


def _cut(located: Located, start: int, end: int) -> bool:
    """Whether a value stands neither wholly in a range nor wholly out of it."""
    return located.start < end and start < located.end and not (start <= located.start and located.end <= end)


def whole(context: Context, rest: Rest, made: Composed) -> Composed:
    """The turn with its rest composed, and its other sentences before or behind it as they were."""
    text = context.view.turn.utterance
    before, behind = text[: rest.start], text[rest.end :]
    ends = made.text[-1:] in ".?!,"
    stop = "" if not behind.strip() or ends else " ." if " ." in text else "."
    shift = len(before)
    placed = [
        *(_kept(located, 0) for located in context.view.located if located.end <= rest.start),
        *(Placed(p.start + shift, p.end + shift, p.source_start + rest.start, p.source_end + rest.start) for p in made.placed),
        *(_kept(located, shift + len(made.text) + len(stop) - rest.end) for located in context.view.located if located.start >= rest.end),
    ]
    return made._replace(text=f"{before}{made.text}{stop}{behind}", placed=tuple(placed))


def _kept(located: Located, shift: int) -> Placed:
    return Placed(located.start + shift, located.end + shift, located.start, located.end)


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    """The ends and beginnings of a text, whole sentences each, the longest first."""
    cuts = [(match.start(), match.end()) for match in _BETWEEN.finditer(text)]
    size = len(text.rstrip())
    if not 0 < len(cuts) < _MOST:
        return
    found = [(end, size) for _, end in cuts] + [(0, start) for start, _ in cuts]
    yield from sorted(found, key=lambda pair: pair[0] - pair[1])


def _acts_in(context: Context, start: int, end: int) -> tuple[Act, ...] | None:
    """The acts that the words from `start` to `end` say; None where it can't be told whether they or the others do."""
    turn = context.view.turn
    inside = set(_WORD.findall(turn.utterance[start:end].lower()))
    outside = set(_WORD.findall(f"{turn.utterance[:start]} {turn.utterance[end:]}".lower()))
    acts = []
    for act in turn.acts:
        placed = [one for one in context.view.located if act.value and one.slot == act.slot and one.value.lower() == act.value.lower()]
        if not placed and act.value and any(len(word) > 3 and word in inside for word in _WORD.findall(act.value.lower())):
            return None  # its value is said here in other words
        if placed:
            within = {start <= one.start and one.end <= end for one in placed}
        else:
            cues = _cues(act, turn)
            within = {said for said, words in ((True, inside), (False, outside)) if not cues.isdisjoint(words)}
        if len(within) != 1:
            return None
        if within == {True}:
            acts.append(act)
    return tuple(acts)


def _cues(act: Act, turn: Turn) -> frozenset[str]:
    """Words that tell of an act without a value in the text."""
    if act.act in ("thank", "thank_you"):
        return _THANKS
    if act.act in ("bye", "goodbye"):
        return frozenset(["bye", "goodbye"])
    slot = (act.slot or "").replace("_", " ")
    if not slot or slot == "none":
        return frozenset()
    place = place_of(act.domain, slot, act.act == "request")
    return words_for().get(f"{'ask' if act.act == 'request' else 'slot'}:{place.name}", frozenset()) - _VAGUE if place else frozenset()


#: Words of the lists that many sentences have.
_VAGUE = frozenset(["a", "in", "on", "at", "for", "of", "is", "it", "to", "how", "what", "when", "where", "which", "with", "there", "also", "free"])
_VAGUE |= frozenset(["near", "around", "by", "do", "they", "have", "has", "offer", "offers", "and", "price", "much", "day", "time"])
#: What goes on from the sentence before, which then stays as it is.
_HANGING = re.compile(
    r"\b(?:is|are) there any (?:that|which)\b|\bthat many\b|\bif (?:so|not|that|they|it)\b|^\s*(?:or|but|because|unless|so)\b", re.IGNORECASE
)
