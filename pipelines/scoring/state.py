"""Belief states compared: what counts as a value, as the same value, and as right.

The policy, fixed here and named in every score file: "", "none", "not mentioned" and their kin are no value, on either side; every spelling of "I
don't care" is one value, ``dontcare``, which must be predicted like any other; letter case, Unicode compatibility forms and runs of blanks don't
count, in Chinese no blank beside a Chinese character does; nothing is fuzzy. Where the gold lists several values, each is right.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from dialmill.pipelines.sources.normalise import single
from dialmill.schemas.dialogue import DONTCARE

Slot = tuple[str, str]
State = dict[Slot, frozenset[str]]

POLICY = {
    "none": "'', 'none', 'not mentioned' and their kin are no value, in gold and predictions alike",
    "dontcare": f"every spelling of it is the value {DONTCARE!r}, which must be predicted like any other",
    "values": "equal after NFKC, case folding and collapsing blanks; of several gold values each is right; nothing fuzzy",
    "slot_accuracy": "over all slots that the gold of the scored suites names; a slot missed, wrong or added counts against it",
}
OFFICIAL = {
    "none": POLICY["none"],
    "dontcare": POLICY["dontcare"],
    "values": "as ConvLab-3: no blanks, lower case, any predicted value among the gold's will do; predicted slots that no gold names are ignored",
    "slot_accuracy": POLICY["slot_accuracy"],
}


@lru_cache(maxsize=1 << 18)
def canonical(value: str, language: str, blanks: bool = True) -> str | None:
    """One value in the form that is compared, None if it is none. `blanks` False takes all blanks out."""
    found = single(unicodedata.normalize("NFKC", value), language)
    if found is None:
        return None
    found = found.casefold()
    return found if blanks else "".join(found.split())


@lru_cache(maxsize=1 << 14)
def _name(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=1 << 16)
def _values(values: tuple[str, ...], language: str, blanks: bool) -> frozenset[str]:
    return frozenset(one for value in values if (one := canonical(value, language, blanks)) is not None)


def state_of(entries: Iterable[tuple[str, str, Iterable[str]]], language: str, blanks: bool = True) -> State:
    """(domain, slot, values) as a state to compare; of a slot named twice all values count."""
    made: State = {}
    for domain, slot, values in entries:
        found = _values(tuple(values), language, blanks)
        if found:
            key = (_name(domain), _name(slot))
            made[key] = made[key] | found if key in made else found
    return made


class Compared(NamedTuple):
    """How a predicted state differs from the gold: slots right, predicted and not right, in the gold and not right; and the slots it errs on."""

    right: int
    extra: int
    missed: int
    wrong: set[Slot]

    @property
    def joint(self) -> bool:
        """Whether the whole state is right."""
        return not self.wrong


def compare(gold: Mapping[Slot, frozenset[str]], guess: Mapping[Slot, frozenset[str]], any_value: bool = False) -> Compared:
    """Slot by slot. A wrong value is both predicted in vain and missed.

    Args:
        any_value: one predicted value among the gold's makes a slot right; otherwise all must be.
    """
    if gold == guess:
        return Compared(len(gold), 0, 0, set())
    wrong: set[Slot] = set()
    extra = missed = right = 0
    for slot, values in gold.items():
        said = guess.get(slot)
        if said is None:
            missed += 1
            wrong.add(slot)
        elif (values & said) if any_value else (said <= values):
            right += 1
        else:
            missed += 1
            extra += 1
            wrong.add(slot)
    for slot in guess:
        if slot not in gold:
            extra += 1
            wrong.add(slot)
    return Compared(right, extra, missed, wrong)
