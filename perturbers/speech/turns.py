"""What users of an input say, for the ASR error simulator: a sample of bounded size, so that any corpus gives one of the same size.

The simulator's language model counts what those of the training part say (of all, where there is none), and its word error rate is calibrated on the
others.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import ClassVar

import msgspec
from dialmill.perturbers.core.pools import Entry, Pool, PoolFile
from dialmill.perturbers.core.rng import key_number
from dialmill.perturbers.speech.speakable import words
from dialmill.schemas import Dialogue

#: The sample is gathered in so many parts, each of so many dialogues of the training part and so many of the others.
_PARTS, _KEPT = 16, 60


class Said(msgspec.Struct, frozen=True, array_like=True):
    """The user turns of one dialogue in spoken words: a number that says whether it is in the sample, whether it is for training, and the turns."""

    number: int
    train: bool
    turns: tuple[str, ...]


class SpokenTurns(Pool):
    """A sample of dialogues as their users say them, by language."""

    name: ClassVar[str] = "spoken_turns"

    def entries(self, dialogue: Dialogue) -> Iterable[tuple[str, bytes]]:
        turns = tuple(
            " ".join(word.text for word in words(turn.utterance, dialogue.language))
            for turn in dialogue.turns
            if turn.speaker == "user" and turn.utterance
        )
        number = key_number(dialogue.language, *turns)
        if any(turns):
            yield f"{dialogue.language}/{number % _PARTS}", _encode(Said(number, False, tuple(turn for turn in turns if turn)))

    def merge(self, entries: Iterable[Entry]) -> bytes | None:
        decoded = ((_decode(data), split == "train") for split, data in entries)
        chosen = _lowest(Said(one.number, train, one.turns) for one, train in decoded)
        return _encode_all(chosen) if chosen else None

    def join(self, merged: Iterable[bytes]) -> bytes:
        return _encode_all(_lowest(one for data in merged for one in _decode_all(data)))


def _lowest(some: Iterable[Said]) -> list[Said]:
    """Of the training part and of the others those of the lowest numbers, each once."""
    kept: dict[bool, dict[int, Said]] = {True: {}, False: {}}
    for one in some:
        kept[one.train][one.number] = one
    return [one for part in kept.values() for one in sorted(part.values(), key=lambda said: said.number)[:_KEPT]]


_encode = msgspec.msgpack.Encoder().encode
_encode_all = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Said).decode
_decode_all = msgspec.msgpack.Decoder(list[Said]).decode


@lru_cache(maxsize=8)
def said_by_users(pool: PoolFile, language: str) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    """Turns as spoken words (Chinese: characters): those that a language model may count, and those to calibrate on."""
    table = pool.open()
    every = [one for part in range(_PARTS) for one in _decode_all(table.get(f"{language}/{part}") or _EMPTY)]
    training = [one for one in every if one.train] or every
    others = [one for one in every if not one.train] or every
    return _turns(training), _turns(others)


def _turns(dialogues: Iterable[Said]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(turn.split(" ")) for one in dialogues for turn in one.turns)


_EMPTY = _encode_all([])
