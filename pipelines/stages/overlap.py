"""Overlap between splits: dialogues with the same words, and with nearly the same.

Near copies are found by min-hashing word trigrams (one-permutation hashing: Li, Owen and Zhang, NIPS 2012) in bands, then by the share of equal
minima, an estimate of the Jaccard similarity; no pair of dialogues is compared that has no band in common. Dialogues with one signature are one
thing with a number for each split, and the pairs of a split with itself are never looked at: copies cost no more than one dialogue.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from dialmill.pipelines.core.counters import SHORTFALL, Counters, total_packed
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.runners.plain import PlainRunner
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.pipelines.stages.split import SPLITS, fingerprint
from dialmill.schemas import Dialogue
from numpy.typing import NDArray

_BINS = 32
_ROWS = 4
_EMPTY = 0xFFFFFFFF
_NOTHING = (_EMPTY,) * _ROWS
#: Two dialogues are near copies from this share of equal minima.
NEAR = 0.8
#: Different dialogues of one band that are compared with each other, at most: some 300 million pairs, a minute or two.
MOST = 25_000
_BAND = struct.Struct(f">{_ROWS}I")
_PACKED = struct.Struct(f">BI{_BINS}I")


class Signature(NamedTuple):
    """What the comparison needs of a dialogue: its split, a hash of its words, and the minima of its trigrams."""

    split: str
    exact: int
    minima: tuple[int, ...]


def trigrams(text: str, language: str) -> Iterable[int]:
    """The hashed word trigrams of a text (character trigrams where a language has no blanks), 32 bits each, in their order."""
    previous, last = "", ""
    for word in text if language == "zh" else text.split():
        yield crc32(f"{previous} {last} {word}".encode("utf-8", "surrogatepass"))
        previous, last = last, word


def minima_of(hashes: Iterable[int]) -> tuple[int, ...]:
    """The lowest hash in each bin."""
    minima = [_EMPTY] * _BINS
    for mixed in hashes:
        place, value = mixed % _BINS, mixed // _BINS
        if value < minima[place]:
            minima[place] = value
    return tuple(minima)


def signature(dialogue: Dialogue, split: str) -> Signature:
    """The minima of the hashed word trigrams of a dialogue."""
    text = fingerprint(dialogue)
    return Signature(split, crc32(text.encode("utf-8", "surrogatepass")), minima_of(trigrams(text, dialogue.language)))


def bands(minima: tuple[int, ...]) -> Iterable[str]:
    """The keys under which dialogues with these minima meet those that are like them."""
    for start in range(0, _BINS, _ROWS):
        band = minima[start : start + _ROWS]
        # A short dialogue leaves most bins empty; what it lacks is no likeness.
        if band != _NOTHING:
            yield f"{start:02}{_BAND.pack(*band).hex()}"


def banded(sig: Signature) -> Iterable[Item]:
    """The signature under the key of each of its bands."""
    packed = _PACKED.pack(SPLITS.index(sig.split), sig.exact, *sig.minima)
    for key in bands(sig.minima):
        yield key, packed


class SignRecords(Stage):
    """The dialogue's signature under each of its bands, on the output "band"."""

    tags = ("band",)

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        for band in banded(signature(element.source, element.split)):
            yield "band", band
        yield "main", element


def likeness(one: Signature, other: Signature) -> float:
    """The estimated Jaccard similarity: the share of equal minima among the bins that one of the two fills."""
    filled = [(a, b) for a, b in zip(one.minima, other.minima, strict=True) if not a == b == _EMPTY]
    return sum(a == b for a, b in filled) / len(filled) if filled else 0.0


