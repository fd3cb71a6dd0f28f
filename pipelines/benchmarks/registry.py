"""The benchmarks by name."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from dialmill.perturbers.core.plugins import Registry
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.sources import registry as sources
from dialmill.schemas.kinds import CORE, FileKind, Relative

#: Built-in benchmarks: name -> "module:Class".
_BUILT_IN = {
    name: f"dialmill.pipelines.benchmarks.{place}"
    for name, place in {
        "agent-noise": "agent_noise.benchmark:AgentNoise",
        "cgodial-fbd": "cgodial.fbd.benchmark:CgodialFbd",
        "cgodial-rbd": "cgodial.rbd.benchmark:CgodialRbd",
        "cgodial-sbd": "cgodial.sbd.benchmark:CgodialSbd",
        "clean": "plain.clean:Clean",
        "disentangle": "plain.disentangle:Disentangle",
        "cross-lingual": "cross_lingual.benchmark:CrossLingual",
        "disentanglement": "plain.disentanglement:Disentanglement",
        "dstc9-track1": "dstc9.benchmark:Dstc9Track1",
        "dstc9-track2": "cross_lingual.track2:Dstc9Track2",
        "dstc9-track3": "interactive.benchmark:Dstc9Track3",
        "dstc9-track4": "simmc.benchmark:Dstc9Track4",
        "noesis-advising": "noesis.advising:NoesisAdvising",
        "noesis-ubuntu": "noesis.ubuntu:NoesisUbuntu",
        "perturb": "plain.perturb:Perturb",
        "raddle": "raddle.benchmark:Raddle",
        "splits": "plain.splits:Splits",
        "wer": "plain.wer:WordErrors",
    }.items()
}
#: Those with a command of their own, and those that are scored and not built.
COMMANDS = ("clean", "disentangle", "perturb")
SCORED_ONLY = ("cross-lingual", "disentanglement", "wer")

REGISTRY: Registry[type[Benchmark]] = Registry("benchmark", "dialmill.benchmarks", _BUILT_IN, UsageError, (*COMMANDS, *SCORED_ONLY), Benchmark)


def names() -> list[str]:
    """The benchmarks that `dialmill build` knows."""
    return REGISTRY.names()


def get(name: str) -> Benchmark:
    """The benchmark called `name`.

    Raises:
        UsageError: no such benchmark; the message lists the known ones.
    """
    return REGISTRY.load(name)()


def load_recipe(name: str, file: str | None = None, settings: Iterable[str] = (), fixed: Mapping[str, Any] | None = None) -> Recipe:
    """The recipe of a benchmark, changed by a YAML file and by settings "key=value".

    Raises:
        UsageError: an unknown benchmark or key, or a value that doesn't fit.
    """
    return get(name).load_recipe(file, settings, fixed)


def usable() -> list[Benchmark]:
    """Every benchmark that can be loaded, by name. Those with a command of their own and those that are scored only are among them."""
    return [one() for one in REGISTRY.usable()]


@functools.cache
def file_kinds() -> tuple[FileKind, ...]:
    """Every kind of file: the core's own, those of all sources, those of all benchmarks. A plug-in that can't be loaded has none."""
    found = [*CORE]
    for source in sources.usable():
        found += source.kinds
    return (*found, *(kind for benchmark in usable() for kind in benchmark.kinds))


def relatives() -> tuple[Relative, ...]:
    """Every kind of file that is easily taken for one of `file_kinds` and is none."""
    found = [one for source in sources.usable() for one in source.relatives]
    return (*found, *(one for benchmark in usable() for one in benchmark.relatives))


def owner(schema: str) -> Benchmark | None:
    """The benchmark whose kind of file a schema is for, the first by name where several share it; None for another's."""
    return next((one for one in usable() if schema in (*one.compared, *(kind.schema for kind in one.kinds))), None)


def compared() -> list[str]:
    """The schemas of predictions that `dialmill validate --gold` takes."""
    return sorted({schema for one in usable() for schema in one.compared})
