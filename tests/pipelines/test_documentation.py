"""README and docs say what is so: their commands run, their example is real output, their pages build without a broken link."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dialmill.perturbers.speech.engines import registry as engines
from dialmill.perturbers.speech.weights import PACKAGED
from dialmill.pipelines.cli.main import parser_of

import dialmill as dm
from tests import pages
from tests.notebook import run_cell
from tests.pipelines.tools import ROOT, call

_TUTORIALS = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
_RUN = [page for page in pages.PAGES if pages.runnable(page)]


def test_a_block_of_commands_is_run_or_says_why_not() -> None:
    """The convention of tests/pages.py."""
    for page in pages.PAGES:
        for block in pages.with_commands(page):
            where = f"{pages.name_of(page)}: {block.text.splitlines()[0]}"
            if pages.name_of(page) in pages.ELSEWHERE:
                continue
            if block.mark == "run by":
                assert (ROOT / block.told).is_file(), where
            elif block.mark == "not run":
                assert len(block.told.split()) > 3, where
            elif block.language == "sh":
                assert block.mark in ("", "slow", "command"), where
                assert block.mark == "command" or all(words[0] == "dialmill" for words in block.commands), where
            else:
                assert not re.search(r"(?m)^dialmill ", block.text), f"{where} is run by nothing: make it sh, or mark it"
    assert {"README.md", "docs/own-data.md", "docs/exporters.md", "docs/scores.md", "docs/agents.md"} <= {pages.name_of(page) for page in _RUN}


@pytest.mark.parametrize("page", _RUN, ids=[pages.name_of(page) for page in _RUN])
def test_every_command_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one folder, in their order, on the corpora that come along and the files that the page shows; .ci/slow runs the slow ones."""
    monkeypatch.chdir(tmp_path)
    pages.write_files(page, tmp_path)
    for words in pages.runnable(page):
        if "--plot" in words:
            pytest.importorskip("matplotlib", reason="the extra plot isn't installed")
        done = call(*words[1:])
        assert done.code == 0, (words, done.err)


def test_the_forms_of_data_that_a_page_shows_are_read(tmp_path: Path) -> None:
    """Each smallest record is one: the formats are told apart by content."""
    pages.write_files(ROOT / "docs" / "own-data.md", tmp_path)
    read = {path.name: next(dm.read(str(path))) for path in tmp_path.iterdir()}
    assert {name: one.source for name, one in read.items()} == {"chats.csv": "plain", "chats.jsonl": "plain", "chat.txt": "transcript"}
    assert all(one.turns[0].utterance == "I need a hotel" and one.turns[0].speaker == "user" for one in read.values())


#: Commands with words that stand for the reader's own (PATH, DIR), which can't be run.
_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
_LINE = re.compile(r"(?m)^ *(?:\$ )?(?:python -m )?(dialmill (?:[^\n\\]|\\\n)+)$")
_INLINE = re.compile(r"`(dialmill [a-z][^`\n]*)`")


@pytest.mark.parametrize("page", pages.PAGES, ids=[pages.name_of(page) for page in pages.PAGES])
def test_every_command_that_is_named_exists_with_its_options(page: Path) -> None:
    """The commands and options that text and blocks of all pages name, whether or not they can be run as they stand."""
    known: dict[str, set[str]] = {}
    written = page.read_text("utf-8")
    for found in [line for block in _FENCED.findall(written) for line in _LINE.findall(block)] + _INLINE.findall(_FENCED.sub("", written)):
        text = found.replace("\\\n", " ").partition(" -- ")[0].partition("#")[0]
        command = re.search(r"dialmill ([a-z][a-z-]*)", text)
        if command is None:
            continue
        if command[1] not in known:
            parser = parser_of([command[1]])
            actions = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
            assert command[1] in actions.choices, f"{page.name}: there is no command {command[1]} ({text})"
            known[command[1]] = {name for action in actions.choices[command[1]]._actions for name in action.option_strings}
        for option in re.findall(r"(?<![\w=-])--[a-z][a-z-]*", text):
            assert option in known[command[1]], f"{page.name}: {command[1]} has no option {option} ({text})"


#: Blocks that are to be run as they stand; one below the name of a file is that file, which other tests make and run.
_PYTHON = re.compile(r"(?<!-->\n)^```python\n(.*?)^```$", re.M | re.S)
_WITH_PYTHON = [page for page in _TUTORIALS if _PYTHON.search(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", _WITH_PYTHON, ids=[page.name for page in _WITH_PYTHON])
def test_every_python_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in a folder in which the corpora that come along lie as in a checkout."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    names = {"record": next(dm.read("data/multiwoz21")).to_dict()}
    for block in _PYTHON.findall(page.read_text("utf-8")):
        exec(compile(block, page.name, "exec"), names)


NOTEBOOK = ROOT / "examples" / "noisy_suite.ipynb"


def test_the_notebook_runs_and_shows_what_stands_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells are executed in their order, as Jupyter does. Texts change with the versions of steps (`python -m tests.notebook NOTEBOOK` writes
    what is shown again); how much a cell shows does not, and the last one has to show that typos cost the system some of its score."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    said = ""
    for cell in cells:
        said = run_cell("".join(cell["source"]), names)
        shown = "".join("".join(one["text"]) for one in cell["outputs"])
        assert len(said.strip().splitlines()) == len(shown.strip().splitlines()), "".join(cell["source"])
    scores = dict(line.split() for line in said.strip().splitlines())
    assert float(scores["typos"]) < float(scores["standard"])


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
    made = {
        "perturbers": dm.list_perturbers(),
        "benchmarks": dm.list_benchmarks(),
        "sources": dm.list_sources(),
        "exporters": dm.list_exporters(),
        "engines": engines.REGISTRY.names(),
    }
    for folder, names in made.items():
        head = (tmp_path / "site" / folder / "index.html").read_text("utf-8")
        for name in names:
            assert (tmp_path / "site" / folder / name / "index.html").is_file() and f">{name}</a>" in head, (folder, name)
    weights = (tmp_path / "site" / "weights" / "index.html").read_text("utf-8")
    assert all(one.model_sha256 in weights for one in PACKAGED.values())
