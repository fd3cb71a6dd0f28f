"""Where slot values stand in a text, and what else in it a perturber must leave alone.

A value is looked for in this order: the corpus' own span; verbatim; a canonical surface form (`surfaces`: times, number words, plurals, the
closed lexicon); for names of six letters and more, nearly verbatim. Matches cover whole tokens: the 7 of 17:30 is not a 7. The longest match
wins, so that "north" in "the north star inn" is not the area north where the inn is a value too. One place is one value; where
several slots hold that value, the rule is: what this turn's acts say, then what is new in its state, then the words beside it, then the first;
`ambiguous` says that the rule had to choose.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from schemas import Dialogue, Turn

from . import tokens as tokenisation
from .surfaces import Form, closed_index, forms, key_of, kind_of, slot_name, units

How = Literal["span", "verbatim", "number", "time", "boolean", "dontcare", "lexicon", "form", "fuzzy"]

#: Classes of the closed lexicon whose surfaces are values: a perturbation may neither touch nor bring in one.
VALUE_CLASSES = frozenset({"area", "price", "day", "type", "food", "city", "country", "number", "time"})
#: Classes that a perturbation must not touch in protect mode.
_GUARDED = VALUE_CLASSES | {"negation", "dontcare", "boolean"}
#: Names at least this long may be found by similarity.
FUZZY_LENGTH = 6
FUZZY_RATIO = 0.9


@dataclass(frozen=True, slots=True)
class Located:
    """A value's place: ``text[start:end]`` shows `value` of `slot`; `how` tells by which rule, `ambiguous` that others were as good."""

    start: int
    end: int
    domain: str
    slot: str
    value: str
    how: str = "verbatim"
    ambiguous: bool = False


class Signal(NamedTuple):
    """A surface of the closed lexicon: its place, class and value."""

    start: int
    end: int
    kind: str
    value: str


class Hit(NamedTuple):
    """A match of the index, in units: from `first` up to `last`, exclusive."""

    first: int
    last: int
    key: str


Key = tuple[str, str, str]  # domain, slot, value


def scan(names: Sequence[str], heads: dict[str, int], index: Container[str]) -> list[Hit]:
    """All keys of `index` that runs of units spell. `heads` holds, by the first two characters of the keys, the longest key's length."""
    hits: list[Hit] = []
    count = len(names)
    for first in range(count):
        key = names[first]
        longest = heads.get(key[:2])
        last = first + 1
        if longest is None or len(key) == 1:
            # A head of one character stands for itself, or for the beginning of a longer key.
            if len(key) > 1:
                continue
            longest = longest or 0
            if last < count:
                following = names[last]
                longest = max(longest, heads.get(key + (" " if key.isdigit() and following[0].isdigit() else following[0]), 0))
            if not longest:
                continue
        while True:
            if key in index:
                hits.append(Hit(first, last, key))
            if last == count or len(key) >= longest:
                break
            following = names[last]
            key += " " + following if key[-1].isdigit() and following[0].isdigit() else following
            last += 1
    return hits


_BREAK = re.compile(r"[?!;\n。？！；]")


def longest_hits(hits: list[Hit], text: str, starts: Sequence[int], ends: Sequence[int]) -> list[Hit]:
    """Disjoint hits in order, longer before shorter, earlier before later; none runs across the end of a sentence."""
    if len(hits) > 1:
        hits = sorted(hits, key=lambda hit: (starts[hit.first] - ends[hit.last - 1], hit.first))
    taken: set[int] = set()
    kept: list[Hit] = []
    for hit in hits:
        if hit.last - hit.first == 1:
            if hit.first in taken:
                continue
            taken.add(hit.first)
        else:
            if not taken.isdisjoint(range(hit.first, hit.last)) or _BREAK.search(text, ends[hit.first], starts[hit.last - 1]):
                continue
            taken.update(range(hit.first, hit.last))
        kept.append(hit)
    kept.sort()
    return kept


def signals(text: str, language: str) -> tuple[Signal, ...]:
    """The surfaces of the closed lexicon in `text`, longest first chosen, in order."""
    cut = units(text, language)
    return _signals(text, language, cut)


def _signals(text: str, language: str, cut: tuple[list[str], list[int], list[int]]) -> tuple[Signal, ...]:
    names, starts, ends = cut
    heads, index = closed_index(language)
    found = []
    for hit in longest_hits(scan(names, heads, index), text, starts, ends):
        kind, value = index[hit.key][0]
        found.append(Signal(starts[hit.first], ends[hit.last - 1], kind, value))
    return tuple(found)


