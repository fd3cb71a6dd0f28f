"""An output folder in an object store (gs://, s3://): whole or absent, as far as a store without renaming allows.

A run writes below a prefix of its own beside the folder (``NAME.dialmill-RUN/``), so that nothing of a killed run can be taken for another's. At the
end its files are copied to their names, the manifest last; then goes what the old output has and the new one hasn't, then the prefix. The folder then
holds the same relative names as a local one. While it lasts a run holds ``NAME.dialmill-lock``, which it renews; a second writer is refused.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
import uuid
from types import TracebackType

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.pipelines.core.folders import MANIFEST, is_ours

#: A run renews its lock every so many seconds; one that wasn't renewed for so long is of a killed run.
_RENEWED, _STALE = 30.0, 300.0


class RemoteFolder:
    """The remote folder of one run. As a context manager it is as it was before unless `commit` was called.

    Args:
        path: an URL below a bucket ("gs://bucket/folder"). A bare bucket is refused.
        overwrite: replace what a former run left there. A folder without a manifest of dialmill's is never replaced.
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        self.path, self.overwrite = path.rstrip("/"), overwrite
        self._run = uuid.uuid4().hex[:16]
        self.temporary = f"{self.path}.dialmill-{self._run}"
        self._lock = f"{self.path}.dialmill-lock"
        self._held = False
        self._ended = threading.Event()

    def check(self) -> None:
        """Raises `DialmillError` if the output can't be written there; called before any work."""
        protocol, _, rest = self.path.partition("://")
        if "/" not in rest.strip("/"):
            raise DialmillError(
                f"{self.path}: is a bucket, not a folder in one; name a folder with --output ({protocol}://{rest or 'BUCKET'}/FOLDER)"
            )
        if files.size(self.path) is not None:
            raise DialmillError(f"{self.path}: is a file; name a folder with --output")
        if not files.is_folder(self.path):
            return
        if not self.overwrite:
            raise DialmillError(f"{self.path}: exists already; --overwrite replaces it, or name another folder with --output")
        manifest = files.join(self.path, MANIFEST)
        if files.size(manifest) is None or not is_ours(files.read_bytes(manifest)):
            raise DialmillError(
                f"{self.path}: holds files but no {MANIFEST} of dialmill's, so dialmill didn't write it and won't replace it; empty it yourself"
            )

    def __enter__(self) -> RemoteFolder:
        self.check()
        self._take_lock()
        try:
            for name in self._left_over():
                files.remove(name)
            self.check()
        except BaseException:
            self._leave()
            raise
        return self

    def _note(self) -> bytes:
        return json.dumps({"run": self._run, "host": platform.node(), "process": os.getpid()}).encode()

    def _take_lock(self) -> None:
        for _ in range(2):
            if files.create_once(self._lock, self._note()):
                self._held = True
                threading.Thread(target=self._renew, daemon=True).start()
                return
            written = files.modified(self._lock)
            age = time.time() - written if written is not None else _STALE + 1
            if age <= _STALE and not self._died_here():
                break
            files.remove(self._lock)
        raise DialmillError(
            f"{self.path}: another run is writing there now, or was killed less than {_STALE / 60:.0f} minutes ago; wait for it,"
            f" name another folder with --output, or delete {self._lock} if you know that it is gone"
        )

    def _died_here(self) -> bool:
        """Whether the lock is of a process of this machine that is gone."""
        try:
            note = json.loads(files.read_bytes(self._lock))
            if note["host"] != platform.node():
                return False
            os.kill(int(note["process"]), 0)
        except ProcessLookupError:
            return True
        except (OSError, ValueError, KeyError, TypeError, InputError):
            return False
        return False

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED):
            try:
                files.write_bytes(self._lock, self._note())
            except DialmillError:  # the run itself will meet the same trouble, and tell it
                continue

    def _left_over(self) -> list[str]:
        """What killed runs left beside the folder: this run holds the lock, so that none of it is in use."""
        folder, _, name = self.path.rpartition("/")
        start = f"{folder}/{name}.dialmill-"
        found = {start + one[len(start) :].split("/", 1)[0] for one in files.matches(f"{start}*/**") if one.startswith(start)}
        return sorted(one for one in found if one not in (self.temporary, self._lock))

    def commit(self, manifest: bytes) -> None:
        """Copies the run's files to their names, the manifest, the mark of a whole folder, last; then removes what is of the old output alone."""
        files.remove(files.join(self.temporary, "parts"))
        before = set(files.list_files(self.path)) if files.is_folder(self.path) else set()
        made = {self.path + name[len(self.temporary) :]: name for name in files.list_files(self.temporary)}
        for target, source in sorted(made.items()):
            files.copy(source, target)
        files.write_bytes(files.join(self.path, MANIFEST), manifest)
        for name in sorted(before - set(made) - {files.join(self.path, MANIFEST)}):
            files.remove(name)

    def _leave(self) -> None:
        """Takes back everything but a committed folder."""
        self._ended.set()
        try:
            files.remove(self.temporary)
        finally:
            if self._held:
                self._held = False
                files.remove(self._lock)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()
