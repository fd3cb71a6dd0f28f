"""The records that flow through dialmill: immutable, typed, and the same in JSONL, Parquet and Python.

A `Dialogue` is one dialogue in one suite and variant. Every field below stands in the canonical
JSONL line under the same name, and `schemas/json/dialogue.schema.json` states the same shape for
other languages (a test holds the two together). Offsets count Unicode code points and ends are
exclusive, so that ``utterance[span.start:span.end] == span.text`` always holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

#: Who says a turn. "other" is nobody whose words are perturbed or learnt from: an instruction to the system, a tool call, what a tool gave back.
Speaker = Literal["user", "system", "other"]
SpanStatus = Literal["kept", "changed", "lost"]
Split = Literal["train", "valid", "test", "test_hard"]

#: The value of a slot about which the user has no preference, however a corpus writes it.
DONTCARE = "dontcare"
#: The suite of unperturbed dialogues.
STANDARD = "standard"
#: The label of a turn that no source has: a step inserted it. It has no `original` until a later step edits it.
INSERTED = "inserted"
#: The label of a user turn that is out of the system's scope.
OOS = "oos"
#: The label of a user turn whose spans programs read, as the tools of an agent do: while values are protected they stay to the byte, capitals too.
GUARDED = "guarded"
#: What labels begin with that name an object which a turn is about, or may be about, by its id in the scene ("object:45"). They are no classes.
OBJECT, CANDIDATE_OBJECT = "object:", "candidate_object:"


def class_labels(labels: Iterable[str]) -> list[str]:
    """The labels of a turn that a system could tell as classes, sorted: not that it was inserted or is guarded, and not which objects it is about."""
    return sorted({label for label in labels if label not in (INSERTED, GUARDED) and not label.startswith((OBJECT, CANDIDATE_OBJECT))})


R = TypeVar("R", bound="Record")
_force = msgspec.structs.force_setattr


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of all records: immutable; a change makes a new record (`replace`)."""

    def replace(self: R, **changes: Any) -> R:
        """A copy with the given fields changed."""
        return msgspec.structs.replace(self, **changes)

    def _freeze(self, *names: str) -> None:
        """Turns the sequences in these fields into tuples, so that records compare and hash by what they hold.

        Raises:
            TypeError: a field is neither a list, a tuple nor another iterable of items (a text is none).
        """
        for name in names:
            value = getattr(self, name)
            if type(value) is tuple:
                continue
            if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
                raise TypeError(f"{type(self).__name__}: {name} must be a tuple or a list, not {type(value).__name__}")
            _force(self, name, tuple(value))


class Edit(Record, frozen=True):
    """Replace ``text[start:end]`` by `replacement`. ``start == end`` inserts, an empty replacement deletes."""

    start: int
    end: int
    replacement: str


class Span(Record, frozen=True):
    """Where a slot value stands in an utterance.

    `text` is the surface and equals ``utterance[start:end]``; `value` is the label's value, which may be
    written otherwise ("seven pm" for "19:00"). A `lost` span has no offsets and no text: the speaker
    meant the value, the utterance no longer shows it.
    """

    start: int | None
    end: int | None
    text: str | None
    domain: str
    slot: str
    value: str
    status: SpanStatus = "kept"


class Act(Record, frozen=True):
    """A dialogue act. `slot` is null for acts about no slot (thank, bye), `value` is null for requests."""

    act: str
    domain: str
    slot: str | None = None
    value: str | None = None


class SlotValues(Record, frozen=True):
    """One slot of a belief state. Several values are alternatives the corpus accepts, or the user named."""

    domain: str
    slot: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if type(self.values) is not tuple:
            self._freeze("values")


class Snippet(Record, frozen=True):
    """A knowledge snippet as DSTC9 Track 1 has it; entity "*" is the whole domain. Identifiers are strings."""

    domain: str
    entity_id: str
    doc_id: str
    title: str | None = None
    body: str | None = None


class SlotName(Record, frozen=True):
    """A slot asked for."""

    domain: str
    slot: str


class Goal(Record, frozen=True):
    """What the user was told to achieve, in the terms that Inform and Success rates need.

    `inform` are constraints of the search, `book` those of the booking, `fail` those to try first that find
    nothing, `request` the slots to be asked for, `text` the instruction in words.
    """

    text: str = ""
    inform: tuple[SlotValues, ...] = ()
    book: tuple[SlotValues, ...] = ()
    fail: tuple[SlotValues, ...] = ()
    request: tuple[SlotName, ...] = ()

    def __post_init__(self) -> None:
        if type(self.inform) is not tuple or type(self.book) is not tuple or type(self.fail) is not tuple or type(self.request) is not tuple:
            self._freeze("inform", "book", "fail", "request")


