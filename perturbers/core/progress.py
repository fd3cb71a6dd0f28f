"""How far long work is that happens inside one perturber, for whoever shows it: `dialmill.pipelines.core.progress` does.

Perturbers know of no terminal: they say here what they do, of how much, and what a user should know before it begins.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Task:
    """Work under way: its `label` ("tuning speech"), `done` of at most `total` things (`unit`, "turns"), and since when (monotonic seconds)."""

    label: str
    total: int
    unit: str
    done: int = 0
    began: float = field(default_factory=time.monotonic)

    def advance(self, number: int = 1) -> None:
        """Counts some more as done."""
        self.done += number

    def line(self, now: float | None = None) -> str:
        """The state in words: "tuning speech: 40 of at most 200 turns, about 32 s left"; the time once enough is done to say."""
        passed = (time.monotonic() if now is None else now) - self.began
        left = f", about {passed / self.done * max(self.total - self.done, 0):.0f} s left" if self.done and passed >= 1 else ""
        return f"{self.label}: {self.done:,} of at most {self.total:,} {self.unit}{left}"


#: The tasks under way in this process, in the order in which they began.
TASKS: list[Task] = []
#: What is to be said once to the user and wasn't yet.
NOTICES: list[str] = []


@contextmanager
def task(label: str, total: int, unit: str) -> Iterator[Task]:
    """A task, under way as long as the block."""
    made = Task(label, total, unit)
    TASKS.append(made)
    try:
        yield made
    finally:
        TASKS.remove(made)


def begin(label: str, total: int, unit: str) -> None:
    """Begins a task that other code carries on, by `advance`."""
    TASKS.append(Task(label, total, unit))


def advance(label: str, number: int) -> None:
    """Counts some more of the task called so as done, where there is one; it ends when all is."""
    for one in TASKS:
        if one.label == label:
            if not one.done:
                one.began = time.monotonic()
            one.advance(number)
            if one.done >= one.total:
                TASKS.remove(one)
            return


def notice(text: str) -> None:
    """Something that the user should know now, a line of its own."""
    NOTICES.append(text)
