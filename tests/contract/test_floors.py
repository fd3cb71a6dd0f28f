"""The three floors: schemas and perturbers import without Beam, and quickly; imports go down only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipelines.tools import ROOT, environment

_WITHOUT_BEAM = """
import sys, time
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("apache_beam", "pipelines"):
            raise ImportError("not on this floor: " + name)
sys.meta_path.insert(0, Refuse())
began = time.process_time()
import schemas, perturbers
print(f"{time.process_time() - began:.2f}")
from dialmill.perturbers import get
from dialmill.schemas import Dialogue, Turn
said = Dialogue(dialogue_id="d", source="s", source_id="d", turns=(Turn(0, "user", "i would like a hotel with free wifi please"),))
made = get("typos")(rate=0.3).perturb(said, seed=1)
assert made.turns[0].utterance != said.turns[0].utterance
assert Dialogue.from_dict(made.to_dict()) == made
"""


def test_schemas_and_perturbers_work_where_beam_cannot_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_BEAM], capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    print(f"import perturbers: {done.stdout.strip()} s of CPU (the aim is below 0.5)")


_MAY_IMPORT = {"schemas": set(), "perturbers": {"schemas"}, "pipelines": {"schemas", "perturbers"}}


@pytest.mark.parametrize("floor", _MAY_IMPORT)
def test_imports_go_down_only(floor: str) -> None:
    for path in sorted((ROOT / floor).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            roots = {name.split(".")[0] for name in names}
            assert not roots & (set(_MAY_IMPORT) - _MAY_IMPORT[floor] - {floor}), path
            assert floor == "pipelines" or "apache_beam" not in roots, path


def test_no_module_is_longer_than_a_person_reads() -> None:
    for floor in _MAY_IMPORT:
        for path in sorted((ROOT / floor).rglob("*.py")):
            assert len(path.read_text("utf-8").splitlines()) <= 600, path


def test_light_commands_do_without_beam() -> None:
    command = (
        "import sys; from dialmill.pipelines.cli.main import main; code = main(['list']); assert 'apache_beam' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, env=environment(), cwd=Path(ROOT), check=False)
    assert done.returncode == 0, done.stderr
