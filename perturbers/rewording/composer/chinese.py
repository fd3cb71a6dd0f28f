"""Chinese: what a turn means (`chinese_reading`), and its wording (`chinese_wording`)."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.bank import Speaker
from dialmill.perturbers.rewording.composer.chinese_reading import read
from dialmill.perturbers.rewording.composer.chinese_wording import word
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Plan, Refusal


def plan(context: Context) -> Plan | Refusal:
    """What the turn says, or why that can't be told."""
    return read(context)


def realise(context: Context, plan: Plan, who: Speaker, rng: Rng, style: str) -> Composed | Refusal:
    """The plan in words."""
    return word(context, plan, who, rng, style)
