"""Where slot values stand in a text, and what else in it a perturber must leave alone.

A value is looked for in this order: the corpus' own span; verbatim; a canonical surface form (`surfaces`: times, number words, plurals, the
closed lexicon); for names of six letters and more, nearly verbatim. Matches cover whole tokens: the 7 of 17:30 is not a 7. The longest match
wins, so that "north" in "the north star inn" is not the area north where the inn is a value too. One place is one value; where
several slots hold that value, the rule is: what this turn's acts say, then what its state holds, then the words beside it, then the first;
`ambiguous` says that the rule had to choose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import ClassVar, NamedTuple

from dialmill.perturbers.core import protected
from dialmill.perturbers.core import tokens as tokenisation
from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.matcher import Cut, Hit, Index, join, key_of, prefixes_of
from dialmill.perturbers.core.surfaces import Block, Form, Group, How, block, block_of, closed_index, kind_of, slot_name
from dialmill.schemas import Dialogue, Turn

#: Classes of the closed lexicon whose surfaces are values: a perturbation may neither touch nor bring in one.
VALUE_CLASSES = frozenset({"area", "price", "day", "type", "food", "city", "country", "number", "time"})
#: Classes that a perturbation must not touch in protect mode.
_GUARDED = VALUE_CLASSES | {"negation", "plain", "dontcare", "boolean"}
#: Names at least this long may be found by similarity: at least this ratio, or one edit in eight letters and more.
FUZZY_LENGTH = 6
FUZZY_RATIO = 0.9

Key = tuple[str, str, str]  # domain, slot, value


class Located(NamedTuple):
    """A value's place: ``text[start:end]`` shows `value` of `slot`; `how` tells by which rule, `ambiguous` that other slots were as good."""

    start: int
    end: int
    domain: str
    slot: str
    value: str
    how: How = "verbatim"
    ambiguous: bool = False


class Signal(NamedTuple):
    """A surface of the closed lexicon: its place, class and value."""

    start: int
    end: int
    kind: str
    value: str


def signals(text: str, language: str, units: Cut) -> tuple[Signal, ...]:
    """The surfaces of the closed lexicon in `text` (whose cut is `units`), disjoint, the longest first chosen, in order."""
    index = closed_index(language)
    hits = index.find(text, units)
    if not hits:
        return ()
    bounds = units.bounds
    entries = index.entries
    return tuple([Signal(bounds[first][0], bounds[last - 1][1], *entries[key][0]) for first, last, key in hits])


class View:
    """What a perturber and the checks see of one turn.

    Attributes:
        turn, dialogue, language: the turn, its dialogue, its language code.
        located: the values found, sorted and disjoint.
        hidden: places of values that overlap a located one.
        structural: tokens that programs read (`core.protected`), which no mode touches.
        exact: where the values of a guarded turn stand, which protect mode leaves alone to the byte, capitals included.
        protected: what protect mode leaves alone, as sorted disjoint (start, end) ranges: `structural`, `located`, `hidden`, tokens with digits,
            negation, number words, times, days, words for "no preference", and the other words of the closed classes.
        units, signals, hits: the utterance as the matcher cuts it, the surfaces of the closed lexicon in it, those of the dialogue's values in it.
        locator: the index of the dialogue's values.
    """

    __slots__ = (
        *("_guards", "_tokens", "dialogue", "exact", "hidden", "hits", "language"),
        *("located", "locator", "protected", "signals", "structural", "turn", "units"),
    )

    def __init__(
        self,
        turn: Turn,
        locator: Locator,
        units: Cut,
        signals: tuple[Signal, ...],
        hits: list[Hit],
        located: tuple[Located, ...],
        hidden: list[tuple[int, int]],
    ) -> None:
        self.turn = turn
        self.dialogue = locator.dialogue
        self.language = locator.language
        self.locator = locator
        self.units = units
        self.signals = signals
        self.hits = hits
        self.located = located
        self.hidden = hidden
        self._guards = _guards(units, signals)
        self.structural = protected.ranges(turn.utterance)
        self.exact = merge(turn.exact) if turn.labels else ()
        self.protected = merge([place[:2] for place in located] + self._guards + hidden + list(self.structural))
        self._tokens: tuple[tuple[int, int], ...] | None = None

    @property
    def tokens(self) -> tuple[tuple[int, int], ...]:
        """The word tokens of the utterance, as (start, end)."""
        if self._tokens is None:
            self._tokens = tokenisation.tokens(self.turn.utterance, self.language)
        return self._tokens

    @property
    def guarded(self) -> tuple[tuple[int, int], ...]:
        """What follow mode leaves alone: `structural`, and protected ranges that are no located values. Words for "no preference" stay whole too."""
        values = [place for place in self.located if place.how != "dontcare"]
        return merge([guard for guard in self._guards if not _overlaps(values, *guard)] + list(self.structural))

    def free(self, start: int, end: int) -> bool:
        """Whether an edit of [start, end) touches nothing protected; an insertion (start == end) may stand at the edge of a protected range."""
        return not _overlaps(self.protected, start, end)


