"""Advising conversations: a student and an advisor talk about courses; every message with its paraphrases, the student's persona beside it.

``conversations.json`` is a JSON array of objects with `conversation-id`, `messages` (`speaker` student or advisor, `utterance`, `paraphrases`),
`profile` (as in the DSTC7 release: Standing, Term, Courses, Aggregated, ...), and where they are known `data-split` (train, dev, test) and
`success-labels` (as in DSTC8). ``course-info.json`` is a JSON array of course records. The released files hold cut conversations; of
whole ones with paraphrases no layout is published, so this one is ours, with the release's field names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.core.unknown import known
from dialmill.pipelines.sources.cut import first_of
from dialmill.pipelines.sources.reading import Notes, json_array_items, json_kind, load_dialogue, load_record, official_split, take, take_if
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.kinds import ANY, FileKind

_SPLITS = {"train": b"train", "dev": b"valid", "valid": b"valid", "test": b"test"}
_OPEN = "No Decision Yet"
_LABELS = ("Accept", "Reject", _OPEN)


class Label(msgspec.Struct):
    """What came of a suggestion (DSTC8): Accept, Reject or No Decision Yet, and the message that shows it, -1 for none."""

    label: str
    position: int


class Extra(msgspec.Struct):
    """What a conversation has beside its messages: `paraphrases` of each message, the `profile` as JSON, and success labels."""

    paraphrases: list[list[str]]
    profile: bytes
    labels: list[Label]


class Advising(Source):
    name = "advising"
    language = "en"
    licence = "Apache-2.0"
    about = "advising conversations with paraphrases, personas and a course catalogue (a layout of ours with DSTC7's field names)"
    cuts = True
    kinds = (FileKind("noesis-courses", ([{"Course": ANY, "CourseTitle": ANY}],)),)

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(".json") or not head.lstrip().startswith("["):
            return None
        if '"conversation-id"' in head and '"messages"' in head:
            return "dialogues"
        return "knowledge" if '"Course"' in head and '"CourseTitle"' in head else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        items = json_array_items(path, data)
        if role == "knowledge":
            return
        for index, raw in enumerate(items, first_of(data)):
            name, split = f"conversation#{index}", None
            try:
                named = _NAMED.decode(raw)
                name, split = named.conversation_id or name, named.data_split
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass  # told when it is parsed
            yield name, "dialogue", raw
            if split in _SPLITS:
                yield name, "split", _SPLITS[split]

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record, messages = _messages(pieces)
        turns = []
        for at, message in enumerate(messages):
            speaker = take(message, "speaker", str, f"messages[{at}]")
            if speaker not in ("student", "advisor"):
                raise RecordError("unknown_speaker", f"messages[{at}].speaker: expected student or advisor, found {speaker!r}")
            text = " ".join(take(message, "utterance", str, f"messages[{at}]").split())
            if not text:
                raise RecordError("empty_utterance", f"messages[{at}].utterance")
            turns.append(Turn(at, "user" if speaker == "student" else "system", text))
        self.extra(pieces)
        notes = Notes()
        notes.add("message_without_paraphrase", sum(not message.get("paraphrases") for message in messages))
        split = take_if(record, "data-split", str)
        if split is not None and split not in _SPLITS:
            raise RecordError("unknown_split", f"data-split: expected train, dev or test, found {split!r}")
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            split=official_split(pieces),
            domains=("advising",),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        record, messages = _messages(pieces)
        paraphrases = []
        for at, message in enumerate(messages):
            wordings: dict[str, None] = {}
            for place, text in enumerate(take_if(message, "paraphrases", list, f"messages[{at}]") or []):
                if not isinstance(text, str):
                    raise RecordError("wrong_type", f"messages[{at}].paraphrases[{place}]: expected a string, found {json_kind(text)}")
                wording = " ".join(text.split())
                if wording and wording != " ".join(str(message["utterance"]).split()):
                    wordings[wording] = None
            paraphrases.append(list(wordings))
        labels = []
        for at, label in enumerate(take_if(record, "success-labels", list) or []):
            name, position = take(label, "label", str, f"success-labels[{at}]"), take(label, "position", int, f"success-labels[{at}]")
            # A suggestion is accepted or rejected by some message; only where nothing is decided there is none.
            if name not in _LABELS or not (-1 if name == _OPEN else 0) <= position < len(messages):
                raise RecordError("bad_label", f"success-labels[{at}]: {name!r} at {position}, of {len(messages)} messages")
            labels.append(Label(name, position))
        profile = known(take_if(record, "profile", dict) or {})
        return msgspec.msgpack.encode(Extra(paraphrases, msgspec.json.encode(profile), labels))


def _messages(pieces: Sequence[Piece]) -> tuple[dict, list]:  # type: ignore[type-arg]
    record = load_dialogue(pieces)
    messages = take(record, "messages", list)
    if not messages:
        raise RecordError("no_turns", "messages is empty")
    for at, message in enumerate(messages):
        if not isinstance(message, dict):
            raise RecordError("wrong_type", f"messages[{at}]: expected an object, found {json_kind(message)}")
    return record, messages


def course_records(path: str, data: bytes) -> list[dict[str, object]]:
    """The courses of a catalogue, what is unknown as null.

    Raises:
        InputError: no JSON array.
        RecordError: a course that is no object or has no number.
    """
    courses = []
    for raw in json_array_items(path, data):
        record = load_record(raw)
        take(record, "Course", str, "a course")
        courses.append(known(record))
    return courses


class _Named(msgspec.Struct):
    conversation_id: str = msgspec.field(name="conversation-id")
    data_split: str | None = msgspec.field(name="data-split", default=None)


_NAMED = msgspec.json.Decoder(_Named)
