"""Emulators of both object stores on loopback, for tests and for `.ci/engines`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Stores(NamedTuple):
    """Running emulators.

    Args:
        buckets: a bucket of each store by protocol.
        settings: the environment variables that lead to them.
        processes: ids of the emulators.
    """

    buckets: dict[str, str]
    settings: dict[str, str]
    processes: tuple[int, ...]


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 30) -> None:
    """Returns when something listens on a port of loopback.

    Raises:
        RuntimeError: the process that should do so ended, or doesn't in time.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{process.args!r} doesn't listen on port {port} after {seconds:.0f} seconds")


def _wait_for_answer(port: int, process: subprocess.Popen[bytes]) -> None:
    wait_for_port(port, process)
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the emulator doesn't answer")


def missing() -> str | None:
    """A module that the emulators need and that isn't installed, None where all are there."""
    return next((one for one in ("gcsfs", "s3fs", "moto", "gcp_storage_emulator") if importlib.util.find_spec(one) is None), None)


@contextmanager
def running() -> Iterator[Stores]:
    """The emulators, with one bucket each; the environment of this process leads to them while they run."""
    scripts = Path(sys.executable).parent
    emulator = shutil.which("gcp-storage-emulator", path=f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}")
    command = [emulator] if emulator else [sys.executable, "-m", "gcp_storage_emulator"]
    ports = free_port(), free_port()
    settings = {
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{ports[0]}",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports[1]}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    commands = [
        [*command, "start", "--host", "127.0.0.1", "--port", str(ports[0]), "--in-memory", "--default-bucket", "bucket"],
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(ports[1])],
    ]
    before = {name: os.environ.get(name) for name in settings}
    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes += [subprocess.Popen(one, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for one in commands]
        for port, process in zip(ports, processes, strict=True):
            _wait_for_answer(port, process)
        os.environ.update(settings)
        import s3fs

        s3fs.S3FileSystem().mkdir("bucket")
        yield Stores({"gs": "gs://bucket", "s3": "s3://bucket"}, settings, tuple(one.pid for one in processes))
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for process in processes:
            process.kill()
            process.wait()
