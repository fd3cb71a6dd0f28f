"""A pool of Beam workers in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.remote.stores import free_port, wait_for_port


@contextmanager
def worker_pool(folder: Path, python: str = sys.executable, without: str = "") -> Iterator[str]:
    """Starts a pool; its address.

    Args:
        folder: where its workers run.
        python: the Python of its workers.
        without: an environment variable that they don't see.
    """
    port = free_port()
    # Beam's pool starts its workers as `python`.
    path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {name: value for name, value in os.environ.items() if name not in (without, "PYTHONPATH")} | {"PATH": path}
    command = [python, "-m", "apache_beam.runners.worker.worker_pool_main", f"--service_port={port}"]
    with (folder / "pool.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for_port(port, process, 60)
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)
