"""Every benchmark of ours against the contract that plug-ins are held to; one that is registered and missing here fails."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import pytest
from dialmill.perturbers.core.plugins import OURS
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core import recipe
from dialmill.pipelines.core.errors import UsageError

from dialmill.testing import BenchmarkContract
from tests.pipelines.tools import DATA

FOLDER = Path(str(importlib.resources.files("dialmill.pipelines") / "benchmarks"))
RECIPES = sorted(path.stem for path in FOLDER.rglob("*.yaml"))


def test_recipes_and_benchmarks_are_the_same_names() -> None:
    assert sorted([*benchmarks.names(), *benchmarks.COMMANDS]) == RECIPES
    with pytest.raises(UsageError) as refusal:
        benchmarks.get("radle")
    assert all(name in str(refusal.value) for name in benchmarks.names())


def _own_keys(name: str) -> list[str]:
    """The keys of a benchmark's recipe; of those that every recipe has, raddle's."""
    shared = recipe.known_keys()
    return [key for key in recipe.known_keys(benchmarks.get(name).recipe()) if name == "raddle" or key not in shared]


class TestRaddle(BenchmarkContract):
    name = "raddle"
    input = (DATA / "multiwoz21",)
    settings = ("suites=standard,typos",)


class TestSplits(BenchmarkContract):
    name = "splits"
    input = (DATA / "risawoz",)


class TestPerturb(BenchmarkContract):
    name = "perturb"
    input = (DATA / "multiwoz22",)
    settings = ("suites=standard,typos", "perturbations.typos=typos")


class TestClean(BenchmarkContract):
    name = "clean"
    input = (DATA / "transcript",)


class TestDisentangle(BenchmarkContract):
    name = "disentangle"
    input = (DATA / "ubuntu_irc",)


class TestDstc9Track1(BenchmarkContract):
    name = "dstc9-track1"


class TestDstc9Track2(BenchmarkContract):
    name = "dstc9-track2"
    input = (DATA / "multiwoz21",)
    settings = (f"lexicon={DATA / 'dstc9_track2' / 'lexicon.tsv'}",)


class TestDstc9Track3(BenchmarkContract):
    name = "dstc9-track3"
    input = (DATA / "fed",)


class TestDstc9Track4(BenchmarkContract):
    name = "dstc9-track4"
    input = (DATA / "simmc",)
    settings = ("suites=standard,typos",)


class TestNoesisAdvising(BenchmarkContract):
    name = "noesis-advising"


class TestNoesisUbuntu(BenchmarkContract):
    name = "noesis-ubuntu"


class TestCgodialFbd(BenchmarkContract):
    name = "cgodial-fbd"


class TestCgodialRbd(BenchmarkContract):
    name = "cgodial-rbd"


class TestCgodialSbd(BenchmarkContract):
    name = "cgodial-sbd"


class TestAgentNoise(BenchmarkContract):
    name = "agent-noise"
    input = (DATA / "messages",)
    settings = ("suites=standard,typos",)


def test_every_benchmark_that_is_built_is_held_to_the_contract() -> None:
    held = {kind.name for kind in BenchmarkContract.__subclasses__() if kind.__module__ == __name__}
    assert held == {name for name, entry in benchmarks.REGISTRY.entries.items() if entry.origin == OURS and name not in benchmarks.SCORED_ONLY}


@pytest.mark.parametrize(("name", "key"), [(name, key) for name in ("raddle", "noesis-ubuntu", "noesis-advising") for key in _own_keys(name)])
def test_every_key_can_be_set_in_words(name: str, key: str) -> None:
    value = getattr(benchmarks.load_recipe(name), key)
    if isinstance(value, dict):
        text = ",".join(f"{name}:{item}" for name, item in value.items()) if key != "perturbations" else None
    elif isinstance(value, list):
        text = ",".join(map(str, value))
    else:
        text = "none" if value is None else str(value)
    if text is not None:
        assert getattr(benchmarks.load_recipe(name, None, [f"{key}={text}"]), key) == value
