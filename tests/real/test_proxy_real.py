"""All of tau_bench's messages sent through the proxy: nothing but the user's texts changes, no value that a tool is called with, and always alike."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

pytest.importorskip("uvicorn", reason="the extra proxy isn't installed")
pytest.importorskip("starlette", reason="the extra proxy isn't installed")

from dialmill.perturbers.core.guard import leaves
from dialmill.pipelines.proxy.bodies import chat

from tests.proxy.conftest import Upstream, proxy, upstream  # noqa: F401

#: The choices that the airline's tools leave.
TOOLS = [{"function": {"parameters": {"properties": {"cabin": {"enum": ["basic_economy", "economy", "business"]}}}}}]


def _outside(body: bytes) -> list[str]:
    """What stands in a request beside the user's texts."""
    request = chat(body.decode())
    ends, rest = 0, []
    for message in request.messages:
        for place in message.places:
            rest.append(request.body[ends : place.start])
            ends = place.end
    return [*rest, request.body[ends:]]


def test_every_message_in_replay(real: Path, proxy: Callable[..., str], upstream: Upstream) -> None:  # noqa: F811
    with zipfile.ZipFile(real / "tau_bench" / "gpt-4o-airline.json.zip") as archive:
        runs = json.loads(archive.read(next(name for name in archive.namelist() if name.endswith(".json"))))
    sent = [json.dumps({"model": "m", "messages": run["traj"], "tools": TOOLS}).encode() for run in runs]
    first, second = (proxy("typos:rate=0.3,style=chat") for _ in range(2))
    with httpx.Client(timeout=30) as client:
        for url in (first, first, second):
            for body in sent:
                assert client.post(f"{url}/chat/completions", content=body).status_code == 200
    got = upstream.bodies
    assert len(got) == 3 * len(sent) and all(got[place] == got[place % len(sent)] for place in range(len(got)))
    messages = values = changed = 0
    for run, before, after in zip(runs, sent, got, strict=False):
        assert _outside(before) == _outside(after)
        calls = [json.loads(call["function"]["arguments"]) for message in run["traj"] for call in message.get("tool_calls") or ()]
        passed = {value for value in leaves(calls) if len(value) >= 3}
        for old, new in zip(json.loads(before)["messages"], json.loads(after)["messages"], strict=True):
            messages += 1
            changed += old != new
            standing = [value for value in passed if old["role"] == "user" and value in old["content"]]
            values += len(standing)
            assert all(new["content"].count(value) >= old["content"].count(value) for value in standing), (old, new)
    assert messages == 5308 and values == 554 and changed > 1400
