"""One module per published benchmark: its release format, and what a reader needs to know of it.

The recipe of the same name (pipelines/recipes/NAME.yaml) says which dialogues and suites it takes.
"""

from __future__ import annotations

import importlib
from abc import ABC
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from pipelines.errors import UsageError
from schemas import Dialogue

if TYPE_CHECKING:
    from pipelines.stages.base import Out


class Benchmark(ABC):
    """A benchmark's own part of a build. Without an override it has no release format besides the canonical record."""

    name: ClassVar[str]
    about: ClassVar[str]  #: one line for `dialmill list benchmarks`
    paper: ClassVar[str] = ""

    def release(self, dialogue: Dialogue, suite: str, order: bytes, blind: bool) -> Iterable[Out]:
        """The pieces of the release files that one record contributes. `blind` writes the labels apart from the inputs."""
        return ()

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        """Every release file (path -> schema name), so that those without records exist as well."""
        return {}

    def schema_of(self, path: str, blind: bool) -> str | None:
        """The schema of a release file that `release_files` can't foresee, None if `path` is no such file."""
        return None


#: name -> class, in the module of the same name.
_REGISTRY = {"perturb": "Perturb", "raddle": "Raddle", "splits": "Splits"}


def names() -> list[str]:
    """The benchmarks that `dialmill build` knows."""
    return sorted(name for name in _REGISTRY if name != "perturb")


def get(name: str) -> Benchmark:
    """The benchmark called `name`.

    Raises:
        UsageError: no such benchmark; the message lists the known ones.
    """
    if name not in _REGISTRY:
        raise UsageError(f"there is no benchmark {name!r}; the known ones are: {', '.join(names())}")
    benchmark: Benchmark = getattr(importlib.import_module(f"pipelines.benchmarks.{name}"), _REGISTRY[name])()
    return benchmark
