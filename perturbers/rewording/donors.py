"""Paraphrase donors: user turns of other dialogues that say the same, whose wording this turn takes with this turn's values.

A corpus annotated with dialogue acts holds its own human paraphrases. The pool keeps, for every key of `wordings`, the wordings that other turns may
take: those made of plain words only, so that no name, no value and no matter of the other dialogue comes along.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec
from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.pools import Entry, Pool, PoolFile, PoolTable, build_table
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording.wordings import Analysis, Part, Wording, neighbours, state_before
from dialmill.schemas import Dialogue, Edit
from dialmill.schemas.dialogue import decode

#: Wordings kept of one key, and origins of one wording. Two origins suffice to find one that is not the turn's own dialogue.
_KEPT = 256
_ORIGINS = 2


class Origin(msgspec.Struct, array_like=True, frozen=True):
    """The dialogue that a wording was said in: its id, a number that its copies share, its split ("" for none)."""

    source_id: str
    copies: int
    split: str = ""


class Donor(msgspec.Struct, array_like=True, frozen=True):
    """A wording that other turns may take, as `wordings.Wording` has it."""

    literals: tuple[str, ...]
    units: tuple[str, ...]
    within: tuple[str, ...]
    roles: tuple[str, ...]
    origins: tuple[Origin, ...]


def fingerprint(dialogue: Dialogue) -> int:
    """A number that dialogues with the same words share."""
    text = "\n".join(turn.source_text for turn in dialogue.turns)
    return key_number(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()) >> 1


class DonorPool(Pool):
    """The wordings of all user turns, by what they say."""

    name: ClassVar[str] = "donors"

    def entries(self, dialogue: Dialogue) -> Iterable[tuple[str, bytes]]:
        origin = Origin(dialogue.source_id, fingerprint(dialogue))
        locator = Locator.of(dialogue)
        for place, turn in enumerate(dialogue.turns):
            if turn.speaker != "user":
                continue
            analysis = Analysis(locator.view(turn), dialogue.turns[place - 1] if place else None, state_before(dialogue, place))
            for wording in (analysis.whole(), *analysis.sentences()):
                if may_donate(wording, dialogue.language):
                    literals = tidy(wording.literals)
                    yield wording.key, _pack(Donor(literals, wording.units, tuple(sorted(wording.within)), (analysis.role,), (origin,)))

    def merge(self, entries: Iterable[Entry]) -> bytes | None:
        return self._merge((_unpack(data), split) for split, data in entries)

    def join(self, merged: Iterable[bytes]) -> bytes:
        return self._merge((donor, None) for data in merged for donor in _unpack_all(data)) or _pack_all([])

    def _merge(self, donors: Iterable[tuple[Donor, str | None]]) -> bytes | None:
        """Donors, each with the split of its dialogue; None for those whose origins name theirs."""
        merged: dict[tuple[str, ...], tuple[Donor, set[str], set[Origin]]] = {}
        for donor, split in donors:
            first, roles, origins = merged.get(donor.literals, (donor, set[str](), set[Origin]()))
            # Of donors with the same literals one stands for all, whichever comes first.
            merged[donor.literals] = min(first, donor, key=lambda one: (one.units, one.within)), roles, origins
            roles.update(donor.roles)
            origins.update(one if split is None else Origin(one.source_id, one.copies, split) for one in donor.origins)
        kept = []
        for literals, (donor, roles, origins) in merged.items():
            different = {one.copies: one for one in sorted(origins, key=_by_origin, reverse=True)}
            chosen = tuple(sorted(different.values(), key=_by_origin)[:_ORIGINS])
            kept.append((key_number(*literals), Donor(literals, donor.units, donor.within, tuple(sorted(roles)), chosen)))
        kept.sort(key=lambda pair: (pair[0], pair[1].literals))
        return _pack_all([donor for _, donor in kept[:_KEPT]]) if kept else None


def _by_origin(origin: Origin) -> tuple[str, int, str]:
    return origin.source_id, origin.copies, origin.split


_pack = msgspec.msgpack.Encoder().encode
_pack_all = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Donor).decode
_unpack_all = msgspec.msgpack.Decoder(list[Donor]).decode

#: A word twice in a row, which people type by mistake.
_TWICE = re.compile(r"\b([a-z]+) \1\b")
#: Signs in a row, and words in capitals; but I, OK and the like.
_SHOUTED = re.compile(r"[.?!]\s*[.?!]|\b(?!OK\b|ID\b|TV\b|UK\b|AM\b|PM\b)[A-Z]{2,}")
_PLAIN = {"en": re.compile(r"(?:[A-Za-z ,'’-]|[.?!]+(?=[\s.?!]|$))*"), "zh": re.compile(r"[\u4e00-\u9fff，。？！、,.?! ]*")}


@lru_cache(maxsize=4)
def _slips(language: str) -> re.Pattern[str] | None:
    """Wording that no donor gives; None for a language without such a list."""
    patterns = [pattern for (pattern,) in rows(language, "slips")]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


@lru_cache(maxsize=4)
def _words(language: str) -> frozenset[str]:
    return frozenset(word for row in rows(language, "plain") for cell in row for word in cell.split())


def may_donate(wording: Wording, language: str) -> bool:
    """Whether a wording is made of plain words alone."""
    if any(label.startswith("~#") for label in wording.labels) or _TWICE.search(" ".join(wording.units)):
        return False
    if any(_SHOUTED.search(literal) for literal in wording.literals):
        return False
    slips = _slips(language)
    if slips is not None and slips.search(" ".join(wording.units)):
        return False
    plain = _PLAIN.get(language)
    if plain is None or not all(plain.fullmatch(literal.replace("\n", " ")) for literal in wording.literals):
        return False
    words = _words(language)
    if language == "zh":
        from dialmill.perturbers.core.tokens import tokens

        return all(literal[start:end] in words for literal in wording.literals for start, end in tokens(literal, "zh"))
    return all(unit in words for unit in wording.units if unit[0] != "[")


#: With so many words that are not plain a turn says something that another wording would lose.
_OWN_WORDS = 2


def speaks_plainly(text: str, parts: Sequence[Part], language: str) -> bool:
    """Whether a turn has no name outside its values, and hardly a word that is not plain: only such a turn takes the wording of another."""
    if language != "en":
        return True
    words = _words(language)
    own = [part for part in parts if part.unit[0] != "[" and part.unit not in words]
    named = any(text[part.start].isupper() and text[: part.start].rstrip()[-1:] not in ("", ".", "?", "!") for part in own)
    return not named and len(own) < _OWN_WORDS


def tidy(literals: Sequence[str]) -> tuple[str, ...]:
    """Literals with blanks collapsed, none at the ends of the text."""
    collapsed = [re.sub(r"\s+", " ", literal) for literal in literals]
    collapsed[0] = collapsed[0].lstrip()
    collapsed[-1] = collapsed[-1].rstrip()
    return tuple(collapsed)


class Candidate(NamedTuple):
    """A donor that fits, with what ranks it: `distance` from the turn's wording (0 to 1), `ratio` of their lengths in units,
    whether it answers the same kind of turn, and how many things that the turn says besides its acts it leaves out."""

    donor: Donor
    distance: float
    ratio: float
    same_role: bool
    lost: int
    origin: Origin


class Donors:
    """A pool of donors, ready to be searched."""

    def __init__(self, table: PoolTable) -> None:
        self._table = table
        self._read = lru_cache(maxsize=4096)(self._decode)
        self._fit = lru_cache(maxsize=16384)(self._choose)

    def _decode(self, key: str) -> list[_Known]:
        data = self._table.get(key)
        return [_known(donor) for donor in _unpack_all(data)] if data else []

    def _choose(
        self, key: str, labels: tuple[str, ...], within: frozenset[str], greets: bool, answers: bool, around: tuple[tuple[str, str], ...] | None
    ) -> list[_Known]:
        """The donors of a key whose words fit the values and the place of a turn. Turns ask for the same again and again."""
        slots = [label.partition("*")[::2] for label in labels]
        shaped = any(shape or slot.lstrip("+").startswith(("area", "price")) for slot, shape in slots)
        found = []
        for known in self._read(key):
            extra = known.within - within
            if extra and not ((extra == _GREET and greets) or (extra == _FRAGMENT and answers)):
                continue
            if around is not None and (("fragment" in within and "fragment" not in known.within) or neighbours(known.donor.units) != around):
                continue  # a bare answer takes no frame, and a value stands behind the same article or preposition
            if not (known.shaped or shaped) or _agree(slots, known.values):
                found.append(known)
        return found

    def __len__(self) -> int:
        return len(self._table)

    def search(self, wording: Wording, role: str, copies: int, rng: Rng, most: int = 12) -> list[Candidate]:
        """Up to `most` donors that fit the place, from a random start on; none from a dialogue whose `fingerprint` is `copies`."""
        within = wording.within
        donors = self._fit(wording.key, wording.labels, within, role == "first", role == "request" or "fragment" in within, wording.around)
        if not donors:
            return []
        found: list[Candidate] = []
        own = frozenset(wording.units)
        size = max(1, len(wording.units))
        start = rng.below(len(donors))
        for donor, needs, units, _, _ in chain(islice(donors, start, None), islice(donors, start)):
            origin = donor.origins[0]
            if origin.copies == copies:
                if len(donor.origins) == 1:
                    continue
                origin = donor.origins[1]
            distance = 1 - len(own & units) / max(len(own), len(units), 1)
            found.append(Candidate(donor, distance, len(donor.units) / size, role in donor.roles, len(within - needs), origin))
            if len(found) >= most:
                break
        return found


class _Known(NamedTuple):
    """A donor as it is searched: its classes, its words, the shape of each value with the word behind it, and whether any value has a shape."""

    donor: Donor
    within: frozenset[str]
    units: frozenset[str]
    values: list[tuple[str, str]]
    shaped: bool


def _known(donor: Donor) -> _Known:
    units = [*donor.units, ""]
    values = [(unit[1:-1].partition("*")[2], units[place + 1]) for place, unit in enumerate(donor.units) if unit[0] == "["]
    return _Known(donor, frozenset(donor.within), frozenset(donor.units), values, any("*" in unit for unit in donor.units))


def _agree(slots: Sequence[tuple[str, ...]], values: Sequence[tuple[str, str]]) -> bool:
    """Whether the words of a wording agree with this turn's values, given as (slot, shape)."""
    for (name, shape), (other, following) in zip(slots, values, strict=True):
        slot = name.lstrip("+")
        if slot == "area":
            if (shape == "n") != (other == "n"):
                return False
            if shape == "c" and following in _AFTER_COMPASS:
                return False
            if shape == "w" and (following in _AFTER_WORDS):
                return False
        elif slot.startswith("price"):
            if shape in ("", "priced"):
                if other not in ("", "priced") or (shape == "priced" and following in _AFTER_PRICE):
                    return False
            elif shape != other:
                return False
        elif shape != other:
            return False
    return True


