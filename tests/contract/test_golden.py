"""The output of whole builds, pinned: a change of any byte of the data is seen, and must be meant.

Where it is meant (and the perturber's `version`, or the CHANGELOG, says so), run ``python -m tests.contract.test_golden`` and commit golden.json.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import pytest
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks

from tests.pipelines.tools import DATA, plain

GOLDEN = Path(__file__).with_name("golden.json")
BUILDS = ("raddle of multiwoz21", "splits of multiwoz21", "splits of multiwoz22", "splits of risawoz", "perturb of multiwoz22", "perturb of risawoz")


def digest(name: str, output: Path) -> str:
    """One sha256 over the paths and contents of all JSON files of a build. Parquet holds the name of its writer's version, the card our own."""
    benchmark, source = name.split(" of ")
    if benchmark == "perturb":
        chains = {"typos": "typos", "chained": "typos:style=chat+typos:rate=0.3,style=typing,values=follow"}
        settings = ["suites=standard,typos,chained", "variants=2", *(f"perturbations.{suite}={spec}" for suite, spec in chains.items())]
        job = build.make_job(benchmarks.load_recipe("perturb", None, settings), [str(DATA / source)], str(output))
        build.run(job, plain=True)
    else:
        plain(benchmark, [DATA / source], output)
    sha = hashlib.sha256()
    for path in sorted(output.rglob("*.json*")):
        if path.name not in ("manifest.json", "croissant.json"):
            sha.update(path.relative_to(output).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()


@pytest.mark.parametrize("name", BUILDS)
def test_the_bytes_are_those_of_the_last_release(name: str, tmp_path: Path) -> None:
    assert digest(name, tmp_path / "out") == json.loads(GOLDEN.read_text("utf-8"))[name], f"the data changed; if that is meant: {__doc__}"


def main() -> None:
    """Writes golden.json again."""
    with tempfile.TemporaryDirectory() as folder:
        made = {name: digest(name, Path(folder, name)) for name in BUILDS}
    GOLDEN.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
