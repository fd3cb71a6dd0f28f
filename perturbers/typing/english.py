"""How people mistype and misspell English words.

The shares of the operations are those that two lists of misspellings agree on (distance-1 pairs of nlpaug's and of codespell's, as aggregates):
substitution .22-.36, deletion .25-.32, insertion .19-.22, transposition .08-.17, a doubled letter .06-.08, a dropped double .03-.04, and
the first letter hit in 3-5 %. Vowels stand for vowels and n/m, c/s, t/d, y/i for each other more often than a neighbour key does.
A slip that gives another frequent English word ("hotel" as "motel") is no slip but another meaning, and is resampled.
"""

from __future__ import annotations

from bisect import bisect
from functools import cache
from itertools import accumulate

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng

#: Operation -> share.
_SHARES = {"substitute": 0.33, "delete": 0.24, "insert": 0.2, "transpose": 0.14, "double": 0.07, "undouble": 0.04}
#: In words of up to four letters too little is left after a deletion or a transposition for them to be as common.
_SHARES_SHORT = {"substitute": 0.4, "delete": 0.1, "insert": 0.32, "transpose": 0.1, "double": 0.06, "undouble": 0.02}
_OPERATIONS = tuple(_SHARES)
_CUMULATIVE = tuple(accumulate(_SHARES.values()))
_CUMULATIVE_SHORT = tuple(accumulate(_SHARES_SHORT.values()))
_FIRST_LETTER = 0.04
#: How often a word with well-known misspellings gets one of those, and from which length on: short ones have few other slips than those.
_WELL_KNOWN, _WELL_KNOWN_LENGTH = 0.25, 6
_TRIES = 12

#: Letter -> the letters written for it by ear or by shape.
_CONFUSED = {
    "a": "e" * 3 + "i" + "o",
    "e": "a" * 3 + "i" * 3,
    "i": "e" * 3 + "a" + "y",
    "o": "a" * 2 + "e" + "u",
    "u": "o" * 2 + "a" + "e",
    "y": "i" * 2 + "e",
    "c": "s" * 2 + "k",
    "s": "c" * 2 + "z",
    "n": "m" * 2,
    "m": "n" * 2,
    "t": "d",
    "d": "t",
    "k": "c",
    "z": "s",
    "v": "f",
}
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
#: Letter -> what may be struck in its place.
_STRUCK = {letter: _CONFUSED.get(letter, "") * 2 + near for letter, near in _NEIGHBOURS.items()}

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
        edits: how many slips; two only make sense in a long word.
    """
    lower = word.lower()
    if len(word) >= _WELL_KNOWN_LENGTH and edits == 1:
        known = _misspellings().get(lower)
        if known and rng.random() < _WELL_KNOWN:
            return _in_case_of(word, rng.choice(known))
    words = frequent_words()
    for _ in range(_TRIES):
        typed = lower
        for _ in range(edits):
            typed = _strike(typed, rng)
        if typed != lower and typed not in words:
            return _in_case_of(word, typed)
    return None


def _strike(word: str, rng: Rng) -> str:
    """One slip in a lower-case word, or the word itself where the drawn operation does not fit it."""
    random = rng.random
    length = len(word)
    shares = _CUMULATIVE_SHORT if length < 5 else _CUMULATIVE
    operation = _OPERATIONS[bisect(shares, random() * shares[-1], 0, len(_OPERATIONS) - 1)]
    if length == 3 and operation in ("substitute", "delete", "insert"):
        operation = "transpose"  # too little is left of a short word otherwise
    place = 0 if random() < _FIRST_LETTER else 1 + int(random() * (length - 1))
    letter = word[place]
    if operation == "substitute":
        return word[:place] + rng.choice(_STRUCK.get(letter, letter)) + word[place + 1 :]
    if operation == "insert":
        after = place + int(random() * 2)
        return word[:after] + rng.choice(_NEIGHBOURS.get(letter, letter)) + word[after:]
    doubled = word[place - 1 : place] == letter or word[place + 1 : place + 2] == letter
    if operation == "transpose":
        return word if place + 1 == length else word[:place] + word[place + 1] + letter + word[place + 2 :]
    if operation == "double":
        return word if doubled else word[:place] + letter + word[place:]
    if operation == "undouble" and not doubled:
        pairs = [i for i in range(1, length) if word[i] == word[i - 1]]
        if not pairs:
            return word
        place = rng.choice(pairs)
    if operation == "delete" and doubled:
        return word  # that is a dropped double, which has a share of its own
    return word[:place] + word[place + 1 :]


def _in_case_of(model: str, word: str) -> str:
    """`word` (lower case) in the case of `model`."""
    if model.islower():
        return word
    return word.upper() if model.isupper() else word[0].upper() + word[1:]
