"""When two candidates are the same, or nearly so; the ids and tokens of candidates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b
from zlib import crc32

import numpy as np
from dialmill.perturbers.core.distance import distance
from numpy.typing import NDArray

_SPEAKERS = re.compile(r"\b(?:participant_\d+|speaker \d+)\b")
_ADDRESSES = re.compile(r"\b(?:participant_\d+|speaker \d+)\b(?:[:,](?=\s|$))?", re.I)
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_BLANKS = re.compile(r"\s+")
_WORDS = re.compile(r"\w+")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: From this share of common words on (Jaccard), two candidates say nearly the same.
NEAR = 0.75
#: Longer texts that differ by a slip or two share enough words to be found by them.
SHORT = 24


def candidate_key(text: str) -> str:
    """NFKC, case-folded, without speaker names and punctuation, blanks collapsed; where that leaves nothing, the text with blanks collapsed."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if "participant_" in folded or "speaker " in folded:
        folded = _SPEAKERS.sub(" ", folded)
    key = _BLANKS.sub(" ", _PUNCTUATION.sub("", folded)).strip()
    # Whom a text of marks alone addresses is no part of it either, or two would be the same once their names are.
    return key or _BLANKS.sub(" ", _ADDRESSES.sub(" ", text)).strip() or _BLANKS.sub(" ", text).strip()


def says_nothing(text: str) -> bool:
    """Whether a text is empty or holds nothing but names of speakers, which differ from example to example."""
    return not _SPEAKERS.sub("", text).strip(" \t\n:,;@") if "participant_" in text or "speaker " in text else not text.strip()


def key_hash(key: str) -> int:
    """A number below 2**61 for a key, whose blanks don't count ("re boot", "reboot"): equal for candidates that are the same."""
    digest = blake2b(key.replace(" ", "").encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 3


def short_id(number: int) -> str:
    """The id of a candidate as in DSTC7: 12 characters of A-Z and 0-9, one for each `key_hash`."""
    digits = []
    for _ in range(12):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def long_id(number: int) -> str:
    """The id of a candidate as in DSTC8: 32 hexadecimal digits, one for each `key_hash`."""
    return blake2b(number.to_bytes(8, "big"), digest_size=16).hexdigest()


def words(key: str) -> list[str]:
    """The words of a key."""
    return _WORDS.findall(key)


def token_hashes(key: str) -> NDArray[np.uint32]:
    """The distinct words of a key as sorted hashes."""
    return np.array(sorted({crc32(word.encode("utf-8", "surrogatepass")) for word in words(key)}), dtype=np.uint32)


def numbers_in(key: str) -> list[str]:
    """The words of a key that hold a digit, sorted."""
    return sorted({word for word in words(key) if not word.isalpha()})


def slips(one: str, other: str) -> bool:
    """Whether two short keys differ by no more than a slip of the keyboard or two. Another number is another thing, and no slip."""
    if max(len(one), len(other)) > SHORT or numbers_in(one) != numbers_in(other):
        return False
    shorter = min(len(one), len(other))
    allowed = 0 if shorter < 5 else 1 if shorter < 12 else 2
    return abs(len(one) - len(other)) <= allowed and distance(one, other) <= allowed


def nearly_equal(one: str, other: str, limit: float = NEAR) -> bool:
    """Whether two keys are equal or nearly so: by a share of common words of `limit`, with the same numbers among them, or as `slips`."""
    mine, theirs = set(words(one)), set(words(other))
    shared = len(mine & theirs)
    alike = shared >= limit * (len(mine) + len(theirs) - shared) > 0 and numbers_in(one) == numbers_in(other)
    return one == other or alike or slips(one, other)


def hashes(texts: Iterable[str]) -> list[int]:
    """The sorted, distinct `key_hash` of texts."""
    return sorted({key_hash(candidate_key(text)) for text in texts})
