"""Object stores for tests: emulators of both on loopback, started once."""

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
from pathlib import Path

import pytest


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"the emulator ended with {process.returncode}")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the emulator doesn't answer")


@pytest.fixture(scope="session")
def stores() -> Iterator[dict[str, str]]:
    """A bucket of each store by protocol, and the environment that leads to them in place."""
    for module in ("gcsfs", "s3fs", "moto", "gcp_storage_emulator"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; the extra `test` brings it")
    scripts = Path(sys.executable).parent
    emulator = shutil.which("gcp-storage-emulator", path=f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}")
    command = [emulator] if emulator else [sys.executable, "-m", "gcp_storage_emulator"]
    ports = _free_port(), _free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [
        subprocess.Popen([*command, "start", "--host", "127.0.0.1", "--port", str(ports[0]), "--in-memory", "--default-bucket", "bucket"], **quiet),
        subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(ports[1])], **quiet),
    ]
    settings = {
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{ports[0]}",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports[1]}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in settings}
    try:
        for port, process in zip(ports, processes, strict=True):
            _wait(port, process)
        os.environ.update(settings)
        import s3fs

        s3fs.S3FileSystem().mkdir("bucket")
        yield {"gs": "gs://bucket", "s3": "s3://bucket"}
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(params=["gs", "s3"])
def bucket(request: pytest.FixtureRequest, stores: dict[str, str]) -> str:
    """The bucket of one store."""
    return stores[request.param]
