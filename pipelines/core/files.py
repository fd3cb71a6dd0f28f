"""Files, local or remote: the one place that decides between `pathlib` and Beam's file systems (gs://, s3://, hdfs://)."""

from __future__ import annotations

import io
import os
import posixpath
import shutil
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dialmill.pipelines.core.errors import InputError

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


def split_member(path: str) -> tuple[str, str]:
    """(archive, member) of ``archive.zip!member``; (path, "") of any other path."""
    archive, mark, member = path.partition(".zip" + MEMBER)
    return (archive + ".zip", member) if mark else (path, "")


def read_bytes(path: str) -> bytes:
    """The content of a file, or of a zip's member (``archive.zip!member``).

    Raises:
        InputError: missing, unreadable, or a broken archive.
    """
    archive, member = split_member(path)
    try:
        if member:
            with open_zip(archive) as opened:
                return opened.read(member)
        if is_remote(archive):
            with _beam().open(archive, compression_type="none") as stream:
                content: bytes = stream.read()
                return content
        return Path(archive).read_bytes()
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(path, f"is damaged: {error}", "download it again") from None
    except RuntimeError as error:  # zipfile's way to say "encrypted", or compressed in a way it doesn't know
        raise InputError(path, f"can't be unpacked: {error}", "unpack it first") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None


def read_head(path: str, count: int) -> bytes:
    """The first `count` bytes of a file, or of a zip's member.

    Raises:
        InputError: as `read_bytes`.
    """
    archive, member = split_member(path)
    if is_remote(path):
        return read_bytes(path)[:count]
    try:
        if not member:
            with Path(path).open("rb") as stream:
                return stream.read(count)
        with open_zip(archive) as opened, opened.open(member) as unpacked:
            return unpacked.read(count)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(path, f"is damaged: {error}", "download it again") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error), "check its permissions") from None


@contextmanager
def read(path: str) -> Iterator[BinaryIO]:
    """A file opened for reading, for what is too large to hold (`read_bytes`).

    Raises:
        InputError: missing or unreadable.
    """
    try:
        stream = _beam().open(path, compression_type="none") if is_remote(path) else Path(path).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    with stream:
        yield stream


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
            opened = zipfile.ZipFile(stream)
        except zipfile.BadZipFile:
            problem = "is no zip archive, or cut off" if size(path) else "is empty"
            raise InputError(path, problem, "download it again") from None
        with opened:
            yield opened


def list_files(folder: str, skip: Callable[[Path], bool] | None = None) -> list[str]:
    """All files below a folder, sorted, hidden ones left out, and all below a local folder inside it for which `skip` holds."""
    if is_remote(folder):
        (match,) = _beam().match([folder.rstrip("/") + "/**"])
        return sorted(found.path for found in match.metadata_list)
    found: list[str] = []
    for parent, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith((".", "__MACOSX")) and not (skip and skip(Path(parent, name)))]
        found += [f"{parent.rstrip(os.sep)}{os.sep}{name}" for name in names if not name.startswith(".") and Path(parent, name).is_file()]
    return sorted(found)


def size(path: str) -> int | None:
    """Bytes of a file, or of a zip's member when unpacked; None if there is none."""
    archive, member = split_member(path)
    if member:
        with open_zip(archive) as opened:
            return opened.getinfo(member).file_size
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
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}")
    with temporary.open("wb") as stream:
        yield stream
    temporary.replace(target)


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
