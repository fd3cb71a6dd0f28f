"""The exporters by name."""

from __future__ import annotations

from collections.abc import Iterable

from dialmill.perturbers.core.plugins import Registry
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.exporter import Exporter

#: Built-in exporters: name -> "module:Class" in this folder.
_BUILT_IN = {
    "convlab": "convlab:ConvLabExporter",
    "inspect": "harness:InspectExporter",
    "lm-eval": "harness:LmEvalExporter",
    "messages": "messages:MessagesExporter",
    "multiwoz21": "multiwoz21:MultiWoz21Exporter",
    "multiwoz22": "multiwoz22:MultiWoz22Exporter",
    "promptfoo": "promptfoo:PromptfooExporter",
    "rasa": "rasa:RasaExporter",
    "sgd": "sgd:SchemaGuidedExporter",
    "tau2": "tau2:Tau2Exporter",
}

REGISTRY: Registry[type[Exporter]] = Registry(
    "export format",
    "dialmill.exporters",
    {name: f"dialmill.pipelines.exporters.{place}" for name, place in _BUILT_IN.items()},
    UsageError,
    base=Exporter,
)


def names() -> list[str]:
    """The names of all exporters."""
    return REGISTRY.names()


def get(name: str) -> Exporter:
    """The exporter called `name`.

    Raises:
        UsageError: no such exporter; the message lists the known ones.
    """
    return REGISTRY.load(name)()


def chosen(texts: Iterable[str]) -> tuple[str, ...]:
    """The exporters that options name, each once; an option may name several with commas between them.

    Raises:
        UsageError: a name is none of an exporter.
    """
    found = tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))
    for name in found:
        get(name)
    return found
