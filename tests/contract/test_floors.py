"""The floors below the pipelines import without Beam, and quickly; which way imports go is tested in tests/packaging."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.pipelines.tools import ROOT, environment

_FLOORS = ("src/dialmill", "schemas", "perturbers", "pipelines")

_WITHOUT_BEAM = """
import sys, time
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("apache_beam", "jieba", "pyarrow"):
            raise ImportError("not needed here: " + name)
sys.meta_path.insert(0, Refuse())
began = time.process_time()
import dialmill.schemas, dialmill.perturbers
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
    print(f"import dialmill.perturbers: {done.stdout.strip()} s of CPU (the aim is below 0.5)")


def test_no_module_is_longer_than_a_person_reads() -> None:
    for floor in _FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            assert len(path.read_text("utf-8").splitlines()) <= 600, path


def test_light_commands_do_without_beam() -> None:
    command = (
        "import sys; from dialmill.pipelines.cli.main import main; code = main(['list']);"
        " assert not {'apache_beam', 'pyarrow'} & set(sys.modules); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, env=environment(), cwd=Path(ROOT), check=False)
    assert done.returncode == 0, done.stderr
