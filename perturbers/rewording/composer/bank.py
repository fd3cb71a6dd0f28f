"""The bank of clauses that turns are composed of: plain text in ``lexicons/LANGUAGE/clauses/*.txt``, one clause a line below a heading.

A heading ``[kind domain slot=value tag]`` names what its clauses say; all but the kind may be left out, ``*`` stands for any domain, and several
headings may share the lines below them. A line is ``voices|{condition}{condition}text``: letters of voices (`VOICES`; none: neutral, everybody says
so), conditions on the value or the turn that must all hold, and the text with its places: ``{v}`` (the value), and those that a kind names.
``#`` begins a comment line.

Clauses divide between two halves, "train" and "test", by the hash of their words within each section, so that both halves can say everything, and
no wording is in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import NamedTuple, Protocol

from dialmill.perturbers.core.rng import Rng, key_number

#: Letter -> voice. A caricature (second-language, older, teen) is drawn seldom.
VOICES = {
    "t": "terse",
    "c": "chatty",
    "i": "indirect",
    "h": "hurried",
    "s": "second-language",
    "o": "older",
    "y": "teen",
}
#: Voice (plain: neutral clauses alone) -> its share of dialogues, in per cent.
SHARES = {"plain": 36, "chatty": 17, "indirect": 16, "terse": 13, "hurried": 9, "teen": 3, "older": 4, "second-language": 2}
#: A clause of the voice that speaks is so many times as likely as a neutral one.
_OWN = 3.0

_HEADING = re.compile(r"\[([^\]]+)\]$")
_LINE = re.compile(r"(?:([a-z]+)\|)?((?:\{[a-z!]+\})*?)(?=[^{]|\{(?:v|[A-Z]))(.+)$")
_WORD = re.compile(r"\w+")


class BankError(ValueError):
    """A clause file that can't be read; the message names the file and the line."""


class Clause(NamedTuple):
    """One clause.

    Attributes:
        text: with its places in braces.
        voices: names of the voices that say so; empty for a neutral clause.
        conditions: facts that must hold ("num"), or with a "!" before them must not.
        key: a 48-bit number from its words; the same wording has the same key in every section.
        half: "train" or "test".
    """

    text: str
    voices: frozenset[str]
    conditions: tuple[str, ...]
    key: int
    half: str

    def fits(self, facts: frozenset[str]) -> bool:
        """Whether its conditions hold."""
        return all((condition[1:] not in facts) if condition[0] == "!" else (condition in facts) for condition in self.conditions)


class Section(NamedTuple):
    """What a heading names; empty strings for what it leaves out."""

    kind: str
    domain: str = "*"
    slot: str = ""
    value: str = ""
    tag: str = ""


class Bank:
    """The clauses of one language, looked up by section."""

    def __init__(self, sections: dict[Section, tuple[Clause, ...]]) -> None:
        self.sections = sections
        self.kinds = frozenset(section.kind for section in sections)
        self.find = lru_cache(maxsize=1 << 14)(self._find)
        self.spoken = lru_cache(maxsize=1 << 15)(self._spoken)

    def _find(self, kind: str, domain: str = "*", slot: str = "", value: str = "", tag: str = "") -> tuple[Clause, ...]:
        """The clauses of the nearest section: with the value, then without; with the tag, then without; of the domain, then of any."""
        for own in dict.fromkeys((domain, "*")):
            for exact in dict.fromkeys((value, "")):
                for marked in dict.fromkeys((tag, "")):
                    found = self.sections.get(Section(kind, own, slot, exact, marked))
                    if found:
                        return found
        return ()

    def _spoken(self, voice: str, half: str, kind: str, domain: str, slot: str, value: str, tag: str, holds: frozenset[str]) -> tuple[Clause, ...]:
        """The clauses that a voice may say where these facts hold."""
        return tuple(
            clause
            for clause in self.find(kind, domain, slot, value, tag)
            if (not clause.voices or voice in clause.voices) and (not half or clause.half == half) and clause.fits(holds)
        )

    def clauses(self) -> dict[int, Clause]:
        """Every clause once, by key."""
        return {clause.key: clause for found in self.sections.values() for clause in found}


class Weights(Protocol):
    """What a corpus has to say of clauses (`familiar.Familiar`)."""

    def weight(self, clause: Clause) -> int:
        """How likely a clause is beside the others of its section, 1 and more."""


