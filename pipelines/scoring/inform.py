"""Inform and Success (Budzianowski et al. 2018, as MultiWOZ_Evaluation by Nekvinda and Dušek 2021 has them): did the system serve the goal?

Both are read off delexicalised responses. A system offers an entity where its response names one ("[hotel_name]", "[train_trainid]"). Inform: the
last offer of every domain that the goal constrains fits the goal. Success: Inform, and every attribute that the goal asks for was answered.

Which entities an offer means follows from the predicted state: those of the database that fit it; a later offer replaces them unless it takes them
all in. Without a database the state itself is compared: an offer fits if the state held every constraint of the goal, with its value, when it was
made. The score file says which was used. Where the goal names the entity, and where a train was neither offered nor asked for by its id, nothing
needs to be offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.perturbers.core.tables import Tables, tables_of
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.scoring.state import State, canonical, state_of
from dialmill.pipelines.sources.normalise import scalar_text
from dialmill.schemas.dialogue import DONTCARE, Goal
from dialmill.schemas.strict_json import JsonError, parse

#: A placeholder of a delexicalised response: [hotel_name], [value_time].
_TOKEN = re.compile(r"\[([a-z]+)_([a-z]+)\]")
#: What names an entity, by domain; elsewhere "name".
_OFFER = {"train": {"trainid", "id"}}
#: Slots by which databases and responses call what the goal asks for.
_SAME = {"post": "postcode", "addr": "address", "ref": "reference", "trainid": "id", "ticket": "price"}
#: Attributes that count for Success.
_ATTRIBUTES = frozenset({"phone", "address", "postcode", "reference", "id"})
#: Domains that offer no entity: reaching them is enough.
_WITHOUT_ENTITY = frozenset({"taxi", "police", "hospital"})


class Reply(NamedTuple):
    """One system turn: the state that the system had, and its delexicalised response."""

    state: State
    response: str


class Outcome(NamedTuple):
    """Of one dialogue."""

    inform: bool
    success: bool


class Database:
    """Entities by domain, from files "DOMAIN_db.json" (a list of objects, or lists by domain).

    Raises:
        InputError: no such files, or damaged ones.
    """

    entities: dict[str, list[dict[str, str]]]

    def __init__(self, path: str) -> None:
        self.entities = Database.of({str(file): file.read_bytes() for file in sorted(Path(path).glob("*_db.json"))}).entities
        if not self.entities:
            raise InputError(path, "holds no DOMAIN_db.json with a list of entities", "expected is MultiWOZ' db folder")

    @classmethod
    def of(cls, contents: Mapping[str, bytes]) -> Database:
        """From files by path, whose names say the domains where they are lists.

        Raises:
            InputError: a damaged file, or one with something among its rows that can't be read as one: what is counted would be wrong.
        """
        made = cls.__new__(cls)
        made.entities = {}
        for path, data in contents.items():
            try:
                rows = parse(data)
            except JsonError as error:
                raise InputError(path, str(error), "download it again") from None
            domain = re.split(r"[/\\!]", path)[-1].split("_")[0]
            held = tables_of(rows, domain) if isinstance(rows, list | dict) else Tables({}, ())
            # An object without a row holds what isn't searched, as MultiWOZ' colours of taxis.
            if held.unread and (held.rows or isinstance(rows, list)):
                shown = "rows are objects, or such as text in the notation of JSON or Python"
                raise InputError(path, f"holds what is no row: {held.unread[0]}", shown)
            made.entities.update((table, [_entity(row) for row in found]) for table, found in held.rows.items())
        return made

    def find(self, domain: str, constraints: Mapping[str, frozenset[str]], strict: bool = False) -> set[int]:
        """The numbers of the entities that fit.

        Args:
            domain: of the entities.
            constraints: slot -> values, any of which will do.
            strict: whether what leaves or arrives at the very minute that is asked for doesn't fit, as in MultiWOZ' and SOLOIST's own searches.
        """
        rows = enumerate(self.entities.get(domain, []))
        return {number for number, row in rows if all(_fits(row, slot, values, strict) for slot, values in constraints.items())}


def _entity(row: Mapping[str, object]) -> dict[str, str]:
    """A row by slot, without what is no plain value; what isn't known is empty, and fits nothing."""
    plain = ((str(key), scalar_text(value)) for key, value in row.items())
    return {_slot(key): value for key, value in plain if value is not None}


