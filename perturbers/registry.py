"""Perturbers by name ("typos", or "typos@1" for one version), and the small language of `--with`."""

from __future__ import annotations

import importlib
from typing import NamedTuple

from .base import Chain, OptionError, Perturber

#: name -> (module, class, the extra that brings it or None for the core). Modules load when asked for, so that an engine nobody
#: uses costs nothing.
_REGISTRY: dict[str, tuple[str, str, str | None]] = {
    "typos": ("typos", "Typos", None),
    "disfluency": ("disfluency", "Disfluency", None),
    "entities": ("entities", "Entities", None),
    "knowledge": ("knowledge", "Knowledge", None),
    "out_of_scope": ("out_of_scope", "OutOfScope", None),
    "questions": ("questions", "Questions", None),
    "paraphrase": ("paraphrase", "Paraphrase", None),
    "simplification": ("simplification", "Simplification", None),
    "verbosity": ("verbosity", "Verbosity", None),
    "nlpaug": ("foreign", "Nlpaug", "nlpaug"),
    "speech": ("speech.channel", "Speech", "speech"),
}


def names() -> list[str]:
    """The names of all perturbers."""
    return sorted(_REGISTRY)


def extra(name: str) -> str | None:
    """The extra that brings the perturber, None for the core."""
    return _REGISTRY[name][2]


def get(name: str) -> type[Perturber]:
    """The class of a perturber by its name, "typos" or "typos@1".

    Raises:
        OptionError: no such name (the message lists the known), or another version than the installed one.
    """
    plain, _, version = name.partition("@")
    if plain not in _REGISTRY:
        raise OptionError(f"there is no perturber {plain!r}; the known ones are: {', '.join(names())}")
    module, class_name, _ = _REGISTRY[plain]
    found: type[Perturber] = getattr(importlib.import_module(f"perturbers.{module}"), class_name)
    if version and version != str(found.version):
        raise OptionError(f"{plain}@{version} is not available; this release has {plain}@{found.version}")
    return found


class Suite(NamedTuple):
    """A perturber with the name of the suite it makes."""

    name: str
    perturber: Perturber


def parse(text: str) -> Suite:
    """A suite from the text of `--with`: ``name:option=value,option=value``, chained with ``+``; ``name=`` renames the suite.

    Raises:
        OptionError: with the part that is not understood and what is known.
    """
    links: list[Perturber] = []
    suite = None
    for part in text.split("+"):
        name, _, rest = part.strip().partition(":")
        options: dict[str, str] = {}
        for item in filter(None, (item.strip() for item in rest.split(","))):
            key, equals, value = item.partition("=")
            if not equals:
                raise OptionError(f"{text!r}: expected option=value, found {item!r}")
            if key.strip() == "name":
                suite = value.strip()
            else:
                options[key.strip()] = value.strip()
        links.append(get(name.strip()).from_options(options))
    suite = suite or "+".join(link.name for link in links)
    perturber = links[0] if len(links) == 1 else Chain(links=tuple(links))
    return Suite(suite, perturber)
