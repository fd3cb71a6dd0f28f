"""How people mistype Chinese: the input method offers words by sound, and the wrong one is taken.

The shares follow the errors of SIGHAN 2015 (3,726 errors of learners, so a prior): same pinyin and tone 48 %, same pinyin with another tone 26 %,
fuzzy pinyin (zh/z, n/l, ng/n) 7.5 %. The look-alikes among them (5-10 %) come from handwriting and optical reading: no input method by sound offers
洒店 for 酒店, so none are written.
What is written instead is a word or character people use, never a numeral or a negation, and words whose homophones would say something
else ("一点" as "疑点") are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.typing.homophones import table

#: Characters that carry labels or the sense of the sentence: never replaced, dropped or written for another one.
_NEVER = frozenset("零一二三四五六七八九十百千万亿两俩半几第每多少不没别无未非勿否莫哪谁他她它左右东西南北前后买卖死杀鬼尸屎尿奸贱")
#: How likely each kind of slip is tried first; the others follow where a word has none of that kind.
_KINDS = ("sound", "double", "drop")
_CUMULATIVE = (0.95, 0.98, 1.0)
_SAME_TONE, _OTHER_TONE = 0.59, 0.91  # cumulative within sound: 48 : 26 : 7.5
#: A homophone beyond this rank is too rare for an input method to offer it on its first page.
_PAGE = 4
#: A single character is among so many of the most frequent of its syllable: nobody takes 峻 for 均.
_FREQUENT = 6


@cache
def _untouched() -> frozenset[str]:
    return frozenset(word for row in rows("zh", "untouched") for word in row[0].split())


@cache
def _pairs(name: str) -> dict[str, tuple[str, ...]]:
    return {character: tuple(alternatives(cell)) for character, cell in rows("zh", name)}


@lru_cache(maxsize=65536)
def slip_weight(word: str) -> float:
    """How prone a word is to a slip, relative to others: 0 for what is never mistyped."""
    if word in _untouched() or not all("\u4e00" <= character <= "\u9fff" for character in word) or not _NEVER.isdisjoint(word):
        return 0.0
    if len(set(word)) < len(word):
        # 谢谢, 看看, 考虑考虑: whoever types the syllables twice gets the same characters twice.
        return 0.0
    if len(word) == 1:
        # Particles are many, and a turn in which they alone are wrong is hardly harder than its source.
        return 0.12 if word in _pairs("confusions") else 0.0
    return 1.0 if len(word) < 4 else 0.5


def slip(word: str, rng: Rng) -> str | None:
    """`word` as somebody mistyped it; None where it has no plausible slip."""
    first = rng.weighted(_KINDS, _CUMULATIVE)
    if len(word) == 1:
        return rng.choice(_pairs("confusions")[word]) if word in _pairs("confusions") else None
    typed = None
    if first in ("double", "drop") and len(word) > 2:
        place = 1 + rng.below(len(word) - 1)
        typed = word[:place] + (word[place] if first == "double" else "") + word[place + (first == "drop") :]
    return typed or _sound(word, rng)


def _sound(word: str, rng: Rng) -> str | None:
    """The whole word as another word of the same sound, or one of its characters as another one that sounds the same in this word."""
    whole = _whole(word, rng) if len(word) == 2 and rng.chance(0.5) else None
    if whole:
        return whole
    places = list(range(len(word)))
    rng.shuffle(places)
    syllables = table().syllables(word)
    for place in places:
        sound, character = syllables[place], word[place]
        if sound is None:
            continue
        same, other, fuzzy = table().like(sound, character)
        usual = [one for one in _pairs("confusions").get(character, ()) if one in same or one in other or one in fuzzy]
        written = rng.choice(usual) if usual and rng.chance(0.7) else _page(same, other, fuzzy, rng)
        if written:
            return word[:place] + written + word[place + 1 :]
    return None


def _whole(word: str, rng: Rng) -> str | None:
    """Another word of the same sound."""
    same, other = table().same(word)
    return _page(same, other, table().fuzzy(word), rng)


def _page(same: Sequence[str], other: Sequence[str], fuzzy: Sequence[str], rng: Rng) -> str | None:
    """One of the first homophones: of the same tone first, then of another, then of a sound that speakers confuse with it."""
    share = rng.random()
    order: Sequence[Sequence[str]]
    if share < _SAME_TONE:
        order = (same, other)
    elif share < _OTHER_TONE:
        order = (other, same)
    else:
        order = (fuzzy, same, other)
    for candidates in order:
        plausible = [candidate for candidate in candidates if _NEVER.isdisjoint(candidate) and _frequent(candidate)][:_PAGE]
        if plausible:
            # The page is read from the top: the n-th candidate is taken 1/n times as often as the first.
            return rng.weighted(plausible, _ZIPF[: len(plausible)])
    return None


def _frequent(text: str) -> bool:
    """Whether a character is one of the most frequent of its syllable, and one that people write by itself; words are as the table has them."""
    sound = table().sounds.get(text)
    return len(text) > 1 or (sound is not None and text in table().alone and text in table().written[sound.pinyin][:_FREQUENT])


_ZIPF = (1.0, 1.5, 1.83, 2.08)