class Speaker:
    """Who speaks: draws clauses of one voice and one half, none twice in a dialogue while there are others.

    Args:
        bank: of the language.
        voice: a name of `SHARES`.
        half: "train", "test", or "" for both.
        facts: what holds of the dialogue ("one" speaker alone, "many"), added to each clause's facts.
        weights: which clauses are likelier; None: all alike.
    """

    def __init__(self, bank: Bank, voice: str = "plain", half: str = "", facts: frozenset[str] = frozenset(), weights: Weights | None = None) -> None:
        self.bank, self.voice, self.half, self.facts, self._weights = bank, voice, half, facts, weights
        self._said: dict[int, int] = {}

    def options(
        self, kind: str, domain: str = "*", slot: str = "", value: str = "", tag: str = "", facts: frozenset[str] = frozenset()
    ) -> list[Clause]:
        """The clauses that may be said here."""
        return list(self.bank.spoken(self.voice, self.half, kind, domain, slot, value, tag, facts | self.facts))

    def pick(
        self, rng: Rng, kind: str, domain: str = "*", slot: str = "", value: str = "", tag: str = "", facts: frozenset[str] = frozenset()
    ) -> Clause | None:
        """One of them, None where there is none."""
        return self.choose(rng, self.options(kind, domain, slot, value, tag, facts))

    def choose(self, rng: Rng, options: list[Clause]) -> Clause | None:
        """One of some clauses, those of the own voice and unusual ones more likely; one said before only where all were."""
        said = self._said
        least = min((said.get(clause.key, 0) for clause in options), default=0)
        fresh = [clause for clause in options if said.get(clause.key, 0) == least]
        if not fresh:
            return None
        total = 0.0
        weights = self._weights
        cumulative = [total := total + (_OWN if clause.voices else 1.0) * (1 if weights is None else weights.weight(clause)) for clause in fresh]
        return rng.weighted(fresh, cumulative)

    def say(self, *keys: int) -> None:
        """Remembers that the clauses with these keys were said."""
        for key in keys:
            self._said[key] = self._said.get(key, 0) + 1


def voices_in_order(key: tuple[object, ...]) -> list[str]:
    """All voices in a random order for this key, the frequent ones likely first: variants of one dialogue take one after the other."""
    rng = Rng("voice", *key)
    left = dict(SHARES)
    order = []
    while left:
        names = list(left)
        total = 0.0
        cumulative = [total := total + left[name] for name in names]
        chosen = rng.weighted(names, cumulative)
        del left[chosen]
        order.append(chosen)
    return order


def parse(text: str, file: str) -> Iterator[tuple[Section, str, frozenset[str], tuple[str, ...]]]:
    """(section, text, voices, conditions) of each line of a clause file.

    Raises:
        BankError: a line that is neither heading nor clause, an unknown voice.
    """
    headings: list[Section] = []
    fresh = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _HEADING.match(line)
        if match:
            if not fresh:
                headings = []
            headings.append(_section(match[1]))
            fresh = True
            continue
        fresh = False
        found = _LINE.match(line)
        if found is None or not headings:
            raise BankError(f"{file}, line {number}: neither a heading nor a clause below one: {line}")
        letters, conditions, words = found.groups()
        unknown = [letter for letter in letters or "" if letter not in VOICES]
        if unknown:
            raise BankError(f"{file}, line {number}: no voice has the letter {unknown[0]!r}; the letters are {', '.join(VOICES)}")
        voices = frozenset(VOICES[letter] for letter in letters or "")
        for section in headings:
            yield section, words.strip(), voices, tuple(re.findall(r"\{([^}]+)\}", conditions))


def _section(heading: str) -> Section:
    """`Section` of the words between the brackets; underscores stand for blanks, a lone "-" for no slot."""
    kind, domain, slot, tag = (*heading.split(), "", "", "", "")[:4]
    slot, _, value = slot.partition("=")
    return Section(kind, "*" if domain in ("", "-") else domain, "" if slot == "-" else slot.replace("_", " "), value.replace("_", " "), tag)


def words_of(text: str) -> str:
    """The words of a clause: two clauses with the same are one wording, whatever their signs and capitals."""
    return " ".join(_WORD.findall(text.lower()))


@lru_cache(maxsize=4)
def load(language: str) -> Bank:
    """The bank of a language; empty for one that has none."""
    folder = resources.files("dialmill.perturbers") / "lexicons" / language / "clauses"
    lines: dict[Section, dict[tuple[str, tuple[str, ...]], frozenset[str]]] = {}
    if folder.is_dir():
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".txt"):
                for section, text, voices, conditions in parse(file.read_text("utf-8"), file.name):
                    lines.setdefault(section, {}).setdefault((text, conditions), voices)
    halves = _halves(lines)
    return Bank(
        {
            section: tuple(Clause(text, voices, conditions, _key(text), halves[words_of(text)]) for (text, conditions), voices in found.items())
            for section, found in lines.items()
        }
    )


def _key(text: str) -> int:
    return key_number("clause", words_of(text)) >> 16


def _halves(lines: dict[Section, dict[tuple[str, tuple[str, ...]], frozenset[str]]]) -> dict[str, str]:
    """Words of a clause -> its half: within each section, and each condition and voice of it, by hash, by turns, so that neither half is without."""
    halves: dict[str, str] = {}
    for section in sorted(lines):
        groups: dict[tuple[tuple[str, ...], bool], list[str]] = {}
        for (text, conditions), voices in lines[section].items():
            groups.setdefault((conditions, bool(voices)), []).append(words_of(text))
        for group in sorted(groups):
            members = list(dict.fromkeys(groups[group]))
            counts = {half: sum(halves.get(words) == half for words in members) for half in ("train", "test")}
            for words in sorted((words for words in members if words not in halves), key=lambda words: key_number("half", words)):
                first = "train" if key_number("first", words) % 2 else "test"
                other = "test" if first == "train" else "train"
                half = first if counts[first] <= counts[other] else other
                halves[words] = half
                counts[half] += 1
    return halves
