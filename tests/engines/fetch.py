"""What the engines need and no Python package brings, fetched once into a cache outside of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import versions

_FETCH_SECONDS = 900


class UnavailableError(Exception):
    """An engine can't be had here: what was asked for, and what was answered."""


def cache() -> Path:
    """The cache folder: ``$DIALMILL_ENGINES_CACHE``, or ~/.cache/dialmill-engines."""
    folder = Path(os.environ.get("DIALMILL_ENGINES_CACHE") or Path.home() / ".cache" / "dialmill-engines")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def tool(name: str) -> str:
    """The path of a program.

    Raises:
        UnavailableError: it isn't installed.
    """
    found = shutil.which(name)
    if found is None:
        raise UnavailableError(f"{name} is not installed")
    return found


def _fetch(what: str, command: Sequence[str], **extra: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, env={**os.environ, **extra}, check=False)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{what}: no answer within {_FETCH_SECONDS} seconds") from None
    if done.returncode:
        said = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        error = next((line for line in said if "ERROR" in line), said[-1] if said else "")
        # Maven puts the reason behind what it was doing.
        reason = re.search(r"Could not find artifact \S+|Could not transfer artifact .+", error)
        raise UnavailableError(f"{what}: {reason[0] if reason else error[:300]}")


def _maven() -> list[str]:
    """Maven without talk and colours; it asks again for what it was refused before."""
    return [tool("mvn"), "-q", "-B", "-U", "-Dstyle.color=never"]


def maven_jar(coordinate: str) -> Path:
    """One artifact of Maven, without what it depends on: job servers carry all with them.

    Raises:
        UnavailableError: Maven doesn't have it, or there is no mvn.
    """
    _, name, release = coordinate.split(":")
    jar = cache() / f"{name}-{release}.jar"
    if not jar.exists():
        # Fetched beside and moved, so that a run that was killed leaves nothing that the next one takes for whole.
        with tempfile.TemporaryDirectory(dir=cache()) as folder:
            copy = ["dependency:copy", f"-Dartifact={coordinate}", f"-DoutputDirectory={folder}", "-Dmdep.useBaseVersion=true"]
            _fetch(coordinate, [*_maven(), *copy])
            (Path(folder) / jar.name).replace(jar)
    return jar


def prism() -> Path:
    """The binary of Prism at the version of the Python package, built by Go.

    Raises:
        UnavailableError: there is no Go, or its proxy lacks the module.
    """
    folder = cache() / f"prism-{versions.beam()}"
    if not (folder / "prism").exists():
        with tempfile.TemporaryDirectory(dir=cache()) as work:
            _fetch(f"{versions.PRISM}@v{versions.beam()}", [tool("go"), "install", f"{versions.PRISM}@v{versions.beam()}"], GOBIN=work)
            folder.mkdir(exist_ok=True)
            Path(work, "prism").replace(folder / "prism")
    return folder / "prism"


def flink() -> Path:
    """The folder of Flink's own jars (``lib/``, ``bin/``), out of the source archive of apache-flink-libraries.

    Raises:
        UnavailableError: PyPI lacks it.
    """
    folder = cache() / f"flink-{versions.FLINK}"
    if not folder.exists():
        name = f"apache-flink-libraries=={versions.FLINK}"
        with tempfile.TemporaryDirectory(dir=cache()) as work:
            _fetch(
                name,
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", work, name],
            )
            archive = next(Path(work).glob("*.tar.gz"))
            with tarfile.open(archive) as packed:
                packed.extractall(work, filter="data")
            next(Path(work).glob("apache*/deps")).replace(folder)
    return folder
