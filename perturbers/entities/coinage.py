"""Names that no corpus has: coined from syllables (English) or put together from word lists of ours (Chinese), and codes of the same shape.

A coined English name has three syllables from the lists below ("Velinbrook"), or it is a picture ("Whistling Marten"); no English town, hotel or
restaurant that we know of has such a name, and a test holds them against the databases and ontologies of the corpora at hand.
"""

from __future__ import annotations

from functools import cache

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng

#: Kinds of names.
LODGING, RESTAURANT, SIGHT, VENUE, TOWN, PERSON, TITLE, TASK = "lodging", "restaurant", "sight", "venue", "town", "person", "title", "task"


@cache
def _parts(language: str, name: str) -> tuple[str, ...]:
    """The parts of a kind from lexicons/LANGUAGE/coinage.tsv."""
    return tuple(part for row_name, cell in rows(language, "coinage") if row_name == name for part in alternatives(cell))


def coin(kind: str, language: str, rng: Rng, whole: bool = True) -> str:
    """A coined name, capitalised where the language has capitals.

    Args:
        kind: LODGING, RESTAURANT, SIGHT, VENUE, TOWN, PERSON, TITLE or TASK.
        language: "en" or "zh".
        rng: decides.
        whole: False for the part before a word that says what it is ("guest house", 酒店), which stays in its place.
    """

    def part(name: str) -> str:
        return rng.choice(_parts(language, name))

    if kind == TASK:
        return part("task")
    if language == "zh":
        if kind == PERSON:
            return part("surname") + part("given")
        if kind == TITLE:
            return f"{part('title-a')}的{part('title-b')}"
        if kind == TOWN:
            return part("town")
        name = part("place-a") + part("place-b")
        return name + part(f"{kind}-end") if whole and _parts("zh", f"{kind}-end") else name
    if kind == PERSON:
        return f"{part('given')} {_word(rng)}"
    # Not all names are of one make: a word of its own, or a picture that no one has put on a sign.
    pictured = kind in (LODGING, RESTAURANT, SIGHT) and rng.chance(0.5)
    name = f"{part('picture')} {part('thing')}" if pictured else _word(rng)
    return f"{name} {part(f'{kind}-end')}" if whole and rng.chance(0.6) and _parts("en", f"{kind}-end") else name


def _word(rng: Rng) -> str:
    return rng.choice(_parts("en", "first")) + rng.choice(_parts("en", "middle")) + rng.choice(_parts("en", "last"))


def foreign_person(rng: Rng, separator: str) -> str:
    """A transliterated foreign name for Chinese texts, its parts around `separator`."""
    return rng.choice(_parts("zh", "foreign-a")) + separator + rng.choice(_parts("zh", "foreign-b"))


def same_shape(code: str, rng: Rng, keep: int = 0) -> str:
    """A code of the same shape: digits for digits, letters for letters of the same case; the first `keep` characters and all signs stay.

    The letters O and I are left out, as references avoid them.
    """
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    made = []
    for place, char in enumerate(code):
        if place < keep:
            made.append(char)
        elif char.isdigit() and char.isascii():
            made.append(str(rng.below(10)))
        elif char.isalpha() and char.isascii():
            letter = rng.choice(letters)
            made.append(letter if char.isupper() else letter.lower())
        else:
            made.append(char)
    return "".join(made)
