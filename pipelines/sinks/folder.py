"""The output folder: whole or absent.

A run writes temporary and swaps its folder in at the end; a killed run leaves no trace that the next one trips over.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.folders import MANIFEST, is_whole
from dialmill.pipelines.sinks.remote import RemoteFolder


def output_folder(path: str, overwrite: bool) -> OutputFolder | RemoteFolder:
    """The output folder at a path, local or remote."""
    return RemoteFolder(path, overwrite) if files.is_remote(path) else OutputFolder(path, overwrite)


class OutputFolder:
    """The local folder of one run. As a context manager it is removed again unless `commit` was called.

    Args:
        path: where the result shall lie.
        overwrite: replace what a former run left there. A folder that dialmill didn't write is never replaced.
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        # Where a link leads, so that the folder is made beside what it replaces and the link stays.
        self.path = os.path.realpath(path)
        self.overwrite = overwrite
        self.temporary = str(self._beside("dialmill-partial"))
        self._lock: IO[bytes] | None = None
        self._lock_path = Path(self.temporary + ".lock")
        self._made: list[Path] = []  #: parents of the output that weren't there, the outermost last

    def check(self) -> None:
        """Raises `DialmillError` if the output can't be written there; called before any work."""
        target = Path(self.path)
        if target == target.parent:
            raise DialmillError(f"{self.path}: is no folder of its own; name one with --output")
        try:
            if target.exists() and not target.is_dir():
                raise DialmillError(f"{self.path}: is a file; name a folder with --output")
            if not target.is_dir() or not any(target.iterdir()):
                return
            if not self.overwrite:
                raise DialmillError(f"{self.path}: exists already; --overwrite replaces it, or name another folder with --output")
            if not is_whole(target):
                raise DialmillError(
                    f"{self.path}: holds files but no {MANIFEST} of dialmill's, so dialmill didn't write it and won't replace it; empty it yourself"
                )
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> DialmillError:
        return DialmillError(f"{self.path}: can't be written: {error.strerror or error}; name another folder with --output")

    def __enter__(self) -> OutputFolder:
        self.check()
        temporary = Path(self.temporary)
        try:
            self._made = [parent for parent in temporary.parents if not parent.exists()]
            temporary.parent.mkdir(parents=True, exist_ok=True)
            self._take_lock(temporary.with_name(temporary.name + ".lock"))
            old, target = self._old(), Path(self.path)
            if old.is_symlink() or (old.exists() and not (old.is_dir() and (is_whole(old) or not any(old.iterdir())))):
                raise DialmillError(f"{old}: is nothing that dialmill left there; remove it, or name another folder with --output")
            if old.exists() and not target.exists():
                old.rename(target)  # a run was killed between its two renames
                self.check()
            files.remove(str(old))
            files.remove(self.temporary)
            temporary.mkdir()
        except OSError as error:
            self._leave()
            raise self._unwritable(error) from None
        except DialmillError:
            self._leave()
            raise
        return self

    def _take_lock(self, path: Path) -> None:
        try:
            import fcntl
        except ImportError:  # no such locks on Windows: two runs into one folder are the user's care there
            return
        # Never through a link, and nothing cut off: in a shared folder somebody may have laid one at this name, which can be foretold.
        # A pipe without a reader would wait for one.
        opened = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            lock = os.fdopen(os.open(path, opened, 0o600), "rb", buffering=0)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
                raise
            raise self._in_the_way(path, error.strerror) from None
        if not stat.S_ISREG(os.fstat(lock.fileno()).st_mode):
            lock.close()
            raise self._in_the_way(path, "no file")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The other run may have ended, and deleted the file, between the opening and the locking.
            ours = os.path.lexists(path) and os.path.samestat(path.lstat(), os.fstat(lock.fileno()))
        except BlockingIOError:
            ours = False
        if not ours:
            lock.close()
            raise DialmillError(f"{self.path}: another run is writing there now; wait for it, or name another folder with --output")
        self._lock, self._lock_path = lock, path

    @staticmethod
    def _in_the_way(path: Path, what: str | None) -> DialmillError:
        return DialmillError(f"{path}: can't be used as the lock of this run ({what}); remove it, or name another folder with --output")

    def _leave(self) -> None:
        """Takes back everything but a committed folder."""
        for _ in range(3):
            try:
                files.remove(self.temporary)
                break
            except OSError:  # interrupted workers may still write a file
                time.sleep(0.2)
        if self._lock is not None:
            # Deleted while it is held, so that no other run can hold it under a name that is gone.
            self._lock_path.unlink(missing_ok=True)
            self._lock.close()
            self._lock = None
        for parent in self._made:
            try:
                parent.rmdir()
            except OSError:
                break

    def commit(self, manifest: bytes) -> None:
        """Writes the manifest, the mark of a whole folder, and swaps the folder in."""
        files.remove(files.join(self.temporary, "parts"))
        with files.create(files.join(self.temporary, MANIFEST)) as stream:
            stream.write(manifest)
            stream.flush()
            os.fsync(stream.fileno())
        target, old = Path(self.path), self._old()
        files.remove(str(old))
        if target.exists():
            target.rename(old)
        Path(self.temporary).rename(target)
        files.remove(str(old))

    def _beside(self, ending: str) -> Path:
        target = Path(self.path)
        return target.parent / f".{target.name}.{ending}"

    def _old(self) -> Path:
        return self._beside("dialmill-old")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()
