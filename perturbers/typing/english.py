"""How people mistype and misspell English words.

Shares and places of the slips follow those that people corrected themselves in chats (194 of them; see `tests/benchmarks/bench_realism.py`, which
prints ours beside theirs): 36 % substitutions, 17.5 insertions, 23 deletions, 17 transpositions, 6 several slips in a word; the first letter is
hit in one word of nine, the last more often than any other. Most are slips of the fingers: a key beside the right one, or a letter that stands
nearby in the word, struck too early or too late. What is misspelt by ear is what the ear does not tell: the vowel of a syllable behind the
stress ("restaurent"), never that of the stressed one, and c and s before e and i. A slip that gives another frequent English word ("hotel" as
"motel") says something else, and is resampled; `real_word` makes such slips where they are asked for.
"""

from __future__ import annotations

import re
from bisect import bisect
from functools import cache, lru_cache
from itertools import accumulate

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng

#: Operation -> how often it is drawn. Some draws give another word or nothing, so that these are not the shares that come out.
_SHARES = {"substitute": 0.38, "delete": 0.28, "insert": 0.18, "transpose": 0.13}
#: In words of three letters too little is left after anything but a transposition, and in those of four a deletion is rarer.
_SHARES_SHORT = {"substitute": 0.42, "delete": 0.24, "insert": 0.18, "transpose": 0.12}
_OPERATIONS = tuple(_SHARES)
_CUMULATIVE = tuple(accumulate(_SHARES.values()))
_CUMULATIVE_SHORT = tuple(accumulate(_SHARES_SHORT.values()))
#: How often the first letter is hit, and the last one where it isn't.
_FIRST_LETTER, _LAST_LETTER = 0.12, 0.12
#: What a substituted letter is: a neighbour key, a letter by ear where there is one, else one that stands nearby; cumulative.
_BY_KEY, _BY_EAR = 0.72, 0.93
#: What an added letter is: a neighbour key of the one before or behind it, the same letter twice, else one that stands nearby; cumulative.
_NEAR_KEY, _TWICE = 0.68, 0.83
#: How often a word with well-known misspellings gets one of those, and from which length on: short ones have few other slips than those.
_WELL_KNOWN, _WELL_KNOWN_LENGTH = 0.12, 6
_TRIES = 12

