"""`dialmill validate` and `dialmill verify`: files against schemas, folders against their manifests.

A folder is verified from its files alone: digests, sizes and counts, schemas, books, equal rows in both forms, splits without a shared source,
test_hard inside test, few_shot inside train.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.subsets import check_subsets
from dialmill.pipelines.stages.overlap import measure, signature
from dialmill.pipelines.stages.split import SPLITS
from dialmill.schemas.dialogue import STANDARD, Dialogue, decode
from dialmill.schemas.validate import Report, names, validate_file

#: Files that `validate` looks at in a folder.
_KNOWN = {".json", ".jsonl", ".parquet", ".zip", ".yaml", ".yml"}


@dataclass
class Findings:
    """What was checked and what is wrong."""

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For people."""
        return "\n".join(self.problems or self.checked)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"ok": not self.problems, "checked": self.checked, "problems": self.problems}

    def take(self, found: Checked) -> None:
        """Takes over what another check found."""
        self.checked += found.checked
        self.problems += found.problems

    def add(self, report: Report) -> None:
        """Takes over a report on a file."""
        (self.checked if report.ok else self.problems).extend(str(report).splitlines())


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


def verify_folder(folder: str) -> Findings:
    """Verifies an output folder.

    Raises:
        InputError: it has no manifest, so it isn't a whole output folder.
    """
    root = Path(folder)
    manifest_path = root / "manifest.json"
    if not manifest_path.is_file():
        raise InputError(folder, "has no manifest.json, so it is no whole output folder", "build it again")
    findings = Findings()
    shape = validate_file(manifest_path, "manifest")
    findings.add(shape)
    if not shape.ok:
        return findings
    manifest = json.loads(manifest_path.read_bytes())
    _check_files(root, manifest, findings)
    _check_books(manifest, findings)
    if not findings.problems:
        _check_records(root, manifest, findings)
    if not findings.problems:
        _check_overlap(root, manifest, findings)
    if not findings.problems:
        findings.take(Checked(*check_subsets(root, manifest)))
    if not findings.problems:
        findings.take(_check_release(root, manifest))
    return findings


def _check_release(root: Path, manifest: dict[str, Any]) -> Checked:
    """What the benchmark asks of its release. One of a plug-in that isn't installed here can't be asked."""
    name = manifest["benchmark"]
    if name not in benchmarks.REGISTRY.entries:
        return Checked([f"the release is not checked beyond its schemas: this installation has no benchmark {name!r}"])
    return benchmarks.get(name).check_release(root, manifest)


