"""Workers that a pool started elsewhere: in another folder, with another environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from dialmill.pipelines.runners.launched import Launched
from dialmill.schemas import archives

from tests.pipelines.tools import DATA, hashes, plain

from .pool import worker_pool


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[str]:
    """The address of a worker pool whose working folder is empty."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with worker_pool(folder, without=archives.VARIABLE) as address:
        yield address


def test_workers_find_relative_paths_and_keep_the_launchers_limits(pool: str, tmp_path: Path) -> None:
    """A relative input, and a zip that only the launcher's --max-unpacked lets through."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    content = (DATA / "multiwoz21" / "data.json").read_bytes()
    with zipfile.ZipFile(corpus / "packed.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        packed.writestr("data.json", content + b" " * (200 * len(content)) + b"\n")
    command = [sys.executable, "-m", "dialmill", "build", "splits", "--input", "corpus/packed.zip", "--output", "out", "--quiet"]
    options = ["--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=EXTERNAL", f"--environment_config={pool}"]
    small = {archives.VARIABLE: "1M"}
    done = subprocess.run(
        [*command, "--max-unpacked", "1G", "--", *options], cwd=tmp_path, env={**os.environ, **small}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    plain("splits", [corpus / "packed.zip"], tmp_path / "plain")
    assert hashes(tmp_path / "out") == hashes(tmp_path / "plain")


def test_a_process_becomes_like_the_launching_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(archives.VARIABLE, "7G")
    monkeypatch.chdir(tmp_path)
    launched = Launched.here()
    monkeypatch.setenv(archives.VARIABLE, "1M")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    launched.enter()
    assert Path.cwd() == tmp_path and archives.limit() == 7 << 30

    monkeypatch.delenv(archives.VARIABLE)
    unset = Launched.here()
    monkeypatch.setenv(archives.VARIABLE, "1M")
    unset.enter()
    assert archives.limit() == archives.LARGEST

    Launched(str(tmp_path / "of another machine"), {}).enter()
    assert Path.cwd() == tmp_path
