"""How much two words sound alike, from their letters (English) or pinyin (Chinese): cheap, for alignments; the confusion model has phones."""

from __future__ import annotations

import re
from functools import lru_cache

#: Letters to rough sounds, longest first; a hand-made cousin of Soundex and Metaphone that keeps vowels apart from each other only roughly.
_RULES = (
    ("tion", "Sn"), ("sion", "Sn"), ("ough", "o"), ("augh", "o"), ("eigh", "e"), ("igh", "i"), ("tch", "C"), ("sch", "sk"), ("ch", "C"), ("sh", "S"),
    ("th", "t"), ("ph", "f"), ("wh", "w"), ("kn", "n"), ("wr", "r"), ("ck", "k"), ("qu", "kw"), ("dge", "j"), ("ce", "s"), ("ci", "si"), ("cy", "si"),
    ("ge", "je"), ("gi", "ji"), ("x", "ks"), ("c", "k"), ("q", "k"), ("z", "s"), ("v", "f"), ("d", "t"), ("g", "k"), ("b", "p"), ("y", "i"),
    ("w", "u"),
    ("ee", "i"), ("ea", "i"), ("oo", "u"), ("ou", "o"), ("ai", "e"), ("ay", "e"), ("m", "n"), ("h", ""),
)  # fmt: skip
_RULE = re.compile("|".join(written for written, _ in _RULES))
_SOUND = dict(_RULES)
_DOUBLE = re.compile(r"(.)\1+")
_FINAL_E = re.compile(r"(?<=[a-zA-Z]{2})e$")


@lru_cache(maxsize=65536)
def key(word: str, language: str) -> str:
    """The rough sound of a word; of Chinese text its toneless pinyin."""
    if language == "zh":
        from pypinyin import Style, pinyin

        return " ".join(reading[0] for reading in pinyin(word, style=Style.NORMAL)) if word else ""
    return _DOUBLE.sub(r"\1", _RULE.sub(lambda match: _SOUND[match.group()], _FINAL_E.sub("", word)))


@lru_cache(maxsize=65536)
def likeness(one: str, other: str, language: str) -> float:
    """0 (nothing in common) to 1 (equal): the mean of the similarities of the letters and of the rough sounds."""
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    if language == "zh":
        return similarity(key(one, language), key(other, language))
    return (similarity(one, other) + similarity(key(one, language), key(other, language))) / 2


def similarity(one: str, other: str) -> float:
    """1 minus the Levenshtein distance by the longer length."""
    longer = max(len(one), len(other))
    if not longer:
        return 1.0
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            above = row[j]
            row[j] = diagonal if a == b else 1 + min(diagonal, above, row[j - 1])
            diagonal = above
    return 1 - row[-1] / longer
