"""`dialmill validate`: files against their schemas, and against what their benchmark asks beyond them."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.findings import Findings, finish
from dialmill.pipelines.cli.options import add_output_options, local
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.schemas.validate import Report, names, validate_file

#: Files that are looked at in a folder.
_KNOWN = {".json", ".jsonl", ".parquet", ".zip", ".yaml", ".yml"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("path", metavar="PATH", help="a file, or a folder whose files of known kinds are checked")
    parser.add_argument("--schema", metavar="NAME", help="see `dialmill list schemas`; inferred without")
    parser.add_argument("--gold", metavar="DIR", help="the folder of the right answers, where the benchmark compares predictions with them")
    add_output_options(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    with local(options.path, options.gold) as (path, gold):
        return finish(options, validate_path(path, options.schema, gold or None))


def validate_path(path: str, schema: str | None = None, gold: str | None = None) -> Findings:
    """Validates a file, or all files of known kinds in a folder (others are named as not checked), and what their benchmark asks beyond schemas.

    Args:
        path: a file or folder.
        schema: the schema to hold files to; told from each file if None.
        gold: the right answers that predictions are for, where their benchmark compares the two.

    Raises:
        UsageError: no schema has that name, or `gold` doesn't go with the file.
        InputError: the folder holds nothing to validate, or nothing of a known kind.
    """
    if schema is not None and schema not in names():
        raise UsageError(f"there is no schema {schema!r}; the known ones are: {', '.join(names())}")
    if Path(path).is_dir():
        return _validate_folder(path, schema)
    findings = Findings()
    report = _validate(Path(path), schema)
    findings.add(report)
    if not report.ok or report.schema is None:
        return findings
    owner = benchmarks.owner(report.schema)
    if gold is not None:
        if owner is None or report.schema not in owner.compared:
            raise UsageError(f"--gold is for files of {', '.join(benchmarks.compared())}, and {path} is of {report.schema}")
        findings.take(owner.compare(Path(path), report.schema, Path(gold)))
    elif owner is not None:
        findings.take(owner.check_file(Path(path), report.schema, lambda beside: _validate(beside).ok))
    return findings


def _validate(path: Path, schema: str | None = None) -> Report:
    return validate_file(path, schema, kinds=benchmarks.file_kinds())


def _validate_folder(path: str, schema: str | None) -> Findings:
    findings = Findings()
    members = [item for item in sorted(Path(path).rglob("*")) if item.is_file() and item.suffix in _KNOWN]
    if not members:
        raise InputError(path, "holds no .json, .jsonl, .parquet, .zip or .yaml file", "name a file")
    reports = {member: _validate(member, schema) for member in members}
    strange = [member for member, report in reports.items() if report.unknown]
    if len(strange) == len(members):
        raise InputError(path, f"holds no file of a known kind, only {', '.join(one.name for one in strange[:3])}", "name the kind with --schema")
    # A release brings side files (databases, scores) that no schema is for: they are told of, not held against it.
    findings.checked += [f"{member}: not checked, of no known kind" for member in strange]
    for member, report in reports.items():
        if member not in strange:
            findings.add(report)
    for member, report in reports.items():
        owner = benchmarks.owner(report.schema) if report.ok and report.schema is not None else None
        if owner is not None and report.schema is not None:
            findings.take(owner.check_file(member, report.schema, lambda beside: beside not in reports or reports[beside].ok))
    return findings
