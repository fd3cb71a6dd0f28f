"""A bilingual lexicon of labels: how domains, slots, acts and values of one language are written in another.

DSTC9 Track 2 (Gunasekara et al. 2020, section III) translates the ontology first, so that one value has one translation in the whole corpus. What the
values of a slot become is told by one of four rules: copied (postcodes, telephone numbers, references), made by a template (``{} pounds``), looked up
in a table, or, where the value has no letter of the source language, left as it is.

Three forms of file are read: the official ``vocab_dict.json``, a TSV with the columns kind, domain, slot, source and target, and two
ontologies of one shape, ``SOURCE.json|TARGET.json`` ({domain: {slot: [values]}}), whose names and values pair by their order.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from unicodedata import normalize

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.surfaces import slot_name

Kind = Literal["act", "domain", "slot", "value", "template", "copy"]
#: The columns of a lexicon as a table.
COLUMNS = ("kind", "domain", "slot", "source", "target")
#: Slots whose values are the same in every language: codes and numbers that somebody dials.
COPIED = frozenset({"post", "postcode", "phone", "ref", "reference", "id", "trainid"})
#: Slots that acts and databases name otherwise than the lexicon does.
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "taxi_phone": ("phone",),
    "taxi_types": ("car", "type"),
    "car": ("taxi_types", "type"),
    "car type": ("car", "taxi_types", "type"),
    "addr": ("address",),
    "fee": ("entrance fee",),
    "id": ("trainid",),
    "price": ("pricerange",),
    "ticket": ("price",),
    "dest": ("destination",),
    "depart": ("departure",),
    "leave": ("leaveat",),
    "arrive": ("arriveby",),
    "time": ("duration",),
    "open": ("openhours",),
    "postcode": ("post",),
    "address": ("addr",),
    "entrance fee": ("fee",),
    "entrancefee": ("entrance fee", "fee"),
    "duration": ("time",),
    "openhours": ("open",),
    "reference": ("ref",),
    "pricerange": ("price",),
    "trainid": ("id",),
}
#: Two ways in which MultiWOZ parts one name.
_SPELLINGS = (("king's college", "king 's college"), ("queens college", "queens' college"))
_LETTERS = {"en": re.compile("[a-z]", re.IGNORECASE), "zh": re.compile("[\u3400-\u9fff]")}
_OR = {"en": " or ", "zh": "或"}
#: What stands between the items of a list: in the source, where blanks part Chinese items, and in the translation.
_ITEMS, _COMMA = {"zh": re.compile(r"\s+|、")}, {"en": ",", "zh": "、"}
_MARK = "{}"
#: The domain of acts about none.
GENERAL = "general"
_HALF_WIDTH = str.maketrans("（），：－", "(),:-")
_FULL_WIDTH = str.maketrans("(),:", "（），：")


class Untranslated(LookupError):
    """A label that the lexicon has no translation of; the message is the reason as it stands in rejects."""


class Entry(NamedTuple):
    """One line of a lexicon. `domain` and `slot` are "" where it holds for all."""

    kind: Kind
    domain: str
    slot: str
    source: str
    target: str


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Translations of labels from the language `source` into `target`; names and values are looked up without regard to capitals.

    Args:
        names: (kind, name in lower case) -> translation, of acts, domains and slots.
        values: (domain, slot, value), each in lower case -> translation.
        templates: (domain, slot) -> (pattern with one group, target with `{}`), tried in their order.
        copied: (domain, slot) of the slots whose values stay as they are; ("", slot) in every domain.
    """

    source: str
    target: str
    names: Mapping[tuple[str, str], str]
    values: Mapping[tuple[str, str, str], str]
    templates: Mapping[tuple[str, str], tuple[tuple[re.Pattern[str], str], ...]] = field(default_factory=dict)
    copied: frozenset[tuple[str, str]] = frozenset()

    def act(self, name: str) -> str:
        """An act's name; one that the lexicon doesn't have stays as it is, since acts are named in English in most corpora of any language."""
        return self.names.get(("act", name.lower()), name)

    def domain(self, name: str) -> str:
        """A domain's name; "general", what is about no domain, is called so where the lexicon has no other name for it.

        Raises:
            Untranslated: `domain_untranslated: NAME`.
        """
        found = self.names.get(("domain", name.lower()))
        if found is None:
            if name.lower() == GENERAL:
                return name
            raise Untranslated(f"domain_untranslated: {name}")
        return found

    def slot(self, name: str) -> str:
        """A slot's name. What the corpus' own name says more of it than the lexicon does ("book people") is dropped.

        Raises:
            Untranslated: `slot_untranslated: NAME`.
        """
        for key in _names_of(name):
            found = self.names.get(("slot", key))
            if found is not None:
                return found
        raise Untranslated(f"slot_untranslated: {name}")

    def value(self, domain: str, slot: str, value: str) -> str:
        """A value of a slot, by the rule of the official look-up: as it is for the domain "general", for copied slots, and where no letter is of the
        source language; the table; each side of an alternative ("a|b"); other spellings of the same name; templates.

        Raises:
            Untranslated: `value_untranslated: SLOT=VALUE`.
        """
        bare = value.strip()
        low, domain = bare.lower(), domain.lower()
        names = _names_of(slot)
        if domain == GENERAL or any(name in COPIED or {(domain, name), ("", name)} & self.copied for name in names):
            return bare
        found = self._listed(domain, names, low)
        if found is not None:
            return found
        letters = _LETTERS.get(self.source)
        if letters is not None and not letters.search(low):
            return bare
        if "|" in low:
            return _OR.get(self.target, "|").join(self.value(domain, slot, side) for side in bare.split("|"))
        for spelling in (_compatible(low), *_spellings(low, self.source)):
            found = self._listed(domain, names, spelling)
            if found is not None:
                return found
        for name in names:
            for pattern, target in (*self.templates.get((domain, name), ()), *self.templates.get(("", name), ())):
                match = pattern.fullmatch(low) or pattern.fullmatch(_compatible(low))
                if match:
                    return target.replace(_MARK, match[1])
        items = _ITEMS[self.source].split(bare) if self.source in _ITEMS else ()
        if len(items) > 1:
            return _COMMA.get(self.target, ",").join(self.value(domain, slot, item) for item in items)
        raise Untranslated(f"value_untranslated: {slot}={value}")

    def _listed(self, domain: str, names: tuple[str, ...], value: str) -> str | None:
        for name in names:
            found = self.values.get((domain, name, value), self.values.get(("", name, value)))
            if found is not None:
                return found.strip()
        return None


