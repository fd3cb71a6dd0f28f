"""How far a turn's wording is from what a system can have seen: novel bigrams and words against a reference, near-copies, distance.

One rule of tokens for both languages: the word tokens of `core.tokens` in lower case (jieba's words in Chinese), with a mark at either end of a turn.
A bigram is novel if no turn of the reference has it. The reference of a build is the user turns of every input dialogue outside test, also those that
no split takes; of its bigrams a share is kept by their hash, so that it stays small on any corpus, and only those are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.pools import Entry, Pool, PoolTable
from dialmill.perturbers.core.tokens import tokens
from dialmill.schemas import Dialogue
from rapidfuzz.distance import Levenshtein

#: One gram in so many is kept and looked up, chosen by its hash.
SAMPLED = 4
_BUCKETS = 16
_EDGE = "\x00"


class Figures(NamedTuple):
    """Sums over turns; a share is one sum over another."""

    turns: int = 0
    words: int = 0
    novel_words: int = 0
    bigrams: int = 0
    novel_bigrams: int = 0
    distance: int = 0  #: token edits to the source
    source_words: int = 0
    near_copies: int = 0

    def __add__(self, other: object) -> Figures:
        assert isinstance(other, Figures)
        return Figures(*(one + two for one, two in zip(self, other, strict=True)))


@lru_cache(maxsize=1 << 15)
def token_list(text: str, language: str) -> tuple[str, ...]:
    """The tokens of a turn by the rule of this module."""
    return tuple(text[start:end].lower() for start, end in tokens(text, language))


def _hash(kind: str, gram: Sequence[str]) -> int:
    return int.from_bytes(blake2b("\x01".join((kind, *gram)).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def grams(words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Hashes of the words and the bigrams of a turn, those of the sample alone."""
    padded = (_EDGE, *words, _EDGE)
    single = [number for word in words if (number := _hash("w", (word,))) % SAMPLED == 0]
    double = [number for pair in pairwise(padded) if (number := _hash("b", pair)) % SAMPLED == 0]
    return single, double


class WordingPool(Pool):
    """The sampled grams of the reference, in a few buckets."""

    name: ClassVar[str] = "wording"

    def entries(self, dialogue: Dialogue) -> Iterable[tuple[str, bytes]]:
        """The grams of a dialogue's user turns as the source has them."""
        found: dict[int, set[int]] = {}
        for turn in dialogue.turns:
            if turn.speaker == "user":
                for numbers in grams(token_list(turn.source_text, dialogue.language)):
                    for number in numbers:
                        found.setdefault(number >> 60, set()).add(number)
        for bucket, kept in found.items():
            yield f"{bucket:x}", np.array(sorted(kept), dtype=">u8").tobytes()

    def merge(self, entries: Iterable[Entry]) -> bytes | None:
        """All grams of dialogues outside test."""
        parts = [np.frombuffer(entry.data, dtype=">u8") for entry in entries if entry.split != "test"]
        return np.unique(np.concatenate(parts)).astype(">u8").tobytes() if parts else None

    def join(self, merged: Iterable[bytes]) -> bytes:
        """All grams of several parts."""
        return np.unique(np.concatenate([np.frombuffer(data, dtype=">u8") for data in merged])).astype(">u8").tobytes()


class Reference:
    """The reference, to look grams up in."""

    def __init__(self, table: PoolTable) -> None:
        empty = b""
        self._buckets = [np.frombuffer(table.get(f"{bucket:x}") or empty, dtype=">u8").astype(np.uint64) for bucket in range(_BUCKETS)]

    def novel(self, numbers: Sequence[int]) -> int:
        """How many of the grams no turn of the reference has."""
        missing = 0
        for number in numbers:
            bucket = self._buckets[number >> 60]
            place = int(np.searchsorted(bucket, np.uint64(number)))
            missing += place == len(bucket) or int(bucket[place]) != number
        return missing


@lru_cache(maxsize=4)
def _frames(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the list, and those of its first line, courtesy."""
    lines = [frozenset(words.split()) for _, words in rows(language, "near_copy")]
    return frozenset().union(*lines), lines[0]


def near_copy(words: Sequence[str], source: Sequence[str], language: str) -> bool:
    """Whether two turns have the same words, in any order, once the shipped list of frames and particles is taken out.

    Of turns that say nothing else, thanks and greetings, the words of courtesy are compared, "thanks" as "thank": 多谢 says
    as much as 谢谢 in another word.
    """
    frames, courtesy = _frames(language)
    one, other = ([word for word in some if word not in frames] for some in (words, source))
    if not one and not other:
        one, other = ([word.removesuffix("s") for word in some if word in courtesy] for some in (words, source))
    return sorted(one) == sorted(other)


def measure(text: str, source: str, language: str, reference: Reference) -> Figures:
    """The figures of one turn against its source and the reference."""
    words, before = token_list(text, language), token_list(source, language)
    single, double = grams(words)
    distance = 0 if text == source else Levenshtein.distance(words, before)
    return Figures(
        1,
        len(single),
        reference.novel(single),
        len(double),
        reference.novel(double),
        distance,
        len(before),
        int(near_copy(words, before, language)),
    )
