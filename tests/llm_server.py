"""An OpenAI-compatible server on this machine that answers, or misbehaves, as a test wants it to; the fixture `serve` starts one."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.rewording import llm

#: What the server does: an answer's text, or (status, headers, body); a body in pieces comes piece by piece.
Reply = str | tuple[int, dict[str, str], bytes | list[bytes]]
#: Seconds between pieces.
_PAUSE = 0.1


class Server(ThreadingHTTPServer):
    """Answers by a function of the number of the call; keeps what it was asked."""

    daemon_threads = True

    def __init__(self, reply: Callable[[int, dict[str, Any]], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.asked: list[dict[str, Any]] = []
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.asked)
            self.server.asked.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
        reply = self.server.reply(number, body)
        if isinstance(reply, str):
            answer = {"choices": [{"message": {"role": "assistant", "content": reply}}], "usage": {"total_tokens": 21}}
            reply = (200, {}, json.dumps(answer).encode())
        status, headers, content = reply
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        pieces = [content] if isinstance(content, bytes) else content
        self.send_header("Content-Length", str(sum(map(len, pieces))))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a client that didn't wait
            self.end_headers()
            for place, piece in enumerate(pieces):
                time.sleep(_PAUSE if place else 0)
                self.wfile.write(piece)
                self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Callable[[int, dict[str, Any]], Reply]], Server]]:
    """Starts a server and points the environment to it."""
    servers: list[Server] = []

    def start(reply: Callable[[int, dict[str, Any]], Reply]) -> Server:
        server = Server(reply)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sesame")
        return server

    monkeypatch.setenv("DIALMILL_CACHE", str(tmp_path / "cache"))
    # One client a model, as in a process of its own; a new server is a new process.
    clients: dict[tuple[str, int], llm.Client] = {}
    monkeypatch.setattr(llm, "client_for", lambda model: clients.setdefault((model, len(servers)), llm.Client(model, wait=0.01, timeout=0.3)))
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
