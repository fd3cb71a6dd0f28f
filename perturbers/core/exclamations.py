"""What looks like a question and asks for nothing: "what a day", "how kind of you", 多么美的地方, 没想到.

A certificate tells a request by words that ask ("what", 什么) or that name what is asked for ("day", 天气). In an exclamation they do neither: it is
taken out before one looks. An indirect question keeps its words: "tell me what a taxi would cost".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: What is said of something that one is glad or sorry of.
_JUDGED = re.compile(
    "lovely|nice|kind|sweet|wonderful|great|awesome|amazing|exciting|beautiful|awful|terrible|horrible|sad|funny|strange|weird|odd|cool|fantastic"
    "|delightful|thoughtful|generous|helpful|disappointing|annoying|frustrating|marvell?ous|brilliant|silly|rude|unlucky|unfortunate"
)
#: What needs no article: "what luck", "what great news".
_UNCOUNTED = re.compile("luck|fun|joy|nonsense|news|weather|service|fortune|nerve|rubbish|timing|madness|chaos|bliss")
_ARTICLES = frozenset({"a", "an"})
#: What ends an exclamation: who does something ("what a day it was"), and what begins another clause.
_ENDS = re.compile(
    "i|you|he|she|it|we|they|this|that|these|those|there|and|but|so|or|then|because|please|thanks|thank|well|anyway|now|what|how|when|where|which|who"
    "|why|ok|okay"
)
#: A verb where the noun ends makes it an indirect question: "what a ticket costs".
_VERBS = re.compile(
    "is|are|was|were|be|will|would|can|could|should|shall|may|might|must|do|does|did|has|have|had|costs?|takes?|includes|means|looks|needs?|charges|runs"
    "|goes|leaves|arrives|'s"
)
#: So many words of an exclamation are looked at.
_MOST = 7
#: Chinese phrases that hold a word that asks and don't ask. Punctuation is no unit, so that a phrase of "how ... that is" reaches to its particle.
_CHINESE = re.compile(
    "多么(?!少|久|远|大|长).{1,8}?(?:[啊呀呐哇]|$)|多么(?!少|久|远|大|长)|什么鬼(?:天气|东西|地方)?|怎么[这那]么|怎么会[这那]么|没想到|想不到|想必"
    "|哪里哪里|哪里的话|哪儿的话|没什么|几乎|好几|何其|什么都好|怎么说呢|说什么好"
)


def without(names: Sequence[str], language: str) -> Sequence[str]:
    """The units of a text without those of exclamations; the very sequence where there is none.

    Args:
        names: words in lower case, or the characters of a Chinese text.
        language: of the text.
    """
    if language == "zh":
        text = "".join(names)
        left = _CHINESE.sub("", text)
        return names if left == text else list(left)
    if "what" not in names and "how" not in names:
        return names
    kept: list[str] = []
    place = 0
    while place < len(names):
        size = _size(names, place) if names[place] in ("what", "how") else 0
        if not size:
            kept.append(names[place])
        place += size or 1
    return names if len(kept) == len(names) else kept


def _size(names: Sequence[str], place: int) -> int:
    """How many words from here on are an exclamation; 0 for none."""
    first = place + 1
    while first < len(names) and names[first] in ("very", "so", "really", "absolutely", "truly"):
        first += 1
    if first == len(names):
        return 0
    if names[place] == "how":
        following = names[first + 1] if first + 1 < len(names) else ""
        return first + 1 - place if _JUDGED.fullmatch(names[first]) and not _VERBS.fullmatch(following) else 0
    at = first
    while at < len(names) and _JUDGED.fullmatch(names[at]):
        at += 1
    if names[first] not in _ARTICLES and (at == len(names) or _UNCOUNTED.fullmatch(names[at]) is None):
        return 0
    for end in range(first + 1, min(first + _MOST, len(names))):
        if _VERBS.fullmatch(names[end]):
            return 0
        if _ENDS.fullmatch(names[end]):
            return end - place
    return min(first + _MOST, len(names)) - place