def lowerable(surface: str) -> bool:
    """Whether a value says the same without its capitals, as names and words do: no code, postcode or reference, which holds digits among letters
    or is a single word in capitals."""
    letters = any(char.isalpha() for char in surface)
    return not (letters and any(char.isdigit() for char in surface)) and not (len(surface) > 3 and surface.isalpha() and surface.isupper())


def merge(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, disjoint ranges that cover the same places."""
    if len(ranges) < 2:
        return tuple(ranges)
    ranges.sort()
    merged = [ranges[0]]
    reached = ranges[0][1]
    for pair in ranges:
        start, end = pair
        if start >= reached:
            merged.append(pair)
            reached = end
        elif end > reached:
            merged[-1] = (merged[-1][0], end)
            reached = end
    return tuple(merged)


#: Dialogues whose locators are kept for the next perturber: a source, and what the steps of a chain make of it.
_SHARED = 4


class Locator:
    """An index over the surface forms of every value of one dialogue; built once, then quick for each turn.

    `Locator.of` gives the one that another perturber of the same dialogue has built: every suite of a run looks at the same dialogue.
    """

    #: The last locators made, the newest first; replaced as a whole, so that threads may share it.
    _last: ClassVar[tuple[Locator, ...]] = ()

    @classmethod
    def of(cls, dialogue: Dialogue) -> Locator:
        """The locator of a dialogue (of this very object, which is immutable), built if it isn't among those made last."""
        last = cls._last
        if last and last[0].dialogue is dialogue:
            return last[0]
        found = next((one for one in last if one.dialogue is dialogue), None) or cls(dialogue)
        cls._last = (found, *[one for one in last if one is not found][: _SHARED - 1])
        return found

    def __init__(self, dialogue: Dialogue) -> None:
        self._views: dict[int, View] = {}
        self.dialogue = dialogue
        self.language = language = dialogue.language
        turns = dialogue.turns
        keys: dict[Key, None] = {}
        # States repeat from turn to turn; equal cells are taken once.
        for cell in dict.fromkeys(chain.from_iterable([turn.state for turn in turns])):
            for value in cell.values:
                keys[cell.domain, cell.slot, value] = None
        for turn in turns:
            for act in turn.acts:
                if act.value and act.slot is not None:
                    keys[act.domain, act.slot, act.value] = None
            for span in turn.spans:
                keys[span.domain, span.slot, span.value] = None
        if dialogue.goal is not None:
            for cell in chain(dialogue.goal.inform, dialogue.goal.book, dialogue.goal.fail):
                for value in cell.values:
                    keys[cell.domain, cell.slot, value] = None
        #: The values with their kinds -> the slots that hold them.
        self._groups: dict[Group, list[Key]] = {}
        groups = self._groups
        self._blocks: list[Block] = []
        for key in keys:
            group, forms = block_of(key[1], key[2], language)
            members = groups.get(group)
            if members is None:
                groups[group] = [key]
                self._blocks.append(forms)
            else:
                members.append(key)
        self._index: Index[tuple[Form, Group]] = Index()
        self._index.prefixes.update(*[forms.prefixes for forms in self._blocks])
        for forms in self._blocks:
            self._index.add(forms.forms)

    def locate(self, text: str) -> tuple[Located, ...]:
        """The values of the dialogue found in any text, sorted and disjoint."""
        units = Cut(text, self.language)
        return tuple(self._places(self._index.find(text, units), units, None, []))

    def counts(self, text: str, units: Cut) -> Counter[Group]:
        """How often each value of the dialogue stands in `text` (whose cut is `units`), as (kind, value in lower case)."""
        places = self._places(self._index.find(text, units), units, None, [])
        return Counter((kind_of(place.slot, place.value), place.value.lower()) for place in places)

    def keys(self, text: str, units: Cut) -> list[str]:
        """What spells values of the dialogue in `text` (whose cut is `units`), as keys in order."""
        return [hit.key for hit in self._index.find(text, units)]

    def may_hold(self, names: Collection[str]) -> bool:
        """Whether one of these units can be part of a surface of a value; if not, they are part of none."""
        for forms in self._blocks:  # noqa: SIM110
            if not forms.parts.isdisjoint(names):
                return True
        return False

    def view(self, turn: Turn) -> View:
        """The view of a turn of this dialogue, or of a perturbed copy of one."""
        place, turns = turn.turn, self.dialogue.turns
        if not (0 <= place < len(turns) and turns[place] is turn):
            return self._view(turn)
        found = self._views.get(place)
        if found is None:
            found = self._views[place] = self._view(turn)
        return found

    def _view(self, turn: Turn) -> View:
        text = turn.utterance
        units = Cut(text, self.language)
        located: list[Located] = []
        hidden: list[tuple[int, int]] = []
        for span in turn.spans:
            if span.start is not None and span.end is not None:
                if _overlaps(located, span.start, span.end):
                    hidden.append((span.start, span.end))
                else:
                    located.append(Located(span.start, span.end, span.domain, span.slot, span.value, "span"))
        hits = self._index.find(text, units)
        self._places(hits, units, turn, located, hidden)
        found = signals(text, self.language, units)
        if turn.acts:
            self._add_labelled(turn, units, found, located)
        return View(turn, self, units, found, hits, tuple(located), hidden)

    def _places(
        self, hits: list[Hit], units: Cut, turn: Turn | None, located: list[Located], hidden: list[tuple[int, int]] | None = None
    ) -> list[Located]:
        """`located` with every hit that overlaps none of them, sorted; the others go to `hidden`."""
        if hits:
            hits = _timed(hits, units.names, self._index.entries)
            bounds = units.bounds
            preferred: tuple[set[Key], ...] | None = None
            for hit in hits:
                start, end = bounds[hit.first][0], bounds[hit.last - 1][1]
                if located and _within(located, start, end):
                    continue
                entries = self._index.entries[hit.key]
                if self.language == "zh":
                    entries = tuple(entry for entry in entries if _stands_alone(entry[0], hit, units.names))
                    if not entries:
                        continue
                form, group = entries[0]
                key, ambiguous = self._groups[group][0], False
                if len(entries) > 1 or len(self._groups[group]) > 1:
                    if preferred is None:
                        preferred = _labels(turn)
                    form, key, ambiguous = self._choose(entries, _beside(hit, units.names), preferred)
                if hit.last - hit.first <= form.lead + form.tail:
                    continue  # "at7" is one token, and no 7
                # Context at the ends of a form ("at 7") is no part of the place.
                start, end = units.around(bounds[hit.first + form.lead][0], bounds[hit.last - 1 - form.tail][1], key[2])
                if not _overlaps(located, start, end):
                    located.append(Located(start, end, *key, form.how, ambiguous))
                elif hidden is not None:
                    hidden.append((start, end))
        if len(located) > 1:
            located.sort()
        return located

    def _choose(self, entries: tuple[tuple[Form, Group], ...], beside: frozenset[str], preferred: tuple[set[Key], ...]) -> tuple[Form, Key, bool]:
        """Which value of which slot a surface shows where several do: (form, value, whether others were as good)."""
        options = [(form, key) for form, group in entries for key in self._groups[group]]
        for labels in preferred:
            chosen = [option for option in options if option[1] in labels]
            if chosen:
                options = chosen
                break
        if len(options) > 1 and beside:
            options = [option for option in options if slot_name(option[1][1]) in beside] or options
        return (*options[0], len(options) > 1 and len({slot_name(key[1]) for _, key in options}) > 1)

    def _add_labelled(self, turn: Turn, units: Cut, found: tuple[Signal, ...], located: list[Located]) -> None:
        """Adds what only this turn's own acts justify: the words for "dontcare", and names written nearly as labelled."""
        known = {place.value for place in located}
        before = len(located)
        for act in turn.acts:
            if not act.value or act.slot is None or act.value in known:
                continue
            kind = kind_of(act.slot, act.value)
            if kind == "dontcare":
                for signal in found:
                    if signal.kind == "dontcare" and not _overlaps(located, signal.start, signal.end):
                        located.append(Located(signal.start, signal.end, act.domain, act.slot, act.value, "dontcare"))
                        break
            elif kind == "name" and len(act.value) >= FUZZY_LENGTH:
                place = _fuzzy(key_of(act.value, self.language), units, located)
                if place is not None:
                    located.append(Located(*place, act.domain, act.slot, act.value, "fuzzy"))
        if len(located) > before:
            located.sort()


Ranges = Sequence[tuple[int, int]] | Sequence[Located] | Sequence[tuple[int, ...]]


def _labels(turn: Turn | None) -> tuple[set[Key], ...]:
    """What a turn's acts say, and what its state holds."""
    if turn is None:
        return ()
    said = {(act.domain, act.slot, act.value) for act in turn.acts if act.slot and act.value}
    return said, {(cell.domain, cell.slot, value) for cell in turn.state for value in cell.values}


def _overlaps(ranges: Ranges, start: int, end: int) -> bool:
    for taken in ranges:  # noqa: SIM110, a generator costs twice the time
        if taken[0] < end and start < taken[1]:
            return True
    return False


def _within(ranges: Ranges, start: int, end: int) -> bool:
    for taken in ranges:  # noqa: SIM110
        if taken[0] <= start and end <= taken[1]:
            return True
    return False


_NUMERALS = frozenset("零一二两三四五六七八九十百千万0123456789")
_BEFORE_WEEKDAY = frozenset("期周拜")


def _stands_alone(form: Form, hit: Hit, names: Sequence[str]) -> bool:
    """Whether a Chinese numeral is a number of its own: the 三 of 星期三 and of 三十 is not."""
    if form.how not in ("number", "time"):
        return True
    before = names[hit.first - 1][-1] if hit.first else ""
    after = names[hit.last][0] if hit.last < len(names) else ""
    return before not in _NUMERALS and before not in _BEFORE_WEEKDAY and not (after in _NUMERALS and names[hit.last - 1] in _NUMERALS)


_HALF_DAY = frozenset({"am", "pm", "a", "p", "m"})


def _timed(hits: list[Hit], names: Sequence[str], entries: Mapping[str, tuple[tuple[Form | None, Group], ...]]) -> list[Hit]:
    """The hits without hours that are a part of a time which says its half of the day: "at 7" in "at 7 pm", of which "7 pm" is the surface."""
    kept = []
    for hit in hits:
        form = entries[hit.key][0][0] if hit.last < len(names) and names[hit.last] in _HALF_DAY else None
        if form is None or form.how != "time" or names[hit.last - 1] in _HALF_DAY:
            kept.append(hit)
            continue
        for last in (hit.last + 1, hit.last + 2):
            key = join(names[hit.last - 1 : last])
            if key in entries:
                kept.append(Hit(hit.last - 1, last, key))
                break
    return kept


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


#: Words that a name shares with its kind; alone they are near to no name.
_COMMON = frozenset({"the", "a", "at", "restaurant", "hotel", "guesthouse", "house", "guest", "place", "places", "museum", "college", "park", "cafe"})


def _fuzzy(key: str, units: Cut, taken: Ranges) -> tuple[int, int] | None:
    """The run of units that is nearest to `key` and near enough, with equal digits, as (start, end)."""
    names = units.names
    digits = [char for char in key if char.isdigit()]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(key)
    found: list[tuple[float, int, int]] = []
    for first in range(len(names)):
        candidate = ""
        for last in range(first, len(names)):
            candidate += names[last]
            if len(candidate) > len(key) * 1.2:
                break
            if len(candidate) < len(key) * 0.8 or [char for char in candidate if char.isdigit()] != digits:
                continue
            matcher.set_seq1(candidate)
            if matcher.quick_ratio() < 0.85 or _COMMON.issuperset(names[first : last + 1]):
                continue
            ratio = matcher.ratio()
            if ratio >= FUZZY_RATIO or (len(key) >= 8 and distance(candidate, key) <= 1):
                found.append((-ratio, first, last))
    for _, first, last in sorted(found):
        start, end = units.bounds[first][0], units.bounds[last][1]
        if not _overlaps(taken, start, end):
            return start, end
    return None


def _guards(units: Cut, found: tuple[Signal, ...]) -> list[tuple[int, int]]:
    """What is protected whatever the labels say."""
    names = units.names
    ranges = [signal[:2] for signal in found if signal.kind in _GUARDED]
    if not "".join(names).isalpha():
        # Digits and placeholders are not alphabetic; "am" and "p m" belong to the time before them.
        bounds = units.bounds
        for place, name in enumerate(names):
            if not name.isalpha() or (
                name in _HALF_DAY and place and (names[place - 1][-1].isdigit() or (name == "m" and names[place - 1] in ("a", "p")))
            ):
                ranges.append(bounds[place])
    return ranges


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
    units = Cut(text, language)
    kind = kind_of(slot, value)
    if kind == "dontcare":
        for signal in signals(text, language, units):
            if signal.kind == "dontcare" and not _overlaps(taken, signal.start, signal.end):
                return signal.start, signal.end, False
        return None
    index: Index[tuple[Form | None, Group]] = Index()
    own = block(kind, value, language)
    index.add({**own.forms}, own.prefixes)
    for other in longer:
        key = key_of(other, language)
        if key and key not in index.entries:
            index.add({key: ((None, ("", other)),)}, prefixes_of(other, language))
    names, bounds = units.names, units.bounds
    ranked: list[tuple[bool, bool, int, int]] = []
    for hit in _timed(index.find(text, units), names, index.entries):
        form = index.entries[hit.key][0][0]
        if form is None or hit.last - hit.first <= form.lead + form.tail or (language == "zh" and not _stands_alone(form, hit, names)):
            continue
        start, end = units.around(bounds[hit.first + form.lead][0], bounds[hit.last - 1 - form.tail][1], value)
        if not _overlaps(taken, start, end):
            ranked.append((form.how != "verbatim", slot_name(slot) not in _beside(hit, names), start, end))
    if ranked:
        best = min(ranked)
        return best[2], best[3], sum(rank[:2] == best[:2] for rank in ranked) > 1
    if kind == "name" and len(value) >= FUZZY_LENGTH:
        place = _fuzzy(key_of(value, language), units, taken)
        if place is not None:
            return (*place, False)
    return None
