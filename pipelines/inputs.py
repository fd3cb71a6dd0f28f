"""What `--input` means: files, zips and folders become a sorted list of input files, each with its source and role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines import files
from pipelines.errors import DialmillError, InputError
from pipelines.sources import registry
from pipelines.sources.base import Role

#: How much of a file is looked at to tell its format.
HEAD_BYTES = 64 * 1024


@dataclass(frozen=True)
class InputFile:
    """One file to read. `path` is where it lies, `shown` how the manifest names it, `number` its place in the sorted list."""

    number: int
    path: str
    shown: str
    source: str
    role: Role
    size: int


def find_inputs(paths: Sequence[str], source: str | None = None, allow_missing: bool = False) -> list[InputFile]:
    """The input files of a run, with formats told apart, in an order that doesn't depend on the machine.

    Args:
        paths: files, zips, folders (searched), remote paths.
        source: the name of the format, None to infer it.
        allow_missing: go on without paths that don't exist or are empty.

    Raises:
        InputError, DialmillError: nothing usable, a missing, empty or cut-off file, or an unknown format. All faults are told at once.
    """
    faults: list[str] = []
    candidates: list[tuple[str, str, bool]] = []  # path, name in the manifest, named by the user
    for path in paths:
        try:
            candidates += _expand(path.rstrip("/") if len(path) > 1 else path)
        except InputError as error:
            if not allow_missing:
                faults.append(str(error))
    sources = [registry.get(name) for name in ([source] if source else registry.names())]
    found: list[InputFile] = []
    for path, shown, named in sorted(set(candidates), key=lambda candidate: candidate[1]):
        try:
            data = files.read_bytes(path) if path.count(files.MEMBER) else _head(path)
            head = data[:HEAD_BYTES].decode("utf-8", "replace")
            roles = [(one.name, role) for one in sources if (role := one.role(path, head))]
            if not data.strip():
                if named or roles or path.endswith((".json", ".jsonl", ".tsv", ".txt")):
                    raise InputError(shown, "is empty", "download or unpack it again, or leave it out")
                continue
            if not roles:
                if named:
                    raise InputError(shown, f"is not of a known format ({_known(sources)})", "see `dialmill list sources`; name one with --format")
                continue
            roles = _narrow(roles)
            if len(roles) > 1:
                names = ", ".join(name for name, _ in roles)
                raise InputError(shown, f"could be any of {names}", "name one with --format")
            name, role = roles[0]
            if role in ("dialogues", "acts"):
                _check_tail(path, shown)
            found.append(InputFile(len(found), path, shown, name, role, files.size(path) or len(data)))
        except InputError as error:
            if not (allow_missing and error.problem == "is empty"):
                faults.append(str(error))
    if faults:
        raise DialmillError("\n".join(faults))
    if not any(item.role == "dialogues" for item in found):
        where = ", ".join(paths) or "nothing"
        raise DialmillError(f"{where}: no dialogues of a known format found ({_known(sources)}); name a file of dialogues, or its folder or zip")
    return found


def _known(sources: Sequence[object]) -> str:
    return "looked for " + ", ".join(sorted(str(getattr(one, "name", one)) for one in sources))


def _narrow(roles: list[tuple[str, Role]]) -> list[tuple[str, Role]]:
    """Split lists and side files look alike in several releases: the dialogues decide, else the first name."""
    if any(role == "dialogues" for _, role in roles):
        return [item for item in roles if item[1] == "dialogues"]
    return roles[:1]


def _expand(path: str) -> list[tuple[str, str, bool]]:
    if files.is_folder(path):
        inside = []
        for item in files.list_files(path):
            shown = item[len(path) :].lstrip("/\\").replace("\\", "/")
            inside += _members(item, shown, False)
        return inside
    if files.size(path) is None:
        raise InputError(path, "does not exist", "check the path; --allow-missing goes on without it")
    return _members(path, re.split(r"[/\\]", path)[-1], True)


def _members(path: str, shown: str, named: bool) -> list[tuple[str, str, bool]]:
    if not path.endswith(".zip"):
        return [(path, shown, named)]
    with files.open_zip(path) as archive:
        names = [
            info.filename for info in archive.infolist() if not info.is_dir() and info.filename.endswith((".json", ".jsonl", ".txt", ".tsv", "File"))
        ]
    return [(path + files.MEMBER + name, shown + files.MEMBER + name, False) for name in names if not name.startswith("__MACOSX")]


def _head(path: str) -> bytes:
    if files.is_remote(path):
        return files.read_bytes(path)[:HEAD_BYTES]
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            return stream.read(HEAD_BYTES)
    except OSError as error:
        raise InputError(path, error.strerror or str(error), "check its permissions") from None


def _check_tail(path: str, shown: str) -> None:
    """A JSON file that doesn't end in a bracket is cut off; found here, before a worker starts."""
    if files.is_remote(path) or files.MEMBER in path:
        return
    with open(path, "rb") as stream:  # noqa: PTH123
        stream.seek(max(0, stream.seek(0, 2) - 4096))
        tail = stream.read().rstrip()
    if path.endswith(".json") and tail[-1:] not in (b"}", b"]"):
        shown_tail = tail[-40:].decode("utf-8", "replace")
        raise InputError(shown, f"is cut off: it ends in …{shown_tail!r}, not in a closing bracket", "download or unpack it again")
