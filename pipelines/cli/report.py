"""`dialmill report`: the report of an output folder, written again."""

from __future__ import annotations

import argparse

from dialmill.pipelines.core.terminal import printable
from dialmill.pipelines.report.write import write


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("folder", metavar="DIR", help="an output folder of build or perturb, or the log of a proxy")
    parser.add_argument("--scores", nargs="+", default=[], metavar="FILE", help="score files (`score --json FILE`) whose tables the report shows")
    parser.add_argument("--quiet", action="store_true", help="print errors only")


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    path = write(options.folder, options.scores)
    if not options.quiet:
        print(printable(f"written: {path}"))
    return 0
