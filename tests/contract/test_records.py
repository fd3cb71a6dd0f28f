"""The records of every benchmark with their lineage set aside, pinned: a change of words (an option's name, a reason) must not change a record.

`golden.json` pins every byte, and changes where the lineage does; `golden_records.json` must not. Where records change on purpose (a perturber's
`version`, or the CHANGELOG, says so), run ``python -m tests.contract.test_records`` and commit golden_records.json.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import registry as benchmarks

from tests.pipelines.tools import DATA, plain

GOLDEN = Path(__file__).with_name("golden_records.json")
_BASES = ",".join(str(DATA / "dstc9_track1" / name) for name in ("knowledge.json", "knowledge_eval.json"))
#: What is built: a benchmark, its input, and the settings.
BUILDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "raddle": ("raddle", "multiwoz21", ("donors_from=train",)),
    "raddle, joined": ("raddle", "multiwoz21", ("typography=join", "suites=standard,paraphrase,verbosity,simplification")),
    "dstc9-track1": ("dstc9-track1", "multiwoz21", (f"knowledge={_BASES}",)),
    "dstc9-track1, own base": ("dstc9-track1", "risawoz", ("suites=standard,knowledge,unseen",)),
    "noesis-ubuntu": ("noesis-ubuntu", "ubuntu_irc", ("links=annotated",)),
    "noesis-advising": ("noesis-advising", "advising", ("partials=60",)),
    "cgodial-fbd": ("cgodial-fbd", "flow", ("train_size=60", "test_size=12")),
    "cgodial-rbd": ("cgodial-rbd", "ecd", ()),
    "cgodial-sbd": ("cgodial-sbd", "risawoz", ()),
    "splits": ("splits", "multiwoz22", ()),
    "perturb": (
        "perturb",
        "risawoz",
        ("suites=standard,all", "variants=2", "perturbations.all=paraphrase+disfluency:repairs=0.5+typos:values=follow+entities:slots=all"),
    ),
}
#: What a build says of itself.
_ASIDE = frozenset({"manifest.json", "croissant.json", "dataset_info.json", "README.md", "report.html"})


def _without_lineage(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_lineage(item) for key, item in value.items() if key != "lineage"}
    return [_without_lineage(item) for item in value] if isinstance(value, list) else value


def _content(path: Path) -> bytes:
    """A file as it counts: JSON without any lineage, keys in their order; all else as it is."""
    data = path.read_bytes()
    if path.suffix not in (".json", ".jsonl"):
        return data
    values = map(json.loads, data.splitlines()) if path.suffix == ".jsonl" else [json.loads(data)]
    return b"".join(json.dumps(_without_lineage(value)).encode() + b"\n" for value in values)


def digest(name: str, output: Path) -> str:
    """One sha256 over the records and release of a build, without lineage, rejects, card, report and manifest. Parquet repeats the records."""
    benchmark, source, settings = BUILDS[name]
    inputs = sorted((DATA / source).glob("*.yaml")) if source == "flow" else [DATA / source]
    plain(benchmark, inputs, output, *settings)
    sha = hashlib.sha256()
    files = [path for path in sorted(output.rglob("*")) if path.is_file() and path.name not in _ASIDE and path.suffix != ".parquet"]
    for path in files:
        place = path.relative_to(output).as_posix()
        if not place.startswith(("rejects/", "report")):
            sha.update(place.encode() + b"\0" + _content(path) + b"\0")
    return sha.hexdigest()


def test_what_is_pinned_exists() -> None:
    """A benchmark is pinned once its records are meant to stay; a new one need not be."""
    assert {benchmark for benchmark, _, _ in BUILDS.values()} <= {*benchmarks.names(), *benchmarks.COMMANDS}
    assert json.loads(GOLDEN.read_text("utf-8")).keys() == BUILDS.keys()


def test_a_lineage_is_set_aside_and_nothing_else(tmp_path: Path) -> None:
    record = {"turns": [{"utterance": "hm", "lineage": 1}], "lineage": [{"step": "typos@1"}], "goal": None}
    (tmp_path / "one.jsonl").write_text(json.dumps(record) + "\n" + json.dumps({**record, "lineage": []}) + "\n", "utf-8")
    first, second = _content(tmp_path / "one.jsonl").splitlines()
    assert first == second and json.loads(first) == {"turns": [{"utterance": "hm"}], "goal": None}


@pytest.mark.parametrize("name", BUILDS)
def test_the_records_are_those_of_the_last_release(name: str, tmp_path: Path) -> None:
    assert digest(name, tmp_path / "out") == json.loads(GOLDEN.read_text("utf-8"))[name], f"records changed; if that is meant: {__doc__}"


def main() -> None:
    """Writes golden_records.json again."""
    with tempfile.TemporaryDirectory() as folder:
        made = {name: digest(name, Path(folder, str(number))) for number, name in enumerate(BUILDS)}
    GOLDEN.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
