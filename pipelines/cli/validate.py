"""`dialmill validate`: files against their schemas, and against what their benchmark asks beyond them.

A file that no schema is for and a source knows (a tab-separated corpus, a log, a list of a split) is read through that source instead, and the number
of records that it can read is told.
"""

from __future__ import annotations

import argparse
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.findings import Findings, finish
from dialmill.pipelines.cli.options import add_output_options, local
from dialmill.pipelines.core import files
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.sources import registry as sources
from dialmill.pipelines.sources.dialmill import Dialmill
from dialmill.pipelines.sources.trial import Trial, try_file
from dialmill.schemas.archives import json_members
from dialmill.schemas.validate import Report, names, validate_file

#: Files that are looked at in a folder, and those that are where a source knows them.
_KNOWN, _OF_SOURCES = {".json", ".jsonl", ".parquet", ".zip", ".yaml", ".yml"}, {".txt", ".tsv", ".csv", ""}
#: Files of records, whose kind is supposed where their content tells none.
_RECORDS = {".jsonl", ".ndjson", ".parquet"}
#: Records that a source can't read and that are told one by one.
_SHOWN = 20
#: Remarks on a file that are told one by one.
_SHOWN_REMARKS = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    about = "files, folders whose files of known kinds are checked, patterns such as 'data/*.json'"
    parser.add_argument("path", nargs="+", metavar="PATH", help=about)
    parser.add_argument("--schema", metavar="NAME", help="the schema, one of `dialmill list schemas` (default: inferred from each file)")
    parser.add_argument("--gold", metavar="DIR", help="the folder of the gold labels, for benchmarks that compare predictions with them")
    add_output_options(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    with local(*_expanded(options.path), options.gold) as (*paths, gold):
        findings = Findings()
        for path in paths:
            one = validate_path(path, options.schema, gold or None)
            findings.checked += one.checked
            findings.problems += one.problems
        return finish(options, findings)


def _expanded(paths: Sequence[str]) -> list[str]:
    """Paths with patterns in the place of what they match, each once.

    Raises:
        InputError: a pattern that nothing matches.
    """
    found: dict[str, None] = {}
    for path in paths:
        matching = files.matches(path) if files.is_pattern(path) else [path]
        if not matching:
            raise InputError(path, "matches no file", "check the pattern; quote it where the shell shall leave it alone")
        found.update(dict.fromkeys(matching))
    return list(found)


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
    with _unpacked(Path(path), schema) as members:
        if members is not None:
            _take_all(findings, {shown: _validate(member, schema, shown) for shown, member in members.items()})
            return findings
    report = _validate(Path(path), schema)
    trial = _tried(path, report, schema)
    if trial is not None:
        findings.take(trial)
        return findings
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
    findings.take(_remarks(path, report.schema))
    return findings


def _remarks(path: str, schema: str) -> Checked:
    """What the source that a kind of file is of would have a user look at; no problem, for the file can be used."""
    told: list[str] = []
    for one in sources.usable():
        # Most have nothing to say, and their files may be large.
        if type(one).remarks is not Source.remarks and any(kind.schema == schema for kind in one.kinds):
            told += one.remarks(schema, Path(path).name, files.read_bytes(path))
    shown = [f"{path}: warning: {remark}" for remark in told[:_SHOWN_REMARKS]]
    return Checked([*shown, *([f"{path}: warning: and {len(told) - _SHOWN_REMARKS} more"] if len(told) > _SHOWN_REMARKS else [])])


def _validate(path: Path, schema: str | None = None, shown: str | None = None) -> Report:
    report = validate_file(path, schema, kinds=benchmarks.file_kinds(), relatives=benchmarks.relatives())
    if shown is not None:
        report.path = shown
    return report


@contextmanager
def _unpacked(path: Path, schema: str | None) -> Iterator[dict[str, Path] | None]:
    """The files of a zip of several, by the name that they are told under; None for any other file. A zip of one JSON file is one file."""
    inside: list[str] = []
    if path.suffix == ".zip" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            inside = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX")]
    if len([one for one in inside if one.endswith(".json")]) == 1 or not inside:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="dialmill-") as folder, files.open_zip(str(path)) as archive:
        members = {}
        for number, name in enumerate(sorted(inside)):
            if Path(name).suffix in _KNOWN - {".zip"}:
                target = Path(folder, str(number), Path(name).name)
                target.parent.mkdir()
                target.write_bytes(files.read_bytes(f"{path}{files.MEMBER}{name}"))
                members[f"{path}{files.MEMBER}{name}"] = target
        yield members


