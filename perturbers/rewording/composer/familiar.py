"""How familiar a clause is to the users of a corpus: what they say all the time tells a system nothing new.

A pool counts how often the user turns outside test say each word and each pair of words that the bank of clauses has; nothing else of them is kept,
so that it stays as small as the bank on any corpus. A speaker prefers clauses of which little is said there: of two wordings of one meaning the less
usual one is drawn more often. Without a pool all clauses of a section are alike.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import ClassVar

import numpy as np
from dialmill.perturbers.core.difficulty import token_list
from dialmill.perturbers.core.pools import Entry, Pool, PoolFile, PoolTable
from dialmill.perturbers.rewording.composer.bank import Clause, load
from dialmill.schemas import Dialogue

#: A clause's words run between its places and the ends of its sentences.
_CUT = re.compile(r"\{[^}]*\}|[.?!。？！]")
_COUNTS = np.dtype([("gram", ">u8"), ("times", ">u4")])
_WORDS = re.compile(r"\w+")
_BUCKETS = 4
#: The key of the number of turns.
_TURNS = np.uint64(0)
#: Times in 10,000 turns at which a word and a pair of words are as familiar as can be, and what a word weighs beside a pair.
_MOST = {1: 300.0, 2: 40.0}
_WORD = 0.5
#: A clause that is all new is as much likelier than one that everybody says as the power makes of 1 over `_LEAST`, about. Set on MultiWOZ (250
#: dialogues held out, `tests/benchmarks/bench_wording`): 3 gave .23 novel bigrams, 4 .25, 5 .25 and twice the repetitions of 3.
_POWER, _LEAST, _SCALE = 4, 0.1, 1000


def runs(text: str, language: str) -> Iterator[tuple[str, ...]]:
    """The runs of words of a clause, in lower case."""
    for part in _CUT.split(text):
        words = _words(part.strip(), language)
        if words:
            yield words


def _words(text: str, language: str) -> tuple[str, ...]:
    """Letters and digits; "I'd" is two words, as in the corpora that write it "i 'd"."""
    if language == "zh":
        return tuple(word for word in token_list(text, language) if any(char.isalnum() for char in word)) if text else ()
    return tuple(_WORDS.findall(text.lower()))


def _number(*gram: str) -> int:
    return int.from_bytes(blake2b("\x01".join(gram).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


@lru_cache(maxsize=2)
def _wanted(language: str) -> dict[tuple[str, ...], int]:
    """The words and pairs that clauses have, with their numbers."""
    found = {gram for clause in load(language).clauses().values() for run in runs(clause.text, language) for gram in _grams(run)}
    return {gram: _number(*gram) for gram in found}


def _grams(words: Iterable[str]) -> Iterator[tuple[str, ...]]:
    words = tuple(words)
    yield from ((word,) for word in words)
    yield from pairwise(words)


class FamiliarPool(Pool):
    """How often users outside test say what the bank's clauses are made of."""

    name: ClassVar[str] = "familiar"

    def entries(self, dialogue: Dialogue) -> Iterable[tuple[str, bytes]]:
        """The counts of a dialogue, by language and bucket."""
        wanted = _wanted(dialogue.language)
        counts: Counter[int] = Counter()
        turns = [turn for turn in dialogue.turns if turn.speaker == "user"]
        for turn in turns:
            counts.update(number for gram in _grams(_words(turn.source_text, dialogue.language)) if (number := wanted.get(gram)) is not None)
        counts[int(_TURNS)] = len(turns)
        for bucket in range(_BUCKETS):
            kept = sorted((number, times) for number, times in counts.items() if number % _BUCKETS == bucket)
            if kept:
                yield f"{dialogue.language} {bucket}", np.array(kept, dtype=_COUNTS).tobytes()

    def merge(self, entries: Iterable[Entry]) -> bytes | None:
        """The sums over dialogues outside test."""
        parts = [entry.data for entry in entries if entry.split != "test"]
        return self.join(parts) if parts else None

    def join(self, merged: Iterable[bytes]) -> bytes:
        """The sums of several parts."""
        every = np.concatenate([np.frombuffer(data, dtype=_COUNTS) for data in merged])
        grams, places = np.unique(every["gram"].astype(np.uint64), return_inverse=True)
        times = np.zeros(len(grams), dtype=np.uint64)
        np.add.at(times, places, every["times"].astype(np.uint64))
        result = np.zeros(len(grams), dtype=_COUNTS)
        result["gram"], result["times"] = grams, np.minimum(times, 0xFFFFFFFF)
        return result.tobytes()


class Familiar:
    """What is familiar to the users of a corpus, for one language.

    Args:
        table: of a `FamiliarPool`.
        language: "en" or "zh".
    """

    def __init__(self, table: PoolTable, language: str) -> None:
        self._language = language
        self._times: dict[int, int] = {}
        for bucket in range(_BUCKETS):
            for number, times in np.frombuffer(table.get(f"{language} {bucket}") or b"", dtype=_COUNTS).tolist():
                self._times[number] = times
        self._turns = max(self._times.pop(int(_TURNS), 0), 1)
        self._weights: dict[int, int] = {}

    def weight(self, clause: Clause) -> int:
        """How likely a clause is beside others: 1 for one that everybody says, more for one with words that few say."""
        found = self._weights.get(clause.key)
        if found is None:
            # A whole number: what a platform's powers differ by in the last digit must not change what is drawn.
            found = self._weights[clause.key] = max(1, round(_SCALE * (_LEAST + self.novelty(clause)) ** _POWER))
        return found

    def novelty(self, clause: Clause) -> float:
        """0 to 1: how unusual a clause's words and pairs are on the whole."""
        new, total = 0.3, 1.0  # a clause of one word is neither
        for run in runs(clause.text, self._language):
            for gram in _grams(run):
                size = len(gram)
                times = self._times.get(_number(*gram), 0) * 10_000 / self._turns
                share = _WORD if size == 1 else 1.0
                total += share
                new += share * (1 - min(1.0, math.log1p(times) / math.log1p(_MOST[size])))
        return new / total


@lru_cache(maxsize=16)
def opened(pool: PoolFile, language: str) -> Familiar:
    """What a pool says of a language, once per process."""
    return Familiar(pool.open(), language)
