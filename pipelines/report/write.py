"""Writes report.html into an output folder, and its line into the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.folders import MANIFEST, flaw, reading
from dialmill.pipelines.core.scorer import Table
from dialmill.pipelines.proxy.lineage import as_folder, is_log
from dialmill.pipelines.report.facts import gather
from dialmill.pipelines.report.page import render
from dialmill.pipelines.scoring import tables
from dialmill.pipelines.sinks import manifest as manifests
from dialmill.schemas.strict_json import parse

REPORT = "report.html"


def add(folder: str, manifest: dict[str, Any], scores: Sequence[Table] = ()) -> None:
    """Writes the report of a folder whose other files are all there, and enters it into `manifest`, which isn't written.

    The report tells of everything in the manifest but itself, so that both can be listed and both be made again to the byte.
    """
    manifest["outputs"] = sorted((item for item in manifest["outputs"] if item["path"] != REPORT), key=lambda item: str(item["path"]))
    text = render(manifest, gather(folder, manifest), scores).encode("utf-8", "replace")
    with files.create(files.join(folder, REPORT)) as stream:
        stream.write(text)
    manifest["outputs"].append(manifests.entry(REPORT, text))
    manifest["outputs"].sort(key=lambda item: str(item["path"]))


def score_tables(path: str) -> list[Table]:
    """The table of systems and suites of a score file; where it compares nothing, that of its metrics.

    Raises:
        InputError: the file isn't one of `dialmill score --json`.
    """
    try:
        found = parse(files.read_bytes(path))
        return tables.tables({"scale": "percent", **found}, details=False)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(path, "is no score file", "make one with `dialmill score ... --json FILE`") from None


def write(folder: str, scores: Sequence[str] = ()) -> str:
    """Writes the report of a finished folder again, with this release's page, and the manifest where that changes its line.

    Args:
        folder: the output folder.
        scores: score files whose tables the report shows.

    A proxy's log has its report beside it (FILE.report.html): of its conversations as if they had been perturbed into a folder.

    Returns:
        The path of the report.

    Raises:
        InputError: the folder has no readable manifest, a file that it lists is gone or damaged, or a score file is none.
    """
    if is_log(folder):
        with as_folder(folder) as shown:
            files.copy(write(shown, scores), f"{folder}.{REPORT}")
        return f"{folder}.{REPORT}"
    path = files.join(folder, MANIFEST)
    if files.size(path) is None:
        raise InputError(
            folder, "has no manifest.json: dialmill didn't make it, or the run that made it didn't finish", "name a folder made by `dialmill build`"
        )
    content = files.read_bytes(path)
    try:
        manifest = parse(content)
    except ValueError as error:
        raise InputError(path, f"is no manifest: {error}", "build the folder again") from None
    problem = flaw(manifest)
    if problem is not None:
        raise InputError(path, f"{problem}: it is no manifest of dialmill's", "build the folder again")
    found = [table for one in scores for table in score_tables(one)]
    with reading(path, content):
        add(folder, manifest, found)
        made = manifests.encode(manifest)
    if made != content:
        with files.create(path) as stream:
            stream.write(made)
    return files.join(folder, REPORT)
