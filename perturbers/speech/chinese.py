"""What Chinese words are taken for: other words of the same or nearly the same pinyin, tones counting; characters only where no word fits.

Readings and words come from the table of homophones (`typing.homophones`), so that only characters of everyday use are recognised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from dialmill.perturbers.speech.bigrams import Bigrams, Candidate
from dialmill.perturbers.typing.homophones import table

#: Logarithms of weights: the same sound and tones, another tone, a pair of sounds that many speakers do not tell apart; and a part of a longer word.
_SAME, _TONE, _FUZZY, _PART = 0.0, -1.3, -1.7, -0.8
#: Little words, spoken without stress: they are taken for each other.
LITTLE = "的了呢吧吗啊么嘛呀得地"
#: Characters that are words: rarer ones hardly stand alone, and are recognised only as parts of words.
_ALONE = 6
#: From this class of rarity on words are names or hardly known.
_RARE = 12
_CANDIDATES = 12
#: Characters that were met beside each other so often are so usually.
_USUAL = 3


@cache
def _cutter() -> Any:
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)
    # Its own, so that words that others add don't change what is recognised.
    return jieba.Tokenizer()


def segments(characters: Sequence[str]) -> list[int]:
    """Where the words of an utterance begin, and its length. What is no Chinese character is a word of its own."""
    bounds = [0]
    reached = 0
    for run in _runs(characters):
        if len(run) == 1:
            reached += 1
            bounds.append(reached)
            continue
        for word in _cut("".join(run)):
            reached += len(word)
            bounds.append(reached)
    return bounds


@lru_cache(maxsize=65536)
def _cut(text: str) -> tuple[str, ...]:
    return tuple(_cutter().cut(text, HMM=False))


def _runs(characters: Sequence[str]) -> Iterator[list[str]]:
    """Runs of Chinese characters; anything else by itself."""
    run: list[str] = []
    for char in characters:
        if len(char) == 1 and "\u4e00" <= char <= "\u9fff":
            run.append(char)
            continue
        if run:
            yield run
            run = []
        yield [char]
    if run:
        yield run


def everyday(text: str) -> bool:
    """Whether a text has only characters of GB 2312."""
    try:
        text.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


class ChineseSounds:
    """Candidates for Chinese words."""

    def __init__(self, language_model: Bigrams, rarity: Mapping[str, int]) -> None:
        self._model = language_model
        self._rarity = rarity

    @lru_cache(maxsize=65536)  # noqa: B019  one model lives as long as its process
    def near(self, said: tuple[str, ...]) -> Sequence[Candidate]:
        """Texts for one word, or for two taken together, of as many characters; never what was said."""
        text = "".join(said)
        found = dict(self._whole(text))
        # Of a name any characters that sound alike are made.
        rare = len(said) == 1 and self._rarity.get(text, 99) >= _RARE
        if len(text) > 1 and len(found) < 3:
            # No word sounds like it: a part of it is taken for another word, or a character where the result is a text that one meets.
            for size in (2, 1) if len(text) > 2 else (1,):
                for place in range(len(text) - size + 1):
                    for part, weight in self._whole(text[place : place + size], alone=False):
                        whole = text[:place] + part + text[place + size :]
                        if rare or self._met(whole, place, place + size):
                            found.setdefault(whole, weight + _PART)
                if found and size == 2:
                    break
        found.pop(text, None)
        best = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:_CANDIDATES]
        return tuple(Candidate(one, weight) for one, weight in sorted(best) if everyday(one))

    def _whole(self, text: str, alone: bool = True) -> list[tuple[str, float]]:
        """Words for a whole word of one or two characters."""
        if len(text) == 1 and text in LITTLE and alone:
            return [(char, _SAME if char in "的了吗呢吧" else _TONE) for char in LITTLE if char != text]
        same, other = table().same(text)
        found = [(one, _SAME) for one in same] + [(one, _TONE) for one in other] + [(one, _FUZZY) for one in table().fuzzy(text)]
        if len(text) == 1 and alone:
            found = [(one, weight) for one, weight in found if self._rarity.get(one, 99) <= _ALONE]
        return found

    def _met(self, text: str, start: int, end: int) -> bool:
        """Whether the characters around a change, [start, end) of a text, are ones that one meets beside each other."""
        return all(self._model.count(text[place - 1], text[place]) >= _USUAL for place in range(max(1, start), min(len(text), end + 1)))

    def split(self, word: str) -> Sequence[Candidate]:
        """None: a word has as many characters when it is misrecognised."""
        return ()

    def length(self, word: str) -> int:
        """The number of its characters, twice, since each has two sounds."""
        return 2 * len(word)
