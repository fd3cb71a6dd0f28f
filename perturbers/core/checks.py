"""What certifies a variant: the values are there, none came in, negation holds, what was asked is still asked, the act still fits.

Each check works on whole tokens and on what the edits touched; none of them compares embeddings, for which cheap and expensive are nearly the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core import clock, exclamations, protected
from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.graphemes import inner_places
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.matcher import BREAK, Cut
from dialmill.perturbers.core.surfaces import closed_parts, kind_of, slot_name
from dialmill.perturbers.core.values import VALUE_CLASSES, Located, Locator, Signal, View, lowerable, signals
from dialmill.schemas import Act, Dialogue, Edit, Turn
from dialmill.schemas.edits import compose, invert


def certify(view: View, after: Turn, mode: str) -> str | None:
    """Why the labels of a turn don't hold for its variant, or None where they do.

    Args:
        view: the turn before the step that is being certified.
        after: the turn after it.
        mode: "protect", every located value stays as it is to the byte; or "follow", a value may be misspelt, but not become another value.

    Returns:
        None, or `value_lost: SLOT=VALUE`, `value_swapped: SLOT=VALUE`, `value_added: SLOT=VALUE`, `negation_changed`, `request_lost: SLOT`,
        `act_changed: ACT`, `protected_token_lost`, `character_broken`, `nothing_left`.
    """
    before = view.turn
    edits = after.edits if before.original is None else edits_between(before, after)
    text = after.utterance
    for span in after.spans:
        if span.start is not None and text[span.start : span.end] != span.text:
            raise AssertionError(f"span {span} does not match its utterance")
    if view.structural and protected.lost(before.utterance, text) is not None:
        return "protected_token_lost"  # First: a token of programs is none of the words that the comparison below looks at.
    if not any(map(str.isalnum, text)) and any(map(str.isalnum, before.utterance)):
        return "nothing_left"  # A greeting says little, but a turn in which nothing is said is none.
    if _cuts_a_cluster(before.utterance, text, edits):
        return "character_broken"
    if mode == "protect" and view.exact and (value := protected.lost(before.utterance, text, view.exact)) is not None:
        return f"value_lost: {value}"
    language = view.language
    compared = None if language == "zh" else _compared(view, text, edits)
    if compared is not None:
        names, changed, fresh = compared
        if _telling(language).isdisjoint(changed) and _cues(language).get("ask", frozenset()).isdisjoint(fresh):
            return None
        problem = None
    else:
        units = Cut(text, language)
        names = units.names
        found = signals(text, language, units)
        problem = _values(view, text, edits, units, found, mode) or _classes(view.signals, found, mode) or _additions(view, text, edits, units)
    if problem:
        return problem
    said, says = (list(exclamations.without(one, language)) for one in (view.units.names, names))
    return _requests(before, said, says, language) or _acts(before, said, says, language)


def _cuts_a_cluster(before: str, after: str, edits: Sequence[Edit]) -> bool:
    """Whether an edit begins or ends inside what people see as one character, of the text before it or of the one that it made."""
    old, new = inner_places(before), inner_places(after)
    if not old and not new:
        return False
    shift = 0
    for edit in edits:
        if edit.start in old or edit.end in old or edit.start + shift in new:
            return True
        shift += len(edit.replacement) - (edit.end - edit.start)
        if edit.end + shift in new:
            return True
    return False


def old_values_left(before: Dialogue, after: Dialogue) -> tuple[OldValue, ...]:
    """The old values of changed slots that still stand in a relabelled dialogue, in any spelling that `surfaces` knows.

    A text is searched for the values that the labels had and for those that they have at once, so that an old value inside a new one, or in a
    spelling that both share, is none.

    Args:
        before: the dialogue before a step that relabels.
        after: the dialogue after it; its labels stand in the same order.
    """
    was, now = labels_of(before), labels_of(after)
    kept = {(value.lower(), kind_of(slot, value)) for _, slot, value in now}
    if len(was) != len(now):
        return ()
    changed = {one: None for one, other in zip(was, now, strict=True) if one != other}
    old = [one for one in changed if (one[2].lower(), kind_of(one[1], one[2])) not in kept]
    if not old:
        return ()
    # The labels of now come first: of a spelling that shows both, the new value is taken.
    probe = tuple(Act("inform", domain, slot, value) for domain, slot, value in (*dict.fromkeys(now), *old))
    locator = Locator(after.replace(turns=(Turn(0, "user", "", acts=probe),), goal=None))
    sought = set(old)
    found: dict[OldValue, None] = {}
    for turn in after.turns:
        for place in locator.locate(turn.utterance):
            if (place.domain, place.slot, place.value) in sought and not _no_hour(turn.utterance, place, before.language):
                found[OldValue(place.slot, place.value)] = None
    return tuple(found)


def _no_hour(text: str, place: Located, language: str) -> bool:
    """Whether a number that is written like an hour is none to the module that reads times: "at one of them", "about 9 places"."""
    if place.how != "time" or ":" in text[place.start : place.end]:
        return False
    minutes = clock.minutes_of(place.value)
    return minutes is not None and not any(
        time.start < place.end and place.start < time.end for time in clock.times(text, language, frozenset({minutes}))
    )


class OldValue(NamedTuple):
    """A value that a relabelling took from a slot."""

    slot: str
    value: str

    def __str__(self) -> str:
        return f"old_value_left: {self.slot}={self.value}"


def labels_of(dialogue: Dialogue) -> list[tuple[str, str, str]]:
    """Every label of a dialogue as (domain, slot, value), in a fixed order: of acts, spans and states, and of the goal."""
    found: list[tuple[str, str, str]] = []
    for turn in dialogue.turns:
        found += [(act.domain, act.slot, act.value) for act in turn.acts if act.slot and act.value]
        found += [(span.domain, span.slot, span.value) for span in turn.spans]
        found += [(cell.domain, cell.slot, value) for cell in turn.state for value in cell.values]
    if dialogue.goal is not None:
        for cell in (*dialogue.goal.inform, *dialogue.goal.book, *dialogue.goal.fail):
            found += [(cell.domain, cell.slot, value) for value in cell.values]
    return found


def _compared(view: View, text: str, edits: Sequence[Edit]) -> tuple[list[str], list[str], list[str]] | None:
    """The units of `text`, those that changed, and what became of these, where the edits can have touched no value; None where the long way is due.

    That is so for most typos, and saves looking at the whole text. The units that the edits touched are compared with what became of them, one by
    one. Those that changed may be no part of anything protected, and what they became no part of a value or a surface of the closed lexicon.
    Capitals and punctuation matter behind a name alone, which they can end or make longer, and where they part sentences.
    """
    before, protected = view.turn.utterance, view.protected
    bounds, names = view.units.bounds, view.units.names
    after = names.copy()
    changed: list[str] = []
    fresh: list[str] = []
    shift = 0
    latest = -1  # the last unit that was compared
    for edit in edits:
        start, end, replacement = edit.start, edit.end, edit.replacement
        first = bisect_left(bounds, (start + 1,)) - 1  # the last unit that begins at or before the edit
        left, right = bounds[first] if first >= 0 else (0, 0)
        touched = before[start:end] + replacement
        letters = touched.isalpha()
        name = names[first] if letters and first > latest and end <= right else ""
        if len(name) == right - left and name.isalpha() and (name + touched).isascii():
            # Letters inside a word: the unit became another, and its neighbours are the same.
            last = first + 1
            old, new = [name], [name[: start - left] + replacement.lower() + name[end - left :]]
        else:
            # Units never hold blanks: between those around the edit stand the same units as in a cut of that part alone.
            left, right = before.rfind(" ", 0, start) + 1, _blank(before, end)
            first, last = bisect_left(bounds, (left,)), bisect_left(bounds, (right,))
            became = text[text.rfind(" ", 0, start + shift) + 1 : _blank(text, start + shift + len(replacement))]
            old, new = names[first:last], Cut(became, view.language).names
        latest = last - 1
        shift += len(replacement) - (end - start)
        if old == new:
            left, right = start, end
        else:
            if len(old) != len(new) or not all(new) or _in_a_surface(view, first, last, left, right):
                return None
            after[first:last] = new
            for one, other in zip(old, new, strict=True):
                if one != other:
                    changed.append(one)
                    fresh.append(other)
        for place in protected:
            if place[0] < right and left < place[1]:
                return None
        if not (letters and touched.islower()) and ((not letters and BREAK.search(touched)) or _behind_a_value(view, start)):
            return None
    if not _additive(view.language).isdisjoint(fresh) or view.locator.may_hold(fresh):
        return None
    return after, changed, fresh


def _in_a_surface(view: View, first: int, last: int, left: int, right: int) -> bool:
    """Whether the units from `first` up to `last`, at [left, right), are part of a surface of the lexicon. One that falls apart can set another free,
    and not all of it need be protected: the number in "at 7", the negation in "phone no"."""
    return any(hit.first < last and first < hit.last for hit in view.hits) or any(
        signal.start < right and left < signal.end for signal in view.signals
    )


def _behind_a_value(view: View, start: int) -> bool:
    """Whether an edit begins where it can end a name or make it longer."""
    return any(located.end <= start <= located.end + 2 for located in view.located)


def _blank(text: str, place: int) -> int:
    """The first blank at or after `place`, or the end."""
    found = text.find(" ", place)
    return len(text) if found < 0 else found


@lru_cache(maxsize=8)
def _additive(language: str) -> frozenset[str]:
    """The words that can add a value when they come in, whatever the dialogue: of the closed lexicon, and of longer names."""
    return closed_parts(language) | _VENUE


@lru_cache(maxsize=8)
def _telling(language: str) -> frozenset[str]:
    """The words that show an act or a request."""
    acts = [words for act, words in _cues(language).items() if act != "ask"]
    return frozenset().union(*acts, *_request_words(language).values())


def edits_between(before: Turn, after: Turn) -> Sequence[Edit]:
    """The edits that lead from the utterance of `before` to that of `after`, two states of one source turn."""
    if before.original is None:
        return after.edits
    return refined(before.utterance, compose(before.utterance, invert(before.original, before.edits), after.edits))


_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


def refined(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The same change word by word: an edit over several words, as one that wrote a turn anew leaves behind, becomes edits of those that differ."""
    fine: list[Edit] = []
    for edit in edits:
        old, new = _PIECES.findall(text[edit.start : edit.end]), _PIECES.findall(edit.replacement)
        if len(old) < 4 or len(new) < 4:
            fine.append(edit)
            continue
        places = [edit.start]
        for piece in old:
            places.append(places[-1] + len(piece))
        for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                fine.append(Edit(places[i], places[j], "".join(new[k:m])))
    return tuple(fine)


