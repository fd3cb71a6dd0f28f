"""Overlap between splits: dialogues with the same words, and with nearly the same.

Near copies are found by min-hashing word trigrams (one-permutation hashing: Li, Owen and Zhang, NIPS 2012) in bands, then by the share of equal
minima, an estimate of the Jaccard similarity; no pair of dialogues is compared that has no band in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any
from zlib import crc32

import msgspec
from dialmill.pipelines.core.counters import Counters, total_packed
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.runners.plain import PlainRunner
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.pipelines.stages.split import SPLITS, fingerprint
from dialmill.schemas import Dialogue

_BINS = 32
_ROWS = 4
_EMPTY = 0xFFFFFFFF
_NOTHING = (_EMPTY,) * _ROWS
#: Two dialogues are near copies from this share of equal minima.
NEAR = 0.8


class Signature(msgspec.Struct, array_like=True, frozen=True):
    """What the comparison needs of a dialogue."""

    source_id: str
    split: str
    exact: int
    minima: tuple[int, ...]


def signature(dialogue: Dialogue, split: str) -> Signature:
    """The minima of the hashed word trigrams (character trigrams where a language has no blanks) of a dialogue."""
    text = fingerprint(dialogue)
    words = list(text) if dialogue.language == "zh" else text.split()
    minima = [_EMPTY] * _BINS
    previous, last = "", ""
    for word in words:
        mixed = crc32(f"{previous} {last} {word}".encode("utf-8", "surrogatepass"))
        place, value = mixed % _BINS, mixed // _BINS
        if value < minima[place]:
            minima[place] = value
        previous, last = last, word
    return Signature(dialogue.source_id, split, crc32(text.encode("utf-8", "surrogatepass")), tuple(minima))


def banded(sig: Signature) -> Iterable[Item]:
    """The signature under the key of each of its bands."""
    packed = msgspec.msgpack.encode(sig)
    for start in range(0, _BINS, _ROWS):
        band = sig.minima[start : start + _ROWS]
        # A short dialogue leaves most bins empty; what it lacks is no likeness.
        if band != _NOTHING:
            yield f"{start} {band}", packed


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
    """Pairs of dialogues of different splits that share a band and are equal or nearly so."""

    tags = ()

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        members = sorted((msgspec.msgpack.decode(value, type=Signature) for value in element[1]), key=lambda sig: (sig.split, sig.source_id))
        if len({sig.split for sig in members}) < 2:
            return
        for one, other in combinations(members, 2):
            if one.split == other.split:
                continue
            if one.exact == other.exact and one.minima == other.minima:
                kind = "exact"
            elif likeness(one, other) >= NEAR:
                kind = "near"
            else:
                continue
            first, second = sorted((one, other), key=lambda sig: SPLITS.index(sig.split))
            yield "main", (f"{first.split}/{second.split}\t{kind}\t{first.source_id}\t{second.source_id}", b"")


class CountPairs(Stage):
    """Each pair once, however many bands it shares."""

    tags = ()

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        pair, kind, _, _ = element[0].split("\t", 3)
        self.counters.add(Counters(overlap={pair: {kind: 1}}))
        return ()


def measure(signatures: Iterable[Signature]) -> dict[str, dict[str, int]]:
    """The overlap between splits, by pair of splits and kind, of dialogues at hand."""
    runner = PlainRunner()
    bands = runner.group("", [band for one in signatures for band in banded(one)])
    pairs = runner.group("", runner.apply("", CompareBand(), bands).main)
    counters = total_packed(data for _, data in runner.apply("", CountPairs(), pairs).counters)
    return {pair: dict(sorted(kinds.items())) for pair, kinds in sorted(counters.overlap.items())}