#: Vowel -> those written for it where it is not stressed.
_UNCLEAR = {"a": "eei", "e": "aai", "i": "eea", "o": "ea", "u": "eo"}
#: Letters of one sound before e, i and y, and before all else.
_SOFT = {"c": "s", "s": "c", "g": "j", "j": "g", "z": "s"}
_HARD = {"c": "k", "k": "c", "z": "s"}
#: Letter -> its neighbours on a QWERTY keyboard, those in the same row twice.
_NEIGHBOURS = {
    "q": "wwa",
    "w": "qqeesa",
    "e": "wwrrsd",
    "r": "eettdf",
    "t": "rryyfg",
    "y": "ttuugh",
    "u": "yyiihj",
    "i": "uuookj",
    "o": "iipplk",
    "p": "ool",
    "a": "ssqwz",
    "s": "aaddwexz",
    "d": "ssffercx",
    "f": "ddggrtvc",
    "g": "ffhhtybv",
    "h": "ggjjyunb",
    "j": "hhkkuimn",
    "k": "jjlliom",
    "l": "kkop",
    "z": "xxas",
    "x": "zzccsd",
    "c": "xxvvdf",
    "v": "ccbbfg",
    "b": "vvnngh",
    "n": "bbmmhj",
    "m": "nnjk",
}
#: By the length of the word; short ones are rarely mistyped.
_WEIGHT_BY_LENGTH = (0.0, 0.0, 0.0, 0.08, 0.6, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(word for row in rows("en", name) for word in row[0].split())


@cache
def _misspellings() -> dict[str, tuple[str, ...]]:
    return {word: tuple(alternatives(cell)) for word, cell in rows("en", "misspellings")}


@cache
def frequent_words() -> frozenset[str]:
    """Frequent English words with their regular forms, lower case."""
    words = {word.lower() for word in _words("words")} | _words("untouched")
    regular: set[str] = set()
    for word in words:
        if len(word) < 3:
            continue
        stem = word[:-1] if word.endswith("e") else word
        regular.update((word + "s", word + "ly", stem + "ed", stem + "ing", stem + "er"))
        if word.endswith("y"):
            regular.update((word[:-1] + "ies", word[:-1] + "ied", word[:-1] + "ily"))
    # Not all of these forms are words: "begining" is how people misspell one.
    regular.difference_update(*_misspellings().values())
    return frozenset(words | regular)


@cache
def _common() -> frozenset[str]:
    """The words that are listed, without the forms that are made of them: all of them are words."""
    return frozenset(word for word in map(str.lower, _words("words")) if len(word) > 2) - _words("untouched")


def listed_words() -> frozenset[str]:
    """Frequent English words of three letters and more in their base forms, lower case: all of them are words."""
    return _common()


@cache
def _confusable() -> dict[str, tuple[str, ...]]:
    return {word: tuple(alternatives(cell)) for word, cell in rows("en", "real_words")}


def slip_weight(word: str) -> float:
    """How prone a word is to a slip, relative to others: 0 for what is never mistyped, little up to three letters, more with length."""
    if not (word.isascii() and word.isalpha()) or word.lower() in _words("untouched") or (word.isupper() and len(word) < 5):
        return 0.0
    return _WEIGHT_BY_LENGTH[min(len(word), 10)]


def without_apostrophe(word: str) -> str | None:
    """A contraction written without its apostrophe, where that is still the same word to a reader."""
    plain = word.replace("’", "'")
    return plain.replace("'", "") if plain.lower() in _words("contractions") else None


def slip(word: str, rng: Rng, edits: int = 1) -> str | None:
    """`word` (ASCII letters) as somebody mistyped it, in its case; None where every try gave another English word.

    Args:
        edits: how many slips; two only make sense in words of five letters and more.
    """
    lower = word.lower()
    if len(word) >= _WELL_KNOWN_LENGTH and edits == 1:
        known = _misspellings().get(lower)
        if known and rng.random() < _WELL_KNOWN:
            return _in_case_of(word, rng.choice(known))
    words = frequent_words()
    for _ in range(_TRIES):
        typed = _strike(lower, rng)
        for _ in range(edits - 1):
            typed = _again(lower, typed, rng)
        if typed != lower and typed not in words:
            return _in_case_of(word, typed)
    return None


def real_word(word: str, rng: Rng) -> str | None:
    """Another English word that is easily written for `word` ("though" as "through", "has" as "had"), in its case; None where there is none.

    Half of those that people are known to confuse, where there are such; the rest is one slip away.
    """
    lower = word.lower()
    confused = _confusable().get(lower, ())
    near = _near_words(lower)
    if confused and (not near or rng.random() < 0.5):
        return _in_case_of(word, rng.choice(confused))
    return _in_case_of(word, rng.choice(near)) if near else None


def split(word: str, rng: Rng) -> str | None:
    """`word` with a blank in it, as a thumb on the space bar leaves one: two letters and more on both sides; None where it is too short."""
    if len(word) < _SPLIT_LENGTH:
        return None
    place = 2 + rng.below(len(word) - 3)
    return f"{word[:place]} {word[place:]}"


def runs_on(one: str, other: str) -> bool:
    """Whether two words may run into one: neither is a negation, a number or a capital of its own, and together they are no other word."""
    return (
        (one + other).isascii()
        and one.isalpha()
        and other.isalpha()
        and _words("untouched").isdisjoint((one.lower(), other.lower()))
        and (other.islower() or not one.islower())
        and f"{one}{other}".lower() not in frequent_words()
    )


_SPLIT_LENGTH = 6


@lru_cache(maxsize=16384)
def _near_words(word: str) -> tuple[str, ...]:
    """The common words that are one slip away from a word of lower case, sorted; the first letter stays."""
    if len(word) < 3:
        return ()
    letters = "abcdefghijklmnopqrstuvwxyz"
    found: set[str] = set()
    for place in range(1, len(word) + 1):
        head, tail = word[:place], word[place:]
        found.update(head + letter + tail for letter in letters)
        if tail:
            found.update(head + letter + tail[1:] for letter in letters)
            found.add(head + tail[1:])
        if len(tail) > 1:
            found.add(head + tail[1] + tail[0] + tail[2:])
    return tuple(sorted((found & _common()) - {word}))


#: The vowel groups of a word, each with the place where it begins; a y at the beginning is no vowel.
_VOWELS = re.compile(r"[aeiou]+|(?<=[a-z])y(?![aeiou])")
#: Endings that draw the stress onto the syllable before them, and beginnings that leave it to the next one.
_DRAWING = re.compile(r"(?:[tsx]ions?|cians?|ics?|ical(?:ly)?|it(?:y|ies)|ious(?:ly)?|ials?|ially|ians?)$")
_LEAVING = re.compile(r"(?:re|de|be|con|com|ex|in|im|en|pre|pro|dis|per|sur|un|a(?=([bcdfglnprst])\1?[aeioulr]))[a-z]{3}")


@lru_cache(maxsize=16384)
def _unclear(word: str) -> frozenset[int]:
    """The places of vowels that stand alone in a syllable behind the stressed one: which they are is hard to hear."""
    groups = [match.span() for match in _VOWELS.finditer(word)]
    if len(groups) > 1 and word.endswith("e") and groups[-1] == (len(word) - 1, len(word)):
        groups.pop()
    if len(groups) < 2:
        return frozenset()
    drawing = _DRAWING.search(word)
    if drawing is not None:
        stressed = max(0, sum(start < drawing.start() for start, _ in groups) - 1)
    else:
        stressed = 1 if _LEAVING.match(word) and len(groups) < 4 else 0
    return frozenset(start for start, end in groups[stressed + 1 :] if end - start == 1 and word[start] in _UNCLEAR)


def _by_ear(word: str, place: int) -> str:
    """The letters that are written by ear for the one at `place`, "" where its sound tells which it is."""
    letter = word[place]
    if letter in _UNCLEAR:
        return _UNCLEAR[letter] if place in _unclear(word) else ""
    if not place:
        return ""
    return (_SOFT if word[place + 1 : place + 2] in ("e", "i", "y") else _HARD).get(letter, "")


def _nearby(word: str, place: int, rng: Rng) -> str:
    """A letter that stands one or two places from `place`: it is struck too early, or once more."""
    return rng.choice([word[other] for other in (place - 2, place - 1, place + 1, place + 2) if 0 <= other < len(word)])


def _strike(word: str, rng: Rng) -> str:
    """One slip in a lower-case word, or the word itself where the drawn operation does not fit it."""
    random = rng.random
    length = len(word)
    if length < 3:
        return word
    shares = _CUMULATIVE_SHORT if length < 5 else _CUMULATIVE
    operation = _OPERATIONS[bisect(shares, random() * shares[-1], 0, len(_OPERATIONS) - 1)]
    if length == 3 and operation != "transpose":
        operation = "transpose"
    where = random()
    place = 0 if where < _FIRST_LETTER else length - 1 if where < _FIRST_LETTER + _LAST_LETTER else 1 + int(random() * (length - 1))
    letter = word[place]
    if operation == "transpose":
        place = min(place, length - 2)
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if operation == "delete":
        return word[:place] + word[place + 1 :]
    kind = random()
    if operation == "substitute":
        heard = _by_ear(word, place) if kind >= _BY_KEY else ""
        struck = heard if heard and kind < _BY_EAR else _NEIGHBOURS.get(letter, letter) if kind < _BY_EAR else _nearby(word, place, rng)
        return word[:place] + rng.choice(struck) + word[place + 1 :]
    if kind < _NEAR_KEY:
        after = place + int(random() * 2)
        return word[:after] + rng.choice(_NEIGHBOURS.get(letter, letter)) + word[after:]
    if kind < _TWICE:
        return word[:place] + letter + word[place:]
    return word[:place] + _nearby(word, place, rng) + word[place:]


def _again(meant: str, first: str, rng: Rng) -> str:
    """A second slip in `first`, away from what differs from `meant`: a key beside the one that was struck for another is nobody's slip ("tqank")."""
    for _ in range(_TRIES):
        second = _strike(first, rng)
        if second != first and (first == meant or not _overlap(meant, first, second)):
            return second
    return first


def _overlap(meant: str, first: str, second: str) -> bool:
    """Whether the slip that makes `second` of `first` changes, parts or touches the letters that differ between `first` and `meant`."""
    start, end = _changed(first, meant)
    other_start, other_end = _changed(first, second)
    return other_start <= end and start <= other_end


def _changed(text: str, other: str) -> tuple[int, int]:
    """The part of `text` in which it differs from `other`; where it only lacks letters, the two beside the gap."""
    most = min(len(text), len(other))
    start = next((place for place in range(most) if text[place] != other[place]), most)
    rest = next((place for place in range(most - start) if text[-1 - place] != other[-1 - place]), most - start)
    end = len(text) - rest
    return (start, end) if end > start else (max(0, start - 1), start + 1)


def _in_case_of(model: str, word: str) -> str:
    """`word` (lower case) in the case of `model`."""
    if model.islower():
        return word
    return word.upper() if model.isupper() else word[0].upper() + word[1:]