@lru_cache(maxsize=4096)
def _names_of(slot: str) -> tuple[str, ...]:
    """What a lexicon may call a slot: as the record has it, without what says whose it is, and by another common name."""
    low = slot.lower()
    bare = slot_name(slot)
    return tuple(dict.fromkeys((low, bare, *_ALIASES.get(low, ()), *_ALIASES.get(bare, ()))))


def _compatible(low: str) -> str:
    """A value by what its characters stand for: brackets, letters and digits of full width in half width, ligatures and circled numbers undone."""
    return normalize("NFKC", low)


def _spellings(low: str, language: str) -> list[str]:
    """Other spellings of a value, the likeliest first."""
    if language == "zh":
        # A kind is named with and without the word for kind; brackets and blanks are of full and half width.
        bare = low.translate(_HALF_WIDTH)
        found = [f"{low}型", low.removesuffix("型"), bare, bare.replace(" ", ""), low.translate(_FULL_WIDTH)]
        return [one for one in dict.fromkeys(found) if one and one != low]
    found = [low.replace(old, new) for old, new in _SPELLINGS if old in low]
    found += [low.replace("'", ""), low.replace("'s", ""), low.replace("the ", "")]
    return [one.strip() for one in found if one.strip() != low]


@lru_cache(maxsize=8)
def load(text: str, source: str, target: str) -> Lexicon:
    """The lexicon of an option: a path, or "SOURCE.json|TARGET.json".

    A lexicon of the other direction is turned round.

    Raises:
        OptionError: a file is missing or of another form, with its name and what is expected; or the lexicon is of other languages.
    """
    paths = [Path(part.strip()) for part in text.split("|")]
    contents = [_content(path) for path in paths]
    if len(paths) == 2:
        entries = _paired(_json(paths[0], contents[0]), _json(paths[1], contents[1]), text)
    elif len(paths) == 1 and contents[0].lstrip().startswith("{"):
        entries = _official(_json(paths[0], contents[0]), text)
    elif len(paths) == 1:
        entries = _table(contents[0], text)
    else:
        raise OptionError(f"lexicon: expected one file, or two ontologies with | between them, not {len(paths)}")
    if not _goes(entries, source, target):
        entries = _inverse(entries)
        if not _goes(entries, source, target):
            told = ", ".join(f"{entry.source} is {entry.target}" for entry in entries if entry.kind == "domain")
            raise OptionError(f"lexicon: {text} is not between {source} and {target} ({told[:100]})")
    return _lexicon(entries, source, target)


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"lexicon: {path}: {getattr(error, 'strerror', None) or error}") from None


