"""CrossWOZ (Zhu et al. 2020): Chinese, 5 domains; ``train.json``, ``val.json``, ``test.json``, whole or zipped, a dialogue under each id.

The belief state after a user turn is the query that the system made first (`sys_state_init` of the answer), as in the corpus' own task of state
tracking. Facilities and dishes of a query are lists parted by blanks. There are no spans: they are found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dialmill.perturbers.core.surfaces import kind_of
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.reading import (
    Notes,
    check_speakers,
    file_name,
    json_kind,
    json_object_items,
    load_dialogue,
    name_domains,
    official_split,
    opening,
    split_of_path,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.schemas import Act, Dialogue, Goal, SlotName, SlotValues, Span, Turn
from dialmill.schemas.kinds import ANY, FileKind, Relative

_OTHER = re.compile(r"(?:sys|usr)_da_voc\.json")
_ROLES = {"usr": "user", "sys": "system"}
#: Slots of a query that hold several values, parted by blanks.
_LISTS = frozenset({"酒店设施", "推荐菜"})
#: A value of a goal that stands for a result of another sub-goal.
_REFERENCE = re.compile(r"出现在id=\d+的.*里")

State = tuple[SlotValues, ...]


class CrossWOZ(Source):
    """CrossWOZ, original layout."""

    name = "crosswoz"
    language = "zh"
    licence = "Apache-2.0"
    about = "CrossWOZ, original layout (Chinese, 5 domains), whole or zipped"
    cuts = True
    relatives = (
        Relative(
            "CrossWOZ's test dialogues as DSTC9 Track 2 gives them to participants, without states and acts; the annotated files are read",
            ({ANY: {"messages": [{"content": ANY, "role": ANY}]}},),
            exact=True,
        ),
    )
    kinds = (FileKind("crosswoz", ({ANY: {"sys-usr": ANY, "messages": ANY}},)),)

    def role(self, path: str, head: str) -> Role | None:
        name, start = file_name(path), opening(head)
        if start.startswith("{") and '"sys-usr"' in head:
            return "dialogues"
        # A row of a database is a list of a name and its facts.
        return "other" if _OTHER.fullmatch(name) or (name.endswith("_db.json") and re.match(r"\[\s*\[", start)) else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "dialogues":
            split = split_of_path(path)
            for source_id, raw in json_object_items(path, data):
                yield source_id, "dialogue", raw
                if split:
                    yield source_id, "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        messages = take(record, "messages", list)
        if not messages:
            raise RecordError("empty_dialogue", "messages holds no message")
        roles = [take(message, "role", str, f"messages[{number}]") for number, message in enumerate(messages)]
        check_speakers([_ROLES.get(role, role) for role in roles], "messages")
        notes = Notes()
        turns: list[Turn] = []
        state: State = ()
        for number, message in enumerate(messages):
            where = f"messages[{number}]"
            text = take(message, "content", str, where)
            acts = _acts(take_if(message, "dialog_act", list, where) or [], notes)
            if not acts:
                notes.add("acts_missing")
            user = number % 2 == 0
            if user:
                query = take(messages[number + 1], "sys_state_init", dict, f"messages[{number + 1}]") if number + 1 < len(messages) else None
                if query is None:
                    # What held so far is the best that is known.
                    notes.add("state_missing")
                else:
                    reached = _state(query, f"messages[{number + 1}].sys_state_init")
                    state = reached if reached != state else state
            turns.append(Turn(number, "user" if user else "system", text, None, _spans(text, acts, notes), acts, state if user else ()))
        goal, about = _goal(record)
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=name_domains([], turns) or name_domains(about, turns),
            turns=tuple(turns),
            goal=goal,
            lineage=notes.lineage(),
        )


def _state(query: dict[str, Any], where: str) -> State:
    """The values of a query, by domain and slot; `selectedResults` is what the system found, and no part of it."""
    found: list[SlotValues] = []
    for domain in query:
        for slot, value in take(query, domain, dict, where).items():
            if slot == "selectedResults":
                continue
            values = _values(value.split() if slot in _LISTS and type(value) is str else value, f"{where}.{domain}.{slot}")
            if values and domain.strip() and slot.strip():
                found.append(SlotValues(domain.strip().lower(), slot.strip().lower(), values))
    return tuple({(entry.domain, entry.slot): entry for entry in found}.values())


def _values(value: Any, where: str) -> tuple[str, ...]:
    """The values of a slot: a text, or a list of texts. Their blanks are their own ("1小时 - 2小时"): this corpus is not word-segmented."""
    found: dict[str, None] = {}
    for item in value if isinstance(value, list) else (value,):
        text = normalise.scalar_text(item)
        if text is None:
            raise RecordError("wrong_type", f"{where}: expected text or a list of texts, found {str(value)[:80]!r}")
        found.update(dict.fromkeys(one for part in text.split("|") if (one := normalise.single(part)) is not None))
    return tuple(found)


def _acts(entries: list[Any], notes: Notes) -> tuple[Act, ...]:
    """The acts of a message: [[act, domain, slot, value], ...], in their order, without repeats; [General, greet, none, none] is act greet."""
    acts: dict[Act, None] = {}
    for entry in entries:
        match entry:
            case ["General", str() as act, _, _]:
                acts[Act(act.lower(), "general")] = None
            case [str() as act, str() as domain, str() as slot, value] if domain.strip() and (text := normalise.scalar_text(value)) is not None:
                low, name = act.lower(), normalise.single(slot)
                said = None if name is None or low == "request" else normalise.single(text)
                acts[Act(low, domain.strip().lower(), None if name is None else name.lower(), said)] = None
            case _:
                notes.add("act_malformed")
    return tuple(acts)


def _spans(text: str, acts: tuple[Act, ...], notes: Notes) -> tuple[Span, ...]:
    """Where the values of a message's acts stand in it. What "select" names is a domain, and is not looked for."""
    claims = [
        Claim(act.domain, act.slot, act.value)
        for act in acts
        if act.slot is not None and act.value is not None and act.act != "select" and not kind_of(act.slot, act.value).startswith("boolean")
    ]
    if not claims:
        return ()
    settled = settle(text, claims, "zh")
    notes.add_spans(settled)
    return settled.spans


def _goal(record: dict[str, Any]) -> tuple[Goal | None, list[str]]:
    """The goal, and the domains of its sub-goals, which are [id, domain, slot, value, mentioned]; an empty value asks for the slot."""
    entries = take_if(record, "goal", list)
    # DSTC9 Track 2's English edition has the lines as one text.
    told = record.get("task description")
    lines = [told] if isinstance(told, str) else take_if(record, "task description", list) or []
    if entries is None:
        return None, []
    inform: dict[tuple[str, str], dict[str, None]] = {}
    request: dict[SlotName, None] = {}
    for number, entry in enumerate(entries):
        match entry:
            case [_, str() as domain, str() as slot, value, _]:
                values = [one for one in _values(value, f"goal[{number}]") if not _REFERENCE.fullmatch(one)]
                if values:
                    inform.setdefault((domain.lower(), slot.lower()), {}).update(dict.fromkeys(values))
                elif not value:
                    request[SlotName(domain.lower(), slot.lower())] = None
            case _:
                raise RecordError("wrong_type", f"goal[{number}]: expected [id, domain, slot, value, mentioned], found {json_kind(entry)}")
    text = "".join(line for line in lines if isinstance(line, str))
    wanted = tuple(SlotValues(domain, slot, tuple(values)) for (domain, slot), values in inform.items())
    return Goal(text, wanted, (), (), tuple(request)), [entry[1] for entry in entries]
