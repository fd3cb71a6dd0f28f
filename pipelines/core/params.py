"""The options that lineages can hold, by suite: the fields of the Parquet columns."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

from dialmill.perturbers.core import options
from dialmill.perturbers.core.contract import Chain, Perturber
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas import Dialogue
from dialmill.schemas.arrow import Params, complete_options
from dialmill.schemas.dialogue import STANDARD


def suite_params(perturber: Perturber) -> dict[str, set[type]]:
    """The options that the lineage of a suite can hold, with their types: the fields of its Parquet column."""
    links = perturber.links if isinstance(perturber, Chain) else (perturber,)
    found: dict[str, set[type]] = {}
    for link in links:
        hints = _hints(type(link))
        for name in options.names(type(link)):
            kind = hints[name]
            found.setdefault(name, set()).add(kind if kind in (bool, int, float, str) else str)
    return found


@cache
def _hints(kind: type[Perturber]) -> dict[str, Any]:
    """The types of a perturber's fields; resolving them is slow, and each stage of a run asks."""
    return get_type_hints(kind)


def recipe_params(recipe: Recipe, first: Perturber | None) -> dict[str, dict[str, set[type]]]:
    """The lineage options of every suite; those of `first`, what the benchmark inserts before all suites, are in all of them."""
    shared = suite_params(first) if first is not None else {}
    found: dict[str, dict[str, set[type]]] = {STANDARD: shared}
    for suite in recipe.suite_plan():
        mine = suite_params(suite.perturber)
        found[suite.name] = {name: shared.get(name, set()) | mine.get(name, set()) for name in (*shared, *(one for one in mine if one not in shared))}
    return found


def complete_lineage(dialogue: Dialogue, params: Params) -> Dialogue:
    """The dialogue, every step of its lineage with the same option keys, so that JSON lines and Parquet rows are equal.

    Args:
        params: the options that lineages of its suite can hold.
    """
    return dialogue.replace(lineage=tuple(step.replace(params=complete_options(step.params, params)) for step in dialogue.lineage))
