"""Files, local or remote: the one place that decides between `pathlib` and Beam's file systems (gs://, s3://, hdfs://)."""

from __future__ import annotations

import io
import os
import posixpath
import shutil
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pipelines.errors import InputError

#: Separates a zip and its member in the path of an input: "val.json.zip!val.json".
MEMBER = "!"


def is_remote(path: str) -> bool:
    """Whether `path` names a remote file system."""
    return "://" in path


def _beam() -> Any:
    # Beam costs a second to import; local runs of small commands do without.
    from apache_beam.io.filesystems import FileSystems

    return FileSystems


def join(folder: str, *names: str) -> str:
    """A path below `folder`, local or remote."""
    return posixpath.join(folder, *names) if is_remote(folder) else str(Path(folder, *names))


def read_bytes(path: str) -> bytes:
    """The content of a file, or of a zip's member (``archive.zip!member``).

    Raises:
        InputError: missing, unreadable, or a broken archive.
    """
    archive, _, member = path.partition(MEMBER) if ".zip" + MEMBER in path else (path, "", "")
    try:
        if member:
            with open_zip(archive) as opened:
                return opened.read(member)
        if is_remote(archive):
            with _beam().open(archive, compression_type="none") as stream:
                content: bytes = stream.read()
                return content
        return Path(archive).read_bytes()
    except zipfile.BadZipFile as error:
        raise InputError(path, f"is damaged: {error}", "download it again") from None
    except RuntimeError as error:  # zipfile's way to say "encrypted"
        raise InputError(path, str(error), "unpack it first") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None


@contextmanager
def open_zip(path: str) -> Iterator[zipfile.ZipFile]:
    """An opened zip archive.

    Raises:
        InputError: it is no zip archive, or cut off.
    """
    stream: BinaryIO | io.BytesIO
    try:
        # Remote streams may not seek cheaply; archives of dialogues are small.
        stream = io.BytesIO(read_bytes(path)) if is_remote(path) else Path(path).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    with stream:
        try:
            with zipfile.ZipFile(stream) as opened:
                yield opened
        except zipfile.BadZipFile:
            raise InputError(path, "is no zip archive, or cut off", "download it again") from None


def list_files(folder: str) -> list[str]:
    """All files below a folder, sorted, hidden ones left out."""
    if is_remote(folder):
        (match,) = _beam().match([folder.rstrip("/") + "/**"])
        return sorted(found.path for found in match.metadata_list)
    root = Path(folder)
    found = (path for path in root.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if not any(part.startswith((".", "__MACOSX")) for part in path.relative_to(root).parts))


def size(path: str) -> int | None:
    """Bytes of a file, None if there is none."""
    if is_remote(path):
        return int(_beam().match([path])[0].metadata_list[0].size_in_bytes) if _beam().exists(path) else None
    local = Path(path)
    return local.stat().st_size if local.is_file() else None


def is_folder(path: str) -> bool:
    """Whether `path` is a folder (remote: something lies below it)."""
    if is_remote(path):
        return bool(_beam().match([path.rstrip("/") + "/*"], limits=[1])[0].metadata_list)
    return Path(path).is_dir()


@contextmanager
def create(path: str) -> Iterator[BinaryIO]:
    """A new file for writing; folders on the way are made. Remote files become visible when closed whole."""
    if is_remote(path):
        with _beam().create(path, mime_type="application/octet-stream", compression_type="none") as stream:
            yield stream
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # A retried worker may write the same part at the same time: each writes its own file and the last rename wins with the same bytes.
    aside = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}")
    with aside.open("wb") as stream:
        yield stream
    aside.replace(target)


def remove(path: str) -> None:
    """Deletes a folder or file and all below it, if it exists."""
    if is_remote(path):
        if is_folder(path) or _beam().exists(path):
            _beam().delete([path])
        return
    local = Path(path)
    if local.is_dir() and not local.is_symlink():
        shutil.rmtree(local)
    elif local.exists() or local.is_symlink():
        local.unlink()
