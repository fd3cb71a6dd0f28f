"""Slips and short forms in the words of a turn: which are hit, and what is typed for them. A slip follows what is known of people's errors
(`english`, `chinese`), a short form comes from a table of those that people type (`chat`)."""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from math import log
from typing import NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View, lowerable
from dialmill.perturbers.typing import chinese as typing_zh
from dialmill.perturbers.typing import english as typing_en
from dialmill.perturbers.typing.chat import Phrase, phrases
from dialmill.schemas import Edit


class Hit(NamedTuple):
    """A stretch of the utterance and what is typed in its place."""

    start: int
    end: int
    replacement: str


class Drawn(NamedTuple):
    """The choices for one turn: the words hit, whether the rest loses its capitals, what the closing full stop becomes (None: it stays)."""

    hits: list[Hit]
    lower: bool
    stop: str | None


class Habits(NamedTuple):
    """How a style types: whether words slip and are shortened, the chances of lost capitals and of a changed closing full stop."""

    slips: bool
    shortens: bool
    lower: float
    stop: float


_HABITS: dict[str, Habits] = {
    "typing": Habits(slips=True, shortens=False, lower=0.1, stop=0.0),
    "chat": Habits(slips=False, shortens=True, lower=0.9, stop=0.6),
    "mixed": Habits(slips=True, shortens=True, lower=0.35, stop=0.15),
}
#: Shares of the English slips: two words run into one, one word split in two (Kukich 1992), and two slips in a word of so many letters and more.
_RUN_ON, _SPLIT, _TWICE, _TWICE_LENGTH = 0.16, 0.04, 0.095, 5
#: Above this rate a long word (of so many letters) slips twice more often, the higher the rate the more often.
_DENSE, _LONG = 0.3, 8
#: Characters that can make one word of several runs of letters.
_JOINING = frozenset("'’@/[]<>&")
#: A lost apostrophe is the commonest slip of all, and one of chat style too.
_APOSTROPHE = 1.5


#: Words of an utterance as (start, end), in order.
Places = Sequence[tuple[int, int]]


class Word(NamedTuple):
    """What can happen to a word, whatever stands around it: how prone it is to be hit at all, to slip, to be shortened, and the ways.

    A slip in a word of six letters weighs 1, and so does a short form that people always use.
    """

    weight: float
    slip: float
    short: float
    plain: str | None
    phrases: tuple[Phrase, ...]


class _Words(dict[str, Word]):
    """`Word` by word, filled as words are met: nothing in it depends on where the word stands."""

    def __init__(self, language: str, habits: Habits) -> None:
        super().__init__()
        self.language = language
        self.habits = habits

    def __missing__(self, text: str) -> Word:
        if len(self) > 1 << 17:
            self.clear()
        lower = text.lower()
        short = phrases(self.language).get(lower.replace("’", "'"), ()) if self.habits.shortens else ()
        rules = typing_zh if self.language == "zh" else typing_en
        slip = rules.slip_weight(text) if self.habits.slips else 0.0
        plain = typing_en.without_apostrophe(text) if rules is typing_en else None
        readiness = max((phrase.share for phrase in short), default=0.0)
        word = self[text] = Word(slip + readiness + (_APOSTROPHE if plain else 0.0), slip, readiness, plain, short)
        return word


@cache
def _words(language: str, style: str) -> _Words:
    return _Words(language, _HABITS[style])


@lru_cache(maxsize=1024)
def _binomial(words: int, rate: float) -> tuple[float, ...]:
    """The distribution function, up to a factor, of how many of `words` are hit at `rate`.

    Each chance comes from that of its neighbour, beginning with the likeliest: powers and binomial coefficients of a thousand words are too small
    and too large for a float.
    """
    if rate >= 1:
        return (*(0.0,) * words, 1.0)
    likeliest = min(words, int((words + 1) * rate))
    odds = rate / (1 - rate)
    chances = [0.0] * (words + 1)
    chances[likeliest] = 1.0
    for hits in range(likeliest, 0, -1):
        chances[hits - 1] = chances[hits] * hits / ((words - hits + 1) * odds)
    for hits in range(likeliest, words):
        chances[hits + 1] = chances[hits] * (words - hits) * odds / (hits + 1)
    return tuple(accumulate(chances))


