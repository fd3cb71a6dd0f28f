"""What tells an output folder of dialmill's from any other."""

from __future__ import annotations

import json
from pathlib import Path

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
        found = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= _MEMBERS


def leads_out(path: str) -> bool:
    """Whether a path of a manifest is anything but a place below its folder: absolute, with a drive, with ``..``, or empty."""
    parts = path.replace("\\", "/").split("/")
    return not path or path.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]
