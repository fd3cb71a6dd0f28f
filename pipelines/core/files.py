"""Files, local or remote: the one place that decides between `pathlib` and `fsspec`'s file systems (gs://, s3://, hdfs://, ...).

A remote path is an URL. What it needs comes with an extra (``gcp`` for gs://, ``s3`` for s3://); credentials and endpoints are found as the
stores' own libraries find them (``GOOGLE_APPLICATION_CREDENTIALS``, ``STORAGE_EMULATOR_HOST``, ``AWS_PROFILE``, ``AWS_ENDPOINT_URL``, ...).
"""

from __future__ import annotations

import codecs
import glob
import io
import logging
import os
import posixpath
import shutil
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dialmill.pipelines.core.errors import InputError
from dialmill.schemas.archives import too_large

#: Separates a zip and its member in the path of an input: "val.json.zip!val.json".
MEMBER = "!"


def is_remote(path: str) -> bool:
    """Whether `path` names a remote file system."""
    return "://" in path


#: What brings the file systems that are not part of fsspec itself.
_EXTRAS = {"gs": "gcp", "gcs": "gcp", "s3": "s3", "s3a": "s3"}


def _remote(path: str) -> Any:
    """The file system of a remote path, which lists what is there now.

    Raises:
        InputError: nothing here can read such paths; names what to install.
    """
    import fsspec

    protocol = path.partition("://")[0]
    options: dict[str, Any] = {"use_listings_cache": False}
    if protocol in ("gs", "gcs"):
        # Its experimental part looks up the kind of each bucket through another service, which hangs where only the storage one can be reached.
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        log = logging.getLogger("gcsfs")
        if not log.handlers:
            log.addHandler(logging.NullHandler())  # what fails is raised, and told in one line
        if os.environ.get("STORAGE_EMULATOR_HOST"):
            options["token"] = "anon"
    try:
        system, _ = fsspec.core.url_to_fs(path, **options)
    except ImportError as error:
        extra = _EXTRAS.get(protocol)
        remedy = f"pip install 'dialmill[{extra}]'" if extra else f"install what fsspec asks for: {error}"
        raise InputError(path, f"is on a file system ({protocol}://) whose library is not installed", remedy) from None
    except ValueError as error:
        raise InputError(path, f"is on an unknown file system: {error}", "paths are local, or gs://, s3:// and what else fsspec knows") from None
    return system


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Errors of a store as errors of the path."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(path, "does not exist", "check the path") from None
    except PermissionError as error:
        raise InputError(path, f"may not be used: {error}", "check the credentials and their rights") from None
    except Exception as error:
        if not isinstance(error, (OSError, *_store_errors())):
            raise
        raise InputError(
            path, f"can't be used: {str(error).splitlines()[0] if str(error) else type(error).__name__}", "check the bucket and the connection"
        ) from None


def _store_errors() -> tuple[type[Exception], ...]:
    """What the stores' libraries raise beside OSError, of those that are loaded."""
    found: list[type[Exception]] = []
    for module, names in (
        ("botocore.exceptions", ("BotoCoreError", "ClientError")),
        ("gcsfs.retry", ("HttpError",)),
        ("google.auth.exceptions", ("GoogleAuthError",)),
        ("aiohttp", ("ClientError",)),
    ):
        loaded = sys.modules.get(module)
        found += [getattr(loaded, name) for name in names if loaded is not None and hasattr(loaded, name)]
    return tuple(found)


def join(folder: str, *names: str) -> str:
    """A path below `folder`, local or remote."""
    return posixpath.join(folder, *names) if is_remote(folder) else str(Path(folder, *names))


def split_member(path: str) -> tuple[str, str]:
    """(archive, member) of ``archive.zip!member``; (path, "") of any other path."""
    archive, mark, member = path.partition(".zip" + MEMBER)
    return (archive + ".zip", member) if mark else (path, "")


def without_mark(data: bytes) -> bytes:
    """The content of a text without the byte order mark of UTF-8 that some programs write in front."""
    return data.removeprefix(codecs.BOM_UTF8)


def read_bytes(path: str) -> bytes:
    """The content of a file, or of a zip's member (``archive.zip!member``).

    Raises:
        InputError: missing, unreadable, or a broken archive.
    """
    archive, member = split_member(path)
    try:
        if member:
            with open_zip(archive) as opened:
                _check_member(archive, opened, member)
                return opened.read(member)
        if is_remote(archive):
            with _told(archive):
                content: bytes = _remote(archive).cat_file(archive)
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
    if is_remote(path) and not member:
        with _told(path):
            head: bytes = _remote(path).cat_file(path, start=0, end=count) if size(path) else b""
            return head
    try:
        if not member:
            with Path(path).open("rb") as stream:
                return stream.read(count)
        with open_zip(archive) as opened:
            _check_member(archive, opened, member)
            with opened.open(member) as unpacked:
                return unpacked.read(count)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(path, f"is damaged: {error}", "download it again") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error), "check its permissions") from None


def read_range(path: str, start: int, end: int) -> bytes:
    """The bytes of a file, no member of an archive, from `start` up to `end` or to its end.

    Raises:
        InputError: missing or unreadable.
    """
    if end <= start:
        return b""
    if is_remote(path):
        with _told(path):
            found: bytes = _remote(path).cat_file(path, start=start, end=end)
            return found
    try:
        with Path(path).open("rb") as stream:
            stream.seek(start)
            return stream.read(end - start)
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None


