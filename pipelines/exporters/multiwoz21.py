"""MultiWOZ 2.1's first layout, with acts and spans in the turns as ConvLab-2 publishes it: data.json and the lists of splits.

A record's belief state after a user turn stands in the `metadata` of the system turn that follows; where none follows one without words is added.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dialmill.pipelines.core.carried import KEY
from dialmill.pipelines.core.exporter import Chunk, Exporter, ExportFile, Suite
from dialmill.pipelines.exporters.corpora import Parts, alternating, origin, placed, prove, written
from dialmill.pipelines.exporters.writing import Spool, dump, lines, mapping, pretty
from dialmill.pipelines.sources.multiwoz import slot_name
from dialmill.pipelines.sources.multiwoz21 import MultiWoz21
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Turn

_LISTS = {"train": "trainListFile.json", "valid": "valListFile.json", "test": "testListFile.json"}

#: The cells of a belief state as every system turn of the release has them: domain -> (slots of `semi`, slots of `book`).
_CELLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "taxi": (("leaveAt", "destination", "departure", "arriveBy"), ()),
    "police": ((), ()),
    "restaurant": (("food", "pricerange", "name", "area"), ("time", "day", "people")),
    "hospital": (("department",), ()),
    "hotel": (("name", "area", "parking", "pricerange", "stars", "internet", "type"), ("people", "day", "stay")),
    "attraction": (("type", "name", "area"), ()),
    "train": (("leaveAt", "destination", "day", "arriveBy", "departure"), ("people",)),
}
_CAMEL = {"leaveat": "leaveAt", "arriveby": "arriveBy"}
#: The names of acts and of their slots that aren't just written with a capital.
_ACTS = {"offerbook": "OfferBook", "offerbooked": "OfferBooked", "nobook": "NoBook", "nooffer": "NoOffer"}
_SHORT = {"destination": "Dest", "departure": "Depart", "leaveat": "Leave", "arriveby": "Arrive", "pricerange": "Price"}
_BOOK = "book "


class MultiWoz21Exporter(Exporter):
    """MultiWOZ 2.1, data.json layout."""

    name = "multiwoz21"
    about = "MultiWOZ 2.1, data.json layout: data.json, valListFile.json, testListFile.json, trainListFile.json, ontology.json"
    reads_back = "multiwoz21"

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        ids = {split: Spool() for split in _LISTS}
        values: dict[str, set[str]] = {}
        yield ExportFile("data.json", mapping(_dialogues(suite, ids, values)), "multiwoz21")
        for split, name in _LISTS.items():
            # An empty list is JSON's, so that it can't be taken for a file that was lost on the way.
            yield ExportFile(name, (Chunk(data) for data, _ in lines(ids[split].lines(b"[]"))), None, False)
        yield ExportFile("ontology.json", [Chunk(pretty({key: sorted(found) for key, found in sorted(values.items())}))], None, False)


def _dialogues(suite: Suite, ids: dict[str, Spool], values: dict[str, set[str]]) -> Iterator[tuple[str, bytes]]:
    """(id, dialogue) of all records; fills the lists of splits and the values of slots on the way."""
    source = MultiWoz21()
    for split, listed in ids.items():
        for record in suite.records(split):
            parts = _dialogue(record, suite.exported_id(record))
            if not parts.turns:
                continue
            prove(parts, record, source)
            listed.add(parts.id.encode())
            for turn in record.turns:
                for entry in turn.state:
                    values.setdefault("-".join((entry.domain, *_cell(entry.slot))), set()).update(entry.values)
            yield parts.id, dump(parts.record)


def _dialogue(record: Dialogue, exported_id: str) -> Parts:
    places = alternating(record, system_ends=True)
    labelled = any(turn.state for turn in record.turns)
    cells = _cells(record) if labelled else {}
    turns: list[dict[str, Any]] = []
    state: tuple[SlotValues, ...] = ()
    for number, place in enumerate(places):
        turn = written(place)
        if number % 2 == 0 and place is not None:
            state = turn.state
        turns.append(
            {
                "text": turn.utterance,
                "metadata": _metadata(state, cells) if number % 2 and labelled else {},
                "dialog_act": _acts(turn.acts),
                "span_info": list(_spans(turn)),
            }
        )
    made = {KEY: origin(record, exported_id, "multiwoz21"), **({"goal": _goal(record.goal)} if record.goal is not None else {}), "log": turns}
    return Parts(exported_id, made, turns, places)


def _cells(record: Dialogue) -> dict[str, tuple[list[str], list[str]]]:
    """The cells of a dialogue's belief states: those of the release, and whatever else the record has values for."""
    found = {domain: (list(semi), list(book)) for domain, (semi, book) in _CELLS.items()}
    for turn in record.turns:
        for entry in turn.state:
            section, slot = _cell(entry.slot)
            slots = found.setdefault(entry.domain, ([], []))[section == "book"]
            if slot not in slots:
                slots.append(slot)
    return found


