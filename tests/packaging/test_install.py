"""One installed name: whatever stands beside it, and however it was installed."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import Environment, build, copy_checkout
from tests.pipelines.tools import DATA, ROOT

_FLOORS = ("schemas", "perturbers", "pipelines")

#: What a notebook does with an installed dialmill; "from dialmill.perturbers import get" is the line that any shadowing breaks first.
_NOTEBOOK = """
import sys
import dialmill as dm
from dialmill.perturbers import get
from dialmill.schemas import Dialogue, Turn
said = Dialogue(dialogue_id="d", source="s", source_id="d", turns=(Turn(0, "user", "i would like a hotel with free wifi please"),))
made = get("typos")(rate=0.3).perturb(said, seed=1)
assert made.turns[0].utterance != said.turns[0].utterance
assert Dialogue.from_dict(made.to_dict()) == made
print(dm.__file__)
"""

#: The names that the installation itself brings to the top, asked from a folder that has none of them.
_TOP_LEVEL = """
import importlib.util
print([name for name in ("schemas", "perturbers", "pipelines") if importlib.util.find_spec(name)])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with modules of the names that our floors have, none of which may be imported by us."""
    folder = tmp_path / "project"
    for name in ("pipelines", "perturbers"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise RuntimeError('this is the project, not dialmill')\n", "utf-8")
    (folder / "schemas.py").write_text("raise RuntimeError('this is the project, not dialmill')\n", "utf-8")
    return folder


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_one_name(distributions: dict[str, Path]) -> None:
    members = _members(distributions["wheel"])
    assert {name.split("/")[0] for name in members if ".dist-info" not in name} == {"dialmill"}
    expected = {
        f"dialmill/{floor}/{path.relative_to(ROOT / floor).as_posix()}"
        for floor in _FLOORS
        for path in (ROOT / floor).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".md", ".mjs")
    }
    assert expected - set(members) == set(), "every module and every file that one of them reads"
    assert "dialmill/py.typed" in members


def test_the_source_distribution_builds_the_same_wheel(distributions: dict[str, Path], tmp_path: Path) -> None:
    direct = build(copy_checkout(tmp_path / "copy"), tmp_path / "dist", "--wheel")["wheel"]
    assert _members(direct) == _members(distributions["wheel"])
    with tarfile.open(distributions["sdist"]) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"src", *_FLOORS, "README.md", "LICENSE", "pyproject.toml"} <= tops


def test_the_distributions_can_be_uploaded(distributions: dict[str, Path]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, distributions.values())], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_beside_a_project_with_modules_of_the_same_names(installed: Environment, project: Path) -> None:
    done = installed.run("python", "-c", _NOTEBOOK, cwd=project)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(installed.folder)
    for command in (["dialmill"], ["python", "-m", "dialmill"]):
        done = installed.run(*command, "list", "perturbers", cwd=project)
        assert done.returncode == 0 and "typos" in done.stdout, done.stderr
    done = installed.run("dialmill", "build", "splits", "--input", DATA / "multiwoz22", "--output", project / "out", "--quiet", cwd=project)
    assert done.returncode == 0, done.stderr
    assert installed.run("dialmill", "verify", project / "out", cwd=project).returncode == 0


def test_in_the_checkout_itself_the_installed_package_is_imported(installed: Environment, tmp_path: Path) -> None:
    done = installed.run("python", "-c", _NOTEBOOK, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(installed.folder)
    assert installed.run("python", "-c", _TOP_LEVEL, cwd=tmp_path).stdout.strip() == "[]"


def test_an_editable_install_has_one_name_too(environments: Callable[[str], Environment], tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    environment = environments("editable")
    environment.install("--editable", checkout)
    assert environment.run("python", "-c", _TOP_LEVEL, cwd=tmp_path).stdout.strip() == "[]"
    for folder in (tmp_path, checkout):
        done = environment.run("python", "-c", _NOTEBOOK, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()) == checkout / "src" / "dialmill" / "__init__.py"
    done = environment.run("python", "-m", "dialmill", "list", "perturbers", cwd=checkout)
    assert done.returncode == 0 and "typos" in done.stdout, done.stderr
