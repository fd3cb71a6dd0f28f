"""README and docs say what is so: their commands run, their example is real output, their pages build without a broken link."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dialmill as dm
from tests.pipelines.tools import ROOT, call

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=[path.name for path in PAGES])
def test_every_command_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one folder, in their order, on the corpora that come along. The two commands that set up an environment are .ci/run's."""
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"<!-- command: \w+ -->\n```sh\n.*?```", "", page.read_text("utf-8"), flags=re.S)
    needs = [command for block in BLOCK.findall(text) for command in block.replace("\\\n", " ").splitlines() if command.strip()]
    for command in needs:
        words = shlex.split(command, comments=True)
        assert words[0] == "dialmill", command
        done = call(*words[1:])
        assert done.code == 0, (command, done.err)


def test_the_example_is_real_output() -> None:
    found = re.search(r"<!-- example: (\S+) -->\n```\nbefore  (.+?)\nafter   (.+?)(?:  .*)?\n```", (ROOT / "README.md").read_text("utf-8"))
    assert found is not None
    made = dm.noise(found[2], found[1], slots={"price": "cheap", "area": "north", "stay": "two"}, seed=1, language="en")
    assert made.text == found[3]
    assert {span.value: span.text for span in made.spans} == {"cheap": "cheap", "north": "north", "two": "two"}


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_the_documentation_builds(tmp_path: Path) -> None:
    """MkDocs in strict mode: a broken link or a page that is named and missing fails."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed; the extra `test` brings it")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    for page in ("index.html", "perturbers/typos/index.html", "benchmarks/raddle/index.html", "sources/multiwoz21/index.html"):
        assert (tmp_path / "site" / page).is_file()
