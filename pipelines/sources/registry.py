"""The sources by name."""

from __future__ import annotations

from pipelines import plugins

from .base import Source

#: name -> its class.
_REGISTRY = {
    "advising": "advising.Advising",
    "clinc": "clinc.Clinc",
    "convlab": "convlab.ConvLab",
    "crosswoz": "crosswoz.CrossWOZ",
    "dialmill": "dialmill.Dialmill",
    "ecd": "ecd.Ecd",
    "flow": "flow.Flows",
    "multiwoz21": "multiwoz21.MultiWoz21",
    "multiwoz22": "multiwoz22.MultiWoz22",
    "reminder": "reminder.Reminder",
    "risawoz": "risawoz.RiSAWOZ",
    "sgd": "sgd.SchemaGuided",
    "taskmaster": "taskmaster.Taskmaster",
    "ubuntu_irc": "ubuntu_irc.UbuntuIrc",
}


def names() -> list[str]:
    """The names of all sources."""
    return sorted(_REGISTRY)


def get(name: str) -> Source:
    """The source called `name`.

    Raises:
        UsageError: no such source; the message lists the known ones.
    """
    source: Source = plugins.load("source format", name, _REGISTRY, "pipelines.sources", names())()
    return source
