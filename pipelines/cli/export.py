"""`dialmill export`: the suites of an output folder in other programs' formats."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialmill.pipelines.cli.options import add_output_options, check_file, local, write_json
from dialmill.pipelines.core import files, written
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.exporter import SPLITS
from dialmill.pipelines.core.folders import MANIFEST, is_ours, reading
from dialmill.pipelines.core.terminal import printable
from dialmill.pipelines.exporters import registry, writing
from dialmill.pipelines.sinks import manifest as manifests
from dialmill.pipelines.sinks.folder import output_folder
from dialmill.schemas.version import VERSION


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("folder", metavar="DIR", help="an output folder of build, perturb or disentangle")
    parser.add_argument("--to", action="append", required=True, metavar="NAME[,NAME]", help="the formats (`dialmill list exporters`)")
    parser.add_argument("--output", required=True, metavar="DIR2", help="the folder to make, of DIR2/NAME/SUITE/...; whole or absent")
    parser.add_argument("--suite", action="append", metavar="SUITE", help="only this suite; repeatable (default: all)")
    parser.add_argument("--overwrite", action="store_true", help="replace what a former run left in the output folder")
    add_output_options(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    check_file(options.json_file)
    with local(options.folder) as (folder,):
        made = export_folder(folder, registry.chosen(options.to), options.output, options.suite, options.overwrite)
    write_json(options, made)
    if not options.quiet and options.json_file != "-":
        for one in made["outputs"]:
            print(printable(f"{one['path']}: {one['records']:,} records" if one["records"] is not None else one["path"]))
        for warning in made["warnings"]:
            print(printable(f"warning: {warning}"))
        print(printable(f"written: {options.output}"))
    return 0


def export_folder(folder: str, names: Sequence[str], output: str, suites: Sequence[str] | None = None, overwrite: bool = False) -> dict[str, Any]:
    """Writes the suites of an output folder in other formats, as output/NAME/SUITE/..., with a manifest of their own.

    Args:
        folder: a whole output folder, local.
        names: the exporters.
        suites: those to be written, None for all.
        overwrite: replace what a former run left in `output`.

    Returns:
        The manifest.

    Raises:
        InputError: `folder` is no whole output folder, or a file of it is not the one that was written.
        UsageError: no exporter is named, there is no such suite, or an exporter can't be used on this folder.
        DialmillError: the output can't be written, or a record not in this format.
    """
    path = Path(folder) / MANIFEST
    content = path.read_bytes() if path.is_file() else b""
    if not is_ours(content):
        raise InputError(
            folder, "has no manifest.json of dialmill's: dialmill didn't make it, or the run that made it didn't finish", "build it again"
        )
    with reading(str(path), content):
        return _exported(folder, content, names, output, suites, overwrite)


def _exported(folder: str, content: bytes, names: Sequence[str], output: str, suites: Sequence[str] | None, overwrite: bool) -> dict[str, Any]:
    source = json.loads(content)
    known = source["recipe"].get("suites", [])
    for suite in suites or ():
        if suite not in known:
            raise UsageError(f"there is no suite {suite!r} in {folder}; there are: {', '.join(known)}")
    if not names:
        raise UsageError(f"no format is named; the known ones are: {', '.join(registry.names())}")
    writing.check(names, bool(source["recipe"].get("held_out_labels")))
    if Path(output).resolve().is_relative_to(Path(folder).resolve()) and not files.is_remote(output):
        raise UsageError(f"{output} lies in {folder}, which its manifest lists file by file; name a folder beside it with --output")
    read = [f"dialogues/{suite}/{split}.jsonl" for suite in suites or known for split in SPLITS]
    written.check(Path(folder), source["outputs"], read)
    with output_folder(output, overwrite) as target:
        outputs = list(writing.export(names, folder, suites or known, target.temporary))
        made = {
            "dialmill": VERSION,
            "benchmark": source["benchmark"],
            "exported": {"to": list(names), "manifest": hashlib.sha256(content).hexdigest()},
            "recipe": source["recipe"],
            "seed": source["seed"],
            "inputs": source["inputs"],
            "stages": [],
            "outputs": outputs,
            "overlap": source["overlap"],
            "warnings": writing.nothing_exported(names, suites or known, outputs),
        }
        target.commit(manifests.encode(made))
    return made
