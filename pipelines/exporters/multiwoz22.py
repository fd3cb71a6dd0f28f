"""MultiWOZ 2.2's layout: folders of dialogues in frames, dialog_acts.json and schema.json.

Booking slots have the release's names ("hotel-bookpeople"), ids its ".json". The value of a span is the text that stands there, that of an act or a
state the label's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialmill.pipelines.core.carried import KEY
from dialmill.pipelines.core.exporter import Chunk, Exporter, ExportFile, Suite
from dialmill.pipelines.exporters.corpora import Parts, Vocabulary, alternating, origin, placed, prove, written
from dialmill.pipelines.exporters.multiwoz21 import label_name
from dialmill.pipelines.exporters.schema_guided import State, cells, intent_of, requested, schema_files, split_files
from dialmill.pipelines.exporters.writing import Spool, dump, within
from dialmill.pipelines.sources.multiwoz22 import MultiWoz22
from dialmill.schemas import Dialogue, Turn


class MultiWoz22Exporter(Exporter):
    """MultiWOZ 2.2, schema-guided layout."""

    name = "multiwoz22"
    about = "MultiWOZ 2.2, schema-guided layout: {train,dev,test}/dialogues_NNN.json, dialog_acts.json, schema.json"
    reads_back = "multiwoz22"

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        vocabulary = Vocabulary.of(suite)
        services = sorted(vocabulary.slots)
        source = MultiWoz22()
        # Apart from the dialogues and in one file: kept on the disk until these are written.
        acts = Spool()

        def write(record: Dialogue) -> bytes | None:
            parts = _dialogue(record, suite.exported_id(record), services)
            if not parts.turns:
                return None
            prove(parts, record, source)
            acts.add(dump(f"{parts.id}.json") + b": " + dump(parts.acts))
            return dump(parts.record)

        yield from split_files(suite, write, "multiwoz22")
        yield ExportFile("dialog_acts.json", (Chunk(data) for data, _ in within(b"{", b"}", acts.lines())), None, False)
        yield from schema_files(vocabulary, str, slot_name, lambda domain: [f"find_{domain}"], ["schema.json"])


def slot_name(domain: str, slot: str) -> str:
    """A slot as the release writes it: "hotel-bookpeople"."""
    return f"{domain}-{_bare(slot)}"


def _bare(slot: str) -> str:
    return f"book{slot.removeprefix('book ')}" if slot.startswith("book ") else slot


def _dialogue(record: Dialogue, exported_id: str, services: list[str]) -> Parts:
    places = alternating(record)
    turns: list[dict[str, Any]] = []
    acts: dict[str, Any] = {}
    state: State = ()
    for number, place in enumerate(places):
        turn, user = written(place), number % 2 == 0
        if user and place is not None:
            state = turn.state
        frames = _user_frames(turn, state, services) if user else _system_frames(turn)
        turns.append({"turn_id": str(number), "speaker": "USER" if user else "SYSTEM", "utterance": turn.utterance, "frames": frames})
        acts[str(number)] = {"dialog_act": _acts(turn), "span_info": list(_span_info(turn))}
    named = [domain for domain in record.domains if domain in services]
    made = {
        KEY: origin(record, exported_id, "multiwoz22"),
        "dialogue_id": f"{exported_id}.json",
        "services": named,
        "turns": turns,
    }
    return Parts(exported_id, made, turns, places, acts)


def _user_frames(turn: Turn, state: State, services: list[str]) -> list[dict[str, Any]]:
    """A frame for every service, as the release has them; one that isn't spoken of has the intent NONE."""
    return [
        {
            "actions": [],
            "service": service,
            "slots": _slots(turn, service),
            "state": {
                "active_intent": intent_of(turn, service, state),
                "requested_slots": requested(turn, service, slot_name),
                "slot_values": cells(state, service, slot_name),
            },
        }
        for service in services
    ]


def _system_frames(turn: Turn) -> list[dict[str, Any]]:
    said = dict.fromkeys(span.domain for span, _, _ in placed(turn))
    return [{"actions": [], "service": service, "slots": _slots(turn, service)} for service in said]


def _slots(turn: Turn, service: str) -> list[dict[str, Any]]:
    return [
        {"exclusive_end": end, "slot": slot_name(service, span.slot), "start": start, "value": turn.utterance[start:end]}
        for span, start, end in placed(turn)
        if span.domain == service
    ]


def _acts(turn: Turn) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for act in turn.acts:
        value = act.value if act.value is not None else "?" if act.act == "request" else "none"
        found.setdefault(label_name(act.act, act.domain), []).append(["none", "none"] if act.slot is None else [_bare(act.slot), value])
    return found


def _span_info(turn: Turn) -> Iterator[list[Any]]:
    for span, start, end in placed(turn):
        act = next((act.act for act in turn.acts if (act.domain, act.slot, act.value) == (span.domain, span.slot, span.value)), "inform")
        yield [label_name(act, span.domain), _bare(span.slot), turn.utterance[start:end], start, end]