_AFTER_COMPASS = frozenset({"part", "side", "end", "region", "section", "area"})
_AFTER_WORDS = _AFTER_COMPASS | {"of", "town", "city"}
_AFTER_PRICE = frozenset({"price", "priced", "range", "prices", "pricing"})
_GREET = frozenset({"greet"})
_FRAGMENT = frozenset({"fragment"})
_VOWEL = re.compile(r"(?!eu|one\b|once\b)[aeio]|u(?!n[iy]|s[aeiu]|k\b|ro)|hour|8|11\b|18\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\b([Aa])n?( ['\"]?)$")


def fill(literals: Sequence[str], surfaces: Sequence[str], language: str) -> list[str]:
    """The literals as they stand around these surfaces: "a" or "an", and no "the" twice."""
    filled = list(literals)
    if language == "en":
        for place, surface in enumerate(surfaces):
            literal = filled[place]
            match = _ARTICLE.search(literal)
            if match:
                filled[place] = literal[: match.start()] + match.group(1) + ("n" if _VOWEL.match(surface) else "") + match.group(2)
            elif surface.lower().startswith("the ") and literal.lower().endswith("the ") and (len(literal) == 4 or literal[-5] == " "):
                filled[place] = literal[:-4]
    return filled


def gap_edits(text: str, start: int, end: int, places: Sequence[tuple[int, int]], literals: Sequence[str]) -> list[Edit]:
    """Edits over ``text[start:end]`` that put `literals` before, between and after `places`, whole words at a time."""
    edits: list[Edit] = []
    starts = [start, *(last for _, last in places)]
    ends = [*(first for first, _ in places), end]
    for first, last, new in zip(starts, ends, literals, strict=True):
        old = text[first:last]
        if old != new:
            edits.append(_word_edit(old, new, first))
    return edits


