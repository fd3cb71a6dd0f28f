"""What a second English clause of a turn would repeat."""

from __future__ import annotations

import re
from functools import lru_cache

from dialmill.perturbers.core.lexicon import words as word_set

#: Words that may come twice in a turn, as those of two letters may; and endings that make no other word.
_REPEATABLE = word_set(
    "about and any are can could did does for from get going had has have her here him his how its just let like may might more not now off one our "
    "out please she should some sure thank thanks that the their them then there these they this those too want was were what when where which who "
    "will with would you your need into been i'd i'm i'll i've it's that's there's let's what's you've also much really very"
)
_PLACES = re.compile(r"\{[^}]*\}")
_FULL_WORD = re.compile(r"[a-z][a-z']{2,}")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ed|ing|es|s|e|ly)$")


@lru_cache(maxsize=1 << 14)
def echoes(text: str) -> frozenset[str]:
    """The words of a clause that a second one should not have, without their endings, so that "I've planned" and "let's plan" are told, too."""
    words = _FULL_WORD.findall(_PLACES.sub("", text.lower()))
    return frozenset(_ENDING.sub("", word).replace("nn", "n") for word in words if word not in _REPEATABLE)
