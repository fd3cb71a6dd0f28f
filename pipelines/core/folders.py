"""What tells an output folder of dialmill's from any other."""

from __future__ import annotations

from pathlib import Path

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
    suites = found.get("recipe", {}).get("suites", ()) if isinstance(found, dict) and isinstance(found.get("recipe"), dict) else ()
    # Suites are folders: a name that leads elsewhere is none of ours.
    return isinstance(found, dict) and found.keys() >= _MEMBERS and not any(leads_out(str(one)) or "/" in str(one) for one in suites)


def leads_out(path: str) -> bool:
    """Whether a path of a manifest is anything but a place below its folder: absolute, with a drive, with ``..``, or empty."""
    parts = path.replace("\\", "/").split("/")
    return not path or path.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]
