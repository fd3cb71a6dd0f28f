"""Items for raters: a conversation, or a reply with what was said before it, in FED's form; and which system spoke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.benchmarks.interactive.questionnaire import DIALOGUE, TURN
from dialmill.schemas import Dialogue, Turn

_SPEAKERS = {"user": "User", "system": "System"}


class Item(msgspec.Struct, omit_defaults=True):
    """What raters see: the lines before the response (or the whole conversation), and the response."""

    id: str
    context: str
    response: str | None = None

    @property
    def level(self) -> str:
        """Whether a reply or a conversation is rated."""
        return DIALOGUE if self.response is None else TURN


def system_of(dialogue: Dialogue, field: str) -> str | None:
    """The system that a record names in a field, None where it names none."""
    try:
        record = msgspec.json.decode(dialogue.payload or "{}")
    except msgspec.DecodeError:
        return None
    found = record.get(field) if isinstance(record, dict) else None
    return str(found).strip() or None if isinstance(found, str | int) and not isinstance(found, bool) else None


def rated_item(raw: bytes) -> dict[str, Any] | None:
    """The item of a source that holds items for raters already; None of a log's record."""
    try:
        found = msgspec.json.decode(raw) if raw.startswith(b"{") else None
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("context"), str) else None


def items_of(dialogue: Dialogue, raw: bytes, replies: int, least: int, seed: int) -> Iterator[Item]:
    """The items of a dialogue: one that it is already, else the whole conversation and some replies of the system, drawn by a seeded hash.

    Args:
        raw: what its source keeps beside it.
        replies: how many replies are rated by themselves, at most.
        least: turns up to a reply, itself counted, at least.
    """
    said = [turn for turn in dialogue.turns if turn.speaker in _SPEAKERS]
    given = rated_item(raw)
    if given is not None:
        alone = isinstance(given.get("response"), str)
        yield Item(dialogue.source_id, lines(said[:-1] if alone else said), lines(said[-1:]) if alone else None)
        return
    yield Item(dialogue.source_id, lines(said))
    places = [place for place, turn in enumerate(said) if turn.speaker == "system" and place + 1 >= max(2, least)]
    for place in sorted(Rng(seed, "replies@1", dialogue.source_id).sample(places, min(replies, len(places)))):
        yield Item(f"{dialogue.source_id}:{said[place].turn}", lines(said[:place]), lines(said[place : place + 1]))


def lines(turns: list[Turn]) -> str:
    """Turns as FED writes them."""
    return "\n".join(f"{_SPEAKERS[turn.speaker]}: {' '.join(turn.utterance.split())}" for turn in turns)
