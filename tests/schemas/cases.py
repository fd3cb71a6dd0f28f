"""The good and bad instances in fixtures/, as test parameters, and validation with all kinds of files known."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.registry import file_kinds
from dialmill.schemas import validate

validate_file = functools.partial(validate.validate_file, kinds=file_kinds())

FIXTURES = Path(__file__).with_name("fixtures")


def good(name: str) -> list[Any]:
    """Instances that pass the schema `name`."""
    loaded: list[Any] = _load(name)["good"]
    return loaded


def bad(name: str) -> Iterator[tuple[str, str, Any]]:
    """(why, path of the first problem, instance) of those that don't."""
    base = good(name)[0]
    for case in _load(name)["bad"]:
        instance = copy.deepcopy(case.get("instance", base))
        for pointer, value in case.get("set", {}).items():
            parent, last = _walk(instance, pointer)
            parent[last] = value
        if "remove" in case:
            parent, last = _walk(instance, case["remove"])
            del parent[last]
        yield case["why"], case["at"], instance


def _load(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    return loaded


def _walk(instance: Any, pointer: str) -> tuple[Any, Any]:
    *steps, last = (int(step) if step.isdigit() else step for step in pointer.removeprefix("/").split("/"))
    for step in steps:
        instance = instance[step if isinstance(instance, list) else str(step)]
    return instance, last if isinstance(instance, list) else str(last)
