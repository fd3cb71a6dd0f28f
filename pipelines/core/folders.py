"""What tells an output folder of dialmill's from any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.schemas.records import validate_line
from dialmill.schemas.strict_json import JsonError, parse

MANIFEST = "manifest.json"
#: The folder in it that holds its suites in other formats.
EXPORTS = "export"
#: Members that every manifest of dialmill's has.
_MEMBERS = frozenset({"dialmill", "benchmark", "recipe", "inputs", "outputs", "stages"})


def is_whole(folder: Path) -> bool:
    """Whether dialmill made a local folder, whole: it has a manifest, and the manifest is dialmill's."""
    manifest = folder / MANIFEST
    return manifest.is_file() and is_ours(manifest.read_bytes())


def is_ours(content: bytes) -> bool:
    """Whether a manifest's content parses as one of dialmill's: only such a folder may be replaced."""
    try:
        found = parse(content)
    except JsonError:
        return False
    return flaw(found) is None


def flaw(found: Any) -> str | None:
    """What a parsed manifest has that none of dialmill's has, such as paths that lead out of its folder; None where nothing is."""
    missing = sorted(_MEMBERS - found.keys()) if isinstance(found, dict) else ["object"]
    if missing:
        return f"has no {', '.join(missing)}"
    suites = found["recipe"].get("suites", []) if isinstance(found["recipe"], dict) else None
    # Suites are folders: a name that leads elsewhere is none of ours.
    if not isinstance(suites, list) or not all(isinstance(one, str) and "/" not in one and not leads_out(one) for one in suites):
        return f"has suites that are no list of names: {str(suites)[:80]!r}"
    paths = [one.get("path") if isinstance(one, dict) else None for one in found["outputs"]] if isinstance(found["outputs"], list) else [None]
    if not all(isinstance(one, str) for one in paths):
        return "has outputs that are no list of files with their paths"
    strange = next((str(one) for one in paths if leads_out(str(one))), None)
    return None if strange is None else f"lists {strange!r}, which leads out of the folder"


@contextmanager
def reading(path: str, content: bytes) -> Iterator[None]:
    """While a manifest is used: whatever its content breaks is told as its fault, where the schema says that it has one.

    Raises:
        InputError: the manifest is no valid one.
    """
    try:
        yield
    except DialmillError:
        raise
    except Exception:
        problems = validate_line("manifest", content)
        if not problems:
            raise
        raise InputError(path, f"is no manifest of dialmill's: {problems[0]}", "build the folder again") from None


def leads_out(path: str) -> bool:
    """Whether a path of a manifest is anything but a place below its folder: absolute, with a drive, with ``..``, with a NUL, or empty."""
    parts = path.replace("\\", "/").split("/")
    return not path or path.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in path
