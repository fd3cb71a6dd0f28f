"""Filters: each rule has a name, is on or off in the recipe, and says what it saw. Nothing is ever dropped for being non-ASCII unless asked."""

from __future__ import annotations

from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.stages.cleaning import fault
from dialmill.schemas import Dialogue


def refusal(dialogue: Dialogue, source: Source, recipe: Recipe, takes_carried: bool = True) -> RecordError | None:
    """Why the recipe's filters refuse a dialogue, None if they don't. The first rule that refuses is told.

    Args:
        takes_carried: whether the benchmark takes dialogues with turns of speaker "other".
    """
    if recipe.commercial and "NC" in source.licence:
        return RecordError("licence_non_commercial", source.licence)
    turns = dialogue.turns
    if not takes_carried and any(turn.speaker == "other" for turn in turns):
        told = "it has turns that are neither the user's nor the system's words, which `perturb` and `build splits` carry through"
        return RecordError("carried_turns", told)
    if len(turns) < recipe.min_turns:
        return RecordError("too_few_turns", f"{len(turns)} turns, at least {recipe.min_turns} wanted")
    if recipe.max_turns is not None and len(turns) > recipe.max_turns:
        return RecordError("too_many_turns", f"{len(turns)} turns, at most {recipe.max_turns} wanted")
    if recipe.single_domain and len(dialogue.domains) != 1:
        return RecordError("not_single_domain", ", ".join(dialogue.domains) or "no domain")
    if recipe.domains and not set(dialogue.domains) <= set(recipe.domains):
        return RecordError("domain_not_wanted", ", ".join(dialogue.domains))
    if recipe.require_system_end and turns[-1].speaker != "system":
        return RecordError("ends_with_user", turns[-1].utterance)
    if recipe.clean:
        found = fault(dialogue, recipe.clean, recipe.offensive_model, recipe.offensive_threshold)
        if found is not None:
            return found
    return _turn_by_turn(dialogue, recipe)


def _turn_by_turn(dialogue: Dialogue, recipe: Recipe) -> RecordError | None:
    """Why a turn of a dialogue is refused, None if none is."""
    turns = dialogue.turns
    if recipe.max_words is not None or recipe.ascii_only or recipe.require_acts:
        for turn in turns:
            if recipe.ascii_only and not turn.utterance.isascii():
                return RecordError("non_ascii", f"turn {turn.turn}: {turn.utterance}")
            if recipe.require_acts and not turn.acts:
                return RecordError("no_acts", f"turn {turn.turn}: {turn.utterance}")
            if recipe.max_words is not None:
                from dialmill.perturbers.core.tokens import tokens

                number = len(tokens(turn.utterance, dialogue.language))
                if number > recipe.max_words:
                    return RecordError("too_many_words", f"turn {turn.turn}: {number} words, at most {recipe.max_words} wanted")
    return None
