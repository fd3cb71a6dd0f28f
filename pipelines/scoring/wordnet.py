"""WordNet 3.0's synonyms, read from its own files (Debian: package wordnet-base), as METEOR needs them.

nltk's reader wants the same files in a folder layout of its own, with a `lexnames` that Debian leaves out; the synonyms of a word need only the
index, the data and the exception lists. Morphology is WordNet's Morphy, as nltk has it.
"""

from __future__ import annotations

import os
from functools import cache, lru_cache
from pathlib import Path

_PARTS = ("noun", "verb", "adj", "adv")
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
#: Where WordNet's files lie: our variable, Debian, nltk's data.
VARIABLE = "DIALMILL_WORDNET"


def folder() -> Path | None:
    """The folder of WordNet 3.0's files, None if there is none."""
    places = [
        os.environ.get(VARIABLE),
        "/usr/share/wordnet",
        *(f"{one}/corpora/wordnet" for one in os.environ.get("NLTK_DATA", "").split(os.pathsep) if one),
    ]
    return next((Path(one) for one in places if one and _is_wordnet(Path(one))), None)


def _is_wordnet(path: Path) -> bool:
    """Whether a folder holds WordNet 3.0, and not another version: other synonyms are another metric."""
    if not all((path / f"{kind}.{part}").is_file() for part in _PARTS for kind in ("index", "data")):
        return False
    with (path / "data.noun").open("rb") as stream:
        return b"WordNet 3.0 " in stream.read(2000)


@cache
def load(path: Path) -> WordNet:
    """WordNet of a folder, read once."""
    return WordNet(path)


def _offsets(line: str) -> list[int]:
    """Where the synsets of an index line stand in the data."""
    fields = line.split()
    count, pointers = int(fields[2]), int(fields[3])
    return [int(offset) for offset in fields[6 + pointers : 6 + pointers + count]]


class WordNet:
    """Synonyms of English words.

    Args:
        path: the folder of index.noun, data.noun, noun.exc and their kin.
    """

    def __init__(self, path: Path) -> None:
        #: Part of speech -> word -> its line of the index, whose fields are taken apart when asked for: few words ever are.
        self.index: dict[str, dict[str, str]] = {}
        self.data: dict[str, bytes] = {}
        self.exceptions: dict[str, dict[str, list[str]]] = {}
        for part in _PARTS:
            self.data[part] = (path / f"data.{part}").read_bytes()
            lines = (path / f"index.{part}").read_text("utf-8").split("\n")
            self.index[part] = {line[: line.index(" ")]: line for line in lines if line and line[0] != " "}
            irregular = path / f"{part}.exc"
            lines = irregular.read_text("utf-8").split("\n") if irregular.is_file() else []
            self.exceptions[part] = {words[0]: words[1:] for words in map(str.split, lines) if words}
        self.synonyms = lru_cache(maxsize=1 << 16)(self._synonyms)

    def _synonyms(self, word: str) -> frozenset[str]:
        """All single words that share a synset with `word` or its base forms, and `word` itself."""
        found = {word}
        low = word.lower()
        for part in _PARTS:
            for form in self._base_forms(low, part):
                for offset in _offsets(self.index[part][form]):
                    found.update(self._words(part, offset))
        return frozenset(found)

    def _words(self, part: str, offset: int) -> list[str]:
        data = self.data[part]
        fields = data[offset : data.index(b"\n", offset)].decode("utf-8").split(" ")
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        # Adjectives may say where they stand: "galore(ip)".
        return [one.partition("(")[0] for one in words if "_" not in one]

    def _base_forms(self, word: str, part: str) -> list[str]:
        known = self.index[part]
        irregular = self.exceptions[part].get(word)
        if irregular is not None:
            return [form for form in dict.fromkeys([word, *irregular]) if form in known]
        forms = self._ruled([word], part)
        found = [form for form in dict.fromkeys([word, *forms]) if form in known]
        while not found and forms:
            forms = self._ruled(forms, part)
            found = [form for form in dict.fromkeys(forms) if form in known]
        return found

    def _ruled(self, forms: list[str], part: str) -> list[str]:
        return [form[: len(form) - len(old)] + new for form in forms for old, new in _RULES[part] if form.endswith(old)]