@contextmanager
def read(path: str) -> Iterator[BinaryIO]:
    """A file, or a zip's member, opened for reading from front to back, for what is too large to hold (`read_bytes`).

    Raises:
        InputError: missing or unreadable.
    """
    archive, member = split_member(path)
    if member:
        with open_zip(archive) as opened_zip:
            _check_member(archive, opened_zip, member)
            try:
                with opened_zip.open(member) as unpacked:
                    yield unpacked  # type: ignore[misc]  # which reads like any binary file
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise InputError(path, f"is damaged: {error}", "download it again") from None
        return
    if is_remote(path):
        with _told(path), _remote(path).open(path, "rb") as opened:
            yield opened
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - closed below
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


def _check_member(path: str, archive: zipfile.ZipFile, member: str) -> None:
    """Raises `InputError` for a member that would fill the memory."""
    problem = too_large(archive.getinfo(member))
    if problem is not None:
        raise InputError(path, problem, "if it is what you want to read, raise the limit with --max-unpacked SIZE")


def list_files(folder: str, skip: Callable[[Path], bool] | None = None) -> list[str]:
    """All files below a folder, sorted, hidden ones left out, and all below a local folder inside it for which `skip` holds."""
    if is_remote(folder):
        with _told(folder):
            system = _remote(folder)
            return sorted(system.unstrip_protocol(name) for name in system.find(folder.rstrip("/") + "/"))
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
        with _told(path):
            system = _remote(path)
            try:
                found = system.info(path)
            except FileNotFoundError:
                return None
            return int(found["size"] or 0) if found["type"] == "file" else None
    local = Path(path)
    return local.stat().st_size if local.is_file() else None


def is_folder(path: str) -> bool:
    """Whether `path` is a folder (remote: something lies below it)."""
    if is_remote(path):
        with _told(path):
            return bool(_remote(path).isdir(path.rstrip("/")))
    return Path(path).is_dir()


@contextmanager
def create(path: str) -> Iterator[BinaryIO]:
    """A new file for writing; folders on the way are made. Remote files become visible when closed whole."""
    if is_remote(path):
        with _told(path):
            stream = _remote(path).open(path, "wb")
            try:
                yield stream
            except BaseException:
                stream.discard()  # nothing of a file that broke off becomes visible
                raise
            stream.close()
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
        with _told(path):
            system = _remote(path)
            # Object by object: a bucket has no folders, only names that begin alike.
            doomed = system.find(path.rstrip("/") + "/") or ([path] if system.isfile(path) else [])
            if doomed:
                system.rm(doomed)
        return
    local = Path(path)
    if local.is_dir() and not local.is_symlink():
        shutil.rmtree(local)
    elif local.exists() or local.is_symlink():
        local.unlink()


def matches(pattern: str) -> list[str]:
    """The files that a pattern with ``*``, ``?``, ``[...]`` or ``**`` names, local or remote, sorted."""
    if is_remote(pattern):
        with _told(pattern):
            system = _remote(pattern)
            return sorted(system.unstrip_protocol(name) for name in system.glob(pattern))
    return sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - the pattern may be absolute


def is_pattern(path: str) -> bool:
    """Whether a path names several files; a local file whose own name has such characters is one file."""
    return glob.has_magic(path) and (is_remote(path) or not Path(path).exists())


def copy(source: str, target: str) -> None:
    """A copy of a remote file within its store."""
    with _told(source):
        _remote(source).cp_file(source, target)


def write_bytes(path: str, content: bytes) -> None:
    """A file with this content, in place of what stood there."""
    if is_remote(path):
        with _told(path):
            _remote(path).pipe_file(path, content)
        return
    with create(path) as stream:
        stream.write(content)


def create_once(path: str, content: bytes) -> bool:
    """A new remote file, False where one stands there already.

    Stores that know conditional writes decide; of two writers at the same moment in one that doesn't, the one that wrote last has made it.
    """
    with _told(path):
        system = _remote(path)
        if system.exists(path):
            return False
        try:
            system.pipe_file(path, content, mode="create")
        except FileExistsError:
            return False
        found: bytes = system.cat_file(path)
        return found == content


def modified(path: str) -> float | None:
    """When a remote file was written, in seconds since 1970, None where there is none."""
    with _told(path):
        try:
            found = _remote(path).modified(path)
        except FileNotFoundError:
            return None
        return float(found.timestamp())


@contextmanager
def here(path: str) -> Iterator[str]:
    """A local path to the content of a file or folder: itself, or a copy of a remote one, which is deleted at the end.

    Raises:
        InputError: a remote path where nothing is.
    """
    if not is_remote(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="dialmill-") as folder, _told(path):
        system = _remote(path)
        target = Path(folder, posixpath.basename(path.rstrip("/")) or "root")
        if system.isfile(path):
            system.get_file(path, str(target))
        else:
            found = system.find(path.rstrip("/") + "/")
            if not found:
                raise InputError(path, "does not exist", "check the path")
            root = system._strip_protocol(path).rstrip("/")
            for name in found:
                place = Path(target, name[len(root) + 1 :])
                if not place.resolve().is_relative_to(target.resolve()):
                    raise InputError(path, f"holds an object whose name leads out of its folder: {name}", "remove it")
                place.parent.mkdir(parents=True, exist_ok=True)
                system.get_file(name, str(place))
        yield str(target)
