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


@lru_cache(maxsize=1)
def _ordinary() -> frozenset[str]:
    """Words that labels account for, or that say nothing."""
    found = frozenset[str]().union(*words_for().values())
    for name, _, _, phrases in rows("en", "fit"):
        if name not in _TELLING:
            found = found.union(*(phrase.split() for phrase in alternatives(phrases)))
    return found


def changed(source: str, text: str, language: str, donated: bool) -> str | None:
    """Why a text doesn't tell what its source tells.

    Args:
        source, text: the turn before and after.
        language: its language.
        donated: whether the wording is a donor's, whose frames are held too.

    Returns:
        None, or `word_lost: ROW`, `word_added: ROW`; `word_lost: WORD` for one that no row has.
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
    return _own_lost(source, text) if donated else None


def _own_lost(source: str, text: str) -> str | None:
    """A word of the source that no label accounts for and a donor's wording lacks: what it says would be lost ("brazilian")."""
    kept = set(_WORD.findall(text.lower()))
    for word in _WORD.findall(source.lower()):
        if len(word) >= _SHORT and word not in kept and word not in _ordinary():
            return f"word_lost: {word}"
    return None


def _told(text: str, table: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Row -> the rows that its words in the text belong to too."""
    found: dict[str, frozenset[str]] = {}
    for word in _WORD.findall(text.lower()):
        for name in table.get(word, ()):
            found[name] = found.get(name, table[word]) & table[word]
    return found
