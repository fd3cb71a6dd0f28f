"""Things that are known by name, ours and those of installed plug-ins: perturbers, sources, exporters, benchmarks, engines.

What is built in stands in a table beside the things themselves; a plug-in package names its own under an entry-point group ("dialmill.perturbers").
Either way a name leads to a place "module:Class", which is imported when it is asked for. Nothing but names and places travels to a worker, which
imports the same place.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from typing import Any, Generic, NamedTuple, TypeVar, cast

T = TypeVar("T")

#: The origin of what is built in.
OURS = "dialmill"


class Entry(NamedTuple):
    """Where a named thing lives: "module:Class" ("" where two packages claim the name), and the distribution that brings it, with its version."""

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
        base: the class that a plug-in's has to be derived from, None for anything. Its `name` has to be that of the entry point.
    """

    def __init__(
        self,
        what: str,
        group: str,
        built_in: Mapping[str, str],
        error: type[Exception],
        hidden: Sequence[str] = (),
        base: type | None = None,
    ) -> None:
        self.what, self.group, self.built_in, self.error, self.hidden, self.base = what, group, dict(built_in), error, tuple(hidden), base

    @cached_property
    def _claims(self) -> dict[str, list[Entry]]:
        """All that claim a name, ours first."""
        claims = {name: [Entry(place, OURS)] for name, place in self.built_in.items()}
        for point in sorted(metadata.entry_points(group=self.group), key=lambda point: (point.name, point.value)):
            origin = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "unknown package"
            if Entry(point.value, origin) not in (claims.setdefault(point.name, [])):
                claims[point.name].append(Entry(point.value, origin))
        return claims

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Every name. One of ours can't be taken by a plug-in, and of two plug-ins none wins in silence: using the name is then an error."""
        found = {}
        for name, claims in self._claims.items():
            ours = claims[0].origin == OURS
            found[name] = claims[0] if ours or len(claims) == 1 else Entry("", " and ".join(one.origin for one in claims))
        return found

    def passed_over(self) -> dict[str, str]:
        """The names of ours that plug-ins claim in vain, and which packages those are."""
        found = {name: [one.origin for one in claims[1:]] for name, claims in self._claims.items() if claims[0].origin == OURS}
        return {name: " and ".join(origins) for name, origins in found.items() if origins}

    def names(self) -> list[str]:
        """The listed names, sorted."""
        return sorted(name for name in self.entries if name not in self.hidden)

    def origin(self, name: str) -> str:
        """What brings a thing: "dialmill", or a plug-in's package and version."""
        return self.entries[name].origin

    def load(self, name: str) -> T:
        """The thing called `name`.

        Raises:
            error: there is none of that name, two packages claim it, or what a package brings can't be imported or is no such thing.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise self.error(f"there is no {self.what} {name!r}; the known ones are: {', '.join(self.names())}")
        if not entry.place:
            raise self.error(f"the {self.what} {name!r} is brought by {entry.origin}; uninstall one of them")
        if entry.origin == OURS:
            return self._member(entry.place)
        about = f"the {self.what} {name!r} of {entry.origin}"
        try:
            found = self._member(entry.place)
        except Exception as error:  # whatever a package does when it is imported
            raise self.error(f"{about} can't be loaded from {entry.place}: {type(error).__name__}: {error}") from error
        if self.base is not None and not (isinstance(found, type) and issubclass(found, self.base)):
            raise self.error(
                f"{about} is no {self.base.__name__}: {entry.place} has to be a class derived from {self.base.__module__}.{self.base.__name__}"
            )
        called = getattr(found, "name", None)
        if self.base is not None and called != name:
            raise self.error(f"{about} calls itself {called!r}: the `name` of {entry.place} has to be that of its entry point")
        return found

    def usable(self) -> list[T]:
        """Every thing that can be loaded, by name, those that aren't listed included.

        One of a plug-in that can't be is left out: it keeps nothing from working that doesn't name it, and `dialmill list` says what is wrong.
        """
        found = []
        for name in sorted(self.entries):
            with contextlib.suppress(self.error):
                found.append(self.load(name))
        return found

    def _member(self, place: str) -> T:
        module, _, member = place.partition(":")
        loaded: Any = importlib.import_module(module)
        for part in filter(None, member.split(".")):
            loaded = getattr(loaded, part)
        return cast(T, loaded)
