"""Words that tell something besides the labels ("another", "if", the kind of place): a wording that is not the turn's own may lose or bring none."""

from __future__ import annotations

import re
from functools import lru_cache

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.rewording.composer.english_places import words_for

_WORD = re.compile(r"[a-z]+")


@lru_cache(maxsize=2)
def _table(language: str) -> dict[str, frozenset[str]]:
    """Word -> the rows of ``lexicons/LANGUAGE/telling.tsv`` that it belongs to; empty for a language that has none."""
    found: dict[str, frozenset[str]] = {}
    if language == "en":
        for name, words in rows(language, "telling"):
            for word in words.split():
                found[word] = found.get(word, frozenset()) | {name}
    return found


#: Classes of ``fit.tsv`` whose words tell something that a label seldom has.
_TELLING = frozenset(["nice", "special", "party", "reason", "places", "pricey"])
#: Words of fewer letters are never what a turn is about.
_SHORT = 4


@lru_cache(maxsize=2)
def _ordinary(known: bool) -> frozenset[str]:
    """Words that labels account for, or that say nothing; `known`: in the domains whose slots have lists of words of their own."""
    found = frozenset[str]().union(*(words for name, words in words_for().items() if known or name.startswith(("empty", "kind:"))))
    for name, _, _, phrases in rows("en", "fit"):
        if name not in _TELLING:
            found = found.union(*(phrase.split() for phrase in alternatives(phrases)))
    return found


def changed(source: str, text: str, language: str, donated: bool, known: bool = True) -> str | None:
    """Why a text doesn't tell what its source tells.

    Args:
        source, text: the turn before and after.
        language: its language.
        donated: whether the wording is a donor's, whose frames are held too.
        known: whether the turn is about a domain whose words are known (`wordings.KNOWN_DOMAINS`).

    Returns:
        None, or `word_lost: ROW`, `word_added: ROW`; `word_lost: WORD` for one that no row has; `question_lost`, `order_changed: there`,
        `tense_changed` for a donor's wording that asks no more, goes where nobody said, or speaks of what will be where the source says now.
    """
    table = _table(language)
    if not table:
        return None
    before, after = _told(source, table), _told(text, table)
    for name in sorted(before.keys() - after.keys()):
        # One word may say several things ("place"): it is lost where none of them is said any more.
        if (donated or not name.startswith("donor:")) and not any(row in after for row in before[name]):
            return f"word_lost: {name}"
    for name in sorted(after.keys() - before.keys()):
        if (donated or not name.startswith("donor:")) and not any(row in before for row in after[name]):
            return f"word_added: {name}"
    if not donated:
        return None
    return _unlike(source, text) or (None if known else _number(source, text)) or _own_lost(source, text, known)


#: A question by its first words, or a sentence that asks in another way.
_OPENS = r"(?:^|[.!?,]\s*|\b(?:and|but|so|ok|okay|also|then|well|great|yes|no|thanks|hi|hello|hey|please)\s+)"
_WHAT = re.compile(_OPENS + r"(?:what|which|when|where|who|how|why)\b", re.IGNORECASE)
_WHETHER = re.compile(_OPENS + r"(?:is|are|do|does|will|can|could|would|has|have|did|was)\b", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:tell|know|find|give|get|show|need|want|like|see|check|send|looking|search|wonder\w*|info|information|interested|help|look|have|provide|recommend|suggest)\b",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"\b(?:go(?: over)?|head|drive|take me|get me|bring me|navigate|going|route|directions?) (?:to )?there\b|\blet(?:'|’| )?s go\b", re.IGNORECASE
)
_ON_PART = re.compile(r"\bon the (?:north|south|east|west|cent)\w* (?:part|area|of)\b", re.IGNORECASE)
_JOINED = re.compile(r"\W*(?:and|but|or|also)\b", re.IGNORECASE)
_NOW = re.compile(r"\b(?:now|currently|at the moment)\b", re.IGNORECASE)
_WILL = re.compile(r"\b(?:going to|gonna|will|'ll)\b", re.IGNORECASE)


#: Words that agree with one thing, and with several.
_ONE, _SEVERAL = frozenset(["is", "it", "its", "was", "this", "does"]), frozenset(["are", "they", "them", "their", "these", "those", "were"])


def _number(source: str, text: str) -> str | None:
    """Whether a donor's sentence speaks of several things where the source speaks of one, or the other way round."""
    before, after = set(_WORD.findall(source.lower())), set(_WORD.findall(text.lower()))
    for own, other in ((_ONE, _SEVERAL), (_SEVERAL, _ONE)):
        if before & own and not before & other and after & other and not after & own:
            return "number_changed"
        if not before & (own | other) and after & _SEVERAL & frozenset(["are", "they", "them", "their"]):
            return "number_changed"
    return None


def _unlike(source: str, text: str) -> str | None:
    """What a donor's sentence does that the source doesn't, or the other way round."""
    asks = _WHAT.search(source) is not None
    if (asks and not (_WHAT.search(text) or _ASKING.search(text))) or (
        ("?" in source or _WHETHER.search(source)) and not ("?" in text or _WHAT.search(text) or _WHETHER.search(text) or _ASKING.search(text))
    ):
        return "question_lost"
    if (_THERE.search(source) is None) != (_THERE.search(text) is None):
        return "order_changed: there"
    if _ON_PART.search(text) and not _ON_PART.search(source):
        return "wording_broken: on"
    if _JOINED.match(text) and not _JOINED.match(source):
        return "order_changed: and"  # it adds to something
    if _NOW.search(source) and _WILL.search(text) and not _WILL.search(source):
        return "tense_changed"
    return None


def _own_lost(source: str, text: str, known: bool) -> str | None:
    """A word of the source that no label accounts for and a donor's wording lacks: what it says would be lost ("brazilian")."""
    kept = set(_WORD.findall(text.lower()))
    for word in _WORD.findall(source.lower()):
        if len(word) >= _SHORT and word not in kept and word not in _ordinary(known):
            return f"word_lost: {word}"
    return None


def _told(text: str, table: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Row -> the rows that its words in the text belong to too."""
    found: dict[str, frozenset[str]] = {}
    for word in _WORD.findall(text.lower()):
        for name in table.get(word, ()):
            found[name] = found.get(name, table[word]) & table[word]
    return found
