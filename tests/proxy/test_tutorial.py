"""The tutorial on agents: its files are written and its commands run in their order, and what it says of the results is so."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra proxy isn't installed")
pytest.importorskip("starlette", reason="the extra proxy isn't installed")

from tests.pipelines.tools import ROOT, call, environment
from tests.proxy.conftest import until

PAGE = ROOT / "docs" / "tutorials" / "agents.md"


@pytest.fixture
def background() -> Iterator[list[subprocess.Popen[bytes]]]:
    running: list[subprocess.Popen[bytes]] = []
    yield running
    for one in running:
        one.terminate()
        one.wait(20)


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_every_command_of_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, background: list[subprocess.Popen[bytes]]) -> None:
    monkeypatch.chdir(tmp_path)
    ports = {name: _free() for name in ("8100", "8101")}
    text = PAGE.read_text("utf-8")
    for name, code in re.findall(r"<!-- file: (\S+) -->\n```py\n(.*?)^```$", text, re.M | re.S):
        (tmp_path / name).write_text(code, "utf-8")
    for name, port in ports.items():
        text = text.replace(name, str(port))
    tables = []
    commands = [line for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S) for line in block.splitlines()]
    assert len(commands) == 10
    for command in commands:
        words = shlex.split(command)
        if words[-1] == "&":
            start = [sys.executable, "-m", "dialmill"] if words[0] == "dialmill" else [sys.executable]
            background.append(subprocess.Popen([*start, *words[1:-1]], env=environment(), stderr=subprocess.DEVNULL))
            port = ports["8101"] if words[0] == "python" else ports["8100"]
            until(lambda port=port: _listens(port), 60)
        elif words[0] == "python":
            subprocess.run([sys.executable, *words[1:]], check=True, timeout=60)
        else:
            done = call(*words[1:])
            assert done.code == 0, (command, done.err)
            tables.append(done.out)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "noisy.jsonl").read_bytes() != (tmp_path / "clean.jsonl").read_bytes()
    assert (tmp_path / "noise.jsonl.report.html").stat().st_size > 10_000
    replayed, compared = (one for one in tables if "action_accuracy" in one)
    assert "typos-heavy" in replayed and "drop" in replayed and "by tool" in replayed
    clean, noisy = (float(re.search(rf"{name}\s.*?(\d+\.\d+)", compared)[1]) for name in ("clean", "noisy"))  # type: ignore[index]
    assert 100 >= clean > noisy > 0
