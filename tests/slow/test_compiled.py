"""The modules that mypyc compiles give the bytes of the plain ones; where they can't be compiled the plain ones are installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_MODULES = 10

pytestmark = pytest.mark.skipif(not os.environ.get("DIALMILL_SLOW"), reason="compiles for two minutes; .ci/slow runs it")


def _install(target: Path, copy: Path, **extra: str) -> None:
    """Installs the checkout as it is committed into a folder, as `pip install .` does."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(target), str(copy)]
    subprocess.run(command, check=True, env={**os.environ, "DIALMILL_COMPILE": "1", **extra})


def _python(target: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python with what is installed in a folder."""
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(target)}
    )


def test_compiled_modules_give_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("mypyc.build")
    _install(tmp_path / "lib", tmp_path / "copy")
    compiled = [path for path in (tmp_path / "lib" / "dialmill").rglob("*") if path.suffix in (".so", ".pyd")]
    assert len(compiled) == _MODULES
    where = _python(tmp_path / "lib", "-c", "from dialmill.perturbers.typing import slips; print(slips.__file__)")
    assert where.stdout.strip().endswith((".so", ".pyd")), where.stderr
    for tests in (
        "tests/contract/test_golden.py",
        "tests/perturbers/test_typos.py",
        "tests/perturbers/test_values.py",
        "tests/perturbers/test_checks.py",
    ):
        done = _python(tmp_path / "lib", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
        assert done.returncode == 0, done.stdout


def test_without_a_compiler_the_plain_modules_are_installed(tmp_path: Path) -> None:
    _install(tmp_path / "lib", tmp_path / "copy", CC="false")
    assert not [path for path in (tmp_path / "lib").rglob("*") if path.suffix in (".so", ".pyd")]
    said = _python(tmp_path / "lib", "-c", "import dialmill as dm; print(dm.__file__, dm.noise('I need a cheap hotel', 'typos:rate=0.5').text)")
    assert said.returncode == 0 and str(tmp_path) in said.stdout, said.stderr