def _check_files(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    listed = {item["path"]: item for item in manifest["outputs"]}
    there = {str(path.relative_to(root)).replace("\\", "/") for path in root.rglob("*") if path.is_file()}
    for path in sorted(there - set(listed) - {"manifest.json"}):
        findings.problems.append(f"{path}: stands in the folder but not in the manifest")
    for path, item in listed.items():
        target = root / path
        if not target.is_file():
            findings.problems.append(f"{path}: stands in the manifest but not in the folder")
            continue
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        if target.stat().st_size != item["bytes"] or digest != item["sha256"]:
            findings.problems.append(f"{path}: is not the file that was written: {target.stat().st_size} bytes, sha256 {digest[:12]}…")
    findings.checked.append(f"{len(listed)} files are as they were written")


def _check_books(manifest: dict[str, Any], findings: Findings) -> None:
    for stage in manifest["stages"]:
        came, went = stage["in"] + stage["made"], stage["out"] + sum(stage["rejected"].values())
        if came != went:
            name = stage["name"]
            findings.problems.append(f"manifest.json: the books of stage {name!r} don't balance: {came} in and made, {went} out and rejected")
    records = {item["path"]: item["records"] for item in manifest["outputs"]}
    for stage in manifest["stages"]:
        name, rejected = stage["name"], sum(stage["rejected"].values())
        written = [records[path] for split in SPLITS if (path := f"dialogues/{name}/{split}.jsonl") in records]
        if written and sum(written) != stage["out"]:
            findings.problems.append(f"manifest.json: suite {name!r} has {sum(written)} records, its books say {stage['out']}")
        # A turn that a suite leaves alone, and a test dialogue that isn't hard, are no rejects: they stand in their files.
        if name in (*manifest["recipe"].get("suites", ()), "read", "filter", "split") and records.get(f"rejects/{name}.jsonl", 0) != rejected:
            findings.problems.append(f"manifest.json: rejects/{name}.jsonl has not the {rejected} records that the books say")
    for path, number in records.items():
        if path.endswith(".parquet") and number != records.get(path.removesuffix(".parquet") + ".jsonl"):
            findings.problems.append(f"manifest.json: {path} has not as many records as its JSONL twin")
    findings.checked.append(f"the books of {len(manifest['stages'])} stages balance")


def _records(path: Path) -> Iterator[Dialogue]:
    with path.open("rb") as lines:
        for line in lines:
            yield decode(line)


def _check_records(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    from dialmill.schemas.arrow import read_rows

    split_of: dict[tuple[str, str], str] = {}
    seen: set[str] = set()
    for item in manifest["outputs"]:
        path = root / item["path"]
        if item["schema"] is None or item["path"].endswith(".parquet"):
            continue
        if item["schema"] not in names():
            findings.problems.append(f"manifest.json: {item['path']} has a schema that this release doesn't know: {item['schema']!r}")
            continue
        report = validate_file(path, item["schema"])
        if not report.ok:
            findings.add(report)
            continue
        if report.records != item["records"]:
            findings.problems.append(f"{item['path']}: holds {report.records} records, the manifest says {item['records']}")
        if item["schema"] == "dialogue" and item["path"].startswith("few_shot/"):
            whole = {record.dialogue_id: record for record in _records(root / "dialogues" / item["path"].removeprefix("few_shot/"))}
            if any(whole.get(record.dialogue_id) != record for record in _records(path)):
                findings.problems.append(f"{item['path']}: holds records that train doesn't")
        if item["schema"] != "dialogue" or not item["path"].startswith("dialogues/"):
            continue
        _, suite, name = item["path"].split("/")
        split = name.split(".")[0]
        ids: set[str] = set()
        for record in _records(path):
            ids.add(record.dialogue_id)
            if record.suite != suite or record.split != split.replace("_hard", ""):
                findings.problems.append(f"{item['path']}: {record.dialogue_id} says suite {record.suite}, split {record.split}")
            place = split_of.setdefault((record.source, record.source_id), str(record.split))
            if place != record.split:
                findings.problems.append(f"{item['path']}: the source of {record.dialogue_id} stands in {place} as well")
            # Where labels are held out, the lineage is in labels/.
            held_out = manifest["recipe"].get("held_out_labels") and record.split == "test"
            if suite != STANDARD and not held_out and not any(step.outcome == "changed" for step in record.lineage):
                findings.problems.append(f"{item['path']}: {record.dialogue_id} is no variant: nothing was changed")
        if split != "test_hard":
            twice = ids & seen
            findings.problems += [f"{item['path']}: {one} stands in another file as well" for one in sorted(twice)[:5]]
            seen |= ids
        elif not ids <= {record.dialogue_id for record in _records(path.with_name("test.jsonl"))}:
            findings.problems.append(f"{item['path']}: holds records that test doesn't")
        twin = path.with_suffix(".parquet")
        with path.open("rb") as lines:
            pairs = zip(lines, read_rows(twin), strict=True)
            try:
                unequal = sum(json.loads(line) != row for line, row in pairs)
            except ValueError:
                unequal = -1
        if unequal:
            findings.problems.append(f"{item['path']}: its rows and those of {twin.name} are not equal")
    findings.checked.append(f"{len(seen)} records hold to their schema, in both forms, each source in one split")


def _check_overlap(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    """Measures the overlap between splits again. Without the unperturbed suite there is nothing to measure it on."""
    paths = [root / "dialogues" / STANDARD / f"{split}.jsonl" for split in SPLITS]
    if not all(path.is_file() for path in paths):
        return
    found = measure(signature(record, str(record.split)) for path in paths for record in _records(path))
    if found != manifest["overlap"]:
        findings.problems.append(f"manifest.json: says the splits overlap by {manifest['overlap']}, they overlap by {found}")
    findings.checked.append("the overlap between splits is as the manifest says")
