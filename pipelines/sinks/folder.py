"""The output folder: whole or absent.

A run writes aside and swaps its folder in at the end; a killed run leaves no trace that the next one trips over.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import IO

from pipelines import files
from pipelines.errors import DialmillError

MANIFEST = "manifest.json"


class OutputFolder:
    """The folder of one run. As a context manager it is removed again unless `commit` was called.

    Args:
        path: where the result shall lie.
        overwrite: replace what a former run left there. A folder that dialmill didn't write is never replaced.
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        self.path = path.rstrip("/") if files.is_remote(path) else str(Path(path).absolute())
        self.overwrite = overwrite
        if files.is_remote(path):
            self.aside = self.path + ".dialmill-partial"
        else:
            target = Path(self.path)
            self.aside = str(target.with_name(f".{target.name}.dialmill-partial"))
        self._lock: IO[str] | None = None

    def check(self) -> None:
        """Raises `DialmillError` if the output can't be written there; called before any work."""
        if files.is_remote(self.path):
            if files.is_folder(self.path) and not self.overwrite:
                raise DialmillError(f"{self.path}: exists already; --overwrite replaces it")
            return
        target = Path(self.path)
        old = self._old()
        if old.exists() and not target.exists():
            old.rename(target)  # a run was killed between its two renames
        if target.exists() and not target.is_dir():
            raise DialmillError(f"{self.path}: is a file; name a folder with --output")
        if target.is_dir() and any(target.iterdir()):
            if not self.overwrite:
                raise DialmillError(f"{self.path}: exists already; --overwrite replaces it, or name another folder with --output")
            if not (target / MANIFEST).exists():
                raise DialmillError(
                    f"{self.path}: holds files but no {MANIFEST}, so dialmill didn't write it and won't replace it; empty it yourself"
                )

    def __enter__(self) -> OutputFolder:
        self.check()
        if files.is_remote(self.path):
            files.remove(self.aside)
            return self
        aside = Path(self.aside)
        try:
            aside.parent.mkdir(parents=True, exist_ok=True)
            self._lock = aside.with_name(aside.name + ".lock").open("w")
            self._take_lock()
            files.remove(self.aside)
            aside.mkdir()
        except OSError as error:
            raise DialmillError(f"{self.path}: can't be written: {error.strerror or error}; name another folder with --output") from None
        return self

    def _take_lock(self) -> None:
        assert self._lock is not None
        try:
            import fcntl
        except ImportError:  # no such locks on Windows: two runs into one folder are the user's care there
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DialmillError(f"{self.path}: another run is writing there now; wait for it, or name another folder with --output") from None

    def commit(self, manifest: bytes) -> None:
        """Writes the manifest, the mark of a whole folder, and swaps the folder in."""
        files.remove(files.join(self.aside, "parts"))
        if files.is_remote(self.path):
            self._commit_remote(manifest)
            return
        with files.create(files.join(self.aside, MANIFEST)) as stream:
            stream.write(manifest)
            stream.flush()
            os.fsync(stream.fileno())
        target, old = Path(self.path), self._old()
        files.remove(str(old))
        if target.exists():
            target.rename(old)
        Path(self.aside).rename(target)
        files.remove(str(old))

    def _commit_remote(self, manifest: bytes) -> None:
        # Object stores have no renaming of folders: the manifest comes last.
        from apache_beam.io.filesystems import FileSystems

        files.remove(self.path)
        made = files.list_files(self.aside)
        FileSystems.rename(made, [self.path + name[len(self.aside) :] for name in made])
        with files.create(files.join(self.path, MANIFEST)) as stream:
            stream.write(manifest)

    def _old(self) -> Path:
        target = Path(self.path)
        return target.with_name(f".{target.name}.dialmill-old")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        files.remove(self.aside)
        if self._lock is not None:
            lock = Path(self._lock.name)
            self._lock.close()
            if error is None or not isinstance(error, DialmillError) or "another run" not in str(error):
                lock.unlink(missing_ok=True)
