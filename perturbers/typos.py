"""Typos: slips of the fingers and of spelling, and chat style, in the words around the slot values.

What RADDLE calls the typo and abbreviation noise of users ("Plz tell me addr and postcode"). A slip follows what is known of people's errors
(`typing_en`, `typing_zh`), not a uniform noise over characters; a short form comes from a table of those that people type (`chat`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import ClassVar, Literal, NamedTuple, get_args

from schemas import Edit

from . import typing_en, typing_zh
from .base import OptionError, Skipped, TurnPerturber
from .chat import Phrase, phrases
from .rng import Rng
from .values import View

Style = Literal["typing", "chat", "mixed"]


class Hit(NamedTuple):
    """A stretch of the utterance and what is typed in its place."""

    start: int
    end: int
    replacement: str


class Drawn(NamedTuple):
    """The choices for one turn: the words hit, whether all other letters lose their capitals, how the closing full stop is written (None: as it is)."""

    hits: tuple[Hit, ...]
    lower: bool
    stop: str | None


class Habits(NamedTuple):
    """How a style types: the weights of a slip and of a short form, the chances of lost capitals and of a changed closing full stop."""

    slip: float
    short: float
    lower: float
    stop: float


_HABITS: dict[str, Habits] = {
    "typing": Habits(slip=1.0, short=0.0, lower=0.1, stop=0.0),
    "chat": Habits(slip=0.0, short=1.0, lower=0.9, stop=0.6),
    "mixed": Habits(slip=1.0, short=1.0, lower=0.35, stop=0.15),
}
#: A lost apostrophe is the commonest slip of all, and one of chat style too.
_APOSTROPHE = 1.5


class Word(NamedTuple):
    """What can happen to a word, whatever stands around it."""

    slip: float
    plain: str | None
    phrases: tuple[Phrase, ...]
    lower: str


@lru_cache(maxsize=65536)
def _word(word: str, language: str) -> Word:
    lower = word.lower()
    short = phrases(language).get(lower.replace("’", "'"), ())
    if language == "zh":
        return Word(typing_zh.slip_weight(word), None, short, lower)
    return Word(typing_en.slip_weight(word), typing_en.without_apostrophe(word), short, lower)


class _Option(NamedTuple):
    """One thing that could happen: to which stretch, its phrase in the chat table or None for a slip, its weight."""

    start: int
    end: int
    phrase: Phrase | None
    plain: str | None
    weight: float


@dataclass(frozen=True)
class Typos(TurnPerturber):
    """Human-like typos and chat-style short forms in user turns; slot values stay as they are, or are followed.

    English: vowel confusions, dropped, doubled, added and transposed letters, neighbour keys, well-known misspellings, lost apostrophes and
    capitals; the first letter is nearly safe, negations, numbers and times are never hit, and no slip makes another frequent word. Chinese: words
    and characters of the same or nearly the same sound, a few that look alike. Chat style: short forms from our own tables.

    Args:
        rate: share of the words of a turn that are hit, in (0, 1]; each word on its own, and at least one word a turn where one can be.
        style: "typing" for slips alone, "chat" for short forms, lost capitals and full stops (a turn that has no short form gets one slip),
            "mixed" for both.
        values: "protect" leaves slot values alone; "follow" may hit them, and their spans say `changed`.
        tries: attempts per turn before it is skipped, at least 1.
    """

    rate: float = 0.1
    style: Style = "mixed"

    name: ClassVar[str] = "typos"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.rate <= 1:
            raise OptionError(f"typos: rate must be above 0 and at most 1, not {self.rate}")
        if self.style not in get_args(Style):
            raise OptionError(f"typos: style must be one of {', '.join(get_args(Style))}, not {self.style!r}")

    def draw(self, view: View, rng: Rng) -> Drawn | Skipped:
        habits = _HABITS[self.style]
        words, options = self._options(view, habits)
        if not options and not habits.slip:
            words, options = self._options(view, _HABITS["typing"])
        if not options:
            return Skipped("no_edit_possible")
        random, rate = rng.random, self.rate
        count = 0
        for _ in range(words):
            if random() < rate:
                count += 1
        hits = self._hits(view, options, count or 1, rng)
        if not hits:
            return Skipped("no_edit_possible")
        text = view.turn.utterance
        lower = random() < habits.lower
        stop = None
        if random() < habits.stop and len(text) > 1 and text[-1] in ".。" and text[-2] != text[-1] and view.free(len(text) - 1, len(text)):
            stop = "~" if text[-1] == "。" and random() < 0.3 else ""
        return Drawn(hits, lower, stop)

    def apply(self, view: View, drawn: Drawn) -> Sequence[Edit]:
        text = view.turn.utterance
        edits: list[Edit] = []
        if drawn.lower and not text.islower():
            reached = 0
            places = [*((hit.start, hit.end) for hit in drawn.hits), *self._kept(view)]
            edits += [Edit(hit.start, hit.end, hit.replacement.lower()) for hit in drawn.hits]
            edits += [
                Edit(start, end, lower)
                for start, end in view.tokens
                if (lower := text[start:end].lower()) != text[start:end]
                and len(lower) == end - start
                and not any(s < end and start < e for s, e in places)
            ]
            edits.sort(key=lambda edit: edit.start)
        else:
            edits = [Edit(*hit) for hit in drawn.hits]
        if drawn.stop is not None:
            edits.append(Edit(len(text) - 1, len(text), drawn.stop))
        return edits

    def _kept(self, view: View) -> tuple[tuple[int, int], ...]:
        """What may not be touched: all values in protect mode, in follow mode only what no perturbation may touch."""
        return view.protected if self.values == "protect" else view.guarded

    def _options(self, view: View, habits: Habits) -> tuple[int, list[_Option]]:
        """The number of words that are free to be hit, and what can happen to them."""
        text, language = view.turn.utterance, view.language
        kept = self._kept(view)
        limit = len(kept)
        gap = "" if language == "zh" else " "
        tokens = view.tokens
        free: list[tuple[int, int, Word]] = []
        barrier = 0  # the first range of `kept` that ends behind the token
        for start, end in tokens:
            while barrier < limit and kept[barrier][1] <= start:
                barrier += 1
            if barrier == limit or kept[barrier][0] >= end:
                free.append((start, end, _word(text[start:end], language)))
        options: list[_Option] = []
        slips, shorts = habits.slip, habits.short
        for place, (start, end, word) in enumerate(free):
            if word.plain is not None:
                options.append(_Option(start, end, None, word.plain, _APOSTROPHE))
            elif slips and word.slip and not (language == "zh" and _beside_number(text, start)):
                options.append(_Option(start, end, None, None, slips * word.slip))
            if shorts and word.phrases:
                for phrase in word.phrases:
                    last = place + len(phrase.rest)
                    if not phrase.rest:
                        options.append(_Option(start, end, phrase, None, shorts))
                    elif last < len(free) and _follows(text, free, place, phrase.rest, gap):
                        options.append(_Option(start, free[last][1], phrase, None, shorts * 1.5))
                    else:
                        continue
                    break
        return len(free), options

    def _hits(self, view: View, options: list[_Option], count: int, rng: Rng) -> tuple[Hit, ...]:
        """Up to `count` of the options, drawn by weight without replacement, as what is typed; disjoint and in order."""
        random = rng.random
        # Efraimidis and Spirakis: the smallest of exponential variables with these rates is a weighted sample without replacement.
        order = sorted((-log(1.0 - random()) / option.weight, place) for place, option in enumerate(options))
        text = view.turn.utterance
        hits: list[Hit] = []
        for _, place in order:
            start, end, phrase, plain, _ = options[place]
            if hits and any(hit.start < end and start < hit.end for hit in hits):
                continue
            typed: str | None
            if phrase is not None:
                typed = rng.weighted(phrase.forms, phrase.cumulative)
            elif plain is not None:
                typed = plain
            elif view.language == "zh":
                typed = typing_zh.slip(text[start:end], rng)
            else:
                twice = self.rate > 0.3 and end - start >= 8 and random() < self.rate - 0.3
                typed = typing_en.slip(text[start:end], rng, 2 if twice else 1)
            if typed is None or typed == text[start:end]:
                continue
            hits.append(Hit(start, end, typed))
            if len(hits) == count:
                break
        hits.sort()
        return tuple(hits)


def _follows(text: str, free: list[tuple[int, int, Word]], place: int, rest: tuple[str, ...], gap: str) -> bool:
    """Whether the words after `place` are `rest`, each behind the gap that the language has between words."""
    for word in rest:
        end = free[place][1]
        place += 1
        start = free[place][0]
        if free[place][2].lower != word or text[end:start] != gap:
            return False
    return True


#: In Chinese the word after a numeral belongs to it (三个人, 50元左右).
_NUMERALS = frozenset("零一二三四五六七八九十百千万亿两俩半几第每多0123456789０１２３４５６７８９")


def _beside_number(text: str, start: int) -> bool:
    return start > 0 and text[start - 1] in _NUMERALS