class Typist:
    """How somebody types: the draws and edits of `typos.Typos`, whose options it has. `protect` leaves all values alone.

    This module is one of those that can be compiled (setup.py), which the class of the options can't be.
    """

    def __init__(self, style: str, rate: float, real_words: float, protect: bool) -> None:
        self.style, self.rate, self.real_words, self.protect = style, rate, real_words, protect

    def draw(self, view: View, rng: Rng) -> Drawn | None:
        """The random choices for one turn, None where there is nothing to choose."""
        habits = _HABITS[self.style]
        hits = self._hits(view, self.style, rng)
        if not hits and not habits.slips:
            hits = self._hits(view, "typing", rng)
        if not hits:
            return None
        text = view.turn.utterance
        lower = not text.islower() and rng.chance(habits.lower)
        stop = None
        if text[-1] in ".。" and len(text) > 1 and text[-2] != text[-1] and rng.chance(habits.stop) and view.free(len(text) - 1, len(text)):
            stop = "~" if text[-1] == "。" and rng.chance(0.3) else ""
        return Drawn(hits, lower, stop)

    def apply(self, view: View, drawn: Drawn) -> list[Edit]:
        """The edits that carry out what was drawn."""
        text = view.turn.utterance
        edits: list[Edit] = []
        if drawn.lower:
            places = [*((hit.start, hit.end) for hit in drawn.hits), *self._capital(view)]
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
            # In tokenised text the blank before the full stop goes with it.
            edits.append(Edit(len(text) - 1 if drawn.stop else len(text[:-1].rstrip()), len(text), drawn.stop))
        return edits

    def _capital(self, view: View) -> list[tuple[int, int]]:
        """What keeps its capitals where all else loses them: what no perturbation may touch, and values that are codes. In a turn without capitals
        those of a name would point at it."""
        text = view.turn.utterance
        codes = [place[:2] for place in view.located if not lowerable(text[place.start : place.end])]
        return [*view.guarded, *codes, *view.exact]

    def _kept(self, view: View) -> tuple[tuple[int, int], ...]:
        """What may not be touched: all values in protect mode, in follow mode only what no perturbation may touch."""
        return view.protected if self.protect else view.guarded

    def _hits(self, view: View, style: str, rng: Rng) -> list[Hit]:
        """The words that are hit and what is typed for them; disjoint and in order."""
        text, language = view.turn.utterance, view.language
        words = _words(language, style)
        # The matcher's units are the words where nothing joins them; cutting the text once more is a tenth of the whole work.
        bounds = view.units.bounds if language != "zh" and _JOINING.isdisjoint(text) else view.tokens
        free = _between(bounds, self._kept(view))
        cumulative = list(accumulate([words[text[start:end]][0] for start, end in free]))
        if not cumulative or not cumulative[-1]:
            return []
        distribution = _binomial(len(free), self.rate)
        count = max(1, bisect(distribution, rng.random() * distribution[-1], 0, len(free)))
        # Two Chinese words side by side, both wrong, are past reading: at low rates hits keep apart.
        apart = 1 if self.rate <= _DENSE else 0
        hits: list[Hit] = []
        for place in _order(cumulative, count, rng):
            start, end = free[place]
            if hits and any(hit.start < end + apart and start < hit.end + apart for hit in hits):
                continue
            hit = self._hit(view, free, place, words, rng)
            if hit is None or (hits and any(other.start < hit.end + apart and hit.start < other.end + apart for other in hits)):
                continue
            hits.append(hit)
            if len(hits) == count:
                break
        hits.sort()
        return hits

    def _hit(self, view: View, free: Places, place: int, words: _Words, rng: Rng) -> Hit | None:
        """What is typed for one word, or for the phrase that begins with it; None where nothing plausible is."""
        text, language = view.turn.utterance, view.language
        start, end = free[place]
        word = words[text[start:end]]
        if word.plain is not None and rng.random() * word.weight < _APOSTROPHE:
            return Hit(start, end, word.plain)
        if word.phrases and rng.random() * (word.slip + word.short) < word.short:
            share = rng.random() * word.short
            for phrase in word.phrases:
                last = place + len(phrase.rest)
                if last < len(free) and _follows(text, free, place, phrase.rest, "" if language == "zh" else " "):
                    end = free[last][1]
                    if phrase.final and text[end : end + 1].isalnum():
                        continue
                    typed = _in_case_of(text[start], rng.weighted(phrase.forms, phrase.cumulative))
                    return Hit(start, end, typed) if typed != text[start:end] and share < phrase.share else None
            # The word was drawn for a phrase that does not stand here: another word's turn.
            return None
        if not word.slip:
            return None
        if language == "zh":
            typed_twice = text[start:end] in (text[end : 2 * end - start], text[max(0, 2 * start - end) : start])
            if typed_twice or (start and text[start - 1] in _NUMERALS):
                return None
            slipped = typing_zh.slip(text[start:end], rng)
            return Hit(start, end, slipped) if slipped is not None else None
        return self._slip(text, free, place, rng)

    def _slip(self, text: str, free: Places, place: int, rng: Rng) -> Hit | None:
        """A slip in an English word, or between it and the word beside it."""
        start, end = free[place]
        word = text[start:end]
        kind = rng.random()
        if kind < _RUN_ON:
            both = _run_on(text, free, place, rng)
            if both is not None:
                return both
        elif kind < _RUN_ON + _SPLIT:
            parted = typing_en.split(word, rng)
            if parted is not None:
                return Hit(start, end, parted)
        if self.real_words and rng.chance(self.real_words):
            other = typing_en.real_word(word, rng)
            if other is not None:
                return Hit(start, end, other)
        more = self.rate - _DENSE if self.rate > _DENSE and end - start >= _LONG else 0.0
        twice = end - start >= _TWICE_LENGTH and rng.chance(_TWICE + more)
        slipped = typing_en.slip(word, rng, 2 if twice else 1)
        return Hit(start, end, slipped) if slipped is not None else None


