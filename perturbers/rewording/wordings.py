"""A user turn taken apart: what its wording says besides its values, so that another wording can be compared with it: does it say the same?.

Values become places with a label (the slot, and the shape that the words around it agree with); between them stand literals. What the literals say
is told by classes of phrases (``lexicons/LANGUAGE/fit.tsv``): "book", "also", "what time". Two wordings with the same acts, the same labels in the
same order and the same classes mean the same; that is the key under which `donors` keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress, pairwise
from typing import NamedTuple

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.lexicon import words as word_set
from dialmill.perturbers.core.surfaces import kind_of, slot_name
from dialmill.perturbers.core.values import VALUE_CLASSES, Located, View
from dialmill.schemas import Dialogue, Turn


class Wording(NamedTuple):
    """A turn, or one sentence of it, taken apart.

    Attributes:
        key: acts, labels in order, and the classes that another wording must share.
        within: the classes that another wording may have, too.
        literals: the text before, between and after the values; one more than `places`.
        labels: of the values, in order.
        places: (start, end) of the values in the utterance.
        units: the words of the literals, lower case, with the labels in brackets in their places.
        start, end: where it stands in the utterance.
        holds: whether it says anything that another wording can be held to.
        around: what stands before and behind each value (`neighbours`), to which another wording is held; None where the shapes of the labels tell
            what the words around a value agree with, as in the domains whose slots are known.
    """

    key: str
    within: frozenset[str]
    literals: tuple[str, ...]
    labels: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    units: tuple[str, ...]
    start: int
    end: int
    holds: bool
    around: tuple[tuple[str, str], ...] | None = None


class Part(NamedTuple):
    """A word, or a value with its label in brackets."""

    start: int
    end: int
    unit: str


class Analysis:
    """What a turn says, and in which words.

    Args:
        view: of the user turn.
        before: the system turn it answers, None for the first.
        state: (domain, slot, value) of the belief state before the turn, from which acts are derived where the corpus annotates none.
    """

    __slots__ = ("_known", "_language", "_sentences", "_signals", "_text", "_whole", "acts", "domains", "parts", "role")

    def __init__(self, view: View, before: Turn | None, state: frozenset[tuple[str, str, str]]) -> None:
        self._text, self._language = view.turn.utterance, view.language
        self._whole: Wording | None = None
        self._sentences: list[Wording] | None = None
        said = _acts(view.turn, state)
        told = {(slot_name(place.slot), place.value.lower()) for place in view.located}
        marks = {(slot_name(slot), value.lower()) for _, _, slot, value in said if slot}
        #: Its words and values in order.
        self.parts, self._signals = _parts(view, marks)
        #: The acts whose values the text doesn't show, with those values (names apart: an "it" speaks for any of them).
        self.acts = "|".join(sorted({_act_text(act, told) for act in said}))
        self.domains = "+".join(sorted({act[1] for act in said}))
        self._known = self._language != "en" or all(act[1] in KNOWN_DOMAINS for act in said)
        #: What kind of system turn it answers: "first", "request", "offer", "none", "book", "more".
        self.role = _role(before)

    def whole(self) -> Wording:
        """The wording of the turn."""
        if self._whole is None:
            self._whole = self._wording(0, len(self.parts), 0, len(self._text), self.acts)
        return self._whole

    def equal_classes(self) -> frozenset[str]:
        """The classes of the turn's phrases that another wording must share."""
        return classes([part.unit for part in self.parts], (), self._language)[0]

    def sentences(self) -> list[Wording]:
        """The wordings of its sentences (in Chinese also of the clauses that commas part)."""
        if self._sentences is None:
            self._sentences = self._cut()
        return self._sentences

    def _cut(self) -> list[Wording]:
        parts, text = self.parts, self._text
        breaks = _BREAKS.get(self._language, _BREAKS["en"])
        cuts = [0]
        for place in range(1, len(parts)):
            if breaks.search(text, parts[place - 1].end, parts[place].start):
                cuts.append(place)
        if len(cuts) < 2:
            return [self._wording(0, len(parts), 0, len(text), "s " + self.domains)]
        cuts.append(len(parts))
        found = []
        for first, last in pairwise(cuts):
            start = parts[first].start if first else 0
            # The blanks between two sentences belong to neither.
            end = len(text) if last == len(parts) else parts[last - 1].end + len(text[parts[last - 1].end : parts[last].start].rstrip())
            found.append(self._wording(first, last, start, end, "s " + self.domains))
        return found

    def _wording(self, first: int, last: int, start: int, end: int, acts: str) -> Wording:
        parts = self.parts[first:last]
        units = [part.unit for part in parts]
        values = [part for part in parts if part.unit[0] == "["]
        labels = tuple(part.unit[1:-1] for part in values)
        edges = [start, *(edge for part in values for edge in (part.start, part.end)), end]
        literals = tuple(self._text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))
        slots = frozenset(_SLOT.match(label).group(1) for label in labels)  # type: ignore[union-attr]
        equal, within = classes(units, slots, self._language)
        counts = [0, 0]
        for place, kind in self._signals:
            if start <= place < end:
                counts[kind == "dontcare"] += 1
        if is_fragment(units, self._language):
            within = within | {"fragment"}
        holds = bool(equal) or any(label[0] != "~" for label in labels)
        if not holds:
            # Nothing holds the meaning but the words: another wording must have all of the same classes.
            equal = equal | within
        plain = "|".join([label.partition("*")[0] for label in labels])
        key = "\t".join((self._language, acts, plain, "|".join(sorted(equal)), f"{counts[0]}{counts[1]}"))
        places = tuple((part.start, part.end) for part in values)
        around = None if self._known else neighbours(units)
        return Wording(key, within, literals, labels, places, tuple(units), start, end, holds, around)


