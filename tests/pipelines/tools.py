"""What the tests of whole runs share: commands called in this process, small corpora, and ways to look into output folders."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.main import main
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
SPLIT_FILES = ("train", "valid", "test", "test_hard")


class Result(NamedTuple):
    """What a command said and its exit code."""

    code: int
    out: str
    err: str


def call(*words: object) -> Result:
    """A command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as leaving:  # argparse
            code = int(leaving.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


def environment(**extra: str) -> dict[str, str]:
    """For a process of its own: the checkout importable, whatever is installed."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **extra}


def spawn(*words: object, folder: Path = ROOT, **extra: str) -> Result:
    """A command, in a process of its own with the given environment variables, run in a folder."""
    command = [sys.executable, "-m", "dialmill.pipelines.cli.main", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(**extra), cwd=folder, timeout=300, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def plain(benchmark: str, inputs: Sequence[object], output: Path, *settings: str, seed: int = 1, source: str | None = None) -> dict[str, Any]:
    """A build as plain function calls; its manifest."""
    job = build.make_job(benchmarks.load_recipe(benchmark, None, settings), [str(path) for path in inputs], str(output), seed, source, overwrite=True)
    return build.run(job, plain=True)


def hashes(folder: Path, *under: str) -> dict[str, str]:
    """sha256 of every file (or those below the folders `under`) by its path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return {path: digest for path, digest in named.items() if not under or path.split("/")[0] in under}


def records(folder: Path, suite: str = "standard", *splits: str) -> list[Dialogue]:
    """The records of a suite, of all splits but test_hard where none is named."""
    found = []
    for split in splits or SPLIT_FILES[:3]:
        with (folder / "dialogues" / suite / f"{split}.jsonl").open("rb") as lines:
            found += [decode(line) for line in lines]
    return found


def rejects(folder: Path, stage: str) -> list[dict[str, Any]]:
    """The lines of rejects/STAGE.jsonl; none where there is no such file."""
    path = folder / "rejects" / f"{stage}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def manifest(folder: Path) -> dict[str, Any]:
    """manifest.json, parsed."""
    loaded: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return loaded


def turns(*texts: str) -> list[dict[str, Any]]:
    """A MultiWOZ 2.1 log of these utterances, user first, without labels."""
    return [{"text": text, "metadata": {}, "dialog_act": {}, "span_info": []} for text in texts]


def corpus(path: Path, dialogues: dict[str, Any], **lists: Sequence[str]) -> Path:
    """A MultiWOZ 2.1 folder: data.json, with valListFile and testListFile where ``val=`` and ``test=`` name ids. A value that is a list of texts
    becomes a dialogue about a hotel."""
    path.mkdir(parents=True, exist_ok=True)
    made = {
        name + ".json": {"goal": {"hotel": {"info": {"area": "east"}}}, "log": turns(*one)} if isinstance(one, (list, tuple)) else one
        for name, one in dialogues.items()
    }
    (path / "data.json").write_text(json.dumps(made), "utf-8")
    for name, ids in lists.items():
        (path / f"{name}ListFile.json").write_text("".join(f"{one}.json\n" for one in ids), "utf-8")
    return path


def talk(number: int) -> list[str]:
    """A small conversation, another one for each number."""
    streets = ("lime street", "mill lane", "high road", "oak avenue", "castle hill", "river walk", "park row")
    return [
        f"i am looking for a quiet hotel near {streets[number % 7]} with {number} rooms please",
        f"there are {number + 3} of them , which part of town number {number * 7} do you prefer ?",
        f"somewhere close to bus line {number * 13} would be wonderful",
        f"then i suggest house {number * 17} , it has what you asked for",
    ]
