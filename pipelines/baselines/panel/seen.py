"""What a kind of baseline sees of a user turn, and what there is to be told of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dialmill.pipelines.baselines.ontology import Slot, canonical, silent
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import class_labels

#: The value of each slot.
State = dict[Slot, str]
#: Every accepted value of each slot.
Accepted = dict[Slot, Sequence[str]]
#: The three things that are told of a turn.
UPDATE, ACTS, LABEL = "update", "acts", "label"


class Seen(NamedTuple):
    """A user turn as baselines see it.

    Args:
        user: its utterance.
        system: the system's utterance before it, "" for none.
        state: the state before it, sorted by slot.
        topic: the domain of what last changed in the state, "" before anything did.
    """

    user: str
    system: str
    state: tuple[tuple[Slot, str], ...]
    topic: str


class Guess(NamedTuple):
    """What a baseline says of a turn: the slots that change with their values, the acts ("inform hotel area"), the labels as one class."""

    update: State
    acts: frozenset[str]
    label: str


class Right(NamedTuple):
    """What is right of a turn: the state before and after it, the slots that changed, the acts, the labels as one class.

    `doubtful` is a turn whose labels contradict each other. `has_acts` says whether it has acts at all: a corpus that leaves them out of some turns
    doesn't say so.
    """

    before: Accepted
    after: Accepted
    changed: Accepted
    acts: frozenset[str]
    label: str
    has_acts: bool
    doubtful: bool


class Task(NamedTuple):
    """A user turn: its number, what is seen of it, what is right."""

    turn: int
    seen: Seen
    right: Right


def turn_class(turn: Turn) -> str:
    """The labels of a turn as one class, "" for none."""
    return "|".join(class_labels(turn.labels))


def accepted(turn: Turn) -> Accepted:
    """The state of a turn, every accepted value of a slot in its canonical form."""
    return {(cell.domain, cell.slot): [canonical(value) for value in cell.values] for cell in turn.state if cell.values}


def act_names(turn: Turn) -> frozenset[str]:
    """The acts of a turn without their values."""
    return frozenset(f"{act.act} {act.domain} {act.slot or ''}".strip() for act in turn.acts)


def first_values(state: Mapping[Slot, Sequence[str]]) -> State:
    """A state with one value of each slot."""
    return {slot: values[0] for slot, values in state.items()}


def topic_of(changed: Iterable[Slot], before: str) -> str:
    """The domain that most of some slots belong to, that of a state before where there are none; of equal ones the first in the alphabet."""
    domains = [slot[0] for slot in changed]
    return min(set(domains), key=lambda name: (-domains.count(name), name)) if domains else before


def tasks(dialogue: Dialogue, known: Container[Slot] = ()) -> Iterator[Task]:
    """Every user turn of a dialogue, the state before it taken from the labels.

    Args:
        known: the slots that states of the corpus are known to have.
    """
    before: Accepted = {}
    system = topic = ""
    for turn in dialogue.turns:
        if turn.speaker != "user":
            system = turn.utterance if turn.speaker == "system" else system
            continue
        after = accepted(turn)
        changed = {slot: values for slot, values in after.items() if slot not in before or before[slot][0] not in values}
        right = Right(before, after, changed, act_names(turn), turn_class(turn), bool(turn.acts), _doubtful(turn, changed, after, system, known))
        yield Task(turn.turn, Seen(turn.utterance, system, tuple(sorted(first_values(before).items())), topic), right)
        topic = topic_of(changed, topic)
        before, system = after, ""


def _doubtful(turn: Turn, changed: Accepted, after: Accepted, system: str, known: Container[Slot]) -> bool:
    """Whether a turn's labels contradict each other: a slot comes to a value that neither an act nor any of both utterances says, or an act gives a
    value of a slot that states have, and the state has no such slot."""
    if not turn.acts:
        return False
    said = {(act.domain, act.slot) for act in turn.acts if act.slot is not None and act.value is not None}
    spelled = {(span.domain, span.slot) for span in turn.spans}
    texts = f" {turn.source_text} {system} ".lower()
    for slot, values in changed.items():
        if slot not in said and slot not in spelled and (all(silent(slot[1], one) for one in values) or not any(one in texts for one in values)):
            return True
    domains = {domain for domain, _ in after}
    names = {slot for _, slot in after}
    return any(slot not in after and (slot in known or (slot[0] in domains and slot[1] in names)) for slot in said)


def wrong_slots(right: Right, update: Mapping[Slot, str]) -> list[Slot]:
    """The slots that are wrong once a predicted update is put on the right state before the turn; slots that the labels drop aren't looked at.

    A value that a slot has already is no error where the user only says it again.
    """
    before = first_values(right.before)
    wrong = [slot for slot, values in right.after.items() if update.get(slot, before.get(slot)) not in values]
    wrong += [slot for slot in update if slot not in right.after and slot not in right.before]
    return sorted(wrong)