def _run_on(text: str, free: Places, place: int, rng: Rng) -> Hit | None:
    """A word and the shorter of the words beside it run into one; None where neither of these stands a single blank away, or may be hit."""
    beside = [
        (free[first][0], free[first][1], free[first + 1][0], free[first + 1][1])
        for first in (place - 1, place)
        if 0 <= first < len(free) - 1 and text[free[first][1] : free[first + 1][0]] == " "
    ]
    if len(beside) == 2 and rng.chance(0.8):
        beside.sort(key=lambda pair: pair[3] - pair[0])
        beside.pop()
    if not beside:
        return None
    start, end, next_start, next_end = rng.choice(beside)
    one, other = text[start:end], text[next_start:next_end]
    return Hit(start, next_end, one + other) if typing_en.runs_on(one, other) else None


def _between(bounds: Places, kept: Places) -> Places:
    """The words that overlap none of the ranges to be left alone; both are in order."""
    if not kept:
        return bounds
    free: list[tuple[int, int]] = []
    first = 0
    for start, end in kept:
        last = bisect_left(bounds, (start,), first)  # the first word that begins in the range or behind it
        free += bounds[first:last]
        if free and free[-1][1] > start:
            free.pop()
        first = last
        while first < len(bounds) and bounds[first][0] < end:
            first += 1
    free += bounds[first:]
    return free


def _order(cumulative: Sequence[float], count: int, rng: Rng) -> Iterator[int]:
    """Places by weight, in random order; all of them, some more than once: the first are drawn with replacement, which suffices for a few."""
    random = rng.random
    total = cumulative[-1]
    for _ in range(2 * count):
        yield bisect(cumulative, random() * total, 0, len(cumulative) - 1)
    # Efraimidis and Spirakis: exponential variables with these rates, in order, are a weighted sample without replacement.
    weights = [after - before for before, after in zip((0.0, *cumulative), cumulative, strict=False)]
    yield from (place for _, place in sorted((-log(1.0 - random()) / weight, place) for place, weight in enumerate(weights) if weight > 1e-9))


def _follows(text: str, free: Places, place: int, rest: tuple[str, ...], gap: str) -> bool:
    """Whether the words after `place` are `rest`, each behind the gap that the language has between words."""
    reached = free[place][1]
    for word in rest:
        place += 1
        start, end = free[place]
        if text[start:end].lower() != word or text[reached:start] != gap:
            return False
        reached = end
    return True


def _in_case_of(first: str, form: str) -> str:
    """A short form with the capital that the phrase begins with, which many leave out and some keep."""
    return form[0].upper() + form[1:] if first.isupper() and form[0].islower() and len(form) > 2 else form


#: In Chinese the word after a numeral belongs to it (三个人, 50元左右).
_NUMERALS = frozenset("零一二三四五六七八九十百千万亿两俩半几第每0123456789０１２３４５６７８９")
