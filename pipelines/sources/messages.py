"""Chats of agents and language models: OpenAI's ``messages``, ShareGPT's ``conversations``, runs of tau-bench (``traj``) and tau2 (``simulations``).

User and assistant messages with a text are turns; all others (instructions, calls of tools, their results) are carried through: their `payload` is
the message to the byte, and so is that of turns with a text, so that `dialmill.schemas.messages.written` gives every message back. The rest of a
record is the dialogue's `payload`. What the assistant passes to its tools, or has to, and a user message has verbatim is marked as a value there, and
the turn is `guarded`: a misspelt booking number would be another booking.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from dialmill.perturbers.core.guard import Guard, arguments, leaves
from dialmill.perturbers.core.matcher import folded_word
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.peek import first_record, first_value, wrapped_record
from dialmill.pipelines.sources.reading import dialogue_data, file_name, json_kind, load_record, take
from dialmill.pipelines.sources.rows import raw_rows
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.pipelines.sources.speakers import speaker_of
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import Speaker
from dialmill.schemas.kinds import ANY, Relative
from dialmill.schemas.messages import text_of

#: The field of a record that holds its messages, in each form.
_HOLDERS = ("messages", "conversations", "conversation", "traj", "items")
_ENDINGS = (".jsonl", ".ndjson", ".json", ".parquet")
#: Under this name a batch file of requests to OpenAI's API has what it sends.
BODY = "body"
#: Words that mean the assistant elsewhere, and here the instruction to it.
_INSTRUCTING = frozenset({"system", "sys"})
#: Arguments of tools longer than this are texts and no values, in characters.
_LONGEST = 60

_RAW_RECORD = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])


class Messages(Source):
    """Chats of agents and language models."""

    name = "messages"
    language = "en, zh, und"
    licence = "your own"
    relatives = (
        Relative(
            "a list of tau-bench's examples for prompts, in each of which a whole run is one text; the runs themselves (traj) are read",
            ({"messages_display": ANY}, [{"messages_display": ANY}]),
        ),
    )
    about = "chat messages: OpenAI JSON lines and batch files, ShareGPT, runs of tau-bench and tau2; tool calls and instructions are kept as they are"

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(_ENDINGS):
            return None
        value = first_value(head)
        record = first_record(head)
        if record is None:
            return None
        if any(map(_holds_messages, (record, _body(record), wrapped_record(head) or {}))) or (
            isinstance(value, list) and _are_messages(value) and "id" not in record
        ):
            return "dialogues"
        if isinstance(value, dict) and ("simulations" in record or ("tasks" in record and '"user_scenario"' in head)) and "info" in record:
            return "dialogues"
        return None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        rows = list(raw_rows(path, data, _holds_messages))
        if rows and all(_is_message(raw) for _, raw in rows):
            yield file_name(path), "dialogue", b'{"messages":[' + b",".join(raw for _, raw in rows) + b"]}"
            return
        for place, raw in rows:
            inner = _simulations(raw) if len(rows) == 1 else None
            if inner is None:
                yield run_id(raw) or f"{file_name(path)}:{place}", "dialogue", raw
            elif not inner:
                raise InputError(path, "holds no simulation", "of results in a folder, name the files of the folder simulations")
            else:
                for number, run in enumerate(inner):
                    yield run_id(run) or f"{file_name(path)}#{number}", "dialogue", run

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        data = dialogue_data(pieces)
        record = load_record(data)
        rest = dict(_RAW_RECORD.decode(data)) if isinstance(record, dict) else {}
        sent = _body(record) if isinstance(record, dict) and _holder(record) not in record else {}
        holder = _holder(sent or record)
        messages = take(sent or record, holder, list)
        within = _RAW_RECORD.decode(rest[BODY]) if sent else rest
        language, turns = turns_of(messages, _RAW_LIST.decode(within.pop(holder)), holder, _actions(record))
        if sent:
            rest[BODY] = msgspec.Raw(msgspec.json.encode(within))
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            turns=turns,
            payload=msgspec.json.encode(rest).decode() if rest else None,
        )


def turns_of(messages: Sequence[Any], raws: Sequence[msgspec.Raw], where: str, actions: Sequence[Any]) -> tuple[str, tuple[Turn, ...]]:
    """The language and the turns of a chat.

    Args:
        messages, raws: its messages, parsed and as they are.
        where: what errors call their list.
        actions: calls of tools beside those in the messages, whose values are guarded too: those that solve the task.

    Raises:
        RecordError: a message is none, or none is a user's text.
    """
    speakers = [_speaker(message, f"{where}[{number}]") for number, message in enumerate(messages)]
    texts = [text_of(message) if speaker != "other" else None for message, speaker in zip(messages, speakers, strict=True)]
    if not any(text is not None and speaker == "user" for text, speaker in zip(texts, speakers, strict=True)):
        raise RecordError("empty_dialogue", f"no message of {where} is a user's text")
    language = language_of(" ".join(filter(None, texts)))
    values = _passed(messages, actions)
    guard = Guard(_read_by_tools(messages, actions), shapes=False, anywhere=True)
    turns = []
    for number, (message, raw, speaker, text) in enumerate(zip(messages, raws, speakers, texts, strict=True)):
        role, payload = _role(message), bytes(raw).decode()
        if text is None:
            turns.append(Turn(number, "other", "", role=role, payload=payload))
        else:
            low = folded_word(text)
            claims = [claim for claim in values if folded_word(claim.value) in low] if speaker == "user" else []
            turn = Turn(number, speaker, text, spans=settle(text, claims, language).spans, role=role, payload=payload)
            turns.append(guard.turn(turn) if speaker == "user" else turn)
    return language, tuple(turns)


def _holder(record: Any) -> str:
    """The field of a record that holds its messages."""
    given = [name for name in _HOLDERS if isinstance(record, dict) and name in record]
    return next((name for name in given if _are_messages(record[name])), given[0] if given else _HOLDERS[0])


def _body(record: dict[str, Any]) -> dict[str, Any]:
    """What a request of a batch file sends; nothing of any other record."""
    body = record.get(BODY)
    return body if isinstance(body, dict) and _holds_messages(body) else {}


def _holds_messages(record: dict[str, Any]) -> bool:
    return any(_are_messages(record.get(holder)) for holder in _HOLDERS)


def _are_messages(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and (
        {"role", "content"} <= first.keys() or {"role", "tool_calls"} <= first.keys() or {"from", "value"} <= first.keys()
    )


def _is_message(raw: bytes) -> bool:
    try:
        return _are_messages([msgspec.json.decode(raw)])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _simulations(raw: bytes) -> list[bytes] | None:
    """The runs of tau2's results; None of any other record."""
    try:
        record = _RAW_RECORD.decode(raw)
        if "simulations" in record or {"tasks", "info"} <= record.keys():
            return [bytes(run) for run in _RAW_LIST.decode(record["simulations"])] if "simulations" in record else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return None


