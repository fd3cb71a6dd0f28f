"""Where the user's texts stand in the JSON of a request, and the same JSON with other texts in their places, every other character as it was.

Two forms are known: chat completions (`messages`) and responses (`input`, a text or a list of items).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from dialmill.schemas.messages import Place, elements, members, rewritten, skip, texts_at

_DECODER = json.JSONDecoder()


class UserMessage(NamedTuple):
    """A message of the user's.

    Args:
        places: its texts; of a message in parts one each, of one without text none.
        new: whether no answer of the model's comes after it, so that this request is the first to hold it, a repeated request apart.
    """

    places: tuple[Place, ...]
    new: bool


class Request(NamedTuple):
    """A request as far as noise is concerned.

    Args:
        body: the JSON.
        messages: the user's messages, in order.
        tools: the schemas of the model's tools; None for none.
        continued: whether it goes on from a conversation that the server keeps, and holds none of its earlier messages.
    """

    body: str
    messages: tuple[UserMessage, ...]
    tools: Any = None
    continued: bool = False

    def with_texts(self, texts: Sequence[Sequence[str]]) -> str:
        """The JSON with other texts, those of each message in turn."""
        places = list(chain.from_iterable(message.places for message in self.messages))
        return rewritten(self.body, places, list(chain.from_iterable(texts)))


def chat(body: str) -> Request:
    """A request of /chat/completions.

    Raises:
        ValueError: the body is no such request.
    """
    found = _object(body)
    return Request(body, _messages(body, found.get("messages")), _value(body, found.get("tools")))


def responses(body: str) -> Request:
    """A request of /responses.

    Raises:
        ValueError: the body is no such request.
    """
    found = _object(body)
    given = found.get("input")
    if given is not None and body[given[0]] == '"':
        messages: tuple[UserMessage, ...] = (UserMessage(tuple(texts_at(body, *given)), True),)
    else:
        messages = _messages(body, given)
    continued = any(_value(body, found.get(name)) is not None for name in ("previous_response_id", "conversation"))
    return Request(body, messages, _value(body, found.get("tools")), continued)


def _object(body: str) -> dict[str, tuple[int, int]]:
    """Where the values of the members of an object stand; of two of one name, the later, as programs read it."""
    try:
        start = skip(body, 0)
        if body[start] != "{":
            raise ValueError("the body is no JSON object")
        return {name: (first, last) for name, first, last in members(body, start)}
    except (IndexError, StopIteration, RecursionError):
        raise ValueError("the body is no JSON object") from None


def _value(body: str, place: tuple[int, int] | None) -> Any:
    return None if place is None else _DECODER.raw_decode(body, place[0])[0]


def _messages(body: str, place: tuple[int, int] | None) -> tuple[UserMessage, ...]:
    """The user's messages in the list at a place."""
    if place is None or body[place[0]] != "[":
        return ()
    found: list[tuple[int, tuple[Place, ...]]] = []
    answered = -1
    for number, at in enumerate(elements(body, place[0])):
        if body[at] != "{":
            continue
        inside = {name: (start, end) for name, start, end in members(body, at)}
        role = _value(body, inside.get("role"))
        kind = _value(body, inside.get("type"))
        if role == "user" and kind in (None, "message"):
            content = inside.get("content")
            found.append((number, tuple(texts_at(body, *content)) if content is not None else ()))
        elif role == "assistant" or kind in ("function_call", "reasoning"):
            answered = number
    return tuple(UserMessage(places, number > answered) for number, places in found)