class CompareBand(Stage):
    """Counts the pairs of dialogues of different splits that share a band and are equal or nearly so. A pair that shares several bands is counted
    with the first of them, so that each counts once."""

    tags = ()

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        numbers: dict[bytes, list[int]] = {}
        seen = [False] * len(SPLITS)
        for value in element[1]:
            mine = numbers.setdefault(value[1:], [0] * len(SPLITS))
            mine[value[0]] += 1
            seen[value[0]] = True
        if sum(seen) < 2:
            return ()
        start = int(element[0][:2])
        self._count_copies(numbers, start)
        if len(numbers) > MOST:
            # The signatures are hashes, so that the first ones are a random choice, the same on every runner.
            numbers = {key: numbers[key] for key in sorted(numbers)[:MOST]}
            self.counters.note(
                f"{SHORTFALL}overlap: of dialogues with words in common, {MOST:,} of each group were compared: there are at least as many near copies"
            )
        if len(numbers) > 1:
            self._count_near(sorted(numbers.items(), key=lambda item: (_home(item[1]), item[0])), start)
        return ()

    def _add(self, pairs: dict[tuple[int, int], int], kind: str) -> None:
        for (one, other), number in pairs.items():
            if number:
                self.counters.add(Counters(overlap={f"{SPLITS[one]}/{SPLITS[other]}": {kind: number}}))

    def _count_copies(self, numbers: dict[bytes, list[int]], start: int) -> None:
        """Pairs with one signature: each of one split with each of another."""
        for key, mine in numbers.items():
            if sum(map(bool, mine)) > 1 and start == _first_band(_minima([key])[:, 0]):
                self._add({(one, other): mine[one] * mine[other] for one, other in combinations(range(len(SPLITS)), 2)}, "exact")

    def _count_near(self, members: list[tuple[bytes, list[int]]], start: int) -> None:
        """Pairs with two signatures that are like enough. `members` are in the order of their `_home`: those of one split stand together, and are not
        compared with each other."""
        minima = _minima([key for key, _ in members])
        numbers = np.array([mine for _, mine in members], dtype=np.int64)
        homes = np.array([_home(mine) for _, mine in members])
        alone = {home: int(np.searchsorted(homes, home, side="right")) for home in range(len(SPLITS))}
        pairs = dict.fromkeys(combinations(range(len(SPLITS)), 2), 0)
        for at in range(len(members) - 1):
            first = max(at + 1, alone.get(int(homes[at]), 0))
            if first == len(members):
                continue
            near = first + np.flatnonzero(_near(minima[:, first:], minima[:, at], start))
            if not len(near):
                continue
            sums, mine = numbers[near].sum(axis=0), numbers[at]
            for one, other in pairs:
                pairs[one, other] += int(mine[one] * sums[other] + mine[other] * sums[one])
        self._add(pairs, "near")


def _home(numbers: list[int]) -> int:
    """The one split that a signature's dialogues are of, or a number above all splits."""
    there = [split for split, number in enumerate(numbers) if number]
    return there[0] if len(there) == 1 else len(SPLITS)


def _minima(keys: list[bytes]) -> NDArray[np.uint32]:
    """The minima of packed signatures, (bins, signatures)."""
    packed = np.frombuffer(b"".join(keys), dtype=">u4").reshape(len(keys), 1 + _BINS)
    return np.ascontiguousarray(packed[:, 1:].T.astype(np.uint32))


def _first_band(minima: NDArray[np.uint32]) -> int:
    """Where the first band of a signature begins that isn't empty."""
    return int(np.flatnonzero((minima != _EMPTY).reshape(-1, _ROWS).any(axis=1))[0]) * _ROWS


def _near(others: NDArray[np.uint32], one: NDArray[np.uint32], start: int) -> NDArray[np.bool_]:
    """Which of several signatures, (bins, signatures), are near copies of one and share no band with it before the one that begins at `start`."""
    equal = others == one[:, None]
    empty = one == _EMPTY
    same = np.add.reduce(equal[~empty], axis=0, dtype=np.uint8)
    filled = _BINS - np.add.reduce(equal[empty], axis=0, dtype=np.uint8)
    near: NDArray[np.bool_] = same / filled >= NEAR
    for before in range(0, start, _ROWS):
        if not empty[before : before + _ROWS].all():
            near &= ~equal[before : before + _ROWS].all(axis=0)
    return near


def measure(signatures: Iterable[Signature]) -> dict[str, dict[str, int]]:
    """The overlap between splits, by pair of splits and kind, of dialogues at hand."""
    runner = PlainRunner()
    bands = runner.group("", [band for one in signatures for band in banded(one)])
    counters = total_packed(data for _, data in runner.apply("", CompareBand(), bands).counters)
    return {pair: dict(sorted(kinds.items())) for pair, kinds in sorted(counters.overlap.items())}
