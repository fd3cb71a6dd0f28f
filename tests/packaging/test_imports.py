"""Which way imports go, as [tool.importlinter] in pyproject.toml says, read off the installed package."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.packaging.conftest import Environment
from tests.pipelines.tools import ROOT

_LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def _lint(environment: Environment, config: Path, cwd: Path) -> tuple[int, str]:
    done = environment.run("python", "-c", _LINT, "--config", config, "--no-cache", cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def test_imports_keep_to_the_contracts(installed: Environment, tmp_path: Path) -> None:
    code, told = _lint(installed, ROOT / "pyproject.toml", tmp_path)
    assert code == 0, told


def test_the_contracts_see_imports_inside_functions_and_for_type_checking(installed: Environment, tmp_path: Path) -> None:
    """The same package, with imports added that break the contracts."""
    (here,) = installed.folder.rglob("site-packages/dialmill")
    copy = tmp_path / "dialmill"
    shutil.copytree(here, copy)
    for module, lines in {
        "schemas/version.py": "def late():\n    from dialmill.perturbers.core import rng\n",
        "pipelines/core/errors.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dialmill.pipelines.core import files\n",
        "perturbers/core/rng.py": "def late():\n    import apache_beam\n    import dialmill\n",
        "pipelines/stages/split.py": "from dialmill.pipelines.benchmarks import registry\n",
    }.items():
        with (copy / module).open("a", encoding="utf-8") as stream:
            stream.write(lines)
    code, told = _lint(installed, ROOT / "pyproject.toml", tmp_path)
    assert code == 1, told
    for expected in (
        "dialmill.schemas.version -> dialmill.perturbers.core.rng",
        "No cycles are allowed in dialmill.pipelines.core",
        "dialmill.perturbers.core.rng -> apache_beam",
        "dialmill.perturbers.core.rng -> dialmill (",
        "dialmill.pipelines.stages.split -> dialmill.pipelines.benchmarks.registry",
    ):
        assert expected in told, told
