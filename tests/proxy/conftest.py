"""A model's API on this machine that answers, or misbehaves, as a test wants it to, and proxies before it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn", reason="the extra proxy isn't installed")
pytest.importorskip("starlette", reason="the extra proxy isn't installed")

from dialmill.pipelines.proxy import app, server  # noqa: E402

Send = Callable[[dict[str, Any]], Awaitable[None]]
KEY = "sk-never-to-be-logged"


@dataclass
class Asked:
    """A request as the upstream got it."""

    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for one, value in self.headers if one == name), None)


async def echo(asked: Asked, send: Send, gone: asyncio.Event) -> None:
    """Answers with the body."""
    await reply(send, 200, [(b"content-type", b"application/json")], asked.body)


async def reply(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@dataclass
class Upstream:
    """Answers by `answer`, and keeps what it was asked."""

    answer: Callable[[Asked, Send, asyncio.Event], Awaitable[None]] = echo
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = [(name.decode(), value.decode("latin-1")) for name, value in scope["headers"]]
        asked = Asked(scope["method"], scope["raw_path"].decode(), scope["query_string"].decode(), headers, body)
        self.asked.append(asked)
        gone = asyncio.Event()

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()

        watching = asyncio.create_task(watch())
        with suppress(OSError):
            await self.answer(asked, send, gone)
        watching.cancel()

    @property
    def bodies(self) -> list[bytes]:
        return [one.body for one in self.asked]


class Running:
    """An application that is served from a thread."""

    def __init__(self, application: Any) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        config = uvicorn.Config(application, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="auto")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        until(lambda: self._server.started)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)


def until(true: Callable[[], Any], seconds: float = 10) -> None:
    """Waits for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it didn't come true"
        time.sleep(0.01)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A model's API."""
    made = Upstream()
    running = Running(made)
    made.url = running.url
    yield made
    running.stop()


@pytest.fixture
def proxy(upstream: Upstream) -> Iterator[Callable[..., str]]:
    """Starts proxies before the upstream, with the options of the command line by name; gives the address."""
    running = []

    def start(spec: str = "typos:rate=0.5", **options: Any) -> str:
        given = server.Options(**{"upstream": upstream.url, "spec": spec, **options})
        running.append(Running(app.application(server.proxy_of(given))))
        return running[-1].url

    yield start
    for one in running:
        one.stop()
