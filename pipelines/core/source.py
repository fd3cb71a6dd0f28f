"""The contract of a source: from the files of one corpus release to `Dialogue` records.

Reading has two halves, so that it distributes. `Source.pieces` cuts a file into pieces by dialogue id, cheaply and without looking
inside; all pieces of one id (the dialogue, its acts from another file, its place in a split list) then meet in one place, whatever file they
came from, which is an outer join; `Source.parse` makes the record from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from dialmill.pipelines.core.errors import RecordError, UsageError
from dialmill.schemas import Dialogue
from dialmill.schemas.kinds import FileKind, Relative

Kind = Literal["dialogue", "acts", "split", "links", "form"]
#: What a file is to a source: it holds dialogues (or a log of them), their acts, the ids of a split, reply links of a log, or a log that is read in
#: another form ("form", whose lines are counted), knowledge that goes with them; or it is known and not needed ("other").
Role = Literal["dialogues", "acts", "splits", "links", "form", "knowledge", "other"]


class Piece(NamedTuple):
    """What one file says about one dialogue.

    `kind` is "dialogue" (its JSON, or a whole log), "acts" (its acts' JSON), "split" (the name train, valid or test in ASCII), "links" (the reply
    links of a log) or "form" (the number of lines of another form of it). `file` and `index` tell where it stood: the number of the input
    file in sorted order, and the position in it, from 0.
    """

    kind: Kind
    file: int
    index: int  # type: ignore[assignment]  # a tuple's own `index` method is not needed
    data: bytes


class Source(ABC):
    """One corpus release. Subclasses hold no state but what `chosen` sets; register them in `dialmill.pipelines.sources.registry`."""

    name: ClassVar[str]
    language: ClassVar[str]
    licence: ClassVar[str]
    about: ClassVar[str]  #: one line for `dialmill list sources`
    #: The kinds of its files that `dialmill validate` holds to a schema.
    kinds: ClassVar[tuple[FileKind, ...]] = ()
    #: Kinds of files that are easily taken for its own, and are not read: they are told by what they are.
    relatives: ClassVar[tuple[Relative, ...]] = ()
    #: Reasons for which a record that is as it should be has nothing to read; `dialmill validate` counts it as no problem.
    nothing_to_read: ClassVar[frozenset[str]] = frozenset()
    #: Whether it takes files of no particular release ("User: ..." lines): another source that knows a file, a plug-in's too, goes first.
    generic: ClassVar[bool] = False
    #: Whether each item of its files of dialogues (and of acts) in JSON is read for itself: large ones are then read in parts.
    cuts: ClassVar[bool] = False
    #: Whether its dialogues are nothing without their guarded values: a variant that hits one is rejected.
    values_needed: ClassVar[bool] = False

    def chosen(self, fields: Mapping[str, str]) -> Source:
        """The source as it is when the user names it (`--format`), with the user's own names of fields (`--map`).

        Args:
            fields: our name of a field -> the input's.

        Raises:
            UsageError: its fields have fixed names, or it has no such field.
        """
        if fields:
            raise UsageError(f"--map names the fields of one's own data, and {self.name} is a format with fields of its own")
        return self

    @abstractmethod
    def role(self, path: str, head: str) -> Role | None:
        """What the file at `path`, which begins with `head` (up to 64 Ki characters), is to this source; None if it isn't of this source."""

    @abstractmethod
    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        """(dialogue id, kind, data) of everything a file holds, in file order.

        Raises:
            InputError: the file as a whole can't be read as this format; says where and what was expected.
        """

    @abstractmethod
    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        """The dialogue from its pieces, of which exactly one is of kind "dialogue".

        Its `split` is the one its "split" pieces name, None without. `dialogue_id` equals `source_id`, suite "standard".

        Raises:
            RecordError: this one dialogue can't be used (missing_key, wrong_type, odd_turn_order, lone_surrogate, bad_number, ...).
        """

    def shadowed(self, paths: Sequence[str]) -> set[str]:
        """Of files with dialogues, those that hold in another form what a file beside them holds: they are not read."""
        return set()

    def session(self, dialogue: Dialogue) -> str:
        """What dialogues cut from one conversation have in common, so that one split takes them all; "" where each is one of its own."""
        return ""

    def remarks(self, schema: str, name: str, data: bytes) -> Sequence[str]:
        """What a user should look at in a file of one of its kinds that is as its schema has it: sentences, for `dialmill validate`.

        Args:
            schema: of the file.
            name: the file's, without folders.
            data: its content.
        """
        return ()

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        """What a benchmark needs of a parsed dialogue and a `Dialogue` has no place for, as packed by the source."""
        return b""


def id_fault(source_id: str) -> str | None:
    """Why an id can't name a dialogue, None if it can."""
    if not source_id.strip():
        return "empty_id"
    return None if source_id.isascii() or source_id.encode("utf-8", "replace").decode() == source_id else "lone_surrogate"


#: Labels of one turn: no corpus has a hundredth of it, and what learns from states takes memory for each slot.
MOST_LABELS = 10_000


def bounded(dialogue: Dialogue) -> Dialogue:
    """A dialogue as it was read, none of whose turns has more slots, values, acts and spans than `MOST_LABELS` together.

    Raises:
        RecordError: one has.
    """
    for turn in dialogue.turns:
        number = len(turn.acts) + len(turn.spans) + sum(1 + len(cell.values) for cell in turn.state)
        if number > MOST_LABELS:
            told = f"turn {turn.turn} has {number:,} slots, values, acts and spans; {MOST_LABELS:,} are taken at most: is it a file of labels?"
            raise RecordError("too_many_labels", told)
    return dialogue
