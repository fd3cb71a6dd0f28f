"""MultiWOZ 2.1 in its first layout: one ``data.json``, or the parts that ConvLab-2 publishes (Eric et al. 2020; Zhu et al. 2020).

A dialogue is a `goal` and a `log` of turns, the user's first. A system turn's `metadata` is the belief state after the user turn before it, and
in our records it stands on that user turn. Acts and spans stand in the turns (ConvLab-2) or, for system turns, in ``dialogue_acts.json`` (the
official release).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from dialmill.pipelines.core.carried import is_export, restored
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import multiwoz, normalise
from dialmill.pipelines.sources.reading import (
    SPLITS,
    Notes,
    bare_id,
    file_name,
    json_kind,
    json_object_items,
    list_lines,
    load_dialogue,
    load_record,
    official_split,
    opening,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, Tokens, settle
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.kinds import ANY, FileKind, Relative

_LIST = re.compile(r"(train|val|valid|dev|test)ListFile(?:\.json|\.txt)?", re.IGNORECASE)
_DATA = re.compile(r"(data|train|val|valid|dev|test)\.json", re.IGNORECASE)
_ACTS = re.compile(r"(?:dialogue|system)_acts\.json", re.IGNORECASE)
_OTHER = re.compile(
    r".*_db\.json|ontology(?:21)?\.json|slot_descriptions\.json|dialog_acts\.json|goal_of_each_dials\.json|booked_domains\.json|mapping\.pair(?:\.txt)?",
    re.IGNORECASE,
)
# The side files of RiSAWOZ, CrossWOZ, ConvLab-3 and Taskmaster have the same names, and MultiWOZ 2.2's acts are its own.
_FOREIGN = re.compile('[\u3400-\u9fff]|"is_categorical"|"required"|"dialog_act"')
_LOG = re.compile(r'"log"\s*:\s*\[')

State = tuple[SlotValues, ...]


class MultiWoz21(Source):
    """MultiWOZ 2.1, data.json layout."""

    name = "multiwoz21"
    language = "en"
    licence = "MIT"
    about = "MultiWOZ 2.1, data.json layout (also ConvLab-2's parts and modified copies), whole or zipped"
    cuts = True
    relatives = (
        Relative(
            "MultiWOZ's test dialogues as DSTC9 Track 2 gives them to participants, without states and acts; the annotated files are read",
            ({ANY: {"log": [{"text": ANY}]}},),
            exact=True,
        ),
    )
    kinds = (FileKind("multiwoz21", ({ANY: {"log": ANY}},), ("data.json",)),)

    def role(self, path: str, head: str) -> Role | None:
        name = file_name(path)
        if is_export(head, self.name) is False:
            return None
        if _LIST.fullmatch(name):
            return "splits"
        start = opening(head)
        if _ACTS.fullmatch(name):
            return "acts"
        if start.startswith("{") and _LOG.search(head) and ('"metadata"' in head or '"text"' in head):
            return "dialogues"
        # An empty file, an empty object, or one cut off early is told by its name, so that it is read and its fault is named. CrossWOZ has goals too.
        early = start.startswith("{") and '"goal"' in head and '"sys-usr"' not in head
        if _DATA.fullmatch(name) and (not start or start.rstrip() == "{}" or early):
            return "dialogues"
        return "other" if _OTHER.fullmatch(name) and not _FOREIGN.search(head) else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        name = file_name(path)
        if role == "splits":
            listed = _LIST.fullmatch(name)
            split = SPLITS[listed[1].lower()] if listed else b"train"
            for source_id in list_lines(path, data):
                yield source_id, "split", split
        elif role in ("dialogues", "acts"):
            named = _DATA.fullmatch(name)
            part = SPLITS.get(named[1].lower()) if named and role == "dialogues" else None
            for key, raw in json_object_items(path, data):
                yield bare_id(key), "dialogue" if role == "dialogues" else "acts", raw
                if part:
                    yield bare_id(key), "split", part

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        log = take(record, "log", list)
        if not log:
            raise RecordError("empty_dialogue", "log holds no turn")
        notes = Notes()
        goal_record = take_if(record, "goal", dict)
        if goal_record is None:
            notes.add("goal_missing")
        goal = None if goal_record is None else multiwoz.read_goal(goal_record)

        states = _states(log, notes)
        acts_apart = [load_record(piece.data) for piece in pieces if piece.kind == "acts"]
        turns: list[Turn] = []
        before: State = ()
        for number, record_turn in enumerate(log):
            where = f"log[{number}]"
            text = take(record_turn, "text", str, where)
            user = number % 2 == 0
            state = states[number] if user else ()
            acts = _acts(record_turn, number, acts_apart, where, notes)
            spans = _spans(record_turn, text, acts, state if state is not before else (), before, where, notes)
            turns.append(Turn(number, "user" if user else "system", text, None, spans, acts, state))
            if user:
                before = state
        if goal_record is not None and multiwoz.unforeseen_failure(goal_record, turns):
            notes.add("goal_text_conflict")
        dialogue = Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=multiwoz.order_domains((domain.lower() for domain, part in (goal_record or {}).items() if part), turns),
            turns=tuple(turns),
            goal=goal,
            lineage=notes.lineage(),
        )
        return restored(dialogue, record, log, self.name)


def _states(log: list[Any], notes: Notes) -> list[State]:
    """The belief state after each user turn, at the user turn's place; empty for system turns. Equal states are one object.

    Checks the order of the turns: where a dialogue is labelled, each system turn carries a state. A user turn that carries one as well is noted
    (`user_metadata`); what the system turn after it says counts, and its own only where no system turn follows.

    Raises:
        RecordError: `missing_key`, `wrong_type`, or `odd_turn_order`.
    """
    cells = [take(turn, "metadata", dict, f"log[{number}]") for number, turn in enumerate(log)]
    labelled = any(cells)
    states: list[State] = [()] * len(log)
    last_cells: dict[str, Any] = {}
    parts: dict[str, State] = {}
    last: State = ()
    for number in range(0, len(log), 2):
        own, following = cells[number], cells[number + 1] if number + 1 < len(log) else None
        if following is not None and labelled and not following:
            first = "a" if own else "no"
            what = f"log[{number}] carries {first} belief state and log[{number + 1}] none"
            raise RecordError("odd_turn_order", f"{what}: user and system don't take turns, the user first")
        if following is None and own and number > 0:
            raise RecordError("odd_turn_order", f"log[{number - 1}] and log[{number}] both carry a belief state: two system turns in a row")
        if following is None and own:
            raise RecordError("odd_turn_order", "log[0] carries a belief state: the system speaks first")
        if own:
            notes.add("user_metadata")
        if not following:
            # Without a system turn behind it the state after a user turn is not labelled; what held so far is the best that is known.
            notes.add("state_missing")
        elif following != last_cells:
            where = f"log[{number + 1}].metadata"
            # From turn to turn one domain changes, seldom two.
            parts = {
                domain: parts[domain] if domain in parts and last_cells[domain] == cell else _state(domain, cell, where)
                for domain, cell in following.items()
            }
            state = tuple(chain.from_iterable(parts.values()))
            last = state if state != last else last
            last_cells = following
        states[number] = last
    return states


def _state(domain: str, sections: Any, where: str) -> State:
    """The values of one domain of a ``metadata``: {"semi": {slot: value}, "book": {slot: value, "booked": [...]}}."""
    if type(sections) is not dict:
        raise RecordError("wrong_type", f"{where}.{domain}: expected an object, found {json_kind(sections)}")
    found: list[SlotValues] = []
    for section, slots in sections.items():
        if type(slots) is not dict:
            raise RecordError("wrong_type", f"{where}.{domain}.{section}: expected an object, found {json_kind(slots)}")
        for slot, value in slots.items():
            if type(value) is str:
                if value and value != "not mentioned":
                    entry = multiwoz.state_entry(domain, section, slot, value)
                    if entry is not None:
                        found.append(entry)
            elif slot != "booked" or section != "book":
                several = normalise.values(value, f"{where}.{domain}.{section}.{slot}")
                if several:
                    found.append(SlotValues(domain.lower(), multiwoz.state_slot(section, slot), several))
    return tuple(found)


def _acts(turn: dict[str, Any], number: int, apart: list[Any], where: str, notes: Notes) -> tuple[Act, ...]:
    """The acts of a turn, from the turn itself or from the file of acts, which counts system turns from 1.

    A turn whose label is empty, and a system turn without any, are noted (`acts_missing`); the official release labels no user turns.
    """
    label = turn.get("dialog_act")
    where = f"{where}.dialog_act"
    if not label and number % 2:
        for acts in apart:
            if type(acts) is not dict:
                raise RecordError("wrong_type", f"dialogue acts: expected an object by turn, found {json_kind(acts)}")
            where = f"dialogue acts, turn {(number + 1) // 2}"
            label = acts.get(str((number + 1) // 2)) or label
    if isinstance(label, str):
        label = None  # "No Annotation"
    if label is not None and type(label) is not dict:
        raise RecordError("wrong_type", f"{where}: expected an object, found {json_kind(label)}")
    if not label:
        if number % 2 or "dialog_act" in turn:
            notes.add("acts_missing")
        return ()
    return multiwoz.read_acts(label, where, notes)


def _spans(turn: dict[str, Any], text: str, acts: tuple[Act, ...], state: State, before: State, where: str, notes: Notes) -> tuple[Span, ...]:
    """The proved spans of a turn. Where the release gives none, the values of its acts, or else those new in the state, are looked for."""
    entries = turn.get("span_info")
    claims: list[Claim] = []
    if entries is None:
        for act in acts:
            if act.slot is not None and act.value is not None and multiwoz.locatable(act.value):
                claims.append(Claim(act.domain, act.slot, act.value))
        if not acts:
            fresh = [entry for entry in state if entry not in before]
            claims.extend(Claim(entry.domain, entry.slot, value) for entry in fresh for value in entry.values if multiwoz.locatable(value))
    elif type(entries) is not list:
        raise RecordError("wrong_type", f"{where}.span_info: expected an array, found {json_kind(entries)}")
    elif entries:
        tokens = Tokens(text)
        for entry in entries:
            label, slot, value, first, last = entry if type(entry) is list and len(entry) == 5 else (None, None, None, None, None)
            if type(label) is str and type(slot) is str and type(value) is str and type(first) is int and type(last) is int:
                claim = multiwoz.read_claim(text, (label, slot, value), *tokens.place(first, last))
                if claim is None:
                    notes.add("span_mismatch")
                else:
                    claims.append(claim)
            else:
                notes.add("span_malformed")
    if not claims:
        return ()
    settled = settle(text, claims)
    notes.add_spans(settled)
    return settled.spans
