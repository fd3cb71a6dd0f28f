"""What tells an output folder of dialmill's from any other."""

from __future__ import annotations

from pathlib import Path

MANIFEST = "manifest.json"


def is_whole(folder: Path) -> bool:
    """Whether dialmill made a local folder, whole: it has a manifest, and the manifest is dialmill's."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return False
    with manifest.open("rb") as stream:
        return stream.read(64).lstrip(b"{ \r\n").startswith(b'"dialmill"')
