"""`dialmill verify`: an output folder against its manifest.

A folder is verified from its files alone: digests, sizes and counts, schemas, consistent counts, equal rows in both forms, splits without a shared
source, test_hard inside test, few_shot inside train, and what its benchmark asks of its release.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.findings import Findings, finish
from dialmill.pipelines.cli.options import add_output_options, local
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.folders import flaw
from dialmill.pipelines.core.subsets import check_subsets
from dialmill.pipelines.sinks.manifest import PRIVATE
from dialmill.pipelines.stages.overlap import measure, signature
from dialmill.pipelines.stages.split import SPLITS
from dialmill.schemas.dialogue import STANDARD, Dialogue, Step, decode
from dialmill.schemas.validate import names, validate_file

from dialmill import perturbers


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("folder", metavar="DIR", help="an output folder of build or perturb")
    add_output_options(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    with local(options.folder) as (folder,):
        return finish(options, verify_folder(folder))


def verify_folder(folder: str) -> Findings:
    """Verifies an output folder.

    Raises:
        InputError: it has no manifest, so it isn't a whole output folder.
    """
    root = Path(folder)
    manifest_path = root / "manifest.json"
    if not manifest_path.is_file():
        raise InputError(folder, "has no manifest.json: dialmill didn't make it, or the run that made it didn't finish", "build it again")
    findings = Findings()
    shape = validate_file(manifest_path, "manifest")
    findings.add(shape)
    if not shape.ok:
        return findings
    manifest = json.loads(manifest_path.read_bytes())
    problem = flaw(manifest)
    if problem is not None:
        findings.problems.append(f"manifest.json: {problem}: this is no manifest of dialmill's")
        return findings
    _join_private(root, manifest, findings)
    if findings.problems:
        return findings
    _check_files(root, manifest, findings)
    _check_counts(manifest, findings)
    if not findings.problems:
        _check_records(root, manifest, findings)
    if "exported" in manifest:
        # What was exported is as it was written; the rest is said of the folder that it was exported from.
        return findings
    if not findings.problems:
        _check_overlap(root, manifest, findings)
    if not findings.problems:
        findings.take(Checked(*check_subsets(root, manifest)))
    if not findings.problems:
        findings.take(_check_release(root, manifest))
    return findings


def _join_private(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    """Adds the files of the private part, where it is there: a folder whose test labels are held out is verified with it or without."""
    path = root / PRIVATE
    if not manifest["recipe"].get("held_out_labels") or not path.is_file():
        return
    shape = validate_file(path, "manifest")
    findings.add(shape)
    if shape.ok:
        private = json.loads(path.read_bytes())
        problem = flaw(private)
        if problem is not None:
            findings.problems.append(f"{PRIVATE}: {problem}: this is no manifest of dialmill's")
            return
        manifest["outputs"] += [item for item in private["outputs"] if str(item["path"]).startswith("labels/")]
        manifest["private"] = True


def _check_release(root: Path, manifest: dict[str, Any]) -> Checked:
    """What the benchmark asks of its release. One of a plug-in that isn't installed here can't be asked."""
    name = manifest["benchmark"]
    if name not in benchmarks.REGISTRY.entries:
        return Checked([f"the release is not checked beyond its schemas: this installation has no benchmark {name!r}"])
    if manifest["recipe"].get("held_out_labels") and not manifest.get("private"):
        return Checked(["the release is not checked beyond its schemas: the answers are in the private part, which is not here"])
    return benchmarks.get(name).check_release(root, manifest)


def _check_files(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    listed = {item["path"]: item for item in manifest["outputs"]}
    there = {str(path.relative_to(root)).replace("\\", "/") for path in root.rglob("*") if path.is_file()}
    for path in sorted(there - set(listed) - {"manifest.json", *([PRIVATE] if manifest.get("private") else [])}):
        findings.problems.append(f"{path}: is in the folder but not in the manifest")
    for path, item in listed.items():
        target = root / path
        if not target.is_file():
            findings.problems.append(f"{path}: is in the manifest but not in the folder")
            continue
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        if target.stat().st_size != item["bytes"] or digest != item["sha256"]:
            findings.problems.append(f"{path}: is not the file that was written: {target.stat().st_size} bytes, sha256 {digest[:12]}…")
    findings.checked.append(f"{len(listed)} files are as they were written")


def _check_counts(manifest: dict[str, Any], findings: Findings) -> None:
    for stage in manifest["stages"]:
        came, went = stage["in"] + stage["made"], stage["out"] + sum(stage["rejected"].values())
        if came != went:
            name = stage["name"]
            findings.problems.append(f"manifest.json: the counts of stage {name!r} are not consistent: {came} in and made, {went} out and rejected")
    records = {item["path"]: item["records"] for item in manifest["outputs"]}
    held = bool(manifest["recipe"].get("held_out_labels"))
    for stage in manifest["stages"]:
        name, rejected = stage["name"], sum(stage["rejected"].values())
        # Of test records whose labels are held out, all are in the private part alone.
        folders = {split: f"{'labels/' if held and split == 'test' else ''}dialogues/{name}/{split}.jsonl" for split in SPLITS}
        written = [records[path] for path in folders.values() if path in records]
        whole = not held or manifest.get("private")
        if written and whole and sum(written) != stage["out"]:
            findings.problems.append(f"manifest.json: suite {name!r} has {sum(written)} records, its stage counts {stage['out']}")
        # A turn that a suite leaves alone, and a test dialogue that isn't hard, are no rejects: they stand in their files.
        if name in (*manifest["recipe"].get("suites", ()), "read", "filter", "split") and records.get(f"rejects/{name}.jsonl", 0) != rejected:
            findings.problems.append(f"manifest.json: rejects/{name}.jsonl has not the {rejected} records that its stage rejected")
    for path, number in records.items():
        if path.endswith(".parquet") and number != records.get(path.removesuffix(".parquet") + ".jsonl"):
            findings.problems.append(f"manifest.json: {path} has not as many records as its JSONL form")
    findings.checked.append(f"the counts of {len(manifest['stages'])} stages are consistent")


def _records(path: Path) -> Iterator[Dialogue]:
    with path.open("rb") as lines:
        for line in lines:
            yield decode(line)


def _check_records(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    places = _Places()
    for item in manifest["outputs"]:
        if item["schema"] is None or item["path"].endswith(".parquet") or not _schema_valid(root, item, findings):
            continue
        if item["schema"] == "dialogue" and item["path"].startswith("few_shot/"):
            findings.problems += _strangers(root, item["path"])
        if item["schema"] == "dialogue" and item["path"].startswith("dialogues/"):
            findings.problems += places.check(root, item["path"], bool(manifest["recipe"].get("held_out_labels")))
            findings.problems += _unequal_rows(root, item["path"])
    findings.checked.append(f"{len(places.ids)} records are schema-valid, as JSON lines and Parquet alike, each source in one split")


def _schema_valid(root: Path, item: dict[str, Any], findings: Findings) -> bool:
    """Whether a file is as its schema has it; where it isn't, that is among the findings."""
    if item["schema"] not in names():
        findings.problems.append(f"manifest.json: {item['path']} has a schema that this release doesn't know: {item['schema']!r}")
        return False
    report = validate_file(root / item["path"], item["schema"])
    if not report.ok:
        findings.add(report)
        return False
    if report.records != item["records"]:
        findings.problems.append(f"{item['path']}: holds {report.records} records, the manifest says {item['records']}")
    return True


