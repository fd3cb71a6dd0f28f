"""The sources by name."""

from __future__ import annotations

from collections.abc import Mapping

from dialmill.perturbers.core.plugins import Registry
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.source import Source

#: Built-in sources: name -> "module:Class" in this folder.
_BUILT_IN = {
    "advising": "advising:Advising",
    "chat_logs": "chat_logs:ChatLogs",
    "clinc": "clinc:Clinc",
    "convlab": "convlab:ConvLab",
    "crosswoz": "crosswoz:CrossWOZ",
    "dialmill": "dialmill:Dialmill",
    "ecd": "ecd:Ecd",
    "fed": "fed:Fed",
    "flow": "flow:Flows",
    "messages": "messages:Messages",
    "multi_woz_v22": "multi_woz_v22:MultiWozHub",
    "multiwoz21": "multiwoz21:MultiWoz21",
    "multiwoz22": "multiwoz22:MultiWoz22",
    "plain": "plain:Plain",
    "rasa": "rasa:Rasa",
    "reminder": "reminder:Reminder",
    "risawoz": "risawoz:RiSAWOZ",
    "sgd": "sgd:SchemaGuided",
    "simmc": "simmc:Simmc",
    "taskmaster": "taskmaster:Taskmaster",
    "tau2": "tau2:Tau2",
    "transcript": "transcript:Transcript",
    "ubuntu_irc": "ubuntu_irc:UbuntuIrc",
    "woz20": "woz20:Woz20",
}


REGISTRY: Registry[type[Source]] = Registry(
    "source format",
    "dialmill.sources",
    {name: f"dialmill.pipelines.sources.{place.replace('.', ':')}" for name, place in _BUILT_IN.items()},
    UsageError,
    base=Source,
)


def names() -> list[str]:
    """The names of all sources."""
    return REGISTRY.names()


def get(name: str) -> Source:
    """The source called `name`.

    Raises:
        UsageError: no such source; the message lists the known ones.
    """
    return REGISTRY.load(name)()


def chosen(name: str | None, fields: Mapping[str, str]) -> Source | None:
    """The source that the user names, with the user's names of fields; None where none is named, so that the format is to be inferred.

    Raises:
        UsageError: no such source, or one without such fields.
    """
    if name is None and not fields:
        return None
    return get(name or "plain").chosen(fields)


def usable() -> list[Source]:
    """Every source that can be loaded, by name."""
    return [one() for one in REGISTRY.usable()]
