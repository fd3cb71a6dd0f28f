"""The proxy as an ASGI application: requests go on with noise in the user's texts, answers come back as they are, byte by byte."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

import anyio
import httpx
from anyio.to_thread import run_sync
from dialmill.pipelines.proxy.bodies import Request, chat, responses
from dialmill.pipelines.proxy.conversation import Noise, NoisyMessage
from dialmill.pipelines.proxy.lineage import Log
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
OnError = Literal["pass", "fail"]

#: What this proxy serves below, and what it reads, by the end of the path.
ROOT = "/v1"
_READERS: Mapping[str, Callable[[str], Request]] = {"/chat/completions": chat, "/responses": responses}
#: Headers about one connection, which don't go on (RFC 9110), and those that are made anew.
_HOP = frozenset({b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"upgrade"})
_HOP_BOTH = _HOP | {b"transfer-encoding"}
_REQUEST_ANEW = frozenset({b"host", b"content-length", b"expect"})
OURS = b"x-dialmill-"
VARIANT, CHANGED, LINEAGE = b"x-dialmill-variant", b"x-dialmill-changed", b"x-dialmill-lineage"
_REDIRECTS, _KEEPING_METHOD = 3, (307, 308)
#: Texts that weren't made before are made in a thread where a sample took longer than this, in seconds: what an engine of its own makes.
SLOW = 0.05


@dataclass(frozen=True)
class Settings:
    """How a proxy behaves.

    Args:
        upstream: the address of the model's API, up to and with its version ("https://api.example.com/v1").
        on_error: what becomes of a request whose texts noise can't be put on because something fails: it passes clean, or fails with status 500.
        max_body: bytes of a request's body, plain, that are taken at most.
        timeout: how long the upstream may be silent, in seconds.
        variant: which draw of the noise, where a request doesn't say.
    """

    upstream: str
    on_error: OnError = "pass"
    max_body: int = 64 << 20
    timeout: float = 600.0
    variant: int = 0


class _Refused(Exception):
    """A request that isn't sent on: the status, and what the answer says."""

    def __init__(self, status: int, about: str) -> None:
        super().__init__(about)
        self.status, self.about = status, about


