"""Lines of the files that dialmill wrote, read again: what has been damaged since is named by its file and line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
from dialmill.pipelines.core.errors import InputError
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode, encode
from dialmill.schemas.strict_json import JsonError, parse, repeated_key

T = TypeVar("T")

REMEDY = "`dialmill verify` checks a folder; build it again"


def record(path: str | Path, number: int, line: bytes) -> Dialogue:
    """A line of a file of canonical records.

    Args:
        path: the file, for the message.
        number: of the line, from 1.

    Raises:
        InputError: it is no record, or has a key twice, of which parsers take the last one silently.
    """
    found = _decoded(path, number, line, decode)
    # A line as it was written encodes to itself, which is sooner found out than whether a key stands in it twice.
    if encode(found) != line.rstrip(b"\r\n"):
        repeated = repeated_key(line)
        if repeated is not None:
            raise InputError(str(path), f"line {number} {repeated}", REMEDY)
    return found


def part(path: str | Path, number: int, line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """What a decoder takes of such a line.

    Raises:
        InputError: the line is no JSON of that shape.
    """
    return _decoded(path, number, line, decoder.decode)


def _decoded(path: str | Path, number: int, line: bytes, decoding: Callable[[bytes], T]) -> T:
    try:
        return decoding(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(path), f"line {number} is no record as dialmill writes it: {_told(line, error)}", REMEDY) from None


def _told(line: bytes, error: Exception) -> str:
    try:
        parse(line.rstrip(b"\r\n"))
    except JsonError as found:
        return str(found)
    return str(error)


def check(root: Path, outputs: Iterable[Mapping[str, Any]], paths: Iterable[str]) -> None:
    """Checks those of a folder's files that are to be read against its manifest.

    Args:
        root: the folder.
        outputs: the manifest's lines of files.
        paths: as the manifest writes them; those that it doesn't list are nothing to check.

    Raises:
        InputError: a file is gone, or is not the one that was written; names the first line that is no record, where there is one.
    """
    listed = {str(one["path"]): one for one in outputs}
    for path in paths:
        if path not in listed:
            continue
        file = root / path
        if not file.is_file():
            raise InputError(str(file), "is in the manifest but not in the folder", REMEDY)
        with file.open("rb") as stream:
            digest = _digest(stream)
        if digest == listed[path]["sha256"]:
            continue
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                record(file, number, line)
        raise InputError(str(file), f"is not the file that was written: its SHA-256 is {digest[:12]}…, in the manifest it is another", REMEDY)


def _digest(stream: BinaryIO) -> str:
    hasher = hashlib.sha256()
    while block := stream.read(1 << 20):
        hasher.update(block)
    return hasher.hexdigest()
