"""Dialogues in the official files of DSTC9 Track 2: the layouts of MultiWOZ and CrossWOZ as ConvLab-2 has them, in the other language.

Cells that a record doesn't keep, such as "not mentioned" and the results of a search, are translated from the source's own JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dialmill.perturbers.translation.lexicon import Lexicon, Untranslated
from dialmill.pipelines.exporters.multiwoz21 import act_slot
from dialmill.schemas import Act, Dialogue, SlotValues, Turn
from dialmill.schemas.dialogue import DONTCARE

#: How several values of a slot stand in one cell.
_OR = {"zh": "或", "en": ","}


def multiwoz(record: Dialogue, raw: Mapping[str, Any], lexicon: Lexicon) -> dict[str, Any]:
    """A dialogue of ``multiwoz_zh``: {"log": [{text, metadata, dialog_act}]}.

    Args:
        record: the translated record.
        raw: the source's dialogue.
    """
    names = {lexicon.slot(slot): lexicon.slot(name) for slot, name in _act_names(lexicon)}
    log: list[dict[str, Any]] = []
    state: Sequence[SlotValues] = ()
    for turn, source in zip(record.turns, raw["log"], strict=True):
        if turn.speaker == "user":
            state = turn.state
        metadata = _metadata(state, source["metadata"], lexicon) if turn.speaker != "user" and source["metadata"] else {}
        log.append({"text": turn.utterance, "metadata": metadata, "dialog_act": _acts(turn, names, lexicon)})
    return {"log": log}


def _act_names(lexicon: Lexicon) -> Iterable[tuple[str, str]]:
    """The slots that acts of the corpus name otherwise than states do, where the lexicon has both names."""
    for domain in ("hotel", "restaurant", "train", "taxi"):
        for slot in ("pricerange", "leaveat", "arriveby", "departure", "destination"):
            name = act_slot(domain, slot).lower()
            if name != slot and ("slot", slot) in lexicon.names and ("slot", name) in lexicon.names:
                yield slot, name


def _metadata(state: Iterable[SlotValues], cells: Mapping[str, Any], lexicon: Lexicon) -> dict[str, Any]:
    """The belief state of a system turn, with the cells that the source has and in their order."""
    known = {(cell.domain, cell.slot): cell.values for cell in state}
    found: dict[str, Any] = {}
    for domain, sections in cells.items():
        there = lexicon.domain(domain)
        found[there] = {"book": {}, "semi": {}}
        for section in ("book", "semi"):
            for slot, value in sections.get(section, {}).items():
                if not isinstance(value, str):
                    continue  # what was booked: none of the state
                name = lexicon.slot(slot)
                values = known.get((there, name))
                found[there][section][name] = _unset(domain, slot, value, lexicon) if values is None else _cell(domain, slot, values, lexicon)
    return found


#: Cells without a value, as MultiWOZ writes them.
_UNSET = frozenset({"", "none", "not mentioned"})


def _unset(domain: str, slot: str, value: str, lexicon: Lexicon) -> str:
    """A cell without a value, as the source had it; a value that the record hasn't any more leaves none."""
    low = value.strip().lower()
    if low not in _UNSET or not low:
        return ""
    try:
        return lexicon.value(domain, slot, low)
    except Untranslated:
        return ""


def _cell(domain: str, slot: str, values: Sequence[str], lexicon: Lexicon) -> str:
    return _OR[lexicon.target].join(_preference(domain, slot, value, lexicon) for value in values)


def _preference(domain: str, slot: str, value: str, lexicon: Lexicon) -> str:
    """A value as it is, and the lexicon's words for having no preference."""
    if value != DONTCARE:
        return value
    try:
        return lexicon.value(domain, slot, value)
    except Untranslated:
        return value


def _acts(turn: Turn, names: Mapping[str, str], lexicon: Lexicon) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for act in turn.acts:
        slot = None if act.slot is None else names.get(act.slot, act.slot)
        found.setdefault(f"{act.domain}-{lexicon.act(act.act)}", []).append(["none", "none"] if slot is None else [slot, _said(act)])
    return found


def _said(act: Act) -> str:
    return act.value if act.value is not None else "?" if act.act == "request" else "none"


# ---- CrossWOZ

_TAXI = re.compile(r"^出租 \((.*) - (.*)\)$")
_STOP = re.compile(r"^\((起点|终点)\) ?(.*)$")
_STOPS = {"起点": "(Starting point)", "终点": "(Termination)"}
_GENERAL = "General"


class CrossWozWriter:
    """Writes dialogues of ``crosswoz_en``; `missing` counts the values of goals and results that the lexicon doesn't have, which stay as they are."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.missing = 0

    def dialogue(self, record: Dialogue, raw: Mapping[str, Any]) -> dict[str, Any]:
        """One dialogue: {sys-usr, goal, final_goal, messages, task description, type}."""
        messages = []
        for turn, source in zip(record.turns, raw["messages"], strict=True):
            message: dict[str, Any] = {"content": turn.utterance, "role": source["role"], "dialog_act": list(map(self._act, turn.acts))}
            if "user_state" in source:
                message["user_state"] = list(map(self._entry, source["user_state"]))
            for key in ("sys_state", "sys_state_init"):
                if key in source:
                    message[key] = {self.lexicon.domain(domain): self._query(domain, slots) for domain, slots in source[key].items()}
            messages.append(message)
        found: dict[str, Any] = {"sys-usr": raw.get("sys-usr"), "goal": list(map(self._entry, raw.get("goal", ()))), "messages": messages}
        found["final_goal"] = list(map(self._entry, raw.get("final_goal", ())))
        return found | {"task description": raw.get("task description", []), "type": raw.get("type", "")}

    def _act(self, act: Act) -> list[str]:
        if act.slot is None:
            return [_GENERAL, act.act, "none", "none"] if act.domain.lower() == "general" else [act.act.capitalize(), act.domain, "none", "none"]
        return [_ACT_NAMES.get(act.act, act.act.capitalize()), act.domain, act.slot, act.value or ""]

    def _entry(self, entry: Sequence[Any]) -> list[Any]:
        """An entry of a goal: [id, domain, slot, value, mentioned]."""
        number, domain, slot, value, *rest = entry
        return [number, self.lexicon.domain(domain), self.lexicon.slot(slot), self._value(domain, slot, value), *rest]

    def _query(self, domain: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        return {slot if slot == "selectedResults" else self.lexicon.slot(slot): self._value(domain, slot, value) for slot, value in slots.items()}

    def _value(self, domain: str, slot: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(domain, slot, one) for one in value]
        if not isinstance(value, str) or not value:
            return value
        ride, stop = _TAXI.match(value), _STOP.match(value)
        if ride:
            ends = [self._place(one) for one in ride.groups()]
            return f"Taxi ({ends[0]} - {ends[1]})"
        if stop:
            return f"{_STOPS[stop[1]]} {self._place(stop[2].strip())}"
        try:
            return self.lexicon.value(domain, slot, value)
        except Untranslated:
            self.missing += 1
            return value

    def _place(self, name: str) -> str:
        """A place that a ride begins or ends at."""
        for domain, slot in (
            ("出租", "出发地"),
            ("出租", "目的地"),
            ("地铁", "出发地"),
            ("地铁", "目的地"),
            ("酒店", "名称"),
            ("餐馆", "名称"),
            ("景点", "名称"),
        ):
            try:
                return self.lexicon.value(domain, slot, name)
            except Untranslated:
                continue
        self.missing += 1
        return name


_ACT_NAMES = {"nooffer": "NoOffer"}