def _tried(path: str, report: Report, schema: str | None) -> Checked | None:
    """What reading through a source says of a file that isn't of any schema's kind; None where a schema is for it, or no source knows it."""
    # Lines and tables that nothing tells count as our own records; where they are none, they may be a source's.
    supposed = not report.ok and Path(path).suffix in _RECORDS
    if schema is not None or report.about is not None or (report.schema is not None and not report.unknown and not supposed):
        return None
    try:
        trial = try_file(_member(path))
    except InputError as error:
        return None if supposed else Checked([], [str(error)])
    if supposed and (trial is None or not trial.records or trial.source == Dialmill.name):
        return None
    return None if trial is None else Checked(*_told(path, trial))


def _member(path: str) -> str:
    """The one JSON file of a zip, by the name that it is read under; any other path as it is."""
    if not path.endswith(".zip") or files.MEMBER in path or not zipfile.is_zipfile(path):
        return path
    with zipfile.ZipFile(path) as archive:
        inside = json_members(archive)
    return f"{path}{files.MEMBER}{inside[0]}" if len(inside) == 1 else path


def _told(path: str, trial: Trial) -> tuple[list[str], list[str]]:
    """(what was read, what could not be) of a file read on trial."""
    if trial.role == "other":
        return [f"{path}: a file of {trial.source} that nothing here reads: no schema for this kind"], []
    if trial.role != "dialogues":
        return [f"{path}: a side file of {trial.source} ({trial.role}): no schema for this kind, {trial.records} entries read"], []
    expected = sources.get(trial.source).nothing_to_read
    rejected = [one for one in trial.rejected if one[1] not in expected]
    problems = [f"{path}: {name}: {reason}: {evidence}" for name, reason, evidence in rejected[:_SHOWN]]
    if len(rejected) > _SHOWN:
        problems.append(f"{path}: and {len(rejected) - _SHOWN} more records that can't be read")
    left = {reason: evidence for _, reason, evidence in trial.rejected if reason in expected}
    counts = Counter(reason for _, reason, _ in trial.rejected)
    told = [f", {counts[reason]} with nothing to read ({reason}: {evidence})" for reason, evidence in left.items()]
    return [f"{path}: no schema for this source ({trial.source}), {trial.records} records read{''.join(told)}"], problems


def _take_all(findings: Findings, reports: dict[str, Report]) -> None:
    """Takes over reports on files that belong together, of which some may be of no known kind.

    Raises:
        InputError: none of them is of a known kind.
    """
    tried = {path: found for path, report in reports.items() if (found := _tried(path, report, None)) is not None}
    strange = [path for path, report in reports.items() if report.unknown and path not in tried]
    if len(strange) == len(reports):
        listed = ", ".join(Path(one).name for one in strange[:3])
        where = strange[0] if len(strange) == 1 else str(Path(strange[0]).parent)
        raise InputError(where, f"holds no file of a known kind, only {listed}", "name the kind with --schema")
    # A release brings side files (databases, scores) that no schema is for: they are told of, not held against it.
    findings.checked += [f"{path}: not checked, of no known kind" for path in strange]
    for path, report in reports.items():
        if path in tried:
            findings.take(tried[path])
        elif path not in strange:
            findings.add(report)


def _validate_folder(path: str, schema: str | None) -> Findings:
    findings = Findings()
    everything = [item for item in sorted(Path(path).rglob("*")) if item.is_file()]
    members = [item for item in everything if item.suffix in _KNOWN]
    reports: dict[str, Report] = {}
    for member in members:
        with _unpacked(member, schema) as inside:
            for shown, one in (inside or {str(member): member}).items():
                reports[shown] = _validate(one, schema, shown)
    if schema is None:
        for item in everything:
            if item.suffix in _OF_SOURCES and (found := _tried(str(item), Report(str(item), unknown=True), None)) is not None:
                findings.take(found)
    if not reports and not findings.checked and not findings.problems:
        raise InputError(path, "holds no .json, .jsonl, .parquet, .zip or .yaml file, and none that a source knows", "name a file")
    if reports:
        _take_all(findings, reports)
    for shown, report in reports.items():
        owner = benchmarks.owner(report.schema) if report.ok and report.schema is not None else None
        if owner is not None and report.schema is not None and files.MEMBER not in shown:
            findings.take(owner.check_file(Path(shown), report.schema, lambda beside: str(beside) not in reports or reports[str(beside)].ok))
        if report.ok and report.schema is not None and files.MEMBER not in shown:
            findings.take(_remarks(shown, report.schema))
    return findings
