"""The sources by name."""

from __future__ import annotations

import importlib

from pipelines.errors import UsageError

from .base import Source

#: name -> class, in the module of the same name.
_REGISTRY = {
    "advising": "Advising",
    "clinc": "Clinc",
    "convlab": "ConvLab",
    "crosswoz": "CrossWOZ",
    "dialmill": "Dialmill",
    "ecd": "Ecd",
    "flow": "Flows",
    "multiwoz21": "MultiWoz21",
    "multiwoz22": "MultiWoz22",
    "reminder": "Reminder",
    "risawoz": "RiSAWOZ",
    "sgd": "SchemaGuided",
    "taskmaster": "Taskmaster",
    "ubuntu_irc": "UbuntuIrc",
}


def names() -> list[str]:
    """The names of all sources."""
    return sorted(_REGISTRY)


def get(name: str) -> Source:
    """The source called `name`.

    Raises:
        UsageError: no such source; the message lists the known ones.
    """
    if name not in _REGISTRY:
        raise UsageError(f"there is no source format {name!r}; the known ones are: {', '.join(names())}")
    source: Source = getattr(importlib.import_module(f"pipelines.sources.{name}"), _REGISTRY[name])()
    return source
