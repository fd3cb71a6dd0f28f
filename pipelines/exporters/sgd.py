"""The Schema-Guided Dialogue corpus' layout: folders of dialogues in frames with acts, and a schema.json in each.

An act's `values` are the words of the utterance where a span shows them, its `canonical_values` the label's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from dialmill.pipelines.core.carried import KEY
from dialmill.pipelines.core.exporter import Exporter, ExportFile, Suite
from dialmill.pipelines.exporters.corpora import FOLDERS, Parts, Vocabulary, alternating, origin, placed, prove, surface, written
from dialmill.pipelines.exporters.schema_guided import State, cells, intent_of, requested, schema_files, split_files
from dialmill.pipelines.exporters.writing import dump
from dialmill.pipelines.sources.sgd import SchemaGuided
from dialmill.schemas import Dialogue, Turn

#: Services of the corpus whose names are two words.
_CAMEL = {"rentalcars": "RentalCars", "ridesharing": "RideSharing"}
_NUMBERED = re.compile(r"([a-z]+)(_\d+)")
#: The act and slot by which the corpus' users say what they are after.
_NAMES_INTENT = ("inform_intent", "intent")


class SchemaGuidedExporter(Exporter):
    """Schema-Guided Dialogue, original layout."""

    name = "sgd"
    about = "Schema-Guided Dialogue (DSTC8), original layout: {train,dev,test}/dialogues_NNN.json and schema.json"
    reads_back = "sgd"

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        vocabulary = Vocabulary.of(suite)
        source = SchemaGuided()
        intents: dict[str, set[str]] = {domain: {f"find_{domain}"} for domain in vocabulary.slots}

        def write(record: Dialogue) -> bytes | None:
            parts = _dialogue(record, suite.exported_id(record), intents)
            if not parts.turns:
                return None
            prove(parts, record, source)
            return dump(parts.record)

        yield from split_files(suite, write, None)
        places = [f"{folder}/schema.json" for folder in FOLDERS.values()]
        yield from schema_files(vocabulary, service_name, _slot_name, intents.__getitem__, places)


def service_name(domain: str) -> str:
    """A service as the corpus writes it ("RentalCars_1"); domains of other corpora keep their names."""
    numbered = _NUMBERED.fullmatch(domain)
    return _CAMEL.get(numbered[1], numbered[1].capitalize()) + numbered[2] if numbered else domain


def _slot_name(domain: str, slot: str) -> str:
    return slot


def _dialogue(record: Dialogue, exported_id: str, intents: dict[str, set[str]]) -> Parts:
    places = alternating(record)
    turns: list[dict[str, Any]] = []
    before: State = ()
    state: State = ()
    active: dict[str, str] = {}
    last = record.domains[:1]
    for number, place in enumerate(places):
        turn, user = written(place), number % 2 == 0
        if user and place is not None:
            state = turn.state
        for act in turn.acts if user else ():
            if (act.act, act.slot) == _NAMES_INTENT and act.value:
                active[act.domain] = act.value
                intents[act.domain].add(act.value)
        spoken = list(dict.fromkeys([*(act.domain for act in turn.acts), *(span.domain for span, _, _ in placed(turn))]))
        if user:
            changed = [domain for domain in _domains(state, before) if cells(state, domain, _slot_name) != cells(before, domain, _slot_name)]
            spoken = list(dict.fromkeys([*spoken, *changed])) or list(last)
            before = state
        last = tuple(spoken) or last
        frames = [_frame(turn, domain) for domain in spoken]
        for domain, frame in zip(spoken, frames, strict=True):
            if user:
                frame["state"] = {
                    "active_intent": active.get(domain) or intent_of(turn, domain, state),
                    "requested_slots": requested(turn, domain, _slot_name),
                    "slot_values": cells(state, domain, _slot_name),
                }
        turns.append({"frames": frames, "speaker": "USER" if user else "SYSTEM", "utterance": turn.utterance})
    # The corpus' ids recur in its parts; ours say which part they are of.
    bare = exported_id.partition("/")[2] if record.source == "sgd" and exported_id.partition("/")[0] in FOLDERS.values() else exported_id
    made = {
        KEY: origin(record, exported_id, "sgd"),
        "dialogue_id": bare,
        "services": [service_name(domain) for domain in record.domains],
        "turns": turns,
    }
    return Parts(exported_id, made, turns, places)


def _domains(*states: State) -> list[str]:
    return list(dict.fromkeys(entry.domain for state in states for entry in state))


def _frame(turn: Turn, domain: str) -> dict[str, Any]:
    actions = []
    own = [act for act in turn.acts if act.domain == domain]
    for (act, slot), group in groupby(own, key=lambda one: (one.act, one.slot)):
        canonical = [one.value for one in group if one.value is not None]
        shown = [surface(turn, domain, slot or "", value) for value in canonical]
        values = [value if place is None else place[0] for value, place in zip(canonical, shown, strict=True)]
        actions.append({"act": act.upper(), "canonical_values": canonical, "slot": slot or "", "values": values})
    slots = [{"exclusive_end": end, "slot": span.slot, "start": start} for span, start, end in placed(turn) if span.domain == domain]
    return {"actions": actions, "service": service_name(domain), "slots": slots}
