"""Taskmaster 1 to 3 (Byrne et al. 2019, 2021): conversations whose utterances carry segments, annotated with slots.

A segment's name is "restaurant_reservation.time.reservation", with ".accept" or ".reject" behind it where it answers an offer; Taskmaster 3 leaves
the domain to the conversation's `vertical`. Acts are what the names say: inform, accept or reject. The release has no belief states: the state of a
user turn here is what the user has named and not rejected so far, the last word counting. Utterances of one speaker in a row become one turn, and
what the assistant says before the user's first word is left out; both are noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.cut import first_of
from dialmill.pipelines.sources.reading import (
    SPLITS,
    Notes,
    file_name,
    json_array_items,
    list_lines,
    load_dialogue,
    name_domains,
    official_split,
    opening,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.kinds import ANY, FileKind

_LIST = re.compile(r"(train|dev|test)\.csv", re.IGNORECASE)
_ANSWER = re.compile(r"\.(accept|reject)$")


class Taskmaster(Source):
    """Taskmaster, all three releases."""

    name = "taskmaster"
    language = "en"
    licence = "CC BY 4.0"
    about = "Taskmaster 1, 2 and 3: conversations with annotated segments; split lists of Taskmaster 1"
    cuts = True
    kinds = (FileKind("taskmaster", ([{"conversation_id": ANY, "utterances": ANY}],)),)

    def role(self, path: str, head: str) -> Role | None:
        start = opening(head)
        if start[:1] in ("[", "{") and '"conversation_id"' in head and '"utterances"' in head:
            return "dialogues"
        if _LIST.fullmatch(file_name(path)) and start.startswith("dlg-"):
            return "splits"
        return "other" if file_name(path) == "ontology.json" and '"vertical"' in head and '"required"' in head else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        listed = _LIST.fullmatch(file_name(path))
        if role == "splits":
            for line in list_lines(path, data):
                yield line.rstrip(", "), "split", SPLITS[listed[1].lower()] if listed else b"train"
        elif role == "dialogues":
            # TM-1's sample.json is one conversation, and no list.
            whole = b"[" + data + b"]" if data.lstrip()[:1] == b"{" else data
            for number, raw in enumerate(json_array_items(path, whole), first_of(data)):
                yield _id(raw) or f"{file_name(path)}#{number}", "dialogue", raw

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        take(record, "conversation_id", str)
        notes = Notes()
        vertical = take_if(record, "vertical", str)
        spoken = _turns(take(record, "utterances", list), vertical, notes)
        turns: list[Turn] = []
        state: dict[tuple[str, str], SlotValues] = {}
        for number, (text, labels) in enumerate(spoken):
            user = number % 2 == 0
            spans = _spans(text, labels, notes)
            acts = tuple(dict.fromkeys(Act(label.act, label.claim.domain, label.claim.slot, label.claim.value) for label in labels))
            if not acts:
                notes.add("acts_missing")
            for act in acts if user else ():
                if act.act != "reject" and act.slot is not None and act.value is not None:
                    state[act.domain, act.slot] = SlotValues(act.domain, act.slot, (act.value,))
            turns.append(Turn(number, "user" if user else "system", text, None, spans, acts, tuple(state.values()) if user else ()))
        # "restaurant-table-2" names the task where nothing is annotated.
        task = vertical or (take_if(record, "instruction_id", str) or "").rstrip("-0123456789")
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=name_domains([], turns) or name_domains([task], turns),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )


class _WithId(msgspec.Struct):
    conversation_id: str


_ID = msgspec.json.Decoder(_WithId)


def _id(raw: bytes) -> str:
    try:
        return _ID.decode(raw).conversation_id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


class _Label(NamedTuple):
    act: str
    claim: Claim


def _turns(utterances: list[Any], vertical: str | None, notes: Notes) -> list[tuple[str, list[_Label]]]:
    """(text, labels) of the turns, user and system in turn, the user first.

    Raises:
        RecordError: `missing_key`, `wrong_type`, or `empty_dialogue` where the user says nothing.
    """
    turns: list[tuple[str, list[_Label]]] = []
    before = ""
    for number, utterance in enumerate(utterances):
        where = f"utterances[{number}]"
        speaker, text = take(utterance, "speaker", str, where).lower(), take(utterance, "text", str, where)
        if speaker not in ("user", "assistant"):
            raise RecordError("wrong_type", f"{where}.speaker: expected USER or ASSISTANT, found {speaker[:40]!r}")
        if not turns and speaker == "assistant":
            notes.add("opening_dropped")
            continue
        if speaker == before:
            notes.add("turns_merged")
            first, labels = turns.pop()
            turns.append((f"{first} {text}", labels + _labels(utterance, where, vertical, len(first) + 1, notes)))
        else:
            turns.append((text, _labels(utterance, where, vertical, 0, notes)))
        before = speaker
    if not turns:
        raise RecordError("empty_dialogue", "utterances holds no turn of the user")
    return turns


def _labels(utterance: dict[str, Any], where: str, vertical: str | None, shift: int, notes: Notes) -> list[_Label]:
    """What the segments of an utterance say. Annotators may differ in accept and reject; what they agree on stands once."""
    found: dict[_Label, None] = {}
    for segment in take_if(utterance, "segments", list, where) or ():
        match segment:
            case {"start_index": int() as start, "end_index": int() as end, "text": str() as said, "annotations": list() as annotations}:
                value = normalise.single(said)
                for annotation in annotations:
                    match annotation:
                        case {"name": str() as name} if value is not None and (slot := _slot(name, vertical)) is not None:
                            found[_Label(slot[0], Claim(slot[1], slot[2], value, start + shift, end + shift))] = None
                        case _:
                            notes.add("span_malformed")
            case _:
                notes.add("span_malformed")
    answered = {label.claim for label in found if label.act != "inform"}
    return [label for label in found if label.act != "inform" or label.claim not in answered]


def _slot(name: str, vertical: str | None) -> tuple[str, str, str] | None:
    """(act, domain, slot) of an annotation's name, lower case; None for a name without a slot."""
    low = "".join(name.lower().split())
    answer = _ANSWER.search(low)
    low = low[: answer.start()] if answer else low
    domain, slot = (vertical.strip().lower(), low) if vertical is not None else low.split(".", 1) if "." in low else ("", "")
    return (answer[1] if answer else "inform", domain, slot) if domain and slot else None


def _spans(text: str, labels: list[_Label], notes: Notes) -> tuple[Span, ...]:
    """The proved spans of a turn. Of two annotators' segments for one slot, one inside the other, the longer stands."""
    claims = list(dict.fromkeys(label.claim for label in labels))
    kept = [claim for claim in claims if not any(_within(claim, other) for other in claims)]
    if not kept:
        return ()
    settled = settle(text, kept)
    notes.add_spans(settled)
    return settled.spans


def _within(claim: Claim, other: Claim) -> bool:
    if claim[:2] != other[:2] or claim is other or None in (claim.start, claim.end, other.start, other.end):
        return False
    return other.start <= claim.start and claim.end <= other.end and claim[3:] != other[3:]  # type: ignore[operator]  # none of them is None here
