"""What a record holds and a published format has no place for, carried through that format under one key of our own.

An exported dialogue has it at its head (which record it is: `Origin`), an exported turn only where something of the record would be lost
otherwise (`Rest`). Programs that read the format pass over a key that they don't know; our own sources take it back (`restored`), so that what they
read is the record that was exported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.core.errors import RecordError
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Snippet, Span, Turn

KEY = "dialmill"


class Origin(msgspec.Struct, omit_defaults=True):
    """Which record an exported dialogue is.

    Args:
        format: the exporter's name.
        id: the id under which it is exported.
        suite, variant, language, domains: as the record has them.
        source: the corpus that it comes from.
        goal: the record's goal, where the format says it differently; left out where it doesn't.
    """

    format: str
    id: str
    source: str
    suite: str
    variant: int
    language: str
    domains: tuple[str, ...]
    goal: Goal | msgspec.UnsetType | None = msgspec.UNSET


class Rest(msgspec.Struct, omit_defaults=True):
    """What a turn of the format doesn't tell of the record's; None where it tells it.

    Args:
        filler: the record has no such turn: it stands between two turns of one speaker, or where the format asks for a last word of the system's.
        text: the turn's utterance, where the format's own marks make another one of it.
    """

    filler: bool = False
    text: str | None = None
    spans: tuple[Span, ...] | None = None
    acts: tuple[Act, ...] | None = None
    state: tuple[SlotValues, ...] | None = None
    labels: tuple[str, ...] | None = None
    knowledge: tuple[Snippet, ...] | None = None


class _Marked(msgspec.Struct):
    dialmill: Origin


_MARKED = msgspec.json.Decoder(_Marked)
_MARK = b'"dialmill"'


def origin_of(raw: bytes) -> Origin | None:
    """Which record an exported dialogue's JSON is, None for one that dialmill didn't export."""
    if _MARK not in raw:
        return None
    try:
        return _MARKED.decode(raw).dialmill
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def is_export(head: str, name: str) -> bool | None:
    """Whether a file with this beginning was exported in the format `name`; None where it isn't known to be an export at all."""
    start = head.find('"dialmill":{"format":"')
    return None if start < 0 else head[start:].startswith(f'"dialmill":{{"format":"{name}"')


def restored(dialogue: Dialogue, record: Mapping[str, Any], turns: Sequence[Any], name: str) -> Dialogue:
    """A dialogue as it was exported.

    Args:
        dialogue: what the format itself says.
        record: the dialogue's JSON.
        turns: the JSON of each of its turns.
        name: the format.

    Returns:
        The dialogue itself where dialmill didn't export it.

    Raises:
        RecordError: `wrong_type`, what stands under our key isn't what an export writes.
    """
    if KEY not in record:
        return dialogue
    try:
        origin = msgspec.convert(record[KEY], Origin)
        rests = [msgspec.convert(turn.get(KEY) or {}, Rest) for turn in turns]
    except msgspec.ValidationError as error:
        raise RecordError("wrong_type", f"{KEY}: {error}") from None
    if origin.format != name:
        return dialogue
    kept = [_restored_turn(turn, rest) for turn, rest in zip(dialogue.turns, rests, strict=True) if not rest.filler]
    return dialogue.replace(
        language=origin.language,
        domains=origin.domains,
        turns=tuple(turn if turn.turn == number else turn.replace(turn=number) for number, turn in enumerate(kept)),
        goal=dialogue.goal if origin.goal is msgspec.UNSET else origin.goal,
        # What reading found to put right is put right already.
        lineage=(),
    )


def _restored_turn(turn: Turn, rest: Rest) -> Turn:
    changes = {key: value for key in ("spans", "acts", "state", "labels", "knowledge") if (value := getattr(rest, key)) is not None}
    if rest.text is not None:
        changes["utterance"] = rest.text
    if "spans" in changes and not all(_holds(changes.get("utterance", turn.utterance), span) for span in changes["spans"]):
        # Somebody wrote another text; the format's own places are proved against it.
        del changes["spans"]
    return turn.replace(**changes) if changes else turn


def _holds(text: str, span: Span) -> bool:
    return span.start is None or span.end is None or (0 <= span.start < span.end <= len(text) and text[span.start : span.end] == span.text)
