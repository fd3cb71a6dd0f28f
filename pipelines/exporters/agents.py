"""What an agent does next in a recorded run, as a question to a model: its prefix, the tools that the runs call, and the action as the answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from dialmill.pipelines.core.actions import CALL, action_of, chat_messages, prefixes, rest_of
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.messages import text_of

ASKED = {
    "en": "Continue the conversation: give the assistant's next action as JSON in one line and nothing else, either "
    '{"calls": [{"name": TOOL, "arguments": {...}}, ...]} or {"answer": TEXT}. The tools are:',
    "zh": "继续对话：给出助手的下一个动作，写成一行 JSON，不要写别的："
    '{"calls": [{"name": 工具, "arguments": {...}}, ...]} 或 {"answer": 文本}。工具有：',
}
ANSWER = {"en": "Next action:", "zh": "下一个动作："}
_NAMES = {
    "en": {"user": "User", "assistant": "Assistant", "tool": "Tool result", "system": "System", "developer": "System", "calls": "Assistant calls"},
    "zh": {"user": "用户", "assistant": "助手", "tool": "工具结果", "system": "系统", "developer": "系统", "calls": "助手调用"},
}


class Place(NamedTuple):
    """A place in a run: how many turns come before the action, and the action as JSON in one line."""

    last: int
    target: str


def places(record: Dialogue) -> Iterator[Place]:
    """The places of a run at which the agent acts on what the user has just said."""
    for prefix in prefixes(record):
        action = prefix.action
        given: dict[str, Any] = {"calls": action.to_dict()["calls"]} if action.kind == CALL else {"answer": action.answer}
        yield Place(prefix.last, json.dumps(given, ensure_ascii=False))


def tools_of(records: Iterable[Dialogue]) -> str:
    """The tools that runs call, each with the names of its arguments; and those whose schemas they hold."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for tool in _list(rest_of(record).get("tools")):
            function = tool.get("function", tool) if isinstance(tool, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                schema = function.get("parameters")
                properties = schema.get("properties") if isinstance(schema, dict) else None
                found.setdefault(function["name"], {}).update(dict.fromkeys(properties if isinstance(properties, dict) else ()))
        for turn in record.turns:
            action = action_of(turn) if _may_act(turn) else None
            for call in action.calls if action is not None else ():
                found.setdefault(call.name, {}).update(dict.fromkeys(call.arguments))
    return "; ".join(f"{name}({', '.join(sorted(arguments))})" for name, arguments in sorted(found.items()))


def _may_act(turn: Turn) -> bool:
    return turn.payload is not None and ("tool_calls" in turn.payload or "function_call" in turn.payload)


def messages(record: Dialogue, last: int) -> list[dict[str, Any]]:
    """The prefix as inspect's messages: calls with their arguments as objects, results of tools with the tool's name."""
    made: list[dict[str, Any]] = []
    called: dict[str, str] = {}
    for one in map(json.loads, chat_messages(record, last)):
        role = {"developer": "system"}.get(one["role"], one["role"])
        message: dict[str, Any] = {"role": role, "content": text_of(one) or ""}
        if one.get("tool_calls"):
            calls = [{"id": call["id"], **_call(call)} for call in one["tool_calls"]]
            called.update({call["id"]: call["function"] for call in calls})
            message["tool_calls"] = calls
        if role == "tool":
            message |= {"tool_call_id": one.get("tool_call_id", ""), "function": called.get(one.get("tool_call_id", ""), one.get("name", "tool"))}
        made.append(message)
    return made


def _call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call["function"]["arguments"]
    return {"function": call["function"]["name"], "arguments": json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else {}}


def lines(record: Dialogue, last: int) -> Iterator[str]:
    """The prefix as lines of text, each behind its speaker's name."""
    names = _NAMES.get(record.language, _NAMES["en"])
    for one in messages(record, last):
        if one["content"]:
            yield f"{names.get(one['role'], one['role'])}: {one['content']}"
        for call in one.get("tool_calls", ()):
            yield f"{names['calls']}: {json.dumps({'name': call['function'], 'arguments': call['arguments']}, ensure_ascii=False)}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