def moved(start: int, end: int, edits: Sequence[Edit]) -> tuple[int, int, bool]:
    """Where [start, end) stands after `edits`, and whether one of them touched it. An insertion at its edge stays outside."""
    shift = inside = 0
    touched = False
    for edit in edits:
        if edit.start >= end:
            break
        change = len(edit.replacement) - (edit.end - edit.start)
        if edit.end <= start:
            shift += change
        else:
            touched = True
            inside += change
            start = min(start, edit.start)
            end = max(end, edit.end)
    return start + shift, end + shift + inside, touched


def _values(view: View, text: str, edits: Sequence[Edit], units: Cut, found: Iterable[Signal], mode: str) -> str | None:
    for place in view.located:
        start, end, touched = moved(place.start, place.end, edits)
        if not touched:
            # Its text is the same; its ends must be ends of tokens if they were, which an edit beside it can change.
            if any(place.start - 2 <= edit.end and edit.start <= place.end + 2 for edit in edits) and not _whole(view, place, units, start, end):
                return f"value_lost: {place.slot}={place.value}"
        elif mode == "protect" and lowerable(old := view.turn.utterance[place.start : place.end]) and text[start:end] == old.lower():
            continue  # it has lost its capitals, with the rest of the turn
        elif mode == "protect" or start >= end:
            return f"value_lost: {place.slot}={place.value}"
        elif _swapped(view, view.turn.utterance[place.start : place.end], text[start:end], start, end, found):
            return f"value_swapped: {place.slot}={place.value}"
    if mode == "protect":
        for start, end in view.hidden:
            new_start, new_end, touched = moved(start, end, edits)
            if touched and text[new_start:new_end] != view.turn.utterance[start:end].lower():
                return f"value_lost: {view.turn.utterance[start:end]}"
    return None