def _strangers(root: Path, path: str) -> Iterator[str]:
    """Whether a few-shot file holds records that its whole file doesn't."""
    whole = {record.dialogue_id: record for record in _records(root / "dialogues" / path.removeprefix("few_shot/"))}
    if any(whole.get(record.dialogue_id) != record for record in _records(root / path)):
        yield f"{path}: holds records that train doesn't"


@dataclass
class _Places:
    """Where records stand, over all files of dialogues.

    Args:
        ids: the ids of all records, those of test_hard's copies left out.
        split_of: source and source id -> the split.
    """

    ids: set[str] = field(default_factory=set)
    split_of: dict[tuple[str, str], str] = field(default_factory=dict)

    def check(self, root: Path, path: str, held_out_labels: bool) -> list[str]:
        """What is wrong with the suites, splits and ids of a file's records."""
        _, suite, name = path.split("/")
        split = name.split(".")[0]
        problems: list[str] = []
        ids: set[str] = set()
        for record in _records(root / path):
            ids.add(record.dialogue_id)
            if record.suite != suite or record.split != split.replace("_hard", ""):
                problems.append(f"{path}: {record.dialogue_id} says suite {record.suite}, split {record.split}")
            place = self.split_of.setdefault((record.source, record.source_id), str(record.split))
            if place != record.split:
                problems.append(f"{path}: the source of {record.dialogue_id} is in {place} as well")
            # Where labels are held out, the lineage is in labels/.
            shows_lineage = not (held_out_labels and record.split == "test")
            unchanged = not any(step.outcome == "changed" for step in record.lineage)
            if suite != STANDARD and shows_lineage and unchanged and not any(map(_is_fine, record.lineage)):
                problems.append(f"{path}: {record.dialogue_id} is no variant: nothing was changed")
        if split != "test_hard":
            problems += [f"{path}: {one} is in another file as well" for one in sorted(ids & self.ids)[:5]]
            self.ids |= ids
        elif not ids <= {record.dialogue_id for record in _records((root / path).with_name("test.jsonl"))}:
            problems.append(f"{path}: holds records that test doesn't")
        return problems


def _unequal_rows(root: Path, path: str) -> Iterator[str]:
    """Whether the rows of a file's Parquet form are others."""
    from dialmill.schemas.arrow import read_rows

    rows = (root / path).with_suffix(".parquet")
    with (root / path).open("rb") as lines:
        try:
            unequal = any(json.loads(line) != row for line, row in zip(lines, read_rows(rows), strict=True))
        except ValueError:  # of different lengths
            unequal = True
    if unequal:
        yield f"{path}: its rows and those of {rows.name} are not equal"


def _check_overlap(root: Path, manifest: dict[str, Any], findings: Findings) -> None:
    """Measures the overlap between splits again. Without the unperturbed suite there is nothing to measure it on."""
    if manifest["recipe"].get("held_out_labels"):
        return  # not all that was measured is in the folder
    paths = [root / "dialogues" / STANDARD / f"{split}.jsonl" for split in SPLITS]
    if not all(path.is_file() for path in paths):
        return
    found = measure(signature(record, str(record.split)) for path in paths for record in _records(path))
    if found != manifest["overlap"]:
        findings.problems.append(f"manifest.json: says the splits overlap by {manifest['overlap']}, they overlap by {found}")
    findings.checked.append("the overlap between splits is as the manifest says")


def _is_fine(step: Step) -> bool:
    """Whether a step left a dialogue as it was because nothing in it was to be taken out."""
    try:
        fine = perturbers.get(step.step.partition("@")[0]).fine_unchanged
    except perturbers.OptionError:
        return False  # no perturber's step
    return bool(fine) and step.outcome == "skipped" and {skip.reason for skip in step.skipped} <= fine
