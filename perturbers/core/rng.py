"""Seeded random numbers that do not depend on order: every choice comes from a hash of what it is made for, never from a shared or global generator.

The key of a choice is (run seed, step@version, dialogue, turn, variant, attempt). The same key gives the same numbers whatever the order of
the records, the number of workers, the runner or `PYTHONHASHSEED`.
"""

from __future__ import annotations

from _random import Random
from bisect import bisect_right
from collections.abc import MutableSequence, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


@lru_cache(maxsize=4096, typed=True)
def _framed(part: object) -> str:
    text = str(part)
    return f"{len(text)}:{text}"


def key_number(*key: object) -> int:
    """A 64-bit number from the parts of a key (strings and integers), the same in every process and Python version."""
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    text = "".join(map(_framed, key))
    if text.isascii():
        data = text.encode("ascii")
    else:
        encoded = [str(part).encode("utf-8", "surrogatepass") for part in key]
        data = b"".join([b"%d:%b" % (len(part), part) for part in encoded])
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


class Rng:
    """Random draws for one key. All of them rest on `random.Random.random`, the one method whose sequence Python promises to keep.

    That method, and what an integer seeds it to, are those of its base class in C, which is taken here as it is: up to Python 3.11 the derived
    class seeds itself twice, the better part of what a key costs.
    """

    __slots__ = ("random",)

    def __init__(self, *key: object) -> None:
        self.random = Random(key_number(*key)).random

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        return int(self.random() * n)

    def chance(self, probability: float) -> bool:
        """True with the given probability in [0, 1]."""
        return self.random() < probability

    def choice(self, items: Sequence[T]) -> T:
        """One of `items` (not empty)."""
        return items[int(self.random() * len(items))]

    def weighted(self, items: Sequence[T], cumulative: Sequence[float]) -> T:
        """One of `items` by cumulative weights (the last is the total)."""
        place = bisect_right(cumulative, self.random() * cumulative[-1], 0, len(items) - 1)
        return items[place]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffles in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = int(self.random() * (last + 1))
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items, in random order; all of them where there are fewer."""
        pool = list(items)
        self.shuffle(pool)
        return pool[:count]
