"""`dialmill proxy` as a server: one process, or several that share a port and nothing else."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import socket
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from dialmill.perturbers.core.contract import OptionError, Perturber
from dialmill.perturbers.core.registry import parse
from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.pipelines.proxy.app import SLOW, Proxy, Settings, application
from dialmill.pipelines.proxy.conversation import Noise
from dialmill.pipelines.proxy.guards import read_guard
from dialmill.pipelines.proxy.lineage import Log
from starlette.applications import Starlette

#: What stands for no perturber: every text passes.
NONE = "none"
#: Where the processes of a server find how it was started. It holds nothing secret.
_ENVIRONMENT = "DIALMILL_PROXY"
_FACTORY = "dialmill.pipelines.proxy.server:from_environment"
_SAMPLES = ("I would like to know whether you could book me a table for tomorrow evening, please.", "麻烦帮我看一下明天晚上还有没有位子，谢谢。")


@dataclass(frozen=True)
class Options:
    """How a proxy is started; the fields are the options of the command line.

    Args:
        spec: the perturber with its options, or "none".
        guard: files whose values are guarded.
        shapes: whether what looks like a value is guarded.
        keep: an expression; the user's texts that it is found in are left alone.
        log: a file, "" for none.
    """

    upstream: str
    spec: str = NONE
    seed: int = 1
    variant: int = 0
    guard: tuple[str, ...] = ()
    shapes: bool = True
    keep: str = ""
    log: str = ""
    on_error: str = "pass"
    max_body: int = 64 << 20
    timeout: float = 600.0
    host: str = "127.0.0.1"
    port: int = 8100
    workers: int = 1


def noise_of(options: Options) -> Noise:
    """The noise that a proxy makes.

    Raises:
        UsageError: a perturber, option or expression that can't be used.
        InputError: a guard that can't be read.
    """
    perturber: Perturber | None = None
    suite = "clean"
    try:
        keep = re.compile(options.keep) if options.keep else None
    except re.error as error:
        raise UsageError(f"--keep: {options.keep!r} is no regular expression: {error}") from None
    if options.spec != NONE:
        try:
            suite, perturber = parse(options.spec)
        except OptionError as error:
            raise UsageError(str(error)) from None
    return Noise(perturber, options.seed, suite, read_guard(options.guard, options.shapes), keep)


def proxy_of(options: Options) -> Proxy:
    """A proxy, ready to serve.

    Raises:
        DialmillError: options that can't be used.
    """
    try:
        address = urlsplit(options.upstream)
    except ValueError as error:
        raise UsageError(f"--upstream must be an address such as https://api.example.com/v1, not {options.upstream!r}: {error}") from None
    if address.scheme not in ("http", "https") or not address.netloc or address.query or address.fragment:
        raise UsageError(f"--upstream must be an address such as https://api.example.com/v1, not {options.upstream!r}")
    if address.username is not None or address.password is not None:
        raise UsageError("--upstream must hold no user name and no password: the client's own Authorization header is sent on")
    noise = noise_of(options)
    slow = _warm(noise) > SLOW
    settings = Settings(options.upstream, options.on_error, options.max_body, options.timeout, options.variant)  # type: ignore[arg-type]
    return Proxy(settings, noise, Log(options.log) if options.log else None, slow)


def _warm(noise: Noise) -> float:
    """Seconds that a text takes, once what the perturber needs is loaded."""
    for text in _SAMPLES:
        noise.conversation([[text]])
    start = time.perf_counter()
    noise.conversation([[_SAMPLES[0]]], variant=1)
    return time.perf_counter() - start


def from_environment() -> Starlette:
    """The application of a process of a server."""
    given: dict[str, Any] = json.loads(os.environ[_ENVIRONMENT])
    return application(proxy_of(Options(**{**given, "guard": tuple(given["guard"])})))


def serve(options: Options) -> None:
    """Serves until it is told to stop.

    Raises:
        DialmillError: options that can't be used, or a port that is taken.
    """
    proxy = proxy_of(options)  # Whatever is wrong with the options shows here, and not in a process of its own.
    if options.workers > 1:
        os.environ[_ENVIRONMENT] = json.dumps(asdict(options))
    config = uvicorn.Config(
        _FACTORY if options.workers > 1 else application(proxy),
        factory=options.workers > 1,
        workers=options.workers,
        log_level="error",
        access_log=False,  # It would show addresses, which may hold keys.
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
        ws="none",
    )
    listening = _bound(options.host, options.port)
    port = listening.getsockname()[1]
    print(f"dialmill: {_about(replace(options, port=port), proxy)}", file=sys.stderr, flush=True)
    with contextlib.suppress(KeyboardInterrupt), listening:
        if options.workers > 1:
            from uvicorn.supervisors import Multiprocess

            # Earlier releases of uvicorn are told what a process runs; later ones know.
            supervisor: Any = Multiprocess
            more = {"target": uvicorn.Server(config).run} if "target" in inspect.signature(Multiprocess).parameters else {}
            supervisor(config, sockets=[listening], **more).run()
        else:
            uvicorn.Server(config).run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise DialmillError(f"can't listen on {host}:{port}: {error.strerror}; choose another --port, or 0 for any that is free") from None
    listening.set_inheritable(True)
    return listening


def _about(options: Options, proxy: Proxy) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    steps = "+".join(proxy.noise.steps) or "no noise"
    guarded = len(proxy.noise.guard)
    values = f", {guarded} values guarded" if guarded else ""
    return f"proxy at http://{host}:{options.port}/v1 for {options.upstream}: {steps}, seed {options.seed}{values}"
