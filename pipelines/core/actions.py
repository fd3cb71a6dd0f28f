"""What an agent does next in a recorded run: the places behind a user's message, the action that followed, and the messages up to there.

Runs are dialogues of the source `messages`, whose turns hold their messages (`payload`). Three ways of writing calls of tools are read: OpenAI's,
tau2's (arguments as an object; users may call tools too, which the agent doesn't see) and ShareGPT's (`function_call`). Messages are given back as
OpenAI's API takes them; one that is so already stays as it is, but for a user's text that was perturbed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from dialmill.perturbers.core.guard import leaves
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.messages import text_of, written

#: Kinds of actions: calls of tools, and an answer to the user.
CALL, ANSWER = "call", "answer"
_FIELDS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
#: Between the members of a message, where JSON may go to the next line.
_LINE_END = re.compile(r"[\r\n]+\s*")
_ROLES = {"human": "user", "gpt": "assistant", "system": "system", "observation": "tool", "tool": "tool"}


class Call(NamedTuple):
    """A call of a tool: its name, and its arguments by name."""

    name: str
    arguments: dict[str, Any]


class Action(NamedTuple):
    """What an agent does: calls, or an answer in words."""

    calls: tuple[Call, ...] = ()
    answer: str = ""

    @property
    def kind(self) -> str:
        """`CALL` or `ANSWER`."""
        return CALL if self.calls else ANSWER

    def to_dict(self) -> dict[str, Any]:
        """The action as JSON has it."""
        if self.calls:
            return {"kind": CALL, "calls": [{"name": call.name, "arguments": call.arguments} for call in self.calls]}
        return {"kind": ANSWER, "answer": self.answer}


class Prefix(NamedTuple):
    """A place in a run at which the agent acts: how many of its turns come before, the last of them the user's, and the action."""

    last: int
    action: Action


class Needed(NamedTuple):
    """A value that an action passes to a tool: under which name, and who has it in the prefix ("user", "tool", "agent", or "" for nobody)."""

    name: str
    value: str
    given_by: str


def prefixes(run: Dialogue) -> Iterator[Prefix]:
    """The places of a run at which the agent acts on what the user has just said."""
    said = False
    for number, turn in enumerate(run.turns):
        if turn.speaker == "user":
            said = True
        elif turn.payload is None or not _is_hidden(_message(turn.payload)):
            if said and (action := action_of(turn)) is not None:
                yield Prefix(number, action)
            said = False


def action_of(turn: Turn) -> Action | None:
    """What a turn of a run does, None where it isn't the agent's, or does nothing that can be read."""
    if turn.payload is None or turn.speaker == "user":
        return None
    message = _message(turn.payload)
    role = _role(message)
    if message.get("from") == "function_call":
        try:
            calls = [_call(json.loads(message.get("value", "")))]
        except (ValueError, TypeError):
            return None
    elif role != "assistant":
        return None
    else:
        calls = [_call(one) for one in _list(message.get("tool_calls"))]
    if calls:
        found = tuple(call for call in calls if call is not None)
        return Action(found) if len(found) == len(calls) else None
    text = text_of(message)
    return Action(answer=text) if text is not None else None


def _is_hidden(message: dict[str, Any]) -> bool:
    """Whether the agent doesn't see a message: a user's own call of a tool, or what came of it."""
    return message.get("requestor") == "user" or (_role(message) == "user" and bool(message.get("tool_calls")))


def _call(given: Any) -> Call | None:
    inner = given.get("function", given) if isinstance(given, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        return None
    arguments = inner.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return None
    return Call(inner["name"], arguments) if isinstance(arguments, dict) else None


def succeeded(run: Dialogue) -> bool | None:
    """Whether a run reached its whole reward; None where it says nothing of one."""
    rest = rest_of(run)
    inner = rest.get("reward_info")
    reward = rest["reward"] if "reward" in rest else inner.get("reward") if isinstance(inner, dict) else None
    return reward >= 1 - 1e-6 if isinstance(reward, int | float) and not isinstance(reward, bool) else None


def rest_of(run: Dialogue) -> dict[str, Any]:
    """What a run says beside its messages."""
    return _message(run.payload) if run.payload is not None else {}


def task_of(run: Dialogue) -> str:
    """The task of a run, by which several runs go together; its own id where it names none."""
    found = rest_of(run).get("task_id")
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else run.source_id


def needed(run: Dialogue, prefix: Prefix) -> list[Needed]:
    """The values that the action of a prefix passes to tools, each with who gives it in the prefix."""
    texts = {"user": "", "tool": "", "agent": ""}
    for turn in run.turns[: prefix.last]:
        if turn.speaker == "user":
            texts["user"] += turn.utterance + "\n"
        elif turn.payload is not None:
            message = _message(turn.payload)
            texts["tool" if _role(message) == "tool" else "agent"] += (text_of(message) or "") + "\n"
    found = []
    for call in prefix.action.calls:
        for name, argument in call.arguments.items():
            for value in dict.fromkeys(leaves(argument)):
                given_by = next((who for who, text in texts.items() if value in text), "")
                found.append(Needed(name, value, given_by))
    return found


def chat_messages(run: Dialogue, last: int) -> list[str]:
    """The first messages of a run, each as JSON, as OpenAI's API takes them: `last` turns of it, without what the agent doesn't see."""
    made = [message for turn in run.turns[:last] if turn.payload is not None and (message := _chat(written(turn))) is not None]
    policy = rest_of(run).get("policy")
    if isinstance(policy, str) and policy.strip() and not any(_message(one).get("role") == "system" for one in made[:1]):
        made.insert(0, json.dumps({"role": "system", "content": policy}, ensure_ascii=False))
    return made


@lru_cache(maxsize=4096)
def _chat(payload: str) -> str | None:
    message = json.loads(payload)
    if _is_hidden(message):
        return None
    calls = _list(message.get("tool_calls"))
    if message.keys() <= _FIELDS and "role" in message and all(isinstance(call, dict) and "function" in call for call in calls):
        return _LINE_END.sub(" ", payload)
    role = "assistant" if message.get("from") == "function_call" else _role(message)
    made: dict[str, Any] = {"role": role, "content": message.get("content", message.get("value"))}
    if message.get("from") == "function_call":
        calls, made["content"] = [json.loads(message["value"])], None
    if calls:
        read = [(place, call, _call(call)) for place, call in enumerate(calls)]
        made["tool_calls"] = [
            {
                "id": str(given.get("id") or f"call_{place}"),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for place, given, call in read
            if call is not None
        ]
    if role == "tool":
        made["tool_call_id"] = str(message.get("tool_call_id") or message.get("id") or "call_0")
    return json.dumps(made, ensure_ascii=False)


@lru_cache(maxsize=4096)
def _message(payload: str) -> dict[str, Any]:
    found = json.loads(payload)
    return found if isinstance(found, dict) else {}


def _role(message: dict[str, Any]) -> str:
    role = message.get("role", message.get("from"))
    return _ROLES.get(str(role), str(role))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