def _whole(view: View, place: Located, units: Cut, start: int, end: int) -> bool:
    """Whether a place whose ends were ends of units still has such ends at [start, end) of the text cut into `units`."""
    before = view.units.bounds
    return (any(a == start for a, _ in units.bounds) or all(a != place.start for a, _ in before)) and (
        any(b == end for _, b in units.bounds) or all(b != place.end for _, b in before)
    )


def _swapped(view: View, old: str, new: str, start: int, end: int, found: Iterable[Signal]) -> bool:
    """Whether a touched value now reads as another one."""
    digits = [char for char in new if char.isdigit()]
    if digits and digits != [char for char in old if char.isdigit()]:
        return True
    was = {(signal.kind, signal.value) for signal in signals(old, view.language, Cut(old, view.language))}
    now = {(signal.kind, signal.value) for signal in found if signal.start < end and start < signal.end and signal.kind in VALUE_CLASSES}
    if now - was:
        return True
    return bool({place.value.lower() for place in view.locator.locate(new)} - {place.value.lower() for place in view.locator.locate(old)})


def _classes(before: Sequence[Signal], after: Sequence[Signal], mode: str) -> str | None:
    """Negation parity, and the closed classes: none more than before, and in protect mode none less."""
    if [(s.kind, s.value) for s in before] == [(s.kind, s.value) for s in after]:
        return None
    old = Counter((s.kind, s.value) for s in before)
    new = Counter((s.kind, s.value) for s in after)
    for kind, reason in (("negation", "negation_changed"), ("dontcare", "value_lost: dontcare")):
        if sum(n for (k, _), n in old.items() if k == kind) != sum(n for (k, _), n in new.items() if k == kind):
            return reason
    for key in new - old:
        if key[0] in VALUE_CLASSES:
            return f"value_added: {key[0]}={key[1]}"
    if mode == "protect":
        for key in old - new:
            if key[0] in VALUE_CLASSES or key[0] == "boolean":
                return f"value_lost: {key[0]}={key[1]}"
    return None


