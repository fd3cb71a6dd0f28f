"""Chat messages as agents and language models exchange them: where their text is, and the same message with another text, to the byte.

Two forms are known: ``{"role": ..., "content": ...}``, content a text or a list of parts of which some have a text, and
``{"from": ..., "value": ...}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dialmill.schemas.dialogue import Edit, Turn

#: What stands between the texts of several parts in an utterance.
BETWEEN = "\n"
_CONTENTS = ("content", "value")
_DECODER = json.JSONDecoder()


class Place(NamedTuple):
    """A JSON text at [start, end) of a message."""

    text: str
    start: int
    end: int


def text_of(message: Mapping[str, Any]) -> str | None:
    """The text of a parsed message: of several parts their texts, a line each. None where it has none (a call of a tool, a picture)."""
    content = next((message[name] for name in _CONTENTS if name in message), None)
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return BETWEEN.join(texts) if any(text.strip() for text in texts) else None
    return content if isinstance(content, str) and content.strip() else None


def written(turn: Turn) -> str:
    """The message of a turn that has a payload, as JSON: the payload itself where the turn's text is the source's; else with the new text in its
    place, and every other byte the payload's.

    Raises:
        ValueError: the turn has no payload, or one that is no such message.
    """
    if turn.payload is None:
        raise ValueError(f"turn {turn.turn} has no payload")
    if turn.original is None:
        return turn.payload
    places = list(_places(turn.payload))
    if BETWEEN.join(place.text for place in places) != turn.original:
        raise ValueError(f"turn {turn.turn}: the payload's text is not the turn's")
    return rewritten(turn.payload, places, list(_shares(turn, [len(place.text) for place in places])))


def rewritten(payload: str, places: Sequence[Place], texts: Sequence[str]) -> str:
    """JSON with other texts at some places, which are in order; every other character stays, and so does a text that is the same."""
    made, reached = [], 0
    for place, text in zip(places, texts, strict=True):
        changed = json.dumps(text, ensure_ascii=payload.isascii()) if text != place.text else payload[place.start : place.end]
        made += [payload[reached : place.start], changed]
        reached = place.end
    return "".join(made) + payload[reached:]


def _shares(turn: Turn, lengths: Sequence[int]) -> Iterator[str]:
    """What of an utterance belongs to each part. Where a change took the line's end between two parts, the later has the text of both."""
    start, begin = 0, 0
    for length in lengths[:-1]:
        cut = start + length
        if any(edit.start < cut + len(BETWEEN) and edit.end > cut for edit in turn.edits):
            yield ""
        else:
            end = _moved(cut, turn.edits)
            yield turn.utterance[begin:end]
            begin = end + len(BETWEEN)
        start = cut + len(BETWEEN)
    yield turn.utterance[begin:]


def _moved(place: int, edits: Sequence[Edit]) -> int:
    """Where a place of the original, which no edit covers, is in the utterance. What is inserted there stands before it."""
    return place + sum(len(edit.replacement) - (edit.end - edit.start) for edit in edits if edit.end <= place)


def _places(payload: str) -> Iterator[Place]:
    """Where the texts of a message stand."""
    for name, start, end in members(payload, skip(payload, 0)):
        if name in _CONTENTS:
            yield from texts_at(payload, start, end)
            return


def texts_at(payload: str, start: int, end: int) -> Iterator[Place]:
    """Where the texts of a message's content stand, which is at [start, end): itself, or those of its parts."""
    if payload[start] == '"':
        yield Place(json.loads(payload[start:end]), start, end)
    elif payload[start] == "[":
        for at in elements(payload, start):
            if payload[at] == "{":
                for inner, begin, stop in members(payload, at):
                    if inner == "text" and payload[begin] == '"':
                        yield Place(json.loads(payload[begin:stop]), begin, stop)


def members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """(name, start, end) of the members of the object at a place; start and end are of the value."""
    at = skip(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = skip(text, skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        yield name, start, end
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def elements(text: str, at: int) -> Iterator[int]:
    """Where the elements of the array at a place begin."""
    at = skip(text, at + 1)
    while text[at] != "]":
        yield at
        _, end = _DECODER.raw_decode(text, at)
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def skip(text: str, at: int) -> int:
    """The first place from `at` on that is no blank."""
    while text[at] in " \t\r\n":
        at += 1
    return at
