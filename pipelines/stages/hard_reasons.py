"""Why a record is hard, in words: what most baselines miss at which turn, and what the turn itself shows of it.

Whoever reads a reason has the record and nothing else. So each clause is something that the record proves to the letter: a value that the turn has in
other words, in figures, in a slip of the keyboard or in part gets no clause, and neither does one that no words spell ("yes", "no preference").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.lexicon import words
from dialmill.perturbers.core.matcher import Cut, Index, key_of, prefixes_of
from dialmill.perturbers.core.surfaces import block_of, kind_of
from dialmill.pipelines.baselines.ontology import canonical, silent
from dialmill.pipelines.baselines.panel.panel import Missed
from dialmill.pipelines.baselines.panel.seen import ACTS, LABEL, UPDATE, act_names, turn_class
from dialmill.schemas import Dialogue, SlotValues, Turn

#: Reasons that a record has of each turn, and turns that they are told of, at most.
_OF_TURN, _TURNS = 2, 6
#: Words that many values and many other utterances have.
_COMMON = words("a an and at by for from in no not of on or s street road the to")
_NUMBERS = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty "
    "thirty forty fifty noon midday midnight quarter half single couple both pair"
)


def reasons(record: Dialogue, missed: Sequence[Missed], kinds: int, where: str = "") -> Iterator[str]:
    """What most kinds miss, turn by turn, each with what the turn itself shows; the turns at which most is missed, in order.

    A reason is "NAME: turn N: WHAT", the name being "update_missed", "acts_missed", "label_missed" and so on.

    Args:
        record: whose turns they are.
        missed: what was missed of them.
        kinds: how many kinds judged.
        where: said after the turn's number.
    """
    by_turn: dict[int, list[Missed]] = {}
    for one in missed:
        if 2 * len(one.kinds) > kinds:
            by_turn.setdefault(one.turn, []).append(one)
    worst = sorted(by_turn, key=lambda turn: (-max(len(one.kinds) for one in by_turn[turn]), -len(by_turn[turn]), turn))[:_TURNS]
    for turn in sorted(worst):
        told = sorted(by_turn[turn], key=lambda one: (one.aspect != UPDATE, -len(one.kinds), one.aspect, one.what))[:_OF_TURN]
        for one in told:
            by = f"by {len(one.kinds)} of {kinds} baselines ({', '.join(one.kinds)})"
            yield f"{one.aspect}_missed: turn {turn}{where}: {_said(record, one)} {by}"


def _said(record: Dialogue, missed: Missed) -> str:
    """What was missed, with what of the turn explains it where something plain does."""
    turn = record.turns[missed.turn]
    if missed.aspect == ACTS:
        return missed.what if missed.what in act_names(turn) else f"{missed.what}, which is no act of the turn,"
    if missed.aspect == LABEL and not turn_class(turn):
        return "that it has no label"
    if missed.aspect != UPDATE:
        return missed.what
    values = _values(turn.state, missed.what)
    before = _before(record, missed.turn)
    held = _values(next((one.state for one in before if one.speaker == "user"), ()), missed.what)
    if not values:
        return f"{missed.what}, which stays empty,"
    if held and canonical(held[0]) in map(canonical, values):
        return f"{missed.what} = {values[0]}, which stays as it was,"
    shown = f"{missed.what} = {values[0]}"
    if any(silent(missed.what.partition(" ")[2], value) for value in values):
        return shown
    return shown + _explained(record, turn, missed.what, values, [one for one in before if one.speaker == "system"])


def _values(state: Iterable[SlotValues], slot: str) -> Sequence[str]:
    """The values of a slot, named as DOMAIN SLOT."""
    return next((cell.values for cell in state if f"{cell.domain} {cell.slot}" == slot), ())


def _before(record: Dialogue, number: int) -> Sequence[Turn]:
    """The turns before one, from the last user turn on."""
    turns = record.turns[:number]
    last = max((at for at, turn in enumerate(turns) if turn.speaker == "user"), default=0)
    return turns[last:]


def _explained(record: Dialogue, turn: Turn, slot: str, values: Sequence[str], asked: Sequence[Turn]) -> str:
    """ ", which ...," for a value that is gone, written otherwise, offered by the system, or in none of both turns; "" for any other."""
    text, language, name = turn.utterance, record.language, slot.partition(" ")[2]
    if any(_spells(text, value, language) for value in values):
        return ""
    mine = [one for one in turn.spans if f"{one.domain} {one.slot}" == slot and canonical(one.value) in map(canonical, values)]
    written = [one.text for one in mine if one.text is not None]
    if written:
        return f", which is written {written[0]!r},"
    if any(_hints(text, name, value, language) for value in values):
        return ""
    gone = turn.original is not None and any(_spells(turn.original, value, language) for value in values)
    if gone:
        return ", which the unperturbed turn has and this one doesn't,"
    if turn.original is not None and any(_hints(turn.original, name, value, language) for value in values):
        return ""
    if kind_of(name, values[0]) == "number":
        # Two of something else are no answer to how many people come.
        named = None
    else:
        named = next((one.turn for one in reversed(asked) if any(_spells(one.utterance, value, language) for value in values)), None)
    if named is not None:
        return f", which the system names at turn {named} and the user doesn't,"
    if any(_hints(one.utterance, name, value, language) for one in asked for value in values):
        return ""
    return ", which neither this turn nor the system's before it spells," if asked else ", which the turn doesn't spell,"


def _spells(text: str, value: str, language: str) -> bool:
    """Whether a text has a value as it is, but for case, blanks and marks; whole words of it."""
    wanted = key_of(value, language)
    if not wanted:
        return False
    index: Index[None] = Index()
    index.add({wanted: (None,)}, prefixes_of(value, language))
    return bool(index.find(text, Cut(text, language)))


def _hints(text: str, slot: str, value: str, language: str) -> bool:
    """Whether a text has a value in some form, a word of it, or something like one: not so sure that the value is said, nor that it isn't."""
    units = Cut(text, language)
    index: Index[object] = Index()
    forms = block_of(slot, value, language)[1]
    index.add(dict(forms.forms), forms.prefixes)
    if index.scan(units.names):
        return True
    if any(char.isdigit() for char in value):
        return any(char.isdigit() for char in text) or not _NUMBERS.isdisjoint(units.names)
    if language == "zh":
        return any(value[at : at + 2] in text for at in range(max(1, len(value) - 1)))
    mine = _telling(value)
    return any(_alike(one, other) for other in units.names for one in mine)


@lru_cache(maxsize=4096)
def _telling(value: str) -> tuple[str, ...]:
    """The words of a value that are more than common ones."""
    found = re.findall(r"[^\W_]+", value.lower())
    return tuple(one for one in found if one not in _COMMON) or tuple(found)


def _alike(one: str, other: str) -> bool:
    """Whether two words may be the same one: by their first letters, or by few slips."""
    shorter = min(len(one), len(other))
    return (shorter >= 3 and one[:4] == other[:4]) or distance(one, other) <= max(len(one) // 3, 1)
