"""A package of somebody else's brings a perturber, a source, a benchmark with a schema and an engine.

They are listed, used by the command line in two worker processes, and tested by their author with our contracts.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import Environment
from tests.pipelines.tools import ROOT, hashes, records

PLUGIN = ROOT / "tests" / "plugin_package"
TWO_PROCESSES = ("--", "--direct_running_mode=multi_processing", "--direct_num_workers=2")


@pytest.fixture(scope="module")
def plugged(distributions: dict[str, Path], environments: Callable[[str], Environment], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with dialmill's wheel and the plug-in."""
    made = environments("plugged")
    copy = tmp_path_factory.mktemp("plugin") / "copy"
    shutil.copytree(PLUGIN, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    made.install(distributions["wheel"], copy)
    return made


def test_what_it_brings_is_listed_with_its_package(plugged: Environment, tmp_path: Path) -> None:
    done = plugged.run("dialmill", "list", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    origins = {one["name"]: one["from"] for kind in ("perturbers", "sources", "benchmarks") for one in listed[kind]}
    assert {name for name, origin in origins.items() if origin == "dialmill-parrot 1.2.3"} == {"shouting", "chatlines", "shouted"}
    assert origins["typos"] == "dialmill"
    assert next(one for one in listed["engines"] if one["name"] == "parrot")["from"] == "dialmill-parrot 1.2.3"
    told = plugged.run("dialmill", "list", "perturbers", cwd=tmp_path).stdout
    assert [line.split()[0] for line in told.splitlines() if "from: dialmill-parrot 1.2.3" in line] == ["shouting"]
    described = plugged.run("dialmill", "list", "perturbers", "shouting", cwd=tmp_path).stdout
    assert "share of the words outside of slot values" in described


def test_its_benchmark_is_built_by_two_processes_as_by_one(plugged: Environment, tmp_path: Path) -> None:
    for output, options in (("one", ()), ("two", TWO_PROCESSES)):
        done = plugged.run(
            "dialmill", "build", "shouted", "--input", PLUGIN / "corpus", "--output", tmp_path / output, "--quiet", *options, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two")
    calm, shouted = (records(tmp_path / "two", suite) for suite in ("standard", "shouting"))
    assert len(calm) == len(shouted) == 40
    assert all(any(word.isupper() for turn in one.turns for word in turn.utterance.split()) for one in shouted)
    table = (tmp_path / "two" / "release" / "shouting.tsv").read_text("utf-8")
    assert len(table.splitlines()) == 40 and "THANK" in table
    assert plugged.run("dialmill", "verify", tmp_path / "two", cwd=tmp_path).returncode == 0


def test_its_schema_is_listed_and_its_release_validated_by_it(plugged: Environment, tmp_path: Path) -> None:
    listed = json.loads(plugged.run("dialmill", "list", "schemas", "--json", "-", cwd=tmp_path).stdout)["schemas"]
    assert {one["name"]: one["about"] for one in listed}["shouted-lines"] == "the turns of a chat"
    done = plugged.run("dialmill", "build", "shouted", "--input", PLUGIN / "corpus", "--output", tmp_path / "out", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = tmp_path / "out" / "release" / "shouting.jsonl"
    checked = plugged.run("dialmill", "validate", lines, "--schema", "shouted-lines", cwd=tmp_path)
    assert checked.returncode == 0 and "40 records are valid" in checked.stdout, checked.stdout + checked.stderr
    (tmp_path / "bad.jsonl").write_text('{"id": "", "turns": [1]}\n', "utf-8")
    refused = plugged.run("dialmill", "validate", tmp_path / "bad.jsonl", "--schema", "shouted-lines", cwd=tmp_path)
    assert refused.returncode == 1 and "turns[0]" in refused.stdout + refused.stderr


def test_its_perturber_and_its_engine_are_chained_with_ours_in_two_processes(plugged: Environment, tmp_path: Path) -> None:
    speech = "speech:engine=audio,tts=fake-tts,asr=parrot,noise=none,ceiling=1,cache=off"
    words = ["--with", "shouting+typos:rate=0.2,name=both", "--with", speech, "--input", PLUGIN / "corpus", "--output", tmp_path / "out", "--quiet"]
    done = plugged.run("dialmill", "perturb", *words, *TWO_PROCESSES, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    both = records(tmp_path / "out", "both")
    assert both and all([step.step.split("@")[0] for step in one.lineage] == ["shouting", "typos"] for one in both)
    spoken = records(tmp_path / "out", "speech")
    shorter = [turn for one in spoken for turn in one.turns if turn.original is not None]
    assert shorter and all(len(turn.utterance.split()) < len(str(turn.original).split()) for turn in shorter)


def test_its_author_tests_it_with_our_contracts(plugged: Environment, tmp_path: Path) -> None:
    done = plugged.run("python", "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", PLUGIN / "checks" / "contract.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed(?! *,)", done.stdout)
    assert passed is not None and int(passed[1]) >= 40 and "skipped" not in done.stdout


def test_a_package_that_is_at_fault_is_named_and_keeps_nothing_else_from_working(plugged: Environment, tmp_path: Path) -> None:
    """One whose module can't be imported, one that isn't what it says, and one that wants a name of ours."""
    (site,) = plugged.folder.rglob("site-packages")
    described = site / "faulty-0.1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 0.1\n", "utf-8")
    points = "broken = faulty_module:Gone\nnone = json:dumps\nother = dialmill_parrot.shouting:Shouting\ntypos = dialmill_parrot.shouting:Shouting\n"
    (described / "entry_points.txt").write_text(f"[dialmill.perturbers]\n{points}[dialmill.sources]\nbroken = faulty_module:Gone\n", "utf-8")
    try:
        listed = plugged.run("dialmill", "list", "perturbers", "--json", "-", cwd=tmp_path)
        assert listed.returncode == 0, listed.stderr
        found = {one["name"]: one for one in json.loads(listed.stdout)["perturbers"]}
        assert "can't be loaded from faulty_module:Gone: ModuleNotFoundError" in found["broken"]["about"]
        assert "is no Perturber" in found["none"]["about"] and "calls itself 'shouting'" in found["other"]["about"]
        assert found["typos"]["from"] == "dialmill" and "faulty 0.1" in found["typos"]["not used"]
        words = ("--input", PLUGIN / "corpus", "--output", tmp_path / "out", "--quiet")
        refused = plugged.run("dialmill", "perturb", "--with", "broken", *words, cwd=tmp_path)
        assert refused.returncode == 2 and "'broken' of faulty 0.1" in refused.stderr and "Traceback" not in refused.stderr
        done = plugged.run("dialmill", "perturb", "--with", "typos", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    finally:
        shutil.rmtree(described)
