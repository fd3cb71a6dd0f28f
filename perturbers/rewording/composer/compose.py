"""The composer's entry: a turn's context in, its new wording with the places of its values out, or why it is refused.

    context -> plan (certificate over the source) -> realised by the language -> certificate over the text -> Composed

Each language is a module with the two functions of `Language`; what it needs of clauses stands in its bank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer import certificate
from dialmill.perturbers.rewording.composer.bank import SHARES, Speaker, Weights, load
from dialmill.perturbers.rewording.composer.plan import STYLES, Composed, Context, Plan, Refusal

#: How often a turn is composed anew when its text isn't certified.
_TRIES = 4


class Language(NamedTuple):
    """What a language brings: `plan` says what a turn means or why that can't be told; `realise` words a plan."""

    plan: Callable[[Context], Plan | Refusal]
    realise: Callable[[Context, Plan, Speaker, Rng, str], Composed | Refusal]


def _language(name: str) -> Language | None:
    if name == "en":
        from dialmill.perturbers.rewording.composer import english

        return Language(english.plan, english.realise)
    if name == "zh":
        from dialmill.perturbers.rewording.composer import chinese

        return Language(chinese.plan, chinese.realise)
    return None


def speaker(language: str, voice: str = "plain", half: str = "", facts: frozenset[str] = frozenset(), weights: Weights | None = None) -> Speaker:
    """Who says all composed turns of one variant of a dialogue; `weights` say which clauses are likelier.

    Raises:
        ValueError: an unknown voice or half.
    """
    if voice not in SHARES:
        raise ValueError(f"voice must be one of {', '.join(SHARES)}, not {voice!r}")
    if half not in ("", "train", "test"):
        raise ValueError(f"half must be train, test, or empty for both, not {half!r}")
    return Speaker(load(language), voice, half, facts, weights)


def plan_of(context: Context) -> Plan | Refusal:
    """What a turn means, or why that can't be told; the same whoever words it."""
    language = _language(context.view.language)
    return Refusal("language_not_supported") if language is None else language.plan(context)


def compose(context: Context, who: Speaker, rng: Rng, style: str = "same", found: Plan | Refusal | None = None) -> Composed | Refusal:
    """A turn worded anew.

    Args:
        context: the turn and what stands before it.
        who: the speaker of the variant; what it said is remembered by `Speaker.say` when the caller takes the turn.
        rng: of this turn and variant.
        style: one of `STYLES`.
        found: what `plan_of` says of the turn, where it was asked already.
    """
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    language = _language(context.view.language)
    if language is None:
        return Refusal("language_not_supported")
    plan = found if found is not None else language.plan(context)
    if isinstance(plan, Refusal):
        return plan
    problem: Composed | Refusal = Refusal("no_clause")
    for _ in range(_TRIES):
        made = language.realise(context, plan, who, rng, style)
        if isinstance(made, Refusal):
            problem = made
            continue
        lacks = certificate.of_text(context, made)
        if lacks is None:
            return made
        problem = Refusal(lacks)
    return problem
