"""SIMMC, situated conversations about what both sides see in a shop: 2.0 (Kottur et al. 2021), 2.1, and the form of 1.0 (Moon et al. 2020).

An entry of a dialogue has what the user says (`transcript`), what the assistant answers (`system_transcript`), and labels: of 2.x one frame a side,
act, slot values, requested slots and the ids of objects; of 1.0 a list of frames, `belief_state`, with objects as slots "DOMAIN-O". An entry is the
payload of its user turn, to the byte, and what a dialogue has beside its entries (scenes, objects mentioned) the dialogue's, so that what belongs to
the pictures is carried through. 1.0 has its API calls in files of their own, ``DOMAIN_SPLIT_dials_api_calls.json``; they stand in the payload too.

The state of a user turn is its frame's: what 2.x tracks. The objects are labels, "object:45", for no text names them by id; words that point at them
("the brown one on the left rack") are spans of the slots `object`, `object_look`, `object_place`, `object_order` and `object_relation`, and a turn
that has some is `guarded`: another word would be another object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise, simmc_words
from dialmill.pipelines.sources.reading import (
    Notes,
    dialogue_data,
    file_name,
    json_array_items,
    json_kind,
    json_object_items,
    load_record,
    name_domains,
    official_split,
    opening,
    take,
    take_if,
)
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.dialogue import CANDIDATE_OBJECT, GUARDED, OBJECT
from dialmill.schemas.kinds import ANY, FileKind

#: The slot of words that point at objects.
REFERENCE = "object"
#: The member of a dialogue's payload that holds 1.0's API calls.
API_CALLS = "api_calls"
_DOMAINS = ("furniture", "fashion")
#: Slots of several objects' values, in what the assistant says: "Object ID: 45".
OF_OBJECT = re.compile(r"object id:?\s*(\d+)", re.IGNORECASE)
#: The objects of 1.0: "fashion-O" = "OBJECT_3".
_OBJECT_SLOT = re.compile(r"(?:\w+-)?O")
_OBJECT_VALUE = re.compile(r"(?:object_?)?\s*(\d+)", re.IGNORECASE)
_NAME = re.compile(r"(?:(furniture|fashion)_)?.*?(train|devtest|dev|teststd|test)(?:_public)?(?=[_.])")
_SPLITS = {"train": b"train", "dev": b"valid", "devtest": b"test", "teststd": b"test", "test": b"test"}
_BESIDE = re.compile(r".*(?:_scene|_bbox|_metadata\w*|_prefab_metadata\w*)\.json")
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])


class _Heading(NamedTuple):
    """What a file's name says: the domain (of 1.0's files) and the split, each "" or None where it says none."""

    domain: str
    split: bytes | None


def _heading(path: str) -> _Heading:
    match = _NAME.match(file_name(path).lower())
    return _Heading(match[1] or "", _SPLITS[match[2]]) if match else _Heading("", None)


class Simmc(Source):
    """SIMMC 2.0 and 2.1, and the form of 1.0."""

    name = "simmc"
    language = "en"
    licence = "CC BY-NC-SA 4.0"
    about = "SIMMC 2.0 and 2.1 (shopping in scenes, which are carried through), and the form of SIMMC 1.0, untested on its data"
    kinds = (
        FileKind("simmc", ({"dialogue_data": [{"dialogue": ANY}]},), ("simmc2*_dials_*.json", "fashion_*_dials.json", "furniture_*_dials.json")),
    )

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(".json"):
            return None
        start = opening(head)
        if start.startswith("{"):
            if '"system_transcript_pool"' in head or '"retrieval_candidates"' in head:
                return "other"
            if '"dialogue_data"' in head and '"transcript"' in head:
                return "dialogues"
            return "other" if _BESIDE.fullmatch(file_name(path)) and '"dialogue' not in head else None
        calls = start.startswith("[") and '"dialog_id"' in head and '"action_supervision"' in head
        return "acts" if calls and file_name(path).endswith("_api_calls.json") else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        heading = _heading(path)
        if role == "acts":
            for number, raw in enumerate(json_array_items(path, data)):
                yield _id(raw, "dialog_id", heading.domain) or f"{file_name(path)}#{number}", "acts", raw
        if role != "dialogues":
            return
        for name, value in json_object_items(path, data):
            if name != "dialogue_data":
                continue
            try:
                raws = [bytes(raw) for raw in _RAW_LIST.decode(value)]
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise InputError(path, "dialogue_data is no array of dialogues", "is it another format? name it with --format") from None
            for number, raw in enumerate(raws):
                source_id = _id(raw, "dialogue_idx", heading.domain) or f"{file_name(path)}#{number}"
                yield source_id, "dialogue", raw
                if heading.split:
                    yield source_id, "split", heading.split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        data = dialogue_data(pieces)
        record = load_record(data)
        entries = take(record, "dialogue", list)
        if not entries:
            raise RecordError("empty_dialogue", "dialogue holds no turn")
        members = _RAW.decode(data)
        raws = _RAW_LIST.decode(members["dialogue"])
        named = take_if(record, "domain", str)
        reader = _Reader((named or "").strip().lower())
        turns: list[Turn] = []
        for number, (entry, raw) in enumerate(zip(entries, raws, strict=True)):
            turns += reader.entry(entry, bytes(raw).decode(), f"dialogue[{number}]", len(turns), number == len(entries) - 1)
        rest: dict[str, Any] = {name: value for name, value in members.items() if name != "dialogue"}
        calls = [piece.data for piece in pieces if piece.kind == "acts"]
        if calls:
            load_record(calls[0])
            rest[API_CALLS] = msgspec.Raw(calls[0])
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=name_domains([named] if named else [], turns),
            turns=tuple(turns),
            lineage=reader.notes.lineage(),
            payload=msgspec.json.encode(rest).decode(),
        )


class _Idx(msgspec.Struct):
    dialogue_idx: int | str | None = None
    dialog_id: int | str | None = None


_IDX = msgspec.json.Decoder(_Idx)


def _id(raw: bytes, member: str, domain: str) -> str:
    """The id of a dialogue: its number, in 1.0, whose domains are numbered apart, with the domain before it; "" where it has none."""
    try:
        found = getattr(_IDX.decode(raw), member)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    number = "" if found is None else str(found).strip()
    return f"{domain}-{number}" if number and domain else number


class Frame(NamedTuple):
    """What one side of an entry says by its labels.

    Args:
        act: its name, lower case.
        slots: (slot, value) as the corpus writes them, the value as text.
        requests: the slots asked for.
        objects: the ids of the objects it is about.
    """

    act: str
    slots: tuple[tuple[str, str], ...] = ()
    requests: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


class _Reader:
    """Reads the entries of one dialogue."""

    def __init__(self, domain: str) -> None:
        self.domain = domain
        self.notes = Notes()

    def entry(self, entry: Any, raw: str, where: str, first: int, last: bool) -> list[Turn]:
        """The turns of an entry, the user's and the assistant's; of the last the assistant may say nothing, as in test files."""
        said = take(entry, "transcript", str, where)
        answer = take_if(entry, "system_transcript", str, where)
        if not said.strip():
            raise RecordError("empty_utterance", f"{where}.transcript is empty")
        if not (answer or "").strip() and not last:
            raise RecordError("odd_turn_order", f"{where}: the assistant says nothing")
        domain = (take_if(entry, "domain", str, where) or self.domain).strip().lower() or "shop"
        frames = _frames(entry, "transcript_annotated", "belief_state", where)
        turns = [self._user(first, said, domain, frames, _marks(entry, where), raw)]
        if answer and answer.strip():
            frames = _frames(entry, "system_transcript_annotated", "system_belief_state", where)
            turns.append(self._system(first + 1, answer, domain, frames))
        return turns

    def _user(self, number: int, text: str, domain: str, frames: Sequence[Frame], marks: Sequence[str], raw: str) -> Turn:
        if not frames:
            self.notes.add("acts_missing")
        spans = self._spans(text, domain, frames)
        labels = [*dict.fromkeys(f"{OBJECT}{one}" for frame in frames for one in frame.objects), *marks]
        if any(label.startswith((OBJECT, CANDIDATE_OBJECT)) for label in labels) or "disambiguation:1" in labels:
            taken = [(span.start or 0, span.end or 0) for span in spans]
            found = [self._pointing(text, domain, one) for one in simmc_words.references(text, taken)]
            if found:
                spans = sorted([*spans, *found], key=lambda span: (span.start or 0, span.end or 0))
                labels.append(GUARDED)
        return Turn(
            number, "user", text, spans=tuple(spans), acts=_acts(frames, domain), state=_state(frames, domain), labels=tuple(labels), payload=raw
        )

    @staticmethod
    def _pointing(text: str, domain: str, one: simmc_words.Pointing) -> Span:
        """The span of words that point at an object: of the slot `object` where they name the thing, else `object_place` and the like. A donor of
        wording has as many of each, so that "on the left" takes the place of no colour."""
        slot = REFERENCE if one.kind == "thing" else f"{REFERENCE}_{one.kind}"
        return Span(one.start, one.end, text[one.start : one.end], domain, slot, _plain(text[one.start : one.end]))

    def _system(self, number: int, text: str, domain: str, frames: Sequence[Frame]) -> Turn:
        labels = dict.fromkeys(f"{OBJECT}{one}" for frame in frames for one in frame.objects)
        return Turn(number, "system", text, spans=tuple(self._spans(text, domain, frames)), acts=_acts(frames, domain), labels=tuple(labels))

    def _spans(self, text: str, domain: str, frames: Sequence[Frame]) -> list[Span]:
        """Where the values of frames stand, longest values first, so that "light grey" is no "grey"."""
        claims = dict.fromkeys((slot, value) for frame in frames for slot, value in frame.slots)
        spans: list[Span] = []
        for slot, value in sorted(claims, key=lambda one: (-len(one[1]), one)):
            place = simmc_words.find(text, slot, value, [(span.start or 0, span.end or 0) for span in spans])
            if place is not None:
                spans.append(Span(*place, text[place[0] : place[1]], domain, slot.lower(), value))
        return sorted(spans, key=lambda span: (span.start or 0, span.end or 0))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _frames(entry: Mapping[str, Any], annotated: str, beliefs: str, where: str) -> list[Frame]:
    """The frames of one side: 2.x has one, as an object, 1.0 a list of them. None where the entry has no labels."""
    given = entry.get(annotated)
    if isinstance(given, dict) and given:
        return [_frame(given, f"{where}.{annotated}")]
    old: list[Any] = take_if(dict(entry), beliefs, list, where) or []
    return [_old_frame(one, f"{where}.{beliefs}[{at}]") for at, one in enumerate(old)]


def _frame(given: dict[str, Any], where: str) -> Frame:
    act = take(given, "act", str, where).strip().lower()
    attributes = take_if(given, "act_attributes", dict, where) or {}
    inner = f"{where}.act_attributes"
    slots: list[tuple[str, str]] = []
    for name, value in (take_if(attributes, "slot_values", dict, inner) or {}).items():
        of_one = OF_OBJECT.fullmatch(name.strip()) is not None and isinstance(value, dict)
        for slot, one in value.items() if of_one else ((name, value),):
            slots += [(slot.strip(), text) for text in values(one, f"{inner}.slot_values.{name}") if slot.strip()]
    requests = [_text(one, f"{inner}.request_slots") for one in take_if(attributes, "request_slots", list, inner) or []]
    objects = [_text(one, f"{inner}.objects") for one in take_if(attributes, "objects", list, inner) or []]
    return Frame(act, tuple(dict.fromkeys(slots)), tuple(dict.fromkeys(filter(None, requests))), tuple(dict.fromkeys(filter(None, objects))))


def _old_frame(given: Any, where: str) -> Frame:
    """A frame of 1.0: {act, slots: [[name, value], ...]}, "fashion-O" being an object."""
    act = take(given, "act", str, where).strip().lower()
    slots: list[tuple[str, str]] = []
    objects: list[str] = []
    for pair in take_if(given, "slots", list, where) or []:
        match pair:
            case [str() as name, value] if name.strip():
                number = _OBJECT_VALUE.fullmatch(value.strip()) if isinstance(value, str) else None
                if _OBJECT_SLOT.fullmatch(name.strip()) and number:
                    objects.append(number[1])
                else:
                    slots += [(name.strip(), text) for text in values(value, f"{where}.slots")]
            case _:
                raise RecordError("wrong_type", f"{where}.slots: expected [name, value], found {str(pair)[:60]}")
    return Frame(act, tuple(dict.fromkeys(slots)), (), tuple(dict.fromkeys(objects)))


def values(value: Any, where: str) -> list[str]:
    """The values of a slot as texts, in their order; a list of colours in one text stays one value.

    Raises:
        RecordError: `wrong_type`, it is an object or holds one.
    """
    found: dict[str, None] = {}
    for item in value if isinstance(value, list) else (value,):
        text = normalise.scalar_text(item)
        if text is None:
            raise RecordError("wrong_type", f"{where}: expected a text, a number or a list of them, found {json_kind(item)}")
        single = normalise.single(text.replace("|", ", "))
        if single is not None:
            found[single] = None
    return list(found)


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise RecordError("wrong_type", f"{where}: expected names or numbers, found {json_kind(value)}")
    return str(value).strip()


def _marks(entry: Mapping[str, Any], where: str) -> list[str]:
    """Whether it has to be asked which object is meant, and which may be: of 2.0 beside the labels, of 2.1 among them."""
    annotated = entry.get("transcript_annotated")
    holder = annotated if isinstance(annotated, dict) else {}
    marks = []
    told = entry.get("disambiguation_label", holder.get("disambiguation_label"))
    if told is not None:
        marks.append(f"disambiguation:{_text(told, f'{where}.disambiguation_label')}")
    candidates = holder.get("disambiguation_candidates") or []
    if not isinstance(candidates, list):
        raise RecordError("wrong_type", f"{where}.disambiguation_candidates: expected an array, found {json_kind(candidates)}")
    return [*marks, *dict.fromkeys(f"{CANDIDATE_OBJECT}{_text(one, f'{where}.disambiguation_candidates')}" for one in candidates)]


def _acts(frames: Sequence[Frame], domain: str) -> tuple[Act, ...]:
    """The act of each frame by its own name, then what it informs of and asks for."""
    found: dict[Act, None] = {}
    for frame in frames:
        if frame.act:
            found[Act(frame.act, domain)] = None
        found.update(dict.fromkeys(Act("inform", domain, slot.lower(), value) for slot, value in frame.slots))
        found.update(dict.fromkeys(Act("request", domain, slot.lower()) for slot in frame.requests))
    return tuple(found)


def _state(frames: Sequence[Frame], domain: str) -> tuple[SlotValues, ...]:
    found: dict[str, dict[str, None]] = {}
    for frame in frames:
        for slot, value in frame.slots:
            found.setdefault(slot.lower(), {})[value] = None
    return tuple(SlotValues(domain, slot, tuple(some)) for slot, some in sorted(found.items()))
