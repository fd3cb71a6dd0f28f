"""The shapes of prediction lines as types: what they take is valid, at the speed of a decoder; what they don't, the JSON Schema explains.

A test holds them to the schemas of the same names.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from dialmill.schemas.strict_json import repeated_key

_Name = Annotated[str, msgspec.Meta(min_length=1)]
_Turn = Annotated[int, msgspec.Meta(ge=0)]


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Slot(_Strict):
    domain: _Name
    slot: _Name
    values: Annotated[list[str], msgspec.Meta(min_length=1)]


class _Act(_Strict):
    act: _Name
    domain: _Name
    slot: str | None = None
    value: str | None = None


class _State(_Strict):
    dialogue_id: _Name
    turn: _Turn
    state: list[_Slot]
    response: str | msgspec.UnsetType = msgspec.UNSET
    delexicalised: str | msgspec.UnsetType = msgspec.UNSET
    intent: _Name | msgspec.UnsetType = msgspec.UNSET
    labels: list[_Name] | msgspec.UnsetType = msgspec.UNSET
    acts: list[_Act] | msgspec.UnsetType = msgspec.UNSET


class _Labels(_Strict):
    dialogue_id: _Name
    turn: _Turn
    labels: list[_Name]


class Candidate(_Strict):
    """A candidate of a `predictions-ranking` line."""

    candidate_id: _Name
    score: float | int | msgspec.UnsetType = msgspec.UNSET


class Ranked(_Strict):
    """A `predictions-ranking` line."""

    example_id: int | _Name
    candidates: Annotated[list[Candidate], msgspec.Meta(min_length=1)]


class OfficialCandidate(_Strict, rename="kebab"):
    """A candidate of NOESIS' official form."""

    candidate_id: _Name
    confidence: float | int | msgspec.UnsetType = msgspec.UNSET


class OfficialRanked(_Strict, rename="kebab"):
    """An item of NOESIS' official form, schema `predictions-noesis`."""

    example_id: int | _Name
    candidate_ranking: Annotated[list[OfficialCandidate], msgspec.Meta(min_length=1)]


#: Schema -> the decoder of a line, or of a file where the schema is of a whole document.
DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    "predictions-state": msgspec.json.Decoder(_State),
    "predictions-labels": msgspec.json.Decoder(_Labels),
    "predictions-ranking": msgspec.json.Decoder(Ranked),
    "predictions-noesis": msgspec.json.Decoder(list[OfficialRanked]),
}
_ANY = msgspec.json.Decoder()


def plain_line(schema: str, line: bytes) -> dict[str, Any] | None:
    """A valid line as plain values; None where the types don't take it, or there are none for the schema."""
    decoder = DECODERS.get(schema)
    if decoder is None:
        return None
    try:
        decoder.decode(line)
        made: dict[str, Any] = _ANY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return made if repeated_key(line) is None else None


def typed(schema: str, data: bytes) -> Any | None:
    """A valid line or document as typed values; None where the types don't take it."""
    try:
        found = DECODERS[schema].decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if repeated_key(data) is None else None
