"""What the exporters of corpora share: turns that alternate, names and values of slots over a suite, and the proof that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from dialmill.perturbers.core.surfaces import kind_of
from dialmill.pipelines.core.carried import KEY, Origin, Rest
from dialmill.pipelines.core.errors import DialmillError, RecordError
from dialmill.pipelines.core.exporter import Suite
from dialmill.pipelines.core.source import Piece, Source
from dialmill.pipelines.exporters.writing import dump
from dialmill.schemas import Dialogue, SlotValues, Span, Turn
from dialmill.schemas.dialogue import DONTCARE

#: Dialogues in one file of the schema-guided layouts, as MultiWOZ 2.2 has them.
PER_FILE = 512
#: A split as the schema-guided layouts call its folder.
FOLDERS = {"train": "train", "valid": "dev", "test": "test"}
_SPEAKERS = ("user", "system")


def alternating(record: Dialogue, system_ends: bool = False) -> list[Turn | None]:
    """The turns of a record so that user and system take turns, the user first. None stands for a turn without words of the speaker whose turn it
    would be. What is carried through and said by neither has no place in these formats.

    Args:
        system_ends: whether the last turn has to be the system's.
    """
    found: list[Turn | None] = []
    for turn in record.turns:
        if turn.speaker not in _SPEAKERS:
            continue
        if turn.speaker != _SPEAKERS[len(found) % 2]:
            found.append(None)
        found.append(turn)
    if system_ends and len(found) % 2:
        found.append(None)
    return found


def written(turn: Turn | None) -> Turn:
    """The turn, or one without words and labels in the place of none."""
    return Turn(0, "user", "") if turn is None else turn


def placed(turn: Turn) -> Iterator[tuple[Span, int, int]]:
    """The spans of a turn that stand in its text, with their places."""
    for span in turn.spans:
        if span.start is not None and span.end is not None:
            yield span, span.start, span.end


def surface(turn: Turn, domain: str, slot: str, value: str | None) -> tuple[str, int, int] | None:
    """(text, start, end) of the span that shows a value of a turn, None where none does."""
    for span, start, end in placed(turn):
        if (span.domain, span.slot, span.value) == (domain, slot, value):
            return turn.utterance[start:end], start, end
    return None


def origin(record: Dialogue, exported_id: str, name: str) -> Origin:
    """Which record an exported dialogue is, as it stands at the head of it."""
    return Origin(name, exported_id, record.source, record.suite, record.variant, record.language, record.domains)


class Parts(NamedTuple):
    """A dialogue in a format.

    Args:
        id: its id as the format's source gives it.
        record: the dialogue, with its `Origin` under our key.
        turns: its turns in `record`, one for each of `places`.
        places: the record's turns, None for those without words.
        acts: what stands of it in a file of acts, None where the format has none.
    """

    id: str
    record: dict[str, Any]
    turns: list[dict[str, Any]]
    places: Sequence[Turn | None]
    acts: dict[str, Any] | None = None


def prove(parts: Parts, dialogue: Dialogue, source: Source) -> None:
    """Reads a written dialogue with the format's source and adds under our key what is lost on the way.

    Raises:
        DialmillError: the source can't read it; a fault of the exporter.
    """
    try:
        read = source.parse(parts.id, [Piece(kind, 0, 0, data) for kind, data in _pieces(parts)])
    except RecordError as error:
        raise DialmillError(f"{dialogue.dialogue_id} can't be written as {source.name}: {error}") from None
    for turn, found, place in zip(parts.turns, read.turns, parts.places, strict=True):
        rest = Rest(filler=True) if place is None else _lost(place, found)
        if rest != Rest():
            turn[KEY] = msgspec.to_builtins(rest)
    head: Origin = parts.record[KEY]
    if read.goal != dialogue.goal:
        head.goal = dialogue.goal


def _pieces(parts: Parts) -> Iterator[tuple[Any, bytes]]:
    # Without our key, so that it is the format itself that is read.
    yield "dialogue", dump({key: value for key, value in parts.record.items() if key != KEY})
    if parts.acts is not None:
        yield "acts", dump(parts.acts)


def _lost(turn: Turn, read: Turn) -> Rest:
    rest = Rest()
    if read.utterance != turn.utterance:
        rest.text = turn.utterance
    for key in ("spans", "acts", "state", "labels", "knowledge"):
        value = getattr(turn, key)
        if getattr(read, key) != value:
            setattr(rest, key, value)
    return rest


@dataclass
class SlotFacts:
    """A slot over all records of a suite: whether it was only ever given values of a closed kind (yes, no), and these."""

    closed: set[str] = field(default_factory=set)
    open: bool = False

    def add(self, slot: str, value: str) -> None:
        """Takes note of a value."""
        if value == DONTCARE:
            return
        if not self.open and (value.lower() in _YES_NO or kind_of(slot, value).startswith("boolean")):
            self.closed.add(value)
        else:
            self.open = True

    @property
    def categorical(self) -> bool:
        """Whether all its values are yes, no and the like, which don't stand in texts as they are."""
        return not self.open and bool(self.closed)


_YES_NO = frozenset({"yes", "no", "true", "false", "free", "是", "否", "有", "无", "没有", "不是"})


@dataclass
class Vocabulary:
    """What the labels of a suite speak of.

    Args:
        slots: domain -> slot -> what is known of it.
        states: the (domain, slot) of belief states.
        acts: (speaker, act, domain, slot or "", whether it has a value).
    """

    slots: dict[str, dict[str, SlotFacts]] = field(default_factory=dict)
    states: dict[tuple[str, str], None] = field(default_factory=dict)
    acts: set[tuple[str, str, str, str, bool]] = field(default_factory=set)

    @classmethod
    def of(cls, suite: Suite) -> Vocabulary:
        """That of all records of a suite."""
        found = cls()
        for record in suite.records():
            found.add(record)
        return found

    def add(self, record: Dialogue) -> None:
        """Takes note of a record."""
        for domain in record.domains:
            self.slots.setdefault(domain, {})
        before: tuple[SlotValues, ...] = ()
        for turn in record.turns:
            for act in turn.acts:
                self.acts.add((turn.speaker, act.act, act.domain, act.slot or "", act.value is not None))
                self._slot(act.domain, act.slot, () if act.value is None else (act.value,))
            for span in turn.spans:
                self._slot(span.domain, span.slot, (span.value,))
            if turn.state is not before and turn.state != before:
                before = turn.state
                for entry in turn.state:
                    self._slot(entry.domain, entry.slot, entry.values)
                    self.states[entry.domain, entry.slot] = None
        if record.goal is not None:
            for entry in (*record.goal.inform, *record.goal.book, *record.goal.fail):
                self._slot(entry.domain, entry.slot, entry.values)
            for asked in record.goal.request:
                self._slot(asked.domain, asked.slot, ())

    def _slot(self, domain: str, slot: str | None, values: Iterable[str]) -> None:
        slots = self.slots.setdefault(domain, {})
        if slot:
            facts = slots.setdefault(slot, SlotFacts())
            for value in values:
                facts.add(slot, value)


def batches(items: Iterable[bytes], size: int = PER_FILE) -> Iterator[list[bytes]]:
    """Items by so many; one empty batch where there is none."""
    batch: list[bytes] = []
    full = False
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch, full = [], True
    if batch or not full:
        yield batch
