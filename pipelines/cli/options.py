"""Options that several commands have, and the writing of their results."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.pipelines.core.terminal import escaped
from dialmill.pipelines.sources.inputs import located


def seed(text: str) -> int:
    """A seed of 64 bits.

    Raises:
        ArgumentTypeError: it has more.
    """
    found = int(text)
    if not -(2**63) <= found < 2**63:
        raise argparse.ArgumentTypeError(f"must have 64 bits at most: {text}")
    return found


seed.__name__ = "int"  # what argparse calls a value that doesn't fit


def fields(text: str) -> dict[str, str]:
    """Names of fields, "text=utterance,id=call", as a dict.

    Raises:
        ArgumentTypeError: it isn't of that form, or names one twice.
    """
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not equals or not ours or not theirs or ours in found:
            raise argparse.ArgumentTypeError(f"expected OURS=YOURS, each of ours once, found {part.strip()!r}")
        found[ours] = theirs
    return found


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that has a result."""
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", dest="json_file", metavar="FILE", help="write the result as JSON to FILE (- for standard output)")


def check_file(path: str | None) -> None:
    """Finds out before the run that a result couldn't be written.

    Raises:
        DialmillError: `path` is a folder, or its folder doesn't exist.
    """
    if path not in (None, "-") and (Path(path).is_dir() or not Path(path).absolute().parent.is_dir()):
        raise DialmillError(f"{path}: can't be written: no such folder, or a folder itself")


def write_json(options: argparse.Namespace, value: Any) -> None:
    """The result of a command where ``--json`` asks for it.

    Raises:
        DialmillError: it can't be written.
    """
    if options.json_file is not None:
        write_text(options.json_file, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_text(path: str, text: str) -> None:
    """A text into a file, or to standard output for "-".

    Raises:
        DialmillError: it can't be written.
    """
    if path == "-":
        sys.stdout.write(escaped(text))
        return
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise DialmillError(f"{path}: can't be written: {error.strerror}") from None


@contextmanager
def local(*paths: str | None) -> Iterator[tuple[str, ...]]:
    """Local paths to files and folders that may be remote, for what reads them more than once; "" for None.

    Errors name the paths as they were given.
    """
    with ExitStack() as stack:
        found = tuple(stack.enter_context(files.here(located(path))) if path is not None else "" for path in paths)
        try:
            yield found
        except DialmillError as error:
            said = str(error)
            for given, copied in zip(paths, found, strict=True):
                if given is not None and given != copied:
                    said = said.replace(copied, given.rstrip("/"))
            if said == str(error):
                raise
            raise (UsageError if isinstance(error, UsageError) else DialmillError)(said) from None
