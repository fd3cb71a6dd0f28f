"""Slots as people write them beside a turn: a map, a list of entities, or a text of pairs."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.reading import json_kind, load_record
from dialmill.schemas import SlotValues

#: A slot of this value is asked for.
ASKED = "?"
_PAIR = re.compile(r"\s*([^=:;]+?)\s*[=:]\s*(.*?)\s*$", re.DOTALL)
#: Texts that say that there is no slot.
_NOTHING = normalise.ABSENT | {"null", "nan", "-"}
#: The names that lists of entities give to the slot, its value, and its place.
_NAMES, _VALUES = ("slot", "entity", "name", "type", "label"), ("value", "text", "surface")


class Slot(NamedTuple):
    """A slot with its values, none where it is asked for; `start` and `end` where the data say where the value stands."""

    domain: str
    slot: str
    values: tuple[str, ...]
    asked: bool = False
    start: int | None = None
    end: int | None = None


def read_slots(value: Any, domain: str, language: str, where: str) -> list[Slot]:
    """The slots of a turn.

    Args:
        value: a map slot -> value or values, or domain -> such a map; a list of entities, or of [slot, value]; "k=v;k=v" or any of these as JSON.
        domain: of slots that name none.

    Raises:
        RecordError: `wrong_type` or `bad_slots`, with `where` and what was found.
    """
    if isinstance(value, str):
        text = "" if value.strip().lower() in _NOTHING else value.strip()
        value = load_record(text.encode("utf-8", "surrogatepass")) if text[:1] in ("{", "[") else _pairs(text, where)
    if value is None:
        return []
    if isinstance(value, dict):
        return [one for name, inner in value.items() for one in _of_map(name, inner, domain, language, where)]
    if isinstance(value, list):
        return [_of_entity(item, domain, language, where) for item in value]
    raise RecordError("wrong_type", f"{where}, slots: expected a map, a list or a text, found {json_kind(value)}")


def read_state(value: Any, domain: str, language: str, where: str) -> list[SlotValues] | None:
    """A belief state in the same forms; None where there is none.

    Raises:
        RecordError: as `read_slots`.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for slot in read_slots(value, domain, language, f"{where}, state"):
        if slot.values:
            before = found.get((slot.domain, slot.slot), ())
            found[slot.domain, slot.slot] = tuple(dict.fromkeys([*before, *slot.values]))
    return [SlotValues(*key, values) for key, values in found.items()]


def _pairs(text: str, where: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in re.split("[;；]", text):
        if part.strip():
            pair = _PAIR.match(part)
            if pair is None:
                raise RecordError("bad_slots", f"{where}: expected slot=value;slot=value, found {text[:80]!r}")
            found.setdefault(pair[1], []).append(pair[2])
    return found


def _of_map(name: str, value: Any, domain: str, language: str, where: str) -> list[Slot]:
    if isinstance(value, dict):
        return [one for inner, values in value.items() for one in _of_map(inner, values, name.strip().lower() or domain, language, where)]
    found = _made(name, value, domain, language, where)
    return [found] if found.values or found.asked else []


def _of_entity(item: Any, domain: str, language: str, where: str) -> Slot:
    match item:
        case [str() as slot, value]:
            return _made(slot, value, domain, language, where)
        case dict():
            name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
            value = next((item[key] for key in _VALUES if item.get(key) is not None), None)
            if name is not None:
                start, end = item.get("start"), item.get("end", item.get("exclusive_end"))
                placed = type(start) is int and type(end) is int
                own = item.get("domain")
                made = _made(name, value, own.lower() if isinstance(own, str) and own.strip() else domain, language, where)
                return made._replace(start=start, end=end) if placed else made
    raise RecordError("bad_slots", f"{where}: expected an object with slot and value, found {str(item)[:80]}")


def _made(name: str, value: Any, domain: str, language: str, where: str) -> Slot:
    slot = name.strip().lower()
    if not slot:
        raise RecordError("bad_slots", f"{where}: a slot without a name")
    values = normalise.values(value, f"{where}, slot {slot}", language)
    if ASKED in values:
        return Slot(domain, slot, (), True)
    return Slot(domain, slot, values)
