"""Typos: slips of the fingers and of spelling, and chat style, in the words around the slot values.

What RADDLE calls the typo and abbreviation noise of users ("Plz tell me addr and postcode"). A slip follows what is known of people's errors
(`english`, `chinese`), not a uniform noise over characters; a short form comes from a table of those that people type (`chat`). People type
far fewer: 0.4 words of 1,000 in MultiWOZ, which its writers read again; a rate is a stress, and no estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar, Literal

from dialmill.perturbers.core.contract import Skipped, TurnPerturber
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View
from dialmill.perturbers.typing.slips import Drawn, Typist
from dialmill.schemas import Edit

Style = Literal["typing", "chat", "mixed"]
#: Mistyped words of 1,000 in the user turns of MultiWOZ 2.1 (val and test): one-letter slips in words of four letters and more, 67 in 172,219.
_NATURAL = 0.4
_typist = cache(Typist)


@dataclass(frozen=True)
class Typos(TurnPerturber):
    """Human-like typos and chat-style short forms in user turns; slot values stay as they are, or are followed.

    English: neighbour keys, dropped, doubled, added and transposed letters, unstressed vowels, well-known misspellings, two slips in a word, words
    run together or split, lost apostrophes and capitals, in the shares that people have; negations, numbers and times never get any, and no typo
    makes another frequent word unless `real_words` asks for it. Chinese: words and characters of the same or nearly the same sound in their phrase.
    Chat style: short forms from our own tables. A turn that loses its capitals loses those of its names too.
    """

    rate: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="share of the words of a turn that get a typo, decided word by word; a turn gets one at least where any of its words can "
            "have one. In MultiWOZ 0.0004 of the words are mistyped",
            examples=[0.3],
            extra={"unit": "share of words"},
        ),
    ] = 0.1
    style: Annotated[
        Style,
        Meta(
            description='"typing": typos alone; "chat": short forms, lost capitals and full stops (a turn that has no short form gets one typo); '
            '"mixed": both'
        ),
    ] = "mixed"

    real_words: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description='share of the English typos that are another real word ("through" for "though"), where there is such a word; of the typos '
            "that people correct 0.36 are. Chinese typos are real words in any case",
            examples=[0.36],
            extra={"unit": "share of typos"},
        ),
    ] = 0.0

    name: ClassVar[str] = "typos"
    version: ClassVar[int] = 3

    @property
    def card_notes(self) -> tuple[str, ...]:
        times = self.rate * 1000 / _NATURAL
        return (
            f"typos at rate {self.rate:g} hit {1000 * self.rate:g} of 1,000 words, some {times:,.0f} times as many as the {_NATURAL:g} that people "
            "left in the typed turns of MultiWOZ 2.1 (slips of one letter in words of four and more): a stress test, no estimate of real input.",
        )

    def draw(self, view: View, rng: Rng) -> Drawn | Skipped:
        return self._typist.draw(view, rng) or Skipped("no_edit_possible")

    def apply(self, view: View, drawn: Drawn) -> Sequence[Edit]:
        return self._typist.apply(view, drawn)

    @property
    def _typist(self) -> Typist:
        return _typist(self.style, self.rate, self.real_words, self.values == "protect")
