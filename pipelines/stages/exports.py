"""The suites of a finished folder in other programs' formats: one worker writes a suite in one format, whichever is free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.core import files
from dialmill.pipelines.core.folders import EXPORTS
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.exporters import writing


class WriteExports(Stage):
    """Reads a suite of the folder, through whatever file system that lies on, and writes it in a format below export/.

    Args:
        folder: the output folder, whose records are written already.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, element: tuple[str, str], side: object = None) -> Iterable[tuple[str, Item]]:
        name, suite = element
        made = list(writing.export([name], self.folder, [suite], self.folder, f"{EXPORTS}/"))
        # Handed over as a file, as part files are: what a worker holds doesn't come back to the process that started it.
        with files.create(_outputs_file(self.folder, name, suite)) as stream:
            stream.write(msgspec.json.encode(made))
        return ()


def write(runner: Runner, folder: str, names: Sequence[str], suites: Sequence[str]) -> None:
    """The graph that writes suites in formats; it runs once the records are in their files."""
    pairs = [(name, suite) for name in names for suite in suites]
    runner.apply("write exports", WriteExports(folder), runner.create("formats and suites", pairs))


def outputs(folder: str, names: Sequence[str], suites: Sequence[str]) -> list[dict[str, Any]]:
    """The manifest's lines of the files that `write` made, format by format and suite by suite."""
    found: list[dict[str, Any]] = []
    for name in names:
        for suite in suites:
            found += msgspec.json.decode(files.read_bytes(_outputs_file(folder, name, suite)))
    return found


def _outputs_file(folder: str, name: str, suite: str) -> str:
    return files.join(folder, "parts", EXPORTS, f"{name}.{suite}.json")
