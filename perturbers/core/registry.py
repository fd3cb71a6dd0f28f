"""Perturbers by name ("typos", or "typos@2" for one version), and the small language of `--with`."""

from __future__ import annotations

from typing import NamedTuple

from dialmill.perturbers.core.contract import Chain, OptionError, Perturber
from dialmill.perturbers.core.plugins import Registry

#: Built-in perturbers: name -> "module:Class". Modules load when they are asked for, so that an engine nobody uses costs nothing.
_BUILT_IN = {
    name: f"dialmill.perturbers.{place}"
    for name, place in {
        "typos": "typing.typos:Typos",
        "disfluency": "disfluency.perturber:Disfluency",
        "entities": "entities.perturber:Entities",
        "knowledge": "insertion.knowledge.perturber:Knowledge",
        "out_of_scope": "insertion.out_of_scope:OutOfScope",
        "questions": "insertion.questions:Questions",
        "paraphrase": "rewording.paraphrase:Paraphrase",
        "simplification": "rewording.simplification:Simplification",
        "verbosity": "rewording.verbosity:Verbosity",
        "redact": "redaction.perturber:Redact",
        "translate": "translation.perturber:Translate",
        "nlpaug": "typing.foreign:Nlpaug",
        "speech": "speech.perturber:Speech",
    }.items()
}
#: The extra that brings what a perturber needs beyond the core.
_EXTRAS = {"nlpaug": "nlpaug", "redact": "clean", "speech": "speech"}

REGISTRY: Registry[type[Perturber]] = Registry("perturber", "dialmill.perturbers", _BUILT_IN, OptionError, base=Perturber)


def names() -> list[str]:
    """The names of all perturbers."""
    return REGISTRY.names()


def extra(name: str) -> str | None:
    """The extra that brings the perturber, None for the core."""
    return _EXTRAS.get(name)


def get(name: str) -> type[Perturber]:
    """The class of a perturber by its name, "typos" or "typos@2".

    Raises:
        OptionError: no such name (the message lists the known), or another version than the installed one.
    """
    plain, _, version = name.partition("@")
    found = REGISTRY.load(plain)
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
            if options.get(key.strip(), value.strip()) != value.strip():
                told = f"{key.strip()} is set twice, to {options[key.strip()]} and to {value.strip()}"
                raise OptionError(f"{text!r}: {name.strip()}: {told}, of which one has no effect")
            if key.strip() == "name":
                suite = value.strip()
            else:
                options[key.strip()] = value.strip()
        links.append(get(name.strip()).from_options(options))
    suite = suite or "+".join(link.name for link in links)
    perturber = links[0] if len(links) == 1 else Chain(links=tuple(links))
    return Suite(suite, perturber)
