r"""Grapheme clusters: what people see as one character, which no cut may take apart ("é" as e and U+0301, a family of emoji, a flag, 각 in jamo).

The rules are those of Unicode's UAX 29 that matter for text of dialogues: marks, joiners, emoji with their modifiers, flags, syllables of Hangul. All
places that cut text by characters ask here: tokens, the matcher of values, protected tokens, spans, names in logs, and whatever shortens a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

#: Unicode's marks (categories Mn, Mc and Me of version 15.1), as the inside of a character class.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    "\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d"
    "\u0859-\u085b\u0898-\u089f\u08ca-\u08e1\u08e3-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09bc\u09be-\u09cd"
    "\u09d7\u09e2-\u09e3\u09fe-\u0a03\u0a3c-\u0a51\u0a70-\u0a71\u0a75\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0ae2-\u0ae3\u0afa-\u0b03\u0b3c"
    "\u0b3e-\u0b57\u0b62-\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56\u0c62-\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6"
    "\u0ce2-\u0ce3\u0cf3-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d4d\u0d57\u0d62-\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u0df2-\u0df3\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f3f\u0f71-\u0f84\u0f86-\u0f87\u0f8d-\u0fbc\u0fc6"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u135d-\u135f\u1712-\u1715"
    "\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17b4-\u17d3\u17dd\u180b-\u180d\u180f\u1885-\u1886\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    "\u1ab0-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4"
    "\u1cf7-\u1cf9\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099-\u309a\ua66f-\ua672\ua674-\ua67d\ua69e-\ua69f"
    "\ua6f0-\ua6f1\ua802\ua806\ua80b\ua823-\ua827\ua82c\ua880-\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1\ua8ff\ua926-\ua92d\ua947-\ua953\ua980-\ua983"
    "\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43\uaa4c-\uaa4d\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7-\uaab8\uaabe-\uaabf\uaac1\uaaeb-\uaaef"
    "\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd\U000102e0\U00010376-\U0001037a\U00010a01-\U00010a0f"
    "\U00010a38-\U00010a3f\U00010ae5-\U00010ae6\U00010d24-\U00010d27\U00010eab-\U00010eac\U00010efd-\U00010eff\U00010f46-\U00010f50"
    "\U00010f82-\U00010f85\U00011000-\U00011002\U00011038-\U00011046\U00011070\U00011073-\U00011074\U0001107f-\U00011082\U000110b0-\U000110ba"
    "\U000110c2\U00011100-\U00011102\U00011127-\U00011134\U00011145-\U00011146\U00011173\U00011180-\U00011182\U000111b3-\U000111c0"
    "\U000111c9-\U000111cc\U000111ce-\U000111cf\U0001122c-\U00011237\U0001123e\U00011241\U000112df-\U000112ea\U00011300-\U00011303"
    "\U0001133b-\U0001133c\U0001133e-\U0001134d\U00011357\U00011362-\U00011374\U00011435-\U00011446\U0001145e\U000114b0-\U000114c3"
    "\U000115af-\U000115c0\U000115dc-\U000115dd\U00011630-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a"
    "\U00011930-\U0001193e\U00011940\U00011942-\U00011943\U000119d1-\U000119e0\U000119e4\U00011a01-\U00011a0a\U00011a33-\U00011a39"
    "\U00011a3b-\U00011a3e\U00011a47\U00011a51-\U00011a5b\U00011a8a-\U00011a99\U00011c2f-\U00011c3f\U00011c92-\U00011cb6\U00011d31-\U00011d45"
    "\U00011d47\U00011d8a-\U00011d97\U00011ef3-\U00011ef6\U00011f00-\U00011f01\U00011f03\U00011f34-\U00011f42\U00013440\U00013447-\U00013455"
    "\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016f4f\U00016f51-\U00016f92\U00016fe4-\U00016ff1\U0001bc9d-\U0001bc9e\U0001cf00-\U0001cf46"
    "\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244"
    "\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001daaf\U0001e000-\U0001e02a\U0001e08f\U0001e130-\U0001e136"
    "\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e4ec-\U0001e4ef\U0001e8d0-\U0001e8d6\U0001e944-\U0001e94a\U000e0100-\U000e01ef"
)
#: Pictures, as the inside of a character class.
EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
#: What makes another picture of the one before it: variation selectors, the frame of a key, tones of skin, tags (of flags).
TAIL = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
#: U+200D joins what stands around it to one picture or letter; U+200C, its opposite, stands inside words of Persian and of Indian languages.
JOINERS = "\u200d\u200c"
#: Letters of which two are a flag; parts of Hangul's syllables, first the leading ones; Chinese characters.
FLAG, JAMO, HAN = "\U0001f1e6-\U0001f1ff", "\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb", "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LEADING, _VOWEL, _TRAILING = "\u1100-\u115f\ua960-\ua97c", "\u1160-\u11a7\ud7b0-\ud7c6", "\u11a8-\u11ff\ud7cb-\ud7fb"
_EXTEND = f"{MARKS}{TAIL}{JOINERS}"
#: What only a text with clusters of several code points holds.
_MAY_JOIN = re.compile(f"[{_EXTEND}{FLAG}{_VOWEL}{_TRAILING}]|\r\n")
_CLUSTER = re.compile(
    rf"""
    \r\n
  | (?: [{FLAG}]{{2}}
      | [{_LEADING}]+[{_VOWEL}\uac00-\ud7a3]*[{_VOWEL}]*[{_TRAILING}]*
      | [\uac00-\ud7a3{_VOWEL}][{_VOWEL}]*[{_TRAILING}]*
      | .
    )
    [{_EXTEND}]*
    (?: (?<=\u200d)[{EMOJI}][{_EXTEND}]* )*
    """,
    re.VERBOSE | re.DOTALL,
)


def is_mark(char: str) -> bool:
    """Whether a character belongs to the one before it."""
    return char > "\u02ff" and _IS_MARK(char) is not None


_IS_MARK = re.compile(f"[{_EXTEND}]").match


def clusters(text: str) -> Iterator[str]:
    """The clusters of a text, in order; joined they are the text."""
    return iter(_CLUSTER.findall(text)) if _MAY_JOIN.search(text) else iter(text)


@lru_cache(maxsize=4096)
def inner_places(text: str) -> frozenset[int]:
    """The places, in code points, at which a cut would take a cluster apart."""
    if text.isascii() or not _MAY_JOIN.search(text):
        return frozenset()
    return frozenset(place for match in _CLUSTER.finditer(text) for place in range(match.start() + 1, match.end()))


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """[start, end) with all of the clusters that its ends cut."""
    inner = inner_places(text)
    while start in inner:
        start -= 1
    while end in inner:
        end += 1
    return start, end


def shortened(text: str, length: int, more: str = "…") -> str:
    """The first `length` code points of a text, fewer where that would cut a cluster, and `more` behind them where something is left out."""
    if len(text) <= length:
        return text
    inner = inner_places(text)
    while length in inner:
        length -= 1
    return text[:length] + more


def broken(before: str, after: str) -> str | None:
    """The first cluster of several code points that stands in `after` and in no part of `before`, as a cut inside a cluster leaves it; else None."""
    if after.isascii() or not _MAY_JOIN.search(after):
        return None
    known = set(clusters(before))
    for cluster in clusters(after):
        if len(cluster) > 1 and cluster not in known:
            return cluster
    return None
