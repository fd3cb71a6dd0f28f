"""A live line on a terminal, plain lines otherwise.

The counts live in this module, so that workers in this process tick them while Beam's `run` blocks; workers in other processes don't, and the
line then shows the time alone.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from dialmill.perturbers.core import progress as inner
from dialmill.pipelines.core.terminal import printable

#: Elements processed so far, by label of the transform.
COUNTS: dict[str, int] = {}


class Progress:
    """Shows how far a run is, on stderr, while it lasts. Use as a context manager."""

    def __init__(self, quiet: bool, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.live = self.stream.isatty()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        COUNTS.clear()
        inner.NOTICES.clear()
        inner.TASKS.clear()
        self.began = time.monotonic()
        if not self.quiet:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            if self.live:
                self.stream.write("\r\033[K")
                self.stream.flush()
            self._say_notices()

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self.quiet:
            self.stream.write(("\r\033[K" if self.live else "") + printable(text) + "\n")
            self.stream.flush()

    def line(self) -> str:
        """The present state in words."""
        counts = ", ".join([*(f"{label}: {number:,}" for label, number in list(COUNTS.items())), *(task.line() for task in list(inner.TASKS))])
        return f"{time.monotonic() - self.began:.0f} s  {counts or 'starting'}"

    def short_line(self) -> str:
        """The present state in one line of the terminal: the stages that the run reached last, which are those that still move."""
        line, columns = self.line(), shutil.get_terminal_size().columns - 1
        if len(line) <= columns:
            return line
        time_shown, _, counts = line.partition("  ")
        shown = counts.split(", ")
        while len(shown) > 1 and len(f"{time_shown}  ..., {', '.join(shown)}") > columns:
            shown.pop(0)
        return f"{time_shown}  ..., {', '.join(shown)}"[:columns]

    def _watch(self) -> None:
        # A terminal sees every half second; a log file a line each ten seconds. What is to be said at once is.
        waited = 0.0
        while not self._stop.wait(0.5):
            self._say_notices()
            waited += 0.5
            if self.live or waited >= 10:
                waited = 0.0
                self.stream.write(f"\r\033[K{self.short_line()}" if self.live else self.line() + "\n")
                self.stream.flush()

    def _say_notices(self) -> None:
        while inner.NOTICES:
            self.say(inner.NOTICES.pop(0))


def tick(label: str) -> None:
    """Counts a processed element for the progress line."""
    COUNTS[label] = COUNTS.get(label, 0) + 1
