"""Things that are known by name and live in modules of their own, which load when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from pipelines.errors import UsageError


def load(what: str, name: str, places: Mapping[str, str], package: str, known: Iterable[str]) -> Any:
    """The thing called `name`.

    Args:
        what: what such things are called, for the error ("source format").
        places: name -> its place in `package`: "module.Class", or "module" for a whole module.
        known: the names that the error lists.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in places:
        raise UsageError(f"there is no {what} {name!r}; the known ones are: {', '.join(known)}")
    module, _, member = places[name].partition(".")
    found = importlib.import_module(f"{package}.{module}")
    return getattr(found, member) if member else found
