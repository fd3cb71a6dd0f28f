"""Words that tell something besides the labels ("another", "if", the kind of place): a wording that is not the turn's own may lose or bring none."""

from __future__ import annotations

import re
from functools import lru_cache

from dialmill.perturbers.core.lexicon import rows

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


def changed(source: str, text: str, language: str, donated: bool) -> str | None:
    """Why a text doesn't tell what its source tells.

    Args:
        source, text: the turn before and after.
        language: its language.
        donated: whether the wording is a donor's, whose frames are held too.

    Returns:
        None, or `word_lost: ROW`, `word_added: ROW`.
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
    return None


def _told(text: str, table: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Row -> the rows that its words in the text belong to too."""
    found: dict[str, frozenset[str]] = {}
    for word in _WORD.findall(text.lower()):
        for name in table.get(word, ()):
            found[name] = found.get(name, table[word]) & table[word]
    return found
