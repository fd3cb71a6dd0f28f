"""The Schema-Guided Dialogue corpus (Rastogi et al. 2020), DSTC8 track 4: ``{train,dev,test}/dialogues_NNN.json`` and ``schema.json``.

Acts stand in the frames of both sides, with the words of the utterance as their values; a span says only its slot and its place, and is proved
against the values of its slot's acts. Ids such as "7_00000" recur in other parts of the corpus, so that a file in a folder called train, dev or test
gives "dev/7_00000".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dialmill.pipelines.core.carried import is_export, origin_of, restored
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.frames import read_turns, split_slot
from dialmill.pipelines.sources.reading import (
    Notes,
    file_name,
    load_dialogue,
    name_domains,
    official_split,
    opening,
    records_with_id,
    split_of_path,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, prove
from dialmill.schemas import Act, Dialogue
from dialmill.schemas.kinds import ANY, FileKind

# A service of this corpus has a capital and a number ("Hotels_2"), one of MultiWOZ 2.2 neither.
_SERVICE = re.compile(r'"(?:service|service_name)"\s*:\s*"[A-Z]\w*_\d+"|"services"\s*:\s*\[\s*"[A-Z]\w*_\d+"')
_FOLDERS = {b"train": "train", b"valid": "dev", b"test": "test"}
#: Slots of acts whose values are names of intents, which no words of the text stand for.
_INTENT = "intent"


class SchemaGuided(Source):
    """Schema-Guided Dialogue, original layout."""

    name = "sgd"
    language = "en"
    licence = "CC BY-SA 4.0"
    about = "Schema-Guided Dialogue (DSTC8), original layout: dialogues_NNN.json with frames and acts"
    cuts = True
    kinds = (FileKind("sgd", ([{"dialogue_id": ANY, "services": ANY, "turns": [{"frames": ANY, "speaker": ANY, "utterance": ANY}]}],)),)

    def role(self, path: str, head: str) -> Role | None:
        start = opening(head)
        exported = is_export(head, self.name)
        if exported is not None:
            return "dialogues" if exported else None
        if not start.startswith("[") or not _SERVICE.search(head):
            return None
        if '"dialogue_id"' in head and ('"turns"' in head or '"frames"' in head):
            return "dialogues"
        return "other" if file_name(path) == "schema.json" else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "dialogues":
            split = split_of_path(path)
            for name, raw in records_with_id(path, data):
                origin = origin_of(raw)
                source_id = origin.id if origin is not None else f"{_FOLDERS[split]}/{name}" if split else name
                yield source_id, "dialogue", raw
                if split:
                    yield source_id, "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        take(record, "dialogue_id", str)
        notes = Notes()

        def labels(turn: dict[str, Any], turn_id: str, where: str, text: str, frames: list[Any]) -> tuple[tuple[Act, ...], list[Claim]]:
            acts: dict[Act, None] = {}
            claims: list[Claim] = []
            for number, frame in enumerate(frames):
                own, spoken = _acts(frame, f"{where}.frames[{number}]", notes)
                acts.update(dict.fromkeys(own))
                claims += _claims(frame, f"{where}.frames[{number}]", text, spoken, notes)
            if not acts:
                notes.add("acts_missing")
            return tuple(acts), claims

        turns = read_turns(record, labels, notes)
        dialogue = Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=name_domains(take_if(record, "services", list) or [], turns),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )
        return restored(dialogue, record, record["turns"], self.name)


#: (domain, slot) -> the values that the acts of a frame give it.
Spoken = dict[tuple[str, str], list[str]]


def _acts(frame: Any, where: str, notes: Notes) -> tuple[list[Act], Spoken]:
    """The acts of a frame, one for each value, and the values by slot; those of a request are examples ("Italian, or Mexican?") and not the act's."""
    service = take(frame, "service", str, where)
    acts: list[Act] = []
    spoken: Spoken = {}
    for action in take_if(frame, "actions", list, where) or ():
        match action:
            case {"act": str() as act, "slot": str() as name, "values": list() as values}:
                domain, slot = split_slot(name, service)
                said = normalise.values(values, f"{where}.actions")
                spoken.setdefault((domain, slot), []).extend(said)
                low = act.lower()
                for value in said if slot and said and low != "request" else (None,):
                    acts.append(Act(low, domain, slot or None, value))
            case _:
                notes.add("act_malformed")
    return acts, spoken


def _claims(frame: dict[str, Any], where: str, text: str, spoken: Spoken, notes: Notes) -> Iterator[Claim]:
    """The spans of a frame, with the value of an act each, and the values without a span (those of closed lists), whose place is looked for."""
    service = frame["service"]
    placed: set[tuple[str, str, str]] = set()
    for entry in take_if(frame, "slots", list, where) or ():
        match entry:
            case {"slot": str() as name, "start": int() as start, "exclusive_end": int() as end}:
                domain, slot = split_slot(name, service)
                values = spoken.get((domain, slot), [])
                value = next((one for one in values if prove(text, start, end, one)), values[0] if values else None)
                if value is None:
                    notes.add("span_mismatch")
                    continue
                placed.add((domain, slot, value))
                yield Claim(domain, slot, value, start, end)
            case _:
                notes.add("span_malformed")
    for (domain, slot), values in spoken.items():
        for value in dict.fromkeys(values):
            if slot not in ("", _INTENT) and (domain, slot, value) not in placed:
                yield Claim(domain, slot, value)