_SLOT = re.compile(r"[+~]?([^*=#&]*)")
#: Domains whose slots have shapes (`_label`), and acts of none.
KNOWN_DOMAINS = frozenset(["hotel", "restaurant", "attraction", "train", "taxi", "bus", "hospital", "police", "booking", "general", ""])
#: Words before a value that stand for one another, and those behind it that are no part of what it belongs to.
_SAME_BEFORE = {
    word: group[0] for group in (("a", "an"), ("the", "this", "that"), ("these", "those"), ("some", "any"), ("in", "at", "for")) for word in group
}
_APART = word_set(
    "in at on to from for near by of with around and or but please is are was will would be there here it i you we they he she so if "
    "that which who when what how "
    "going do does can could should my the a thanks thank"
)


def neighbours(units: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What stands before and behind each value, as far as the value's form depends on it: "the", "[" for another value, "" for nothing."""
    found = []
    for place, unit in enumerate(units):
        if unit[0] == "[":
            before = units[place - 1] if place else ""
            behind = units[place + 1] if place + 1 < len(units) else ""
            found.append(
                (
                    before[:1] if before[:1] == "[" else _SAME_BEFORE.get(before, before),
                    "" if behind in _APART else behind[:1] if behind[:1] == "[" else behind,
                )
            )
    return tuple(found)


#: What parts sentences, between two words.
_BREAKS = {"en": re.compile(r"[.?!]"), "zh": re.compile(r"[。？！?!，,；]")}


def _act_text(act: tuple[str, str, str | None, str], told: set[tuple[str, str]]) -> str:
    name, domain, slot, value = act
    if not slot:
        return f"{name} {domain}"
    plain = slot_name(slot)
    if not value or (plain, value.lower()) in told:
        return f"{name} {domain} {plain}"
    return f"{name} {domain} {plain}=" + ("~" if kind_of(slot, value) == "name" else value)


def _parts(view: View, marks: set[tuple[str, str]]) -> tuple[list[Part], list[tuple[int, str]]]:
    """The words and values of a turn in order, and where words of negation and of no preference stand."""
    text, language = view.turn.utterance, view.language
    ranges: list[tuple[int, int, str]] = []
    for place in view.located:
        extra = "" if (slot_name(place.slot), place.value.lower()) in marks else "+"
        start, end = place.start, place.end
        for first, last in view.hidden:
            # "centre of town" around the span "centre": all of it stays.
            if first < end and start < last:
                start, end = min(start, first), max(end, last)
        ranges.append((start, end, extra + _label(place, text[start:end], language)))
    signals: list[tuple[int, str]] = []
    located = len(ranges)
    for signal in view.signals:
        if any(start < signal.end and signal.start < end for start, end, _ in ranges[:located]):
            continue
        if signal.kind in ("negation", "dontcare"):
            signals.append((signal.start, signal.kind))
        elif signal.kind == "boolean":
            ranges.append((signal.start, signal.end, f"~{signal.value}"))
        elif signal.kind in VALUE_CLASSES:
            ranges.append((signal.start, signal.end, f"~{signal.kind}={text[signal.start : signal.end].lower()}"))
    ranges = _disjoint(ranges)
    parts: list[Part] = []
    following = 0
    for name, (start, end) in zip(view.units.names, view.units.bounds, strict=True):
        while following < len(ranges) and ranges[following][0] <= start:
            first, last, label = ranges[following]
            parts.append(Part(first, last, f"[{label}]"))
            following += 1
        if parts and start < parts[-1].end:
            continue
        parts.append(Part(start, end, name if name.isalpha() else f"[~#{name}]"))
    parts += [Part(first, last, f"[{label}]") for first, last, label in ranges[following:]]
    return parts, signals


def state_before(dialogue: Dialogue, index: int) -> frozenset[tuple[str, str, str]]:
    """The cells of the belief state before turn `index`."""
    for turn in reversed(dialogue.turns[:index]):
        if turn.speaker == "user":
            return frozenset((cell.domain, cell.slot, value) for cell in turn.state for value in cell.values)
    return frozenset()


def _acts(turn: Turn, state: frozenset[tuple[str, str, str]]) -> list[tuple[str, str, str | None, str]]:
    if turn.acts:
        return [(act.act, act.domain, act.slot, act.value if act.value and act.value != "?" else "") for act in turn.acts]
    return [("inform", cell.domain, cell.slot, value) for cell in turn.state for value in cell.values if (cell.domain, cell.slot, value) not in state]


def _disjoint(ranges: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Sorted; what overlaps becomes one range, with both labels."""
    ranges.sort()
    merged: list[tuple[int, int, str]] = []
    for start, end, label in ranges:
        if merged and start < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = (first, max(last, end), f"{name}&{label}")
        else:
            merged.append((start, end, label))
    return merged


#: Types that take no article and no plural.
_UNCOUNTED = frozenset({"entertainment", "architecture", "sports", "multiple sports", "swimming", "nightlife"})
_ONE = frozenset({"1", "one"})
#: How the weather is, for what ends in no -y.
_WEATHER = frozenset({"hot", "cold", "warm", "cool", "humid", "overcast", "clear", "mild", "wet", "dry", "cloudy", "frosty"})
_NUMBERS = frozenset(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"])


def _label(place: Located, surface: str, language: str) -> str:
    """The slot of a value, with the shape that the words around it agree with after a star."""
    slot = slot_name(place.slot).replace(" ", "")
    low = surface.lower()
    if place.how == "dontcare" or place.value.lower() == "dontcare":
        return f"{slot}={low}"
    if place.how == "boolean":
        return f"{slot}={place.value.lower()}" + ("*free" if low.startswith("free") else "")
    shape = ""
    if language == "en":
        if slot == "type":
            shape = "u" if low in _UNCOUNTED else "s" if low.endswith("s") and not low.endswith("ss") else ""
        elif slot == "area":
            words = low.split()
            shape = "w" if len(words) > 1 else "c" if low in ("centre", "center", "downtown") else "n" if low.endswith(("ern", "al", "ally")) else ""
        elif slot.startswith("price"):
            shape = next((end for end in ("priced", "range", "ly", "er", "est") if low.endswith(end)), "")
        elif slot in ("people", "stay"):
            shape = "1" if low in _ONE else "" if low.isdigit() or low in _NUMBERS else low
        elif "weather" in slot:
            # "Will there be rain", "will it be windy", "will it be raining".
            shape = "v" if low.endswith("ing") else "j" if low.endswith("y") or low in _WEATHER else ""
        elif slot == "day":
            shape = "r" if low in ("today", "tonight", "tomorrow") else "s" if low.endswith("s") else ""
        elif not any(char.isdigit() for char in low) and any(char.isdigit() for char in place.value):
            shape = "w"
    elif slot in ("价位", "制片国家/地区", "类型", "区域"):
        # These agree with what follows ("便宜的", "日剧"): a value inside a word is no value of its own.
        shape = low if low != place.value.lower() else ""
    return f"{slot}*{shape}" if shape else slot


class _Phrase(NamedTuple):
    rest: list[str]
    name: str
    rule: str
    frees: frozenset[str]


@lru_cache(maxsize=4)
def _phrases(language: str) -> dict[str, tuple[_Phrase, ...]]:
    """First word -> the phrases of all classes that begin with it, longest first."""
    table: dict[str, list[_Phrase]] = {}
    for name, rule, frees, phrases in rows(language, "fit"):
        for phrase in alternatives(phrases):
            words = list(phrase) if language == "zh" else phrase.split()
            table.setdefault(words[0], []).append(_Phrase(words[1:], name, rule, frozenset(alternatives(frees))))
    return {first: tuple(sorted(found, key=lambda phrase: -len(phrase.rest))) for first, found in table.items()}


#: How far into an utterance its first words reach, in units.
_START = {"en": 3, "zh": 4}


def classes(units: list[str], slots: Iterable[str], language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The classes of the phrases in a text: those that another wording must share, and those that it may have."""
    table = _phrases(language)
    present = frozenset(slots)
    equal: set[str] = set()
    within: set[str] = set()
    count = len(units)
    reach = _START.get(language, 3)
    reached = 0
    for place in compress(range(count), map(table.__contains__, units)):
        if place < reached:
            continue
        end = 0
        for phrase in table[units[place]]:
            rest = phrase.rest
            last = place + 1 + len(rest)
            if last < end:
                break  # shorter than what was found: hidden by it
            if rest and units[place + 1 : last] != rest:
                continue
            if phrase.rule == "start" and place >= reach:
                continue
            if phrase.rule == "beside" and (last == count or units[last][0] != "["):
                continue
            end = last
            if phrase.rule != "ignore" and present.isdisjoint(phrase.frees):
                (within if phrase.rule == "within" else equal).add(phrase.name)
        reached = max(reached, end)
    return frozenset(equal), frozenset(within)


#: Words of which a clause has at least one; a wording without is a fragment, and answers a question.
_CLAUSE = {
    "en": word_set(
        "i we you it is are do does can could would will what how find book get need want looking let give have has tell yes no thanks "
        "thank bye goodbye "
    ),
}


def is_fragment(units: list[str], language: str) -> bool:
    """Whether a wording is no clause ("2 people please"); never for Chinese, whose clauses need no subject."""
    words = _CLAUSE.get(language)
    return words is not None and words.isdisjoint(units)


_ROLES = (
    ("book", ("book", "offerbooked")),
    ("none", ("nooffer", "nobook")),
    ("request", ("request", "select")),
    ("offer", ("recommend", "inform", "offerbook")),
    ("more", ("reqmore", "welcome", "greet", "bye", "general")),
)


def _role(before: Turn | None) -> str:
    if before is None:
        return "first"
    acts = {act.act.partition("-")[0] for act in before.acts}
    for role, names in _ROLES:
        if not acts.isdisjoint(names):
            return role
    return "request" if before.utterance.rstrip().endswith(("?", "？")) else "offer"
