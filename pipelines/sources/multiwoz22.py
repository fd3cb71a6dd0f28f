"""MultiWOZ 2.2, schema-guided layout (Zang et al. 2020): ``{train,dev,test}/dialogues_NNN.json`` and ``dialog_acts.json``.

A user turn has a frame for each service. States are lists of accepted spellings; spans are character offsets with the end exclusive, in frames and
in the file of acts. Slots keep their name behind the domain: "restaurant-bookpeople" is slot "bookpeople". A span that copies a value from another
slot (`copy_from`) has no place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dialmill.pipelines.core.carried import is_export, restored
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import multiwoz
from dialmill.pipelines.sources.frames import read_turns, split_slot
from dialmill.pipelines.sources.reading import (
    Notes,
    bare_id,
    file_name,
    json_object_items,
    load_dialogue,
    load_record,
    official_split,
    opening,
    records_with_id,
    split_of_path,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim
from dialmill.schemas import Act, Dialogue
from dialmill.schemas.kinds import ANY, FileKind

_SERVICES = "|".join(sorted({*multiwoz.DOMAINS, "bus"}))
# The same layout is the Schema-Guided Dialogue corpus', whose services are called "Hotels_2" and whose ids "1_00000".
_OURS = re.compile(rf'"dialogue_id"\s*:\s*"[^"]*\.json"|"services"\s*:\s*\[\s*"(?:{_SERVICES})"|"service"\s*:\s*"(?:{_SERVICES})"')
_SCHEMA = re.compile(rf'"service_name"\s*:\s*"(?:{_SERVICES})"')


class MultiWoz22(Source):
    """MultiWOZ 2.2, schema-guided layout."""

    name = "multiwoz22"
    language = "en"
    licence = "MIT"
    about = "MultiWOZ 2.2, schema-guided layout: dialogues_NNN.json with frames, and dialog_acts.json"
    # A turn has a number here, which the Schema-Guided Dialogue corpus, of the same layout, has not.
    cuts = True
    kinds = (
        FileKind(
            "multiwoz22",
            (
                [{"dialogue_id": ANY, "services": ANY, "turns": [{"turn_id": ANY, "frames": ANY, "speaker": ANY, "utterance": ANY}]}],
                [{"dialogue_id": ANY, "turns": ANY, "services": ANY}],
            ),
            ("dialogues_*.json",),
        ),
    )

    def role(self, path: str, head: str) -> Role | None:
        name, start = file_name(path), opening(head)
        exported = is_export(head, self.name)
        if exported is not None:
            return "dialogues" if exported else None
        if start.startswith("[") and ('"turns"' in head or '"frames"' in head) and _OURS.search(head):
            return "dialogues"
        if name == "dialog_acts.json" and (not start or '"dialog_act"' in head):
            return "acts"
        return "other" if name == "schema.json" and _SCHEMA.search(head) else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "acts":
            for key, raw in json_object_items(path, data):
                yield bare_id(key), "acts", raw
        elif role == "dialogues":
            split = split_of_path(path)
            for name, raw in records_with_id(path, data):
                yield bare_id(name), "dialogue", raw
                if split:
                    yield bare_id(name), "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        take(record, "dialogue_id", str)
        apart = [load_record(piece.data) for piece in pieces if piece.kind == "acts"]
        notes = Notes()

        def labels(turn: dict[str, Any], turn_id: str, where: str, text: str, frames: list[Any]) -> tuple[tuple[Act, ...], list[Claim]]:
            acts, claims = _acts(apart, turn_id, text, notes)
            # Frames and acts often say the same; the frames' word counts.
            return acts, [*_frame_claims(frames, where, notes), *claims]

        turns = read_turns(record, labels, notes)
        named = take_if(record, "services", list) or []
        dialogue = Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=multiwoz.order_domains((name.lower() for name in named if isinstance(name, str)), turns),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )
        return restored(dialogue, record, record["turns"], self.name)


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
    """The acts of a turn and its spans, from the file of acts; a turn that isn't there is noted (`acts_missing`)."""
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
