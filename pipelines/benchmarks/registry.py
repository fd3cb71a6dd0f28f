"""The benchmarks by name."""

from __future__ import annotations

from collections.abc import Iterable

from dialmill.perturbers.core.plugins import Registry
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe

#: Built-in benchmarks: name -> "module:Class".
_BUILT_IN = {
    name: f"dialmill.pipelines.benchmarks.{place}"
    for name, place in {
        "cgodial-fbd": "cgodial.flows:CgodialFbd",
        "cgodial-rbd": "cgodial.retrieval:CgodialRbd",
        "cgodial-sbd": "cgodial.slots:CgodialSbd",
        "disentangle": "plain.disentangle:Disentangle",
        "cross-lingual": "cross_lingual.benchmark:CrossLingual",
        "dstc9-track1": "dstc9.benchmark:Dstc9Track1",
        "noesis-advising": "noesis.advising:NoesisAdvising",
        "noesis-ubuntu": "noesis.ubuntu:NoesisUbuntu",
        "perturb": "plain.perturb:Perturb",
        "raddle": "raddle.benchmark:Raddle",
        "splits": "plain.splits:Splits",
    }.items()
}
#: Those with a command of their own, and those that are scored and not built.
COMMANDS = ("disentangle", "perturb")
SCORED_ONLY = ("cross-lingual",)

REGISTRY: Registry[type[Benchmark]] = Registry("benchmark", "dialmill.benchmarks", _BUILT_IN, UsageError, hidden=(*COMMANDS, *SCORED_ONLY))


def names() -> list[str]:
    """The benchmarks that `dialmill build` knows."""
    return REGISTRY.names()


def get(name: str) -> Benchmark:
    """The benchmark called `name`.

    Raises:
        UsageError: no such benchmark; the message lists the known ones.
    """
    return REGISTRY.load(name)()


def load_recipe(name: str, file: str | None = None, settings: Iterable[str] = ()) -> Recipe:
    """The recipe of a benchmark, changed by a YAML file and by settings "key=value".

    Raises:
        UsageError: an unknown benchmark or key, or a value that doesn't fit.
    """
    return get(name).load_recipe(file, settings)
