"""Things that are known by name, ours and those of installed plug-ins: perturbers, sources, exporters, benchmarks, engines.

What is built in stands in a table beside the things themselves; a plug-in package names its own under an entry-point group ("dialmill.perturbers").
Either way a name leads to a place "module:Class", which is imported when it is asked for and can be imported again by any worker.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Entry(NamedTuple):
    """Where a named thing lives: "module:Class", and the distribution that brings it."""

    place: str
    origin: str


class Registry(Generic[T]):
    """The named things of one kind.

    Args:
        what: what such a thing is called, for messages ("source format").
        group: the entry-point group of plug-ins.
        built_in: name -> "module:Class", or "module" for a whole module.
        error: what an unknown name raises.
        hidden: names that can be loaded and are not listed.
    """

    def __init__(self, what: str, group: str, built_in: Mapping[str, str], error: type[Exception], hidden: Sequence[str] = ()) -> None:
        self.what, self.group, self.built_in, self.error, self.hidden = what, group, dict(built_in), error, tuple(hidden)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Every name. One of ours can't be taken by a plug-in, and of two plug-ins none wins in silence: using the name is then an error."""
        found = {name: Entry(place, "dialmill") for name, place in self.built_in.items()}
        for point in sorted(metadata.entry_points(group=self.group), key=lambda point: (point.name, point.value)):
            origin = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "unknown package"
            taken = found.get(point.name)
            if taken is not None and taken.place != point.value:
                found[point.name] = Entry("", f"{taken.origin} and {origin}") if taken.origin != "dialmill" else taken
            else:
                found[point.name] = Entry(point.value, origin)
        return found

    def names(self) -> list[str]:
        """The listed names, sorted."""
        return sorted(name for name in self.entries if name not in self.hidden)

    def origin(self, name: str) -> str:
        """What brings a thing: "dialmill", or a plug-in's package and version."""
        return self.entries[name].origin

    def load(self, name: str) -> T:
        """The thing called `name`.

        Raises:
            error: there is none of that name, two packages claim it, or its package can't be imported.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise self.error(f"there is no {self.what} {name!r}; the known ones are: {', '.join(self.names())}")
        if not entry.place:
            raise self.error(f"the {self.what} {name!r} is brought by {entry.origin}; uninstall one of them")
        module, _, member = entry.place.partition(":")
        if entry.origin == "dialmill":
            return self._member(importlib.import_module(module), member)
        try:
            return self._member(importlib.import_module(module), member)
        except (ImportError, AttributeError) as error:
            raise self.error(f"the {self.what} {name!r} of {entry.origin} can't be loaded from {entry.place}: {error}") from error

    @staticmethod
    def _member(module: Any, member: str) -> Any:
        return getattr(module, member) if member else module