class Turn(Record, frozen=True):
    """One utterance with its labels. `turn` counts from 0 over both speakers.

    `original` is null while the text is the source's; after a perturbation it is the source's text, and `edits`
    lead from it to `utterance`. An inserted turn (label "inserted") is in no source: its text as inserted counts as the source's. `state` is
    the belief state after a user turn; system turns carry none.

    `role` is the source's own word for who speaks, and `payload` the whole turn as the source has it (JSON), where the source's format is written
    back. A turn of speaker "other" is carried through: its `utterance` is empty, `payload` has it, and no step touches it.
    """

    turn: int
    speaker: Speaker
    utterance: str
    original: str | None = None
    spans: tuple[Span, ...] = ()
    acts: tuple[Act, ...] = ()
    state: tuple[SlotValues, ...] = ()
    edits: tuple[Edit, ...] = ()
    labels: tuple[str, ...] = ()
    knowledge: tuple[Snippet, ...] = ()
    role: str | None = None
    payload: str | None = None

    def __post_init__(self) -> None:
        if (
            type(self.spans) is not tuple
            or type(self.acts) is not tuple
            or type(self.state) is not tuple
            or type(self.edits) is not tuple
            or type(self.labels) is not tuple
            or type(self.knowledge) is not tuple
        ):
            self._freeze("spans", "acts", "state", "edits", "labels", "knowledge")

    @property
    def source_text(self) -> str:
        """The text as the source has it."""
        return self.utterance if self.original is None else self.original

    @property
    def inserted(self) -> bool:
        """Whether a step inserted the turn, so that the source has none in its place."""
        return INSERTED in self.labels

    @property
    def exact(self) -> list[tuple[int, int]]:
        """Where the values of a guarded turn stand, as (start, end) in its utterance; nowhere in any other turn."""
        return [(span.start, span.end) for span in self.spans if span.start is not None and span.end is not None] if GUARDED in self.labels else []


class SkippedTurn(Record, frozen=True):
    """A turn that a step left as it was, and why."""

    turn: int
    reason: str


class Step(Record, frozen=True):
    """One entry of a record's lineage: which step, at which version, with which seed and options, and what came of it."""

    step: str
    seed: int | None
    params: dict[str, bool | int | float | str | None] | None
    outcome: str
    skipped: tuple[SkippedTurn, ...] = ()
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if type(self.skipped) is not tuple or type(self.reasons) is not tuple:
            self._freeze("skipped", "reasons")


class Dialogue(Record, frozen=True, kw_only=True):
    """One dialogue in one suite and variant: the canonical record.

    `dialogue_id` is unique in an output folder (``SOURCE_ID/SUITE/VARIANT``), `source_id` is the corpus' own id. `split` is null until
    a build, or the source's official lists, assign one. `payload` is what the source has beside the turns (a JSON object), where its format is
    written back.
    """

    dialogue_id: str
    source: str
    source_id: str
    suite: str = STANDARD
    variant: int = 0
    language: str = "en"
    split: Split | None = None
    domains: tuple[str, ...] = ()
    turns: tuple[Turn, ...]
    goal: Goal | None = None
    lineage: tuple[Step, ...] = ()
    payload: str | None = None

    def __post_init__(self) -> None:
        if type(self.domains) is not tuple or type(self.turns) is not tuple or type(self.lineage) is not tuple:
            self._freeze("domains", "turns", "lineage")

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Dialogue:
        """Builds a dialogue from a parsed JSONL line.

        Raises:
            msgspec.ValidationError: a field is missing, unknown or of the wrong type; the message has its path.
        """
        return msgspec.convert(record, cls)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, ready for JSON, in the canonical order of fields."""
        plain: dict[str, Any] = _DECODER_ANY.decode(encode(self))
        return plain


class Message(Record, frozen=True):
    """One line of a chat log before disentanglement; `line` counts from 0 in its file."""

    source: str
    file: str
    line: int
    speaker: str | None
    text: str
    kind: Literal["message", "action", "system", "notice", "blank"] = "message"
    minute: int | None = None


_ENCODER = msgspec.json.Encoder()
_DECODER_ANY = msgspec.json.Decoder()
_DECODER = msgspec.json.Decoder(Dialogue)
_PACKER = msgspec.msgpack.Encoder()
_UNPACKER = msgspec.msgpack.Decoder(Dialogue)


def encode(record: Record) -> bytes:
    """A record as one line of JSON (UTF-8, fields in declared order, no line end)."""
    return _ENCODER.encode(record)


def decode(line: bytes | str) -> Dialogue:
    """A canonical JSONL line as a `Dialogue`.

    Raises:
        msgspec.DecodeError: not JSON, or (as its subclass ValidationError) not of the canonical shape.
    """
    return _DECODER.decode(line)


def pack(dialogue: Dialogue) -> bytes:
    """A compact binary form for the way between workers; never written to disk."""
    return _PACKER.encode(dialogue)


def unpack(data: bytes) -> Dialogue:
    """Inverse of `pack`."""
    return _UNPACKER.decode(data)
