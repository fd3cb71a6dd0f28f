"""How the releases of CGoDial are written: entries of JSON objects, and the written dialogues that versions stand beside."""

from __future__ import annotations

import msgspec
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas.dialogue import STANDARD


def needs_written(benchmark: str, recipe: Recipe) -> None:
    """Refuses a recipe without the written dialogues, which the other versions of a release stand beside.

    Raises:
        UsageError: the suite `standard` is missing.
    """
    if STANDARD not in recipe.suites:
        raise UsageError(f"{benchmark} needs the suite {STANDARD!r}, the written dialogues; suites are {', '.join(recipe.suites)}")


def keyed(name: str, value: object) -> bytes:
    """One entry of a JSON object."""
    return msgspec.json.encode(name) + b": " + msgspec.json.encode(value)