#: Words that make a longer name of the name before them.
_VENUE = frozenset(
    {
        "bar",
        "cafe",
        "cottage",
        "court",
        "garden",
        "gardens",
        "grill",
        "hall",
        "hotel",
        "house",
        "inn",
        "kitchen",
        "lodge",
        "palace",
        "place",
        "restaurant",
        "room",
        "tavern",
        "villa",
    }
)


def _additions(view: View, text: str, edits: Sequence[Edit], units: Cut) -> str | None:
    """Values of the dialogue that came in, and names that grew ("the Lotus" to "the Lotus Garden")."""
    if view.locator.keys(text, units) != [hit.key for hit in view.hits]:
        for kind, value in view.locator.counts(text, units) - view.locator.counts(view.turn.utterance, view.units):
            return f"value_added: {kind}={value}"
    if view.language == "zh":
        return None
    for place in view.located:
        if kind_of(place.slot, place.value) != "name":
            continue  # "a cheap place" is cheap, "the Lotus Garden" is another restaurant than the Lotus
        if any(0 <= edit.start - place.end <= 1 and edit.replacement.strip() for edit in edits):
            _, end, touched = moved(place.start, place.end, edits)
            following = None if touched else _next_word(text, units, end)
            if following is not None:
                word, capital = following
                was, _ = _next_word(view.turn.utterance, view.units, place.end) or ("", False)
                if word != was and (word in _VENUE or capital) and distance(word, was) > 2:
                    return f"value_added: {place.slot}={place.value} {word}"
    return None