def _fits(row: Mapping[str, str], slot: str, values: frozenset[str], strict: bool = False) -> bool:
    if DONTCARE in values:
        return True
    held = row.get(slot)
    if held is None:
        return True  # not a column of this domain: "book day" and the like
    held = canonical(held, "en") or ""
    if not held:
        return False
    if strict and slot in ("leaveat", "arriveby") and held in {_clock(value) for value in values}:
        return False
    if slot == "leaveat":
        return any(held >= _clock(value) for value in values)
    if slot == "arriveby":
        return any(held <= _clock(value) for value in values)
    return held in values


def _clock(text: str) -> str:
    hours, colon, minutes = text.partition(":")
    return f"{hours:0>2}{colon}{minutes}"


def _slot(name: str) -> str:
    name = name.casefold().replace(" ", "")
    return _SAME.get(name, name)


def measurable(goal: Goal | None) -> bool:
    """Whether a dialogue has a goal that can be served."""
    return goal is not None and bool(goal.inform or goal.request)


def outcome(goal: Goal, replies: Sequence[Reply], language: str, database: Database | None) -> Outcome:
    """Whether a dialogue informed and succeeded."""
    wanted: dict[str, dict[str, frozenset[str]]] = {}
    for (domain, slot), values in state_of(((one.domain, one.slot, one.values) for one in goal.inform), language).items():
        wanted.setdefault(domain, {})[slot] = values
    asked = _requested(goal)
    domains = list(dict.fromkeys([*wanted, *asked]))
    offers: dict[str, list[State]] = {}
    answered: dict[str, set[str]] = {}
    for reply in replies:
        named = _named(reply.response, domains)
        for domain, slot in named:
            if slot in _OFFER.get(domain, {"name"}):
                offers.setdefault(domain, []).append(reply.state)
            answered.setdefault(domain, set()).add(_slot(slot))
    inform = all(_informed(domain, wanted[domain], asked.get(domain, set()), offers, database) for domain in wanted)
    success = inform and all(slots <= answered.get(domain, set()) for domain, slots in asked.items())
    return Outcome(inform, success)


def _requested(goal: Goal) -> dict[str, set[str]]:
    asked: dict[str, set[str]] = {}
    for one in goal.request:
        slot = _slot(one.slot)
        if slot in _ATTRIBUTES:
            asked.setdefault(one.domain.casefold(), set()).add(slot)
    for booking in goal.book:
        if booking.domain.casefold() not in _WITHOUT_ENTITY:
            asked.setdefault(booking.domain.casefold(), set()).add("reference")
    return asked


def _named(response: str, domains: Sequence[str]) -> Iterable[tuple[str, str]]:
    for domain, slot in _TOKEN.findall(response.casefold()):
        if domain == "value":
            # SOLOIST's [value_...] tokens don't name the domain: they answer for every domain of the goal.
            yield from ((one, slot) for one in domains)
        else:
            yield domain, slot


def _informed(
    domain: str, constraints: Mapping[str, frozenset[str]], asked: set[str], offers: Mapping[str, Sequence[State]], database: Database | None
) -> bool:
    if domain in _WITHOUT_ENTITY or "name" in constraints:
        return True
    if domain not in offers:
        return domain == "train" and "id" not in asked
    states = [{slot: values for (where, slot), values in state.items() if where == domain} for state in offers[domain]]
    if database is not None and domain in database.entities:
        due = database.find(domain, {_slot(slot): values for slot, values in constraints.items()})
        offered: set[int] = set()
        for state in states:
            found = database.find(domain, {_slot(slot): values for slot, values in state.items()})
            if not offered or not offered <= found:
                offered = found
        return bool(offered) and offered <= due
    state = states[-1]
    return all(DONTCARE in values or bool(state.get(slot, frozenset()) & values) for slot, values in constraints.items())


def policy(database: Any) -> str:
    """How Inform was decided, for the score file."""
    return "by the entities of the database that fit the state" if database else "by the state at the last offer; no database was given"
