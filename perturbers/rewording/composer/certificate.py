"""What must hold of a composed text whatever the language: every value in its place, exact, and none that nobody said.

What must hold of the source, so that its labels are all it says, is told by the language's `plan`.
"""

from __future__ import annotations

from dialmill.perturbers.core import protected
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.values import VALUE_CLASSES, signals
from dialmill.perturbers.rewording.composer.plan import Composed, Context


def of_text(context: Context, made: Composed) -> str | None:
    """Why a composed text doesn't say what the source's labels say, None where it does.

    Returns:
        None, or `protected_token_lost`, `value_lost: TEXT`, `value_added: CLASS=VALUE`.
    """
    view, text = context.view, made.text
    source = view.turn.utterance
    if view.structural and protected.lost(source, text) is not None:
        return "protected_token_lost"
    if view.exact and (value := protected.lost(source, text, view.exact)) is not None:
        return f"value_lost: {value}"
    reached = 0
    kept = set()
    for place in made.placed:
        if place.start < reached or text[place.start : place.end] != source[place.source_start : place.source_end]:
            return f"value_lost: {source[place.source_start : place.source_end]}"
        reached = place.end
        kept.add((place.source_start, place.source_end))
    domains = {act.domain for turn in view.dialogue.turns for act in turn.acts}
    for located in view.located:
        if located.how in ("boolean", "dontcare") or located.value in domains or located.value == "dontcare":
            continue  # the name of a domain is no value, though a label may hold it (源领域=酒店)
        if source[located.start : located.end].lower() == "one":
            continue  # "the nearest one": what it stands for is told by the plan
        if not any(start <= located.start and located.end <= end for start, end in kept):
            return f"value_lost: {located.slot}={located.value}"
    units = Cut(text, view.language)
    unlabelled = {(signal.kind, signal.value) for signal in view.signals}
    for signal in signals(text, view.language, units):
        if (
            signal.kind in VALUE_CLASSES
            and (signal.kind, signal.value) not in unlabelled
            and not any(place.start < signal.end and signal.start < place.end for place in made.placed)
        ):
            return f"value_added: {signal.kind}={signal.value}"
    known = frozenset(view.units.names)
    for found in view.locator.locate(text):
        # A word that the source has too says nothing new: the "free" of free parking, which another slot of the dialogue holds.
        if found.how in ("boolean", "dontcare") or found.value in domains or text[found.start : found.end].lower() in known:
            continue
        if not any(place.start < found.end and found.start < place.end for place in made.placed):
            return f"value_added: {found.slot}={found.value}"
    return None
