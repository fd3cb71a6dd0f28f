"""Users who shout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from dialmill.perturbers.core.contract import Skipped, TurnPerturber
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View
from dialmill.schemas import Edit


@dataclass(frozen=True)
class Shouting(TurnPerturber):
    """Some words in capitals, as of a user who loses patience; in Chinese a louder end of the sentence."""

    rate: Annotated[float, Meta(gt=0, le=1, description="share of the words outside of slot values that are shouted", examples=[0.5])] = 0.4

    name: ClassVar[str] = "shouting"

    def draw(self, view: View, rng: Rng) -> list[tuple[int, int]] | int | Skipped:
        if view.language == "zh":
            return rng.below(4) + 1
        text = view.turn.utterance
        words = [(start, end) for start, end in view.tokens if view.free(start, end) and text[start:end].isascii() and text[start:end].islower()]
        return [word for word in words if rng.chance(self.rate)] if words else Skipped("nothing_to_shout")

    def apply(self, view: View, drawn: list[tuple[int, int]] | int) -> Sequence[Edit]:
        text = view.turn.utterance
        if isinstance(drawn, int):
            end = len(text.rstrip())
            return [Edit(end, end, "！" * drawn)] if end else []
        return [Edit(start, end, text[start:end].upper()) for start, end in drawn]