def _json(path: Path, content: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError as error:
        raise OptionError(f"lexicon: {path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise OptionError(f"lexicon: {path}: expected an object, found {type(found).__name__}")
    return found


_SETS = {"intent_set": "act", "domain_set": "domain", "slot_set": "slot"}


def _official(record: dict[str, Any], path: str) -> list[Entry]:
    """The entries of a ``vocab_dict.json``."""
    if not isinstance(record.get("value_set"), dict) or not all(isinstance(record.get(name), dict) for name in _SETS):
        raise OptionError(f"lexicon: {path}: expected the keys intent_set, domain_set, slot_set and value_set, found {', '.join(list(record)[:8])}")
    entries = [Entry(kind, "", "", str(name), str(said)) for key, kind in _SETS.items() for name, said in record[key].items()]  # type: ignore[arg-type]
    for domain, slots in record["value_set"].items():
        if not isinstance(slots, dict):
            raise OptionError(f"lexicon: {path}: value_set.{domain}: expected an object of slots")
        for slot, values in slots.items():
            if not isinstance(values, dict):
                raise OptionError(f"lexicon: {path}: value_set.{domain}.{slot}: expected an object of values")
            entries += [Entry("value", domain, slot, str(value), str(said)) for value, said in values.items()]
    return entries


def _table(content: str, path: str) -> list[Entry]:
    """The entries of a TSV with a line of titles."""
    rows = csv.reader(io.StringIO(content), delimiter="\t", quoting=csv.QUOTE_NONE)
    titles = next(rows, [])
    if sorted(titles) != sorted(COLUMNS):
        raise OptionError(f"lexicon: {path}: expected a table whose first line is {' '.join(COLUMNS)} with tabs between, found {titles!r}")
    entries = []
    for number, row in enumerate(rows, 2):
        if not row or row[0].startswith("#"):
            continue
        if len(row) != len(COLUMNS):
            raise OptionError(f"lexicon: {path}, line {number}: expected {len(COLUMNS)} columns, found {len(row)}")
        entry = Entry(**dict(zip(titles, row, strict=True)))  # type: ignore[arg-type]
        if entry.kind not in get_args(Kind):
            raise OptionError(f"lexicon: {path}, line {number}: kind is one of {', '.join(get_args(Kind))}, not {entry.kind!r}")
        if entry.kind == "template" and (entry.source.count(_MARK), entry.target.count(_MARK)) != (1, 1):
            raise OptionError(f"lexicon: {path}, line {number}: a template holds {_MARK} once on both sides")
        entries.append(entry)
    return entries


def _paired(source: dict[str, Any], target: dict[str, Any], path: str) -> list[Entry]:
    """The entries of two ontologies of one shape."""
    entries: list[Entry] = []
    if len(source) != len(target):
        raise OptionError(f"lexicon: {path}: the ontologies have {len(source)} and {len(target)} domains; they pair by their order")
    for (domain, slots), (domain_said, slots_said) in zip(source.items(), target.items(), strict=True):
        if not isinstance(slots, dict) or not isinstance(slots_said, dict) or len(slots) != len(slots_said):
            raise OptionError(f"lexicon: {path}: {domain} and {domain_said} must have the same number of slots, in the same order")
        entries.append(Entry("domain", "", "", domain, domain_said))
        for (slot, values), (slot_said, values_said) in zip(slots.items(), slots_said.items(), strict=True):
            if not isinstance(values, list) or not isinstance(values_said, list) or len(values) != len(values_said):
                raise OptionError(
                    f"lexicon: {path}: {domain}.{slot} and {domain_said}.{slot_said} must have the same number of values, in the same order"
                )
            entries.append(Entry("slot", "", "", slot, slot_said))
            entries += [Entry("value", domain, slot, str(one), str(other)) for one, other in zip(values, values_said, strict=True)]
    return entries


def _lexicon(entries: list[Entry], source: str, target: str) -> Lexicon:
    names: dict[tuple[str, str], str] = {}
    values: dict[tuple[str, str, str], str] = {}
    templates: dict[tuple[str, str], tuple[tuple[re.Pattern[str], str], ...]] = {}
    copied = set()
    for kind, domain, slot, one, other in entries:
        place = domain.lower(), slot.lower()
        low = one.strip().lower()
        if kind == "value":
            values.setdefault((*place, low), other)
        elif kind == "copy":
            copied.add(place)
        elif kind == "template":
            for text in dict.fromkeys((low, _compatible(low))):
                before, after = text.split(_MARK)
                pattern = re.compile(rf"{re.escape(before)}(\S.*?){re.escape(after)}")
                templates[place] = (*templates.get(place, ()), (pattern, other))
        else:
            names.setdefault((kind, low), other)
    # Behind what is written: a value is found in either width, whichever of the two the table has.
    for (domain, slot, low), other in list(values.items()):
        values.setdefault((domain, slot, _compatible(low)), other)
    return Lexicon(source, target, names, values, templates, frozenset(copied))


def _goes(entries: list[Entry], source: str, target: str) -> bool:
    """Whether the domains of a lexicon are written in the one language and translated into the other."""
    domains = [entry for entry in entries if entry.kind == "domain"]
    sides = ((source, [entry.source for entry in domains]), (target, [entry.target for entry in domains]))
    return all(not words or language not in _LETTERS or any(map(_LETTERS[language].search, words)) for language, words in sides)


def _turned(entry: Entry) -> Entry:
    """An entry the other way round."""
    return Entry(entry.kind, entry.domain, entry.slot, entry.target, entry.source) if entry.kind != "copy" else entry


def _inverse(entries: list[Entry]) -> list[Entry]:
    """A lexicon the other way round; of two words with one translation the first is what that leads back to."""
    said = {(str(entry.kind), entry.source.lower()): entry.target for entry in entries if entry.kind in ("domain", "slot")}

    def name(kind: str, word: str) -> str:
        found = [said.get((kind, one), "") for one in (word.lower(), *_names_of(word))] if word else []
        return next(filter(None, found), word)

    return [_turned(entry._replace(domain=name("domain", entry.domain), slot=name("slot", entry.slot))) for entry in entries]