class View:
    """What a perturber and the checks see of one turn.

    Attributes:
        turn, dialogue, language: the turn, its dialogue, its language code.
        located: the values found, sorted and disjoint.
        guarded: what no perturbation may touch in any mode: placeholders, negation, other numbers, times, words of the closed classes.
        protected: `located` and `guarded` together, as sorted disjoint (start, end) ranges: what protect mode leaves alone.
    """

    __slots__ = ("_ends", "_starts", "_tokens", "dialogue", "guarded", "language", "located", "locator", "protected", "signals", "turn")

    def __init__(
        self,
        turn: Turn,
        dialogue: Dialogue,
        located: tuple[Located, ...],
        guarded: tuple[tuple[int, int], ...] = (),
        signals: tuple[Signal, ...] = (),
        locator: Locator | None = None,
    ) -> None:
        self.turn = turn
        self.locator = locator or Locator(dialogue)
        self.dialogue = dialogue
        self.language = dialogue.language
        self.located = located
        self.signals = signals
        self.guarded = guarded
        self.protected = merge([*[(place.start, place.end) for place in located], *guarded])
        self._starts = [start for start, _ in self.protected]
        self._ends = [end for _, end in self.protected]
        self._tokens: tuple[tuple[int, int], ...] | None = None

    @property
    def tokens(self) -> tuple[tuple[int, int], ...]:
        """The word tokens of the utterance, as (start, end)."""
        if self._tokens is None:
            self._tokens = tokenisation.tokens(self.turn.utterance, self.language)
        return self._tokens

    def free(self, start: int, end: int) -> bool:
        """Whether an edit of [start, end) touches nothing protected; an insertion (start == end) may stand at the edge of a protected range."""
        before = bisect_right(self._starts, start) - 1
        if before >= 0 and self._ends[before] > start and (end > start or self._starts[before] < start):
            return False
        return before + 1 >= len(self._starts) or self._starts[before + 1] >= end


