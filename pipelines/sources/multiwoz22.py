"""MultiWOZ 2.2, schema-guided layout (Zang et al. 2020): ``{train,dev,test}/dialogues_NNN.json`` and ``dialog_acts.json``.

A user turn has a frame for each service. States are lists of accepted spellings; spans are character offsets with the end exclusive, in frames and
in the file of acts. Slots keep their name behind the domain: "restaurant-bookpeople" is slot "bookpeople". A span that copies a value from another
slot (`copy_from`) has no place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pipelines.errors import RecordError
from schemas import Act, Dialogue, SlotValues, Span, Turn

from . import multiwoz, normalise
from .base import (
    Kind,
    Notes,
    Piece,
    Role,
    Source,
    bare_id,
    check_speakers,
    check_turn_ids,
    file_name,
    json_object_items,
    load_record,
    official_split,
    records_with_id,
    take,
    take_if,
)
from .spans import Claim, settle

_PLACE = re.compile(r"(?:^|[/\\!])(?:(train|dev|val|valid|test)[/\\]dialogues_\d+|(train|dev|val|valid|test))\.json$", re.IGNORECASE)
_SPLITS = {"train": b"train", "dev": b"valid", "val": b"valid", "valid": b"valid", "test": b"test"}
_SERVICES = "|".join(sorted({*multiwoz.DOMAINS, "bus"}))
# The same layout is the Schema-Guided Dialogue corpus', whose services are called "Hotels_2" and whose ids "1_00000".
_OURS = re.compile(rf'"dialogue_id"\s*:\s*"[^"]*\.json"|"services"\s*:\s*\[\s*"(?:{_SERVICES})"|"service"\s*:\s*"(?:{_SERVICES})"')

State = tuple[SlotValues, ...]


class MultiWoz22(Source):
    """MultiWOZ 2.2, schema-guided layout."""

    name = "multiwoz22"
    language = "en"
    licence = "MIT"
    about = "MultiWOZ 2.2, schema-guided layout: dialogues_NNN.json with frames, and dialog_acts.json"

    def role(self, path: str, head: str) -> Role | None:
        name, start = file_name(path), head.lstrip("\ufeff \t\r\n")
        if start.startswith("[") and ('"turns"' in head or '"frames"' in head) and _OURS.search(head):
            return "dialogues"
        if name == "dialog_acts.json" and (not start or '"dialog_act"' in head):
            return "acts"
        return "other" if name == "schema.json" and '"service_name"' in head else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "acts":
            for key, raw in json_object_items(path, data):
                yield bare_id(key), "acts", raw
        elif role == "dialogues":
            place = _PLACE.search(path)
            split = _SPLITS[(place[1] or place[2]).lower()] if place else None
            for name, raw in records_with_id(path, data):
                yield bare_id(name), "dialogue", raw
                if split:
                    yield bare_id(name), "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_record(next(piece.data for piece in pieces if piece.kind == "dialogue"))
        take(record, "dialogue_id", str)
        records = take(record, "turns", list)
        if not records:
            raise RecordError("empty_dialogue", "turns holds no turn")
        speakers = [_speaker(turn, f"turns[{number}]") for number, turn in enumerate(records)]
        check_speakers(speakers, "turns")
        check_turn_ids([turn.get("turn_id", number) for number, turn in enumerate(records)], "turns")
        apart = [load_record(piece.data) for piece in pieces if piece.kind == "acts"]
        notes = Notes()
        services: dict[str, State] = {}
        state: State = ()
        turns: list[Turn] = []
        for number, (turn, speaker) in enumerate(zip(records, speakers, strict=True)):
            where = f"turns[{number}]"
            text = take(turn, "utterance", str, where)
            frames = take(turn, "frames", list, where)
            if speaker == "user":
                for service, cells in _frame_states(frames, where):
                    services[service] = cells
                # The frames of a turn stand in any order; states are compared, so theirs is fixed.
                reached = tuple(entry for service in sorted(services) for entry in services[service])
                state = reached if reached != state else state
            acts, claims = _acts(apart, str(turn.get("turn_id", number)), text, notes)
            spans = _spans(text, [*_frame_claims(frames, where, notes), *claims], notes)
            turns.append(Turn(number, speaker, text, None, spans, acts, state if speaker == "user" else ()))
        named = take_if(record, "services", list) or []
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=multiwoz.order_domains((name.lower() for name in named if isinstance(name, str)), turns),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )


def _speaker(turn: Any, where: str) -> Literal["user", "system"]:
    speaker = take(turn, "speaker", str, where).lower()
    if speaker == "user" or speaker == "system":
        return speaker  # type: ignore[return-value]  # narrowing by == is not seen by mypy
    raise RecordError("wrong_type", f"{where}.speaker: expected USER or SYSTEM, found {speaker[:40]!r}")


def split_slot(name: str, service: str) -> tuple[str, str]:
    """(domain, slot) of "restaurant-bookpeople", lower case; a name without a hyphen is a slot of `service`."""
    domain, hyphen, slot = name.lower().partition("-")
    return (domain, slot) if hyphen else (service.lower(), domain)


def _frame_states(frames: list[Any], where: str) -> Iterator[tuple[str, State]]:
    """(service, its state) of the frames that have a state. A service without a frame keeps the state it had."""
    for number, frame in enumerate(frames):
        here = f"{where}.frames[{number}]"
        service = take(frame, "service", str, here)
        state = take_if(frame, "state", dict, here)
        if state is None:
            continue
        found: list[SlotValues] = []
        for name, value in take(state, "slot_values", dict, f"{here}.state").items():
            values = normalise.values(value, f"{here}.state.slot_values.{name}")
            if values:
                found.append(SlotValues(*split_slot(name, service), values))
        yield service.lower(), tuple(found)


def _frame_claims(frames: list[Any], where: str, notes: Notes) -> Iterator[Claim]:
    for number, frame in enumerate(frames):
        here = f"{where}.frames[{number}]"
        service = take(frame, "service", str, here)
        for slot in take_if(frame, "slots", list, here) or ():
            if type(slot) is dict and "copy_from" in slot:
                continue
            match slot:
                case {"slot": str() as name, "value": str() as value, "start": int() as start, "exclusive_end": int() as end}:
                    yield Claim(*split_slot(name, service), value, start, end)
                case _:
                    notes.add("span_malformed")


def _acts(apart: list[Any], turn_id: str, text: str, notes: Notes) -> tuple[tuple[Act, ...], list[Claim]]:
    """The acts of a turn and its spans, from the file of acts; a turn that isn't there is noted (`acts_missing`, case B28)."""
    entry: Any = None
    for acts in apart:
        entry = take_if(acts, turn_id, dict, "dialogue acts") if type(acts) is dict else take(acts, turn_id, dict, "dialogue acts")
    where = f"dialogue acts, turn {turn_id}"
    label = take_if(entry, "dialog_act", dict, where) if entry else None
    if not entry or not label:
        notes.add("acts_missing")
        return (), []
    claims: list[Claim] = []
    for span in take_if(entry, "span_info", list, where) or ():
        match span:
            case [str() as name, str() as slot, str() as value, int() as start, int() as end]:
                claim = multiwoz.read_claim(text, (name, slot, value), start, end)
                if claim is None:
                    notes.add("span_mismatch")
                else:
                    claims.append(claim)
            case _:
                notes.add("span_malformed")
    return multiwoz.read_acts(label, where, notes), claims


def _spans(text: str, claims: list[Claim], notes: Notes) -> tuple[Span, ...]:
    """The proved spans of a turn. Frames and acts often say the same; the frames' word counts."""
    once = {(claim.domain, claim.slot, claim.start, claim.end): claim for claim in reversed(claims)}
    if not once:
        return ()
    settled = settle(text, list(reversed(once.values())))
    notes.add_spans(settled)
    return settled.spans
