"""Builds of the embedded corpora, made once for all tests, on Beam through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from .tools import DATA, call

#: Two suites: a renamed perturber, and a chain.
CHAINS = ("typos:rate=0.3,name=noisy", "typos:style=chat+typos:rate=0.2,style=typing,values=follow")


def _made(folder: Path, *words: object) -> Path:
    if folder.exists():  # pytest may set a fixture with parameters up again
        return folder
    result = call(*words, "--output", folder, "--quiet")
    assert result == (0, "", ""), result
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session's builds lie."""
    return tmp_path_factory.mktemp("built")


@pytest.fixture(scope="session")
def raddle(built: Path) -> Path:
    """`build raddle` of the embedded MultiWOZ 2.1."""
    return _made(built / "raddle", "build", "raddle", "--input", DATA / "multiwoz21")


@pytest.fixture(scope="session")
def perturbed(built: Path) -> Path:
    """`perturb` of the embedded RiSAWOZ, two suites, two variants."""
    chains = [word for chain in CHAINS for word in ("--with", chain)]
    return _made(built / "perturbed", "perturb", "--input", DATA / "risawoz", "--format", "risawoz", *chains, "--variants", 2)


@pytest.fixture(scope="session", params=["raddle", "perturbed", "multiwoz21", "multiwoz22", "risawoz"])
def folder(request: pytest.FixtureRequest, built: Path) -> Path:
    """Each of: the two folders above, and `build splits` of each embedded corpus."""
    if request.param in ("raddle", "perturbed"):
        made: Path = request.getfixturevalue(request.param)
        return made
    return _made(built / f"splits-{request.param}", "build", "splits", "--input", DATA / request.param)
