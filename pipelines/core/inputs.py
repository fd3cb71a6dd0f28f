"""An input file of a run."""

from __future__ import annotations

from dataclasses import dataclass

from dialmill.pipelines.core.source import Role


@dataclass(frozen=True)
class InputFile:
    """One file to read. `path` is where it lies, `shown` how the manifest names it, `number` its place in the sorted list."""

    number: int
    path: str
    shown: str
    source: str
    role: Role
    size: int