def _cell(slot: str) -> tuple[str, str]:
    """The section of a state and the name there of a slot: "book people" is "people" of `book`."""
    if slot.startswith(_BOOK):
        return "book", slot.removeprefix(_BOOK)
    return "semi", _CAMEL.get(slot, slot)


def _metadata(state: Iterable[SlotValues], cells: dict[str, tuple[list[str], list[str]]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    # What has a value first, so that the record's order is read back.
    for entry in state:
        section, slot = _cell(entry.slot)
        found.setdefault(entry.domain, {}).setdefault(section, {})[slot] = "|".join(entry.values)
    for domain, (semi, book) in cells.items():
        sections = found.setdefault(domain, {})
        for section, slots in (("book", book), ("semi", semi)):
            told = sections.setdefault(section, {})
            sections[section] = told | {slot: "" for slot in slots if slot not in told}
        sections["book"]["booked"] = []
    return found


def label_name(act: str, domain: str) -> str:
    """An act of a domain as the release writes it: "Hotel-NoOffer"."""
    return f"{_capital(domain)}-{_ACTS.get(act, _capital(act))}"


def act_slot(domain: str, slot: str) -> str:
    """A slot as acts of the release write it: "Dest" where states have "destination"."""
    bare = slot.removeprefix(_BOOK)
    for name in (_SHORT.get(slot), _capital(bare), _capital(slot)):
        # A name is good where reading leads back from it.
        if name is not None and slot_name(domain, name) == slot:
            return name
    return slot


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _acts(acts: Sequence[Act]) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for act in acts:
        pair = ["none", "none"] if act.slot is None else [act_slot(act.domain, act.slot), _value(act)]
        found.setdefault(label_name(act.act, act.domain), []).append(pair)
    return found


def _value(act: Act) -> str:
    return act.value if act.value is not None else "?" if act.act == "request" else "none"


def _spans(turn: Turn) -> Iterator[list[Any]]:
    """The spans of a turn, by the first and last of its blank-separated tokens."""
    bounds: list[tuple[int, int]] = []
    end = 0
    for word in turn.utterance.split():
        start = turn.utterance.index(word, end)
        end = start + len(word)
        bounds.append((start, end))
    for span, start, stop in placed(turn):
        tokens = [number for number, (left, right) in enumerate(bounds) if left < stop and right > start]
        if tokens:
            act = next((act.act for act in turn.acts if (act.domain, act.slot, act.value) == (span.domain, span.slot, span.value)), "inform")
            yield [label_name(act, span.domain), act_slot(span.domain, span.slot), span.value, tokens[0], tokens[-1]]


def _goal(goal: Goal) -> dict[str, Any]:
    found: dict[str, Any] = {domain: {} for domain in _CELLS}

    def put(domain: str, section: str, slot: str, value: str) -> None:
        part = found.setdefault(domain, {})
        if not part:
            part.update({"info": {}, "fail_info": {}, "reqt": []})
        part.setdefault(section, {})[slot] = value

    for entries, searching, booking in ((goal.inform, "info", "book"), (goal.book, "book", "book"), (goal.fail, "fail_info", "fail_book")):
        for entry in entries:
            section, slot = _cell(entry.slot)
            put(entry.domain, booking if section == "book" else searching, slot, "|".join(entry.values))
    for asked in goal.request:
        part = found.setdefault(asked.domain, {})
        if not part:
            part.update({"info": {}, "fail_info": {}, "reqt": []})
        part["reqt"].append(asked.slot)
    return {**found, "message": [html.escape(goal.text, quote=False)]}
