"""A suite's perturbers on both speakers: in the retrieval-based set all utterances are read out, the shop's too, but for the response itself."""

from __future__ import annotations

from dataclasses import dataclass

from dialmill.perturbers import Chain, Perturber
from dialmill.perturbers.core.contract import Variant
from dialmill.schemas import Dialogue, Turn

#: Draws for the system's turns have numbers of their own.
_STRIDE = 1 << 20


@dataclass(frozen=True)
class BothSides(Chain):
    """A chain whose links change user turns, and system turns alike; the last turn, the response, stays as it is."""

    @classmethod
    def of(cls, perturber: Perturber) -> BothSides:
        """Of a perturber or a chain."""
        return cls(perturber.links if isinstance(perturber, Chain) else (perturber,))

    def once(self, dialogue: Dialogue, seed: int, variant: int, redraw: int) -> Variant:
        made = super().once(dialogue, seed, variant, redraw)
        context = dialogue.turns[:-1]
        if not any(turn.speaker == "system" for turn in context) or len(made.record.turns) != len(dialogue.turns):
            return made
        other = super().once(dialogue.replace(turns=tuple(map(_turned, context))), seed, variant, redraw + _STRIDE).record
        if len(other.turns) != len(context):
            return made
        heard = [
            # A turn of signs alone, of which a recogniser leaves nothing, stays.
            _turned(turn) if turn.speaker == "user" and turn.utterance.strip() else mine
            for turn, mine in zip(other.turns, made.record.turns, strict=False)
        ]
        steps = [step for step in other.lineage[len(dialogue.lineage) :] if step.outcome == "changed"]
        turns, lineage = (*heard, made.record.turns[-1]), (*made.record.lineage, *steps)
        return made._replace(record=made.record.replace(turns=turns, lineage=lineage))


def _turned(turn: Turn) -> Turn:
    """A turn as the other speaker's."""
    return turn.replace(speaker="system" if turn.speaker == "user" else "user")
