"""Where the English bank words a slot of a service, and the words that go with it in a source."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.lexicon import words as word_set


@lru_cache(maxsize=1)
def words_for() -> dict[str, frozenset[str]]:
    """What words are for -> those words."""
    table: dict[str, frozenset[str]] = {}
    for name, words in rows("en", "composer_words"):
        table[name] = table.get(name, frozenset()) | frozenset(words.split())
    return table


@lru_cache(maxsize=1)
def _sections() -> dict[tuple[str, str], tuple[str, str]]:
    """(service or "*", slot) -> where the bank words it."""
    return {(row[0], row[1].replace("_", " ")): (row[2], row[3] if len(row) > 3 else "") for row in rows("en", "composer_slots")}


class Place(NamedTuple):
    """Where the bank words a slot: a domain (or "@" and a type), and the slot there."""

    domain: str
    slot: str

    @property
    def name(self) -> str:
        """The slot as the word lists name it."""
        return self.slot or self.domain


#: The domains that the bank words by slots of its own.
STAY = frozenset({"hotel", "restaurant", "attraction"})
OWN = frozenset({"hotel", "restaurant", "attraction", "train", "taxi"})
#: Services that look for places or book something there.
BOOKED = word_set(
    "restaurants hotels events homes travel services rentalcars movies flights buses trains ridesharing calendar doctors dentists salons cinema"
)
_NUMBERED = re.compile(r"_\d+$")


def family(domain: str) -> str:
    """A service without its number: "hotels_4" is "hotels"."""
    return _NUMBERED.sub("", domain)


#: A service that books nothing, and shows no places, is told a town or a day as such (weather).
_NEUTRAL = {"@city": "@spot", "@date": "@when"}


@lru_cache(maxsize=4096)
def place_of(domain: str, slot: str, asked: bool = False) -> Place | None:
    """Where the bank words a slot of a domain; None where it can't."""
    if domain in OWN:
        return Place(domain, slot)
    table = _sections()
    for service in (family(domain), "*"):
        for name in ("?" + slot, slot) if asked else (slot,):
            found = table.get((service, name))
            if found:
                return Place(_NEUTRAL.get(found[0], found[0]) if family(domain) not in BOOKED else found[0], found[1])
    return None