class _Named(msgspec.Struct):
    id: str | int | None = None
    conversation_id: str | int | None = None
    dialogue_id: str | int | None = None
    custom_id: str | int | None = None
    task_id: str | int | None = None
    trial: int | None = None


_NAMED = msgspec.json.Decoder(_Named)


def run_id(raw: bytes) -> str:
    """The id that a record has, of a run its task and trial; "" for none."""
    try:
        named = _NAMED.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    found = next((str(name) for name in (named.id, named.conversation_id, named.dialogue_id, named.custom_id) if name is not None), "")
    if not found and named.task_id is not None:
        found = f"{named.task_id}" if named.trial is None else f"{named.task_id}-{named.trial}"
    return found.strip()


def _role(message: dict[str, Any]) -> str:
    return str(message.get("role", message.get("from")))


def _speaker(message: Any, where: str) -> Speaker:
    """Who speaks; "other" for all who are neither a user nor the assistant, roles that nobody has heard of too."""
    if not isinstance(message, dict):
        raise RecordError("wrong_type", f"{where}: expected an object, found {json_kind(message)}")
    role = message.get("role", message.get("from"))
    if not isinstance(role, str):
        raise RecordError("missing_key" if role is None else "wrong_type", f"{where}.role")
    return "other" if role.strip().casefold() in _INSTRUCTING else speaker_of(role) or "other"


def _passed(messages: Sequence[dict[str, Any]], actions: Sequence[Any]) -> list[Claim]:
    """What the calls of tools pass on, and the actions that solve a task: each value once, under the function and the argument that have it first."""
    found: dict[str, Claim] = {}
    for call in [*(call for message in messages for call in _list(message.get("tool_calls"))), *actions]:
        called = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(called, dict):
            continue
        arguments = called.get("arguments", called.get("kwargs"))
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                continue
        for name, value in _leaves(arguments, ""):
            if value.lower() not in found and name.strip():
                found[value.lower()] = Claim(str(called.get("name") or "tool").lower(), name.strip().lower(), value)
    return list(found.values())


def _read_by_tools(messages: Sequence[dict[str, Any]], actions: Sequence[Any]) -> Iterator[str]:
    """Every text that a tool was called with in a run, or has to be."""
    for passed in arguments([[message.get("tool_calls") for message in messages], list(actions)]):
        yield from leaves(passed)


def _actions(record: dict[str, Any]) -> list[Any]:
    """The actions that solve the task of a tau-bench run."""
    inner: Any = record
    for name in ("info", "task"):
        inner = inner.get(name) if isinstance(inner, dict) else None
    return _list(inner.get("actions")) if isinstance(inner, dict) else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """(name, text) of the texts and numbers in an argument, short enough to be values."""
    if isinstance(value, dict):
        for inner, one in value.items():
            yield from _leaves(one, inner)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, name)
    elif not isinstance(value, bool):
        text = (normalise.scalar_text(value) or "").strip()
        if 0 < len(text) <= _LONGEST:
            yield name, text
