"""English words by their phones (ARPAbet): pronunciations, how easily phones are taken for each other, and the words that sound like one.

Pronunciations of frequent words come with a trained model (from PocketSphinx' dictionary, BSD); for any other word simple spelling rules guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

Phones = tuple[str, ...]

#: Phones by how they are made: (kind, place, voiced). Phones that share more are confused more.
_CONSONANTS = {
    "P": ("stop", "lips", 0), "B": ("stop", "lips", 1), "T": ("stop", "ridge", 0), "D": ("stop", "ridge", 1), "K": ("stop", "back", 0),
    "G": ("stop", "back", 1),
    "F": ("fricative", "lips", 0), "V": ("fricative", "lips", 1), "TH": ("fricative", "teeth", 0), "DH": ("fricative", "teeth", 1),
    "S": ("fricative", "ridge", 0), "Z": ("fricative", "ridge", 1), "SH": ("fricative", "palate", 0), "ZH": ("fricative", "palate", 1),
    "HH": ("fricative", "throat", 0),
    "CH": ("affricate", "palate", 0), "JH": ("affricate", "palate", 1), "M": ("nasal", "lips", 1), "N": ("nasal", "ridge", 1),
    "NG": ("nasal", "back", 1),
    "L": ("glide", "ridge", 1), "R": ("glide", "palate", 1), "W": ("glide", "lips", 1), "Y": ("glide", "palate", 1),
}  # fmt: skip
#: Vowels by (height 0 low to 2 high, frontness 0 back to 2 front).
VOWELS = {
    "IY": (2.0, 2.0), "IH": (1.7, 1.7), "EY": (1.4, 1.8), "EH": (1.0, 1.7), "AE": (0.3, 1.7), "AH": (0.8, 1.0), "ER": (1.0, 0.9), "AA": (0.0, 0.5),
    "AO": (0.6, 0.0), "OW": (1.2, 0.1), "UH": (1.6, 0.3), "UW": (2.0, 0.2), "AY": (0.6, 1.2), "AW": (0.4, 0.6), "OY": (1.0, 0.7),
}  # fmt: skip
#: Phones as numbers.
_NUMBERS = {phone: number for number, phone in enumerate((*VOWELS, *_CONSONANTS))}
#: What a phone costs that is missing or too much; soft ones cost less.
_GAP = {"HH": 0.5, "AH": 0.55, "T": 0.6, "D": 0.6, "R": 0.6, "Y": 0.6, "IH": 0.65, "L": 0.7, "N": 0.7, "Z": 0.65, "S": 0.7}

#: So many words of the same rough sound are compared with one, the most frequent ones.
_RANKED = 150


def base_cost(one: str, other: str) -> float:
    """0 for the same phone to 1.4 for a vowel against a consonant."""
    if one == other:
        return 0.0
    if one in VOWELS and other in VOWELS:
        (h1, f1), (h2, f2) = VOWELS[one], VOWELS[other]
        return min(0.9, 0.25 + 0.3 * (abs(h1 - h2) + abs(f1 - f2)))
    if one in _CONSONANTS and other in _CONSONANTS:
        first, second = _CONSONANTS[one], _CONSONANTS[other]
        return 0.3 + 0.35 * (first[0] != second[0]) + 0.3 * (first[1] != second[1]) + 0.15 * (first[2] != second[2])
    return 1.4


_LETTERS = [
    ("tion", "SH AH N"), ("ough", "AO"), ("augh", "AO"), ("eigh", "EY"), ("igh", "AY"), ("tch", "CH"), ("dge", "JH"), ("sch", "S K"),
    ("shire", "SH ER"),
    ("ham$", "AH M"), ("ton$", "T AH N"), ("ch", "CH"), ("sh", "SH"), ("th", "TH"), ("ph", "F"), ("wh", "W"), ("ck", "K"), ("ng", "NG"),
    ("qu", "K W"),
    ("ee", "IY"), ("ea", "IY"), ("oo", "UW"), ("ou", "AW"), ("ow", "OW"), ("oa", "OW"), ("ai", "EY"), ("ay", "EY"), ("oy", "OY"),
    ("oi", "OY"), ("au", "AO"),
    ("er", "ER"), ("ir", "ER"), ("ur", "ER"), ("ar", "AA R"), ("or", "AO R"), ("ce", "S"), ("ci", "S IH"), ("ge", "JH"), ("gi", "JH IH"),
    ("y$", "IY"),
    ("a", "AE"), ("b", "B"), ("c", "K"), ("d", "D"), ("e$", ""), ("e", "EH"), ("f", "F"), ("g", "G"), ("h", "HH"), ("i", "IH"), ("j", "JH"),
    ("k", "K"), ("l", "L"),
    ("m", "M"), ("n", "N"), ("o", "AA"), ("p", "P"), ("q", "K"), ("r", "R"), ("s", "S"), ("t", "T"), ("u", "AH"), ("v", "V"), ("w", "W"),
    ("x", "K S"), ("y", "Y"), ("z", "Z"),
]  # fmt: skip
_LETTER = re.compile("|".join(f"({pattern})" for pattern, _ in _LETTERS))


@lru_cache(maxsize=16384)
def guess(word: str) -> Phones:
    """Phones by spelling rules."""
    found: list[str] = []
    for match in _LETTER.finditer(re.sub(r"(.)\1", r"\1", word.lower()) if not re.search("ee|oo", word) else word.lower()):
        assert match.lastindex is not None
        found += _LETTERS[match.lastindex - 1][1].split()
    return tuple(found)


def _rough(phone: str) -> str:
    """One letter for a class of phones that are often confused: the index by which neighbours are looked for."""
    if phone in VOWELS:
        return "V"
    kind, place, _ = _CONSONANTS.get(phone, ("other", "", 0))
    if kind == "nasal":
        return "N"
    if phone in ("L", "W", "R", "Y"):
        return "L"
    if kind == "stop":
        return "P" if place == "lips" else "T"
    return "S" if place in ("ridge", "palate") else "F"


class Lexicon:
    """Words with their phones, and the costs of confusing phones."""

    def __init__(self, phones: Mapping[str, str], costs: Mapping[str, float], candidates: Iterable[str]) -> None:
        """
        Args:
            phones: word -> phones, blanks between them.
            costs: "F TH" -> what it costs to recognise TH for F, where that was learned.
            candidates: the words that may be recognised.
        """
        self._phones = {word: tuple(text.split()) for word, text in phones.items()}
        self._costs = {tuple(pair.split()): cost for pair, cost in costs.items()}
        self.words = self._words = sorted(word for word in set(candidates) if self.phones(word))
        self._keys: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._words):
            for key in _keys(self.phones(word)):
                self._keys[key].append(number)

    def phones(self, word: str) -> Phones:
        """The phones of a word, from the dictionary or by its spelling."""
        return self._phones.get(word) or guess(word)

    def cost(self, said: str, transcribed: str) -> float:
        """What it costs to recognise one phone for another."""
        return min(self._costs.get((said, transcribed), 9.0), base_cost(said, transcribed))

    @cached_property
    def _tables(self) -> tuple[Any, Any, Any, Any]:
        """The phones of all candidates by number, (words, longest), padded; what each costs that is too much; their lengths; and the costs of
        confusions, (phones, phones)."""
        import numpy as np

        spelled = [self.phones(word) for word in self._words]
        longest = max(map(len, spelled), default=1)
        codes = np.zeros((len(spelled), longest), np.int8)
        gaps = np.zeros((len(spelled), longest), np.float32)
        for number, phones in enumerate(spelled):
            codes[number, : len(phones)] = [_NUMBERS[phone] for phone in phones]
            gaps[number, : len(phones)] = [_GAP.get(phone, 0.8) for phone in phones]
        table = np.array([[self.cost(one, other) for other in _NUMBERS] for one in _NUMBERS], np.float32)
        return codes, gaps, np.array([len(phones) for phones in spelled], np.int64), table

    def distances(self, said: Phones, numbers: Any) -> Any:
        """Weighted edit distances of a phone sequence and the candidates of these numbers, an array."""
        import numpy as np

        codes, gaps, lengths, table = self._tables
        chosen = np.asarray(numbers)
        own = lengths[chosen]
        width = int(own.max())
        spoken = [_NUMBERS[phone] for phone in said]
        # By phone said, place and candidate.
        changes = table[spoken][:, codes[chosen, :width].T]
        row = np.zeros((width + 1, len(chosen)), np.float32)
        np.cumsum(gaps[chosen, :width].T, axis=0, out=row[1:])
        sums = row.copy()
        for phone, changed in zip(said, changes, strict=True):
            gap = _GAP.get(phone, 0.8)
            changed += row[:-1]
            row += np.float32(gap)
            np.minimum(row[1:], changed, out=row[1:])
            # What comes in costs the sum of its phones: less that, the best so far.
            row -= sums
            np.minimum.accumulate(row, axis=0, out=row)
            row += sums
        return row[own, np.arange(len(chosen))]

    @lru_cache(maxsize=32768)  # noqa: B019  one lexicon lives as long as its process
    def near(self, said: Phones, count: int = 12) -> tuple[tuple[str, float], ...]:
        """The `count` words that sound most like a phone sequence, with their distances, nearest first."""
        numbers = sorted({number for key in _keys(said) for number in self._keys.get(key, ())}) if self._can_be(said) else []
        if not numbers:
            return ()
        limit = 0.35 * len(said) + 0.5
        distances = self.distances(said, numbers)
        # Of equal ones the first by name.
        order = distances.argsort(kind="stable")[:count].tolist()
        return tuple((self._words[numbers[at]], float(distances[at])) for at in order if distances[at] <= limit)

    def ranked(self, said: Phones, rank: Any, count: int) -> list[tuple[str, float]]:
        """The `count` words of the smallest sum of their distance from a phone sequence and their `rank` (one for each of `words`), with their
        distances."""
        import numpy as np

        if not self._can_be(said):
            return []
        numbers = np.array(sorted({number for key in _keys(said) for number in self._keys.get(key, ())}), np.int64)
        if len(numbers) < count:
            # Long words have few near ones: those that begin and end alike and are about as long.
            ends = [number for key in _ends(said) for number in self._ends.get(key, ())]
            numbers = np.array(sorted({*numbers.tolist(), *ends}), np.int64)
        if not len(numbers):
            return []
        if len(numbers) > _RANKED:
            # Of many the rarest are hardly ever among the best.
            numbers = np.sort(numbers[np.argpartition(rank[numbers], _RANKED)[:_RANKED]])
        distances = self.distances(said, numbers)
        order = np.argsort(distances + rank[numbers], kind="stable")[:count].tolist()
        return [(self._words[numbers[at]], float(distances[at])) for at in order]

    def distance(self, said: Phones, transcribed: Phones) -> float:
        """The weighted edit distance of two phone sequences."""
        row = [0.0]
        for phone in transcribed:
            row.append(row[-1] + _GAP.get(phone, 0.8))
        for one in said:
            gap = _GAP.get(one, 0.8)
            before, row = row, [row[0] + gap]
            for place, other in enumerate(transcribed):
                row.append(min(before[place] + self.cost(one, other), before[place + 1] + gap, row[-1] + _GAP.get(other, 0.8)))
        return row[-1]

    @cached_property
    def longest(self) -> int:
        """The number of phones of the longest word."""
        return max((len(self.phones(word)) for word in self._words), default=0)

    def _can_be(self, said: Phones) -> bool:
        """Whether any word is nearly as long: a token of thousands of letters is like none, and looking for it would take time by its square."""
        return 0 < len(said) <= self.longest + 1

    @cached_property
    def _ends(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._words):
            phones = self.phones(word)
            found[f"{_rough(phones[0])}{_rough(phones[-1])}{len(phones)}"].append(number)
        return found


def _ends(phones: Sequence[str]) -> list[str]:
    """Keys of the words that begin and end as a sequence does, and are as long or one sound longer or shorter."""
    return [f"{_rough(phones[0])}{_rough(phones[-1])}{len(phones) + more}" for more in (-1, 0, 1)]


def _keys(phones: Sequence[str]) -> set[str]:
    """Rough keys of a sequence: its classes, and those with one left out, so that one missing phone or two different ones still meet."""
    rough = "".join(map(_rough, phones))
    return {rough, *(rough[:place] + rough[place + 1 :] for place in range(len(rough)) if len(rough) > 2)}
