"""Processes of a run: started, measured and ended by their own ids, never by name."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
_EVERY = 0.5  # seconds between two looks at the processes


class Own:
    """The processes that this run started. As a context manager all of them are ended.

    Args:
        folder: for their logs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str | Path], folder: Path | None = None, **extra: str) -> subprocess.Popen[bytes]:
        """A process whose output goes to NAME.log."""
        with self.log(name).open("wb") as log:
            self.started[name] = subprocess.Popen(
                [str(word) for word in command],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=folder or self.folder,
                env={**os.environ, **extra},
            )
        return self.started[name]

    def log(self, name: str) -> Path:
        """Where a process's output goes."""
        return self.folder / f"{name}.log"

    def kill(self, name: str) -> None:
        """Ends one as a crash would: SIGKILL."""
        self.started[name].kill()
        self.started[name].wait()

    def __enter__(self) -> Own:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # What they started themselves (a pool's workers) is found before they go, and ended if it outlives them.
        below = [one for process in self.started.values() for one in descendants(process.pid)]
        for process in reversed(self.started.values()):
            process.terminate()
        for process in self.started.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for one, born in below:
            if _born(one) == born:
                try:
                    os.kill(one, signal.SIGKILL)
                except ProcessLookupError:
                    continue


def _fields(process: int) -> list[str] | None:
    """What the kernel says of a process, from its state on; None once it is gone."""
    try:
        return Path("/proc", str(process), "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None


def _born(process: int) -> str | None:
    fields = _fields(process)
    return fields[19] if fields else None


def descendants(process: int) -> list[tuple[int, str]]:
    """The processes below one, each with when it began, which tells it from a later one of the same id."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := _fields(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append((int(entry.name), fields[19]))
    found, waiting = [], [process]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += [one for one, _ in below]
    return found


def _memory(process: int) -> int:
    """Bytes of memory; pages that several processes share are counted in each."""
    try:
        return int(Path("/proc", str(process), "statm").read_text("utf-8").split()[1]) * _PAGE
    except OSError:
        return 0


class Meter:
    """CPU seconds and the peak of memory of this process's descendants, but for some, while it is open.

    Args:
        without: ids of processes that are left out, with all below them (the object stores, which are no part of an engine).
    """

    def __init__(self, without: Sequence[int]) -> None:
        self.without = frozenset(without)
        self.peak = 0  #: bytes
        self.wall = 0.0  #: seconds
        self._seen: dict[tuple[int, str], int] = {}
        self._before: dict[tuple[int, str], int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def cpu(self) -> float:
        """Seconds, of all processes together. The last half second of one that ended isn't in it."""
        return sum(ticks - self._before.get(one, 0) for one, ticks in self._seen.items()) / _TICKS

    def _processes(self) -> list[tuple[int, str]]:
        left_out = {one for root in self.without for one, _ in descendants(root)} | self.without
        return [one for one in descendants(os.getpid()) if one[0] not in left_out]

    def _look(self) -> Mapping[tuple[int, str], int]:
        found = {}
        for one in self._processes():
            fields = _fields(one[0])
            if fields is not None:
                found[one] = int(fields[11]) + int(fields[12])
        return found

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY):
            found = self._look()
            self._seen |= found
            self.peak = max(self.peak, sum(_memory(one) for one, _ in found))

    def __enter__(self) -> Meter:
        self._before = dict(self._look())
        self._start = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.wall = time.monotonic() - self._start
        self._ended.set()
        self._thread.join()
        self._seen |= self._look()