class Proxy:
    """The proxy's endpoint. Holds no state besides counters and caches, so that any number of processes serve one conversation.

    Args:
        settings: how it behaves.
        noise: what it does to the user's texts.
        log: where it says what it did; None for nowhere.
        slow: whether the noise takes so long that it mustn't hold up other requests.
    """

    def __init__(self, settings: Settings, noise: Noise, log: Log | None = None, slow: bool = False) -> None:
        self.settings, self.noise, self.log, self.slow = settings, noise, log, slow
        base = urlsplit(settings.upstream)
        self._base, self._origin = settings.upstream.rstrip("/"), (base.scheme, base.netloc)
        loopback = base.hostname in ("localhost", "127.0.0.1", "::1")
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=256, keepalive_expiry=4)
        timeout = httpx.Timeout(settings.timeout, connect=min(30.0, settings.timeout), pool=None)
        self.client = httpx.AsyncClient(limits=limits, timeout=timeout, follow_redirects=False, trust_env=not loopback)
        # What the client of the proxy sent goes on, and nothing of httpx's own.
        self.client.headers.clear()
        self.counts = dict.fromkeys(("requests", "messages", "changed", "failed", "unread", "upstream_errors", "log_errors"), 0)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Serves one request, as ASGI has it."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": "dialmill proxy takes no websockets"})
            return
        try:
            body = await self._body(receive)
            if body is None:
                return  # The client left.
            self.counts["requests"] += 1
            path, read = self._route(scope)
            content, headers, extra = await self._noisy(scope, path, read, body)
        except _Refused as refusal:
            await _answer(send, refusal)
            return
        url = httpx.URL(self._base + path, query=scope["query_string"] or None)
        request = self.client.build_request(scope["method"], url, headers=headers, content=content)
        if not content and scope["method"] in ("GET", "HEAD", "OPTIONS", "DELETE"):
            request.headers.pop("content-length", None)
        async with anyio.create_task_group() as tasks:
            # A client that leaves stops the call upstream, also before the first byte of an answer.
            tasks.start_soon(_until_gone, receive, tasks.cancel_scope)
            await self._exchange(request, send, extra)
            tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """Ends the connections."""
        await self.client.aclose()
        if self.log is not None:
            self.log.close()

    async def _body(self, receive: Receive) -> bytes | None:
        """The body of a request, None where the client left before its end."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size > self.settings.max_body:
                raise _Refused(413, f"the body has more than {self.settings.max_body} bytes; `dialmill proxy --max-body` allows more")
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)

    def _route(self, scope: Mapping[str, Any]) -> tuple[str, Callable[[str], Request] | None]:
        """The path below the upstream's address, and what reads a body that is sent there, None for nothing."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        path = raw.split(b"?")[0].decode("latin-1")
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            raise _Refused(404, f"dialmill proxy serves {ROOT}/... and /healthz, not {scope['path']}")
        below = path[len(ROOT) :]
        ending = next((end for end in _READERS if below.rstrip("/").endswith(end)), None)
        return below, _READERS[ending] if ending is not None and scope["method"] == "POST" else None

    async def _noisy(self, scope: Mapping[str, Any], path: str, read: Callable[[str], Request] | None, body: bytes) -> tuple[bytes, Headers, Headers]:
        """The body to be sent on, the headers to go with it, and those that the answer has besides its own."""
        given: Headers = list(scope["headers"])
        dropped = _HOP_BOTH | _REQUEST_ANEW | _named(given)
        headers = [(name, value) for name, value in given if name not in dropped and not name.startswith(OURS)]
        if read is None or not body:
            return body, headers, []
        variant = self._variant(given)
        try:
            encoding = b",".join(value for name, value in given if name == b"content-encoding").strip().lower()
            plain = _decoded(body, encoding, self.settings.max_body)
            request = read(plain.decode("utf-8"))
        except (ValueError, IndexError, RecursionError, zlib.error) as error:
            # What can't be read is the upstream's to judge, unless nothing may go there without noise.
            self.counts["unread"] += 1
            if self.settings.on_error == "fail":
                raise _Refused(400, f"dialmill proxy can't read the body: {error}") from None
            return body, headers, [(CHANGED, b"0")]
        texts = [[place.text for place in message.places] for message in request.messages]
        work = partial(self.noise.conversation, texts, variant, request.tools)
        made = await run_sync(work) if self.slow else work()
        self._count(made)
        self._write([one for one, message in zip(made, request.messages, strict=True) if message.new], path)
        changed = sum(any(text.changed for text in one.texts) for one in made)
        about = {"steps": self.noise.steps, "seed": self.noise.seed, "variant": variant, "messages": len(made), "changed": changed}
        about |= {"key": made[-1].key} if made else {}
        extra = [(CHANGED, b"%d" % changed), (LINEAGE, json.dumps(about).encode())]
        if not changed:
            return body, headers, extra
        content = request.with_texts([[text.text for text in one.texts] for one in made]).encode("utf-8")
        return content, [pair for pair in headers if pair[0] != b"content-encoding"], extra

    def _variant(self, headers: Headers) -> int:
        asked = next((value for name, value in headers if name == VARIANT), None)
        if asked is None:
            return self.settings.variant
        if not asked.isdigit() or len(asked) > 6:
            raise _Refused(400, "X-Dialmill-Variant must be a whole number of at least 0")
        return int(asked)

    def _count(self, made: Iterable[NoisyMessage]) -> None:
        for one in made:
            self.counts["messages"] += 1
            self.counts["changed"] += any(text.changed for text in one.texts)
            for text in one.texts:
                if text.failure:
                    self.counts["failed"] += 1
                    if self.settings.on_error == "fail":
                        raise _Refused(500, f"dialmill proxy: {text.failure}; nothing was sent on")

    def _write(self, made: list[NoisyMessage], path: str) -> None:
        if self.log is None:
            return
        try:
            self.log.write(made, path)
        except OSError as error:
            self.counts["log_errors"] += 1
            if self.settings.on_error == "fail":
                raise _Refused(500, f"dialmill proxy can't write its log: {error.strerror}; nothing was sent on") from None
            if self.counts["log_errors"] == 1:
                print(f"dialmill: the log can't be written: {error.strerror}", file=sys.stderr, flush=True)

    async def _exchange(self, request: httpx.Request, send: Send, extra: Headers) -> None:
        """Sends a request on, and its answer back."""
        try:
            response = await self._sent(request)
        except httpx.HTTPError as error:
            self.counts["upstream_errors"] += 1
            late = isinstance(error, httpx.TimeoutException)
            about = "the upstream didn't answer in time" if late else "the upstream can't be reached"
            await _answer(send, _Refused(504 if late else 502, f"dialmill proxy: {about} ({type(error).__name__})"), extra)
            return
        try:
            given = [(name.lower(), value) for name, value in response.headers.raw]
            dropped = _HOP_BOTH | _named(given)
            headers = [pair for pair in given if pair[0] not in dropped and not pair[0].startswith(OURS)]
            await send({"type": "http.response.start", "status": response.status_code, "headers": [*headers, *extra]})
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except httpx.HTTPError:
            # The answer broke off: without an end the server closes the connection, so that the client sees it.
            self.counts["upstream_errors"] += 1
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _sent(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request, its body still to come. Redirects within the upstream's own origin that keep the method are followed, for a client
        that followed them would pass the proxy by; all others are the client's."""
        response = await self.client.send(request, stream=True)
        for _ in range(_REDIRECTS):
            target = response.next_request.url if response.next_request is not None else None
            if response.status_code not in _KEEPING_METHOD or target is None or (target.scheme, target.netloc.decode()) != self._origin:
                break
            await response.aclose()
            request = self.client.build_request(request.method, target, headers=request.headers.raw, content=request.content)
            response = await self.client.send(request, stream=True)
        return response

    async def health(self, _: HttpRequest) -> JSONResponse:
        """What /healthz says: that the proxy runs, what it does, and how often it did it in this process."""
        about = {"status": "ok", "steps": self.noise.steps, "seed": self.noise.seed, "variant": self.settings.variant, "counts": self.counts}
        return JSONResponse(about)


def _named(headers: Headers) -> frozenset[bytes]:
    """The headers that `Connection` names as being about the connection alone."""
    return frozenset(one.strip().lower() for name, value in headers if name == b"connection" for one in value.split(b","))


def _decoded(body: bytes, encoding: bytes, limit: int) -> bytes:
    """A body without its content encoding.

    Raises:
        ValueError: an encoding that isn't known, or a body that grows beyond the limit.
    """
    if encoding in (b"", b"identity"):
        return body
    if encoding not in (b"gzip", b"x-gzip", b"deflate"):
        raise ValueError(f"the content encoding {encoding.decode('latin-1')!r} isn't known")
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
    plain = inflater.decompress(body, limit + 1)
    if len(plain) > limit or not inflater.eof:
        raise ValueError("the compressed body is too large or cut off")
    return plain


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            scope.cancel()
            return


async def _answer(send: Send, refusal: _Refused, extra: Headers = ()) -> None:  # type: ignore[assignment]
    """An answer of the proxy's own, in the form of OpenAI's errors."""
    content = json.dumps({"error": {"message": refusal.about, "type": "dialmill_proxy", "code": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content)), *extra]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def application(proxy: Proxy) -> Starlette:
    """The application: /healthz, and all else to the proxy."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        yield
        await proxy.close()

    return Starlette(routes=[Route("/healthz", proxy.health), Mount("/", app=proxy)], lifespan=lifespan)