def merge(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, disjoint ranges that cover the same places."""
    if len(ranges) < 2:
        return tuple(ranges)
    ranges.sort()
    merged = [ranges[0]]
    for start, end in ranges[1:]:
        if start < merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


class Locator:
    """An index over the surface forms of every value of one dialogue; built once, then quick for each turn."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.language = dialogue.language
        self._keys: dict[Key, None] = {}
        self._index: dict[str, list[tuple[Form, Key]]] = {}
        self._heads: dict[str, int] = {}
        keys = self._keys
        for turn in dialogue.turns:
            for cell in turn.state:
                for value in cell.values:
                    keys[cell.domain, cell.slot, value] = None
            for act in turn.acts:
                if act.value is not None and act.slot is not None:
                    keys[act.domain, act.slot, act.value] = None
            for span in turn.spans:
                keys[span.domain, span.slot, span.value] = None
        goal = dialogue.goal
        if goal is not None:
            for cell in (*goal.inform, *goal.book, *goal.fail):
                for value in cell.values:
                    keys[cell.domain, cell.slot, value] = None
        groups: dict[tuple[str, str], list[Key]] = {}
        for key in keys:
            groups.setdefault((kind_of(key[1], key[2]), key[2]), []).append(key)
        index, heads, language = self._index, self._heads, self.language
        for (kind, value), members in groups.items():
            for form in forms(kind, value, language):
                surface = form.key
                entries = index.get(surface)
                if entries is None:
                    index[surface] = entries = []
                    head = surface[:2]
                    if heads.get(head, 0) < len(surface):
                        heads[head] = len(surface)
                entries += [(form, key) for key in members]

    def counts(self, text: str) -> Counter[tuple[str, str]]:
        """How often each value of the dialogue stands in `text`, as (kind, value)."""
        names, starts, ends = units(text, self.language)
        found: Counter[tuple[str, str]] = Counter()
        for hit in longest_hits(scan(names, self._heads, self._index), text, starts, ends):
            form, key, _ = self._choose(hit, names, None)
            if form is not None and key is not None:
                found[kind_of(key[1], key[2]), key[2].lower()] += 1
        return found

    def locate(self, text: str) -> tuple[Located, ...]:
        """The values of the dialogue found in any text, sorted and disjoint."""
        return self._locate(text, units(text, self.language), None)

    def view(self, turn: Turn) -> View:
        """The view of a turn of this dialogue, or of a perturbed copy of one."""
        text = turn.utterance
        cut = units(text, self.language)
        found = _signals(text, self.language, cut)
        located = self._locate(text, cut, turn, found)
        return View(turn, self.dialogue, located, _guards(cut, found), found, self)

    def _locate(
        self, text: str, cut: tuple[list[str], list[int], list[int]], turn: Turn | None, found: tuple[Signal, ...] = ()
    ) -> tuple[Located, ...]:
        names, starts, ends = cut
        places: list[Located] = []
        covered: list[tuple[int, int]] = []
        if turn is not None:
            for span in turn.spans:
                if span.start is not None and span.end is not None and not _overlaps(covered, span.start, span.end):
                    places.append(Located(span.start, span.end, span.domain, span.slot, span.value, "span"))
                    covered.append((span.start, span.end))
        hits = scan(names, self._heads, self._index)
        if hits:
            for hit in longest_hits(hits, text, starts, ends):
                form, key, ambiguous = self._choose(hit, names, turn)
                if form is None or key is None:
                    continue
                start, end = starts[hit.first + form.lead], ends[hit.last - 1 - form.tail]
                if not _overlaps(covered, start, end):
                    places.append(Located(start, end, *key, form.how, ambiguous))
                    covered.append((start, end))
        if turn is not None:
            places += self._for_turn(text, cut, turn, covered, found)
        places.sort(key=lambda place: place.start)
        return tuple(places)

    def _choose(self, hit: Hit, names: Sequence[str], turn: Turn | None) -> tuple[Form | None, Key | None, bool]:
        """Which value of which slot a hit shows."""
        entries = self._index[hit.key]
        if self.language == "zh":
            entries = [entry for entry in entries if _zh_numeral_stands_alone(entry[0], hit, names)]
            if not entries:
                return None, None, False
        if len(entries) == 1:
            return (*entries[0], False)
        if turn is not None:
            said = {(act.domain, act.slot, act.value) for act in turn.acts}
            for preferred in (said, {(cell.domain, cell.slot, value) for cell in turn.state for value in cell.values}):
                chosen = [entry for entry in entries if entry[1] in preferred]
                if chosen:
                    entries = chosen
                    break
        if len(entries) > 1:
            beside = _beside(hit, names)
            if beside:
                entries = [entry for entry in entries if slot_name(entry[1][1]) in beside] or entries
        form, key = entries[0]
        return form, key, len({slot_name(entry[1][1]) for entry in entries}) > 1

    def _for_turn(
        self,
        text: str,
        cut: tuple[list[str], list[int], list[int]],
        turn: Turn,
        covered: list[tuple[int, int]],
        found: tuple[Signal, ...],
    ) -> list[Located]:
        """What only this turn's own labels justify: triggers of "dontcare", and names written nearly as labelled."""
        places: list[Located] = []
        for act in turn.acts:
            if act.value is None or act.slot is None or act.value == "?":
                continue
            kind = kind_of(act.slot, act.value)
            if kind == "dontcare":
                for signal in found:
                    if signal.kind == "dontcare" and not _overlaps(covered, signal.start, signal.end):
                        places.append(Located(signal.start, signal.end, act.domain, act.slot, act.value, "dontcare"))
                        covered.append((signal.start, signal.end))
                        break
            elif kind == "name" and len(act.value) >= FUZZY_LENGTH:
                key = key_of(act.value, self.language)
                if key and key not in "".join(cut[0]):
                    place = _fuzzy(key, cut, covered)
                    if place is not None:
                        places.append(Located(*place, act.domain, act.slot, act.value, "fuzzy"))
                        covered.append(place)
        return places


def _overlaps(covered: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(s < end and start < e for s, e in covered)


_NUMERALS = frozenset("零一二两三四五六七八九十百千万0123456789")
_BEFORE_WEEKDAY = frozenset("期周拜")


def _zh_numeral_stands_alone(form: Form, hit: Hit, names: Sequence[str]) -> bool:
    """Whether a Chinese numeral is a number of its own: the 三 of 星期三 and of 三十 is not."""
    if form.how not in ("number", "time"):
        return True
    before = names[hit.first - 1][-1] if hit.first else ""
    after = names[hit.last][0] if hit.last < len(names) else ""
    return before not in _NUMERALS and before not in _BEFORE_WEEKDAY and not (after and after in _NUMERALS and names[hit.last - 1] in _NUMERALS)


#: Words beside a value -> the slots they speak for.
_CONTEXT: dict[str, frozenset[str]] = {
    word: frozenset(slots.split("|"))
    for words, slots in (
        ("people person persons guests adults 人 位", "people|party size|party_size"),
        ("night nights day days 天 晚", "stay|number_of_days"),
        ("star stars 星", "stars|星级"),
        ("by before arrive arrives arriving", "arrive|arriveby|arrive by"),
        ("after leave leaves leaving depart departing", "leave|leaveat|leave at"),
        ("from departing", "depart|departure|from|出发地"),
        ("to going", "dest|destination|to|目的地"),
    )
    for word in words.split()
}


def _beside(hit: Hit, names: Sequence[str]) -> frozenset[str]:
    """The slots that the words beside a hit speak for: the one after it, else the two before it."""
    if hit.last < len(names) and names[hit.last] in _CONTEXT:
        return _CONTEXT[names[hit.last]]
    for place in (hit.first, hit.first - 1, hit.first - 2):
        if place >= 0 and names[place] in _CONTEXT:
            return _CONTEXT[names[place]]
    return frozenset()


def _fuzzy(key: str, cut: tuple[list[str], list[int], list[int]], covered: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The best run of units that is nearly `key` (similarity at least FUZZY_RATIO, all digits equal), as (start, end)."""
    names, starts, ends = cut
    best: tuple[float, int, int] | None = None
    digits = [char for char in key if char.isdigit()]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(key)
    for first in range(len(names)):
        candidate = ""
        for last in range(first, len(names)):
            candidate += names[last]
            if len(candidate) > len(key) * 1.2:
                break
            if len(candidate) < len(key) * 0.8 or [char for char in candidate if char.isdigit()] != digits:
                continue
            matcher.set_seq1(candidate)
            if matcher.real_quick_ratio() < FUZZY_RATIO or matcher.quick_ratio() < FUZZY_RATIO:
                continue
            ratio = matcher.ratio()
            if ratio >= FUZZY_RATIO and (best is None or ratio > best[0]) and not _overlaps(covered, starts[first], ends[last]):
                best = (ratio, starts[first], ends[last])
    return None if best is None else best[1:]


@lru_cache(maxsize=4096)
def _plain_unit(name: str) -> bool:
    """Whether a unit holds neither digits nor a placeholder."""
    return name[0] not in "[<" and not any(char.isdigit() for char in name)


def _guards(cut: tuple[list[str], list[int], list[int]], found: tuple[Signal, ...]) -> tuple[tuple[int, int], ...]:
    names, starts, ends = cut
    ranges = [(signal.start, signal.end) for signal in found if signal.kind in _GUARDED]
    for place, name in enumerate(names):
        if not _plain_unit(name) or (name in ("am", "a") and place and names[place - 1][-1].isdigit()):
            ranges.append((starts[place], ends[place]))
    return merge(ranges)


def find_span(
    text: str,
    value: str,
    slot: str = "",
    language: str = "en",
    taken: Sequence[tuple[int, int]] = (),
    longer: Sequence[str] = (),
) -> tuple[int, int, bool] | None:
    """The best place of one value in a text, for a source whose corpus has no span for it or a wrong one.

    Args:
        text: the utterance.
        value, slot: the label; `slot` decides the kind of surface forms and which words beside a place speak for it.
        language: of the text.
        taken: ranges that hold other values already.
        longer: other values of the turn; a place inside one of them is not this value ("north" in "the north star inn").

    Returns:
        (start, end, ambiguous), or None where the text does not show the value.
    """
    cut = units(text, language)
    names, starts, ends = cut
    kind = kind_of(slot, value)
    if kind == "dontcare":
        for signal in _signals(text, language, cut):
            if signal.kind == "dontcare" and not _overlaps(list(taken), signal.start, signal.end):
                return signal.start, signal.end, False
        return None
    own = {form.key: form for form in forms(kind, value, language)}
    others = {key: None for other in longer if other != value and (key := key_of(other, language)) and key not in own}
    heads: dict[str, int] = {}
    for key in (*own, *others):
        heads[key[:2]] = max(heads.get(key[:2], 0), len(key))
    ranked: list[tuple[tuple[bool, bool], int, int]] = []
    for hit in longest_hits(scan(names, heads, {**dict.fromkeys(own), **others}), text, starts, ends):
        form = own.get(hit.key)
        if form is None or (language == "zh" and not _zh_numeral_stands_alone(form, hit, names)):
            continue
        start, end = starts[hit.first + form.lead], ends[hit.last - 1 - form.tail]
        if not _overlaps(list(taken), start, end):
            beside = _beside(hit, names)
            ranked.append(((form.how != "verbatim", slot_name(slot) not in beside), start, end))
    if ranked:
        ranked.sort()
        best = ranked[0]
        return best[1], best[2], sum(rank[0] == best[0] for rank in ranked) > 1
    if kind == "name" and len(value) >= FUZZY_LENGTH:
        place = _fuzzy(key_of(value, language), cut, list(taken))
        if place is not None:
            return (*place, False)
    return None
