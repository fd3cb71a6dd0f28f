"""What the tests of the Chinese composer share."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording.composer.compose import compose, speaker
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Refusal
from dialmill.schemas import Dialogue

from tests.talk import dialogue


def contexts(talk: Dialogue) -> list[Context]:
    """The user turns of a dialogue with the turns before them."""
    locator = Locator(talk)
    return [Context(locator.view(turn), talk.turns[place - 1] if place else None) for place, turn in enumerate(talk.turns) if turn.speaker == "user"]


def worded(talk: Dialogue, place: int = 0, style: str = "same", voice: str = "plain", seed: int = 1, half: str = "") -> Composed | Refusal:
    """What the composer makes of a dialogue's user turn."""
    return compose(contexts(talk)[place], speaker("zh", voice, half), Rng(seed), style)


def zh(*turns: tuple[object, ...]) -> Dialogue:
    """A Chinese dialogue of (speaker, text, *acts)."""
    return dialogue("zh", list(turns), language="zh")
