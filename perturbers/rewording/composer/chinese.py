"""Chinese: what a turn means, and its wording."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.bank import Speaker
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Plan, Refusal


def plan(context: Context) -> Plan | Refusal:
    """What the turn says, or why that can't be told."""
    return Refusal("no_clause")


def realise(context: Context, plan: Plan, who: Speaker, rng: Rng, style: str) -> Composed | Refusal:
    """The plan in words."""
    return Refusal("no_clause")
