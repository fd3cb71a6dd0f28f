"""A store for what speech engines made, by the hash of everything that decided it; a second run reads instead of computing.

A key covers engine, its model's digest, options and input, so an entry never goes stale. Entries are written to a temporary file of
unique name and renamed, so that parallel workers and a killed run leave no half entry behind, and a run that was cut off goes on
where it stopped.
"""

from __future__ import annotations

import json
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any


def default_folder() -> Path:
    """``DIALMILL_CACHE``, else ``dialmill`` in the user's cache folder."""
    named = os.environ.get("DIALMILL_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dialmill"


def digest(*parts: Any) -> str:
    """A name for an entry: the SHA-256 of the parts as JSON, 40 hex digits of it."""
    data = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:40]


class Cache:
    """Entries as files below a folder, two levels by the first digits of the key. An unwritable folder is an empty cache, not an error."""

    def __init__(self, folder: Path | None) -> None:
        """`folder` None stores nothing."""
        self.folder = folder
        self.hits = 0
        self.misses = 0

    def _path(self, key: str, suffix: str) -> Path:
        assert self.folder is not None
        return self.folder / "speech" / key[:2] / f"{key}{suffix}"

    def get(self, key: str, suffix: str) -> bytes | None:
        """The entry, or None."""
        if self.folder is None:
            return None
        try:
            data = self._path(key, suffix).read_bytes()
        except OSError:
            self.misses += 1
            return None
        self.hits += 1
        return data

    def put(self, key: str, suffix: str, data: bytes) -> None:
        """Writes an entry whole or not at all."""
        if self.folder is None:
            return
        path = self._path(key, suffix)
        try:
            write_whole(path, data)
        except OSError:
            # A full or read-only disk costs the reuse, not the run.
            return

    def get_json(self, key: str) -> Any | None:
        """A JSON entry, or None; an unreadable one counts as missing."""
        data = self.get(key, ".json")
        if data is None:
            return None
        try:
            return json.loads(data)
        except ValueError:
            return None

    def put_json(self, key: str, value: Any) -> None:
        """Writes a JSON entry."""
        self.put(key, ".json", json.dumps(value, ensure_ascii=False).encode())


def named_folder(option: str) -> Path | None:
    """The folder that the option `cache` names; None where it names none, be it the default or "off"."""
    return None if option in ("", "off") else Path(option)


def open_cache(option: str) -> Cache:
    """The cache that the option `cache` asks for: a folder, "" for the default one, "off" for none."""
    return Cache(None if option == "off" else named_folder(option) or default_folder())


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file by way of a temporary one of unique name in the same folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