def _word_edit(old: str, new: str, offset: int) -> Edit:
    """One edit from `old` to `new`, without the whole words that both begin or end with."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    while head and not (_edge(old, head) and _edge(new, head)):
        head -= 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while tail and not (_edge(old, len(old) - tail) and _edge(new, len(new) - tail)):
        tail -= 1
    return Edit(offset + head, offset + len(old) - tail, new[head : len(new) - tail])


def _edge(text: str, place: int) -> bool:
    """Whether no word runs across `place`."""
    return place in (0, len(text)) or not (text[place - 1].isalnum() and text[place].isalnum())


def build_donors(dialogues: Iterable[Dialogue]) -> Donors:
    """The donors of some dialogues, in memory."""
    return Donors(build_table(DonorPool(), dialogues))


@lru_cache(maxsize=8)
def opened(pool: PoolFile) -> Donors:
    """The donors of a pool, once per process."""
    return Donors(pool.open())


def donors_of_file(path: str) -> Donors:
    """The donors of a file of canonical records (JSONL, as every suite has); read again where the file has changed.

    Raises:
        OptionError: the file can't be read as dialogues.
    """
    try:
        stat = Path(path).stat()
        return _of_file(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError) as error:
        raise OptionError(f"donors_from: {path} can't be read as dialogues: {error}") from None


@lru_cache(maxsize=4)
def _of_file(path: str, changed: int, size: int) -> Donors:
    with Path(path).open("rb") as stream:
        return build_donors(decode(line) for line in stream if line.strip())