def _next_word(text: str, units: Cut, end: int) -> tuple[str, bool] | None:
    """The unit that follows `end` with nothing but blanks between, and whether it has a capital; None if punctuation comes first."""
    following = bisect_left(units.bounds, (end, end))
    if following == len(units.bounds):
        return None
    start = units.bounds[following][0]
    return None if text[end:start].strip() else (units.names[following], text[start].isupper())


@lru_cache(maxsize=8)
def _request_words(language: str) -> dict[str, frozenset[str]]:
    """Slot -> the words that ask for it."""
    table: dict[str, frozenset[str]] = {}
    for slots, words in rows(language, "requests"):
        for slot in alternatives(slots):
            table[slot] = frozenset(alternatives(words))
    return table


@lru_cache(maxsize=8)
def _cues(language: str) -> dict[str, frozenset[str]]:
    """Act -> the words that show it."""
    return {act: frozenset(alternatives(words)) for act, words in rows(language, "cues")}


def _requests(turn: Turn, before: list[str], after: list[str], language: str) -> str | None:
    for act in turn.acts:
        if act.slot is None or act.value not in (None, "", "?") or "request" not in act.act:
            continue
        words = _request_words(language).get(slot_name(act.slot))
        if words and not _kept(words, before, after, language):
            return f"request_lost: {act.slot}"
    return None


def _kept(words: frozenset[str], before: list[str], after: list[str], language: str) -> bool:
    """Whether one of `words` still stands in the text, or a tolerated misspelling of one that did. True where none did before."""
    if language == "zh":
        old, new = "".join(before), "".join(after)
        stood = [word for word in words if word in old]
        return not stood or any(word in new for word in words) or any(_near_zh(word, new) for word in stood)
    if words.isdisjoint(before) or not words.isdisjoint(after):
        return True
    stood = [name for name in before if name in words]
    # What came in is looked at first: it is the misspelling, if there is one.
    names = sorted(after, key=before.__contains__)
    for word in stood:
        size = len(word)
        slack = 2 if size >= 4 else 1
        for name in names if size >= 3 else ():
            if abs(len(name) - size) <= slack and distance(word, name) <= slack:
                return True
    return False


def _near_zh(word: str, text: str) -> bool:
    """Whether a run of `text` shares at least half of the characters of `word`, place by place."""
    size = len(word)
    return size > 1 and any(2 * sum(a == b for a, b in zip(word, text[i : i + size], strict=True)) >= size for i in range(len(text) - size + 1))


#: Acts that ask for nothing and tell nothing.
_GENERAL = frozenset({"thank", "bye", "greet", "greeting", "general", "welcome"})


def _acts(turn: Turn, before: list[str], after: list[str], language: str) -> str | None:
    cues = _cues(language)
    for act, words in cues.items():
        if act == "ask":
            continue
        if act == "confirm":
            # Only the beginning of a turn confirms: "right" may stand anywhere else, and 你好 is a greeting.
            kept = before[:2] == ["你", "好"] or before[:2] == ["您", "好"] or _kept(words, before[:2], after[:3], language)
        else:
            kept = _kept(words, before, after, language)
        if not kept:
            return f"act_changed: {act}"
    if turn.acts and "ask" in cues and all(act.act in _GENERAL for act in turn.acts):
        if language == "zh":
            old, new = "".join(before), "".join(after)
            asks = any(new.count(word) > old.count(word) for word in cues["ask"])
        else:
            asks = not cues["ask"].isdisjoint(set(after).difference(before))
        if asks:
            return "act_changed: request"
    return None
