"""The distributions, built once a session out of a copy of the checkout, and environments that they are installed into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.pipelines.tools import ROOT

#: What a distribution is built from.
_PARTS = ("data", "src", "schemas", "perturbers", "pipelines", "pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in", "CHANGELOG.md")
#: Further files of MANIFEST.in, where they are there.
_DOCUMENTS = ("SECURITY.md", "CONTRIBUTING.md", "CITATION.cff", "docs")


class Environment(NamedTuple):
    """A virtual environment that sees the packages of the tests' own, and below those one that dialmill is installed into."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def run(self, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        """A command of the environment, by its name, in a folder."""
        command = [str(self.python.with_name(str(words[0]))), *map(str, words[1:])]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=300, check=False)

    def install(self, *words: object) -> None:
        """`pip install` without dependencies, which come from the tests' own environment, and without a network."""
        options = [
            "--python",
            str(self.python),
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
            "--disable-pip-version-check",
        ]
        done = subprocess.run([sys.executable, "-m", "pip", *options, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr


def _environment(folder: Path) -> Environment:
    venv.create(folder, with_pip=False)
    made = Environment(folder)
    inside = made.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).stdout.strip()
    # Behind the environment's own, so that what is installed there wins; a path file in these folders, such as that of an editable install, has no
    # effect here.
    seen = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    Path(inside, "tests.pth").write_text("".join(f"{path}\n" for path in seen), "utf-8")
    return made


def copy_checkout(folder: Path) -> Path:
    """A copy of what a distribution is built from: building leaves its own folders there, and not in the checkout."""
    folder.mkdir(parents=True)
    for name in (*_PARTS, *(name for name in _DOCUMENTS if (ROOT / name).exists())):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def build(source: Path, output: Path, *kinds: str) -> dict[str, Path]:
    """Distributions by kind, "sdist" and "wheel"; without a kind the wheel is built from the source distribution."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output), *kinds, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {"sdist" if path.name.endswith(".tar.gz") else "wheel": path for path in output.iterdir()}


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    return build(copy_checkout(folder / "copy"), folder / "dist")


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Environment]:
    """Fresh environments, by a name of their own."""
    return lambda name: _environment(tmp_path_factory.mktemp(name) / "venv")


@pytest.fixture(scope="session")
def installed(distributions: dict[str, Path], environments: Callable[[str], Environment]) -> Environment:
    """An environment with the wheel."""
    made = environments("installed")
    made.install(distributions["wheel"])
    return made
