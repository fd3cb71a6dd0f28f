"""The writing of exports: files with their digests, as a manifest lists them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import msgspec
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.exporter import Chunk, Exporter, Suite
from dialmill.pipelines.exporters import registry


def check(names: Sequence[str], held_out_labels: bool) -> None:
    """Raises `UsageError` where exporters can't be used on a folder whose test labels are held out."""
    needy = [name for name in names if registry.get(name).needs_labels] if held_out_labels else []
    if needy:
        raise UsageError(f"the labels of the test split are held out, and {', '.join(needy)} has its tasks' answers from them; build without the one")


def export(names: Sequence[str], source: str, suites: Sequence[str], folder: str, prefix: str = "") -> Iterator[dict[str, Any]]:
    """Writes suites of the output folder `source` in formats below `folder`; yields the manifest's line of each file.

    Args:
        names: the exporters.
        prefix: what stands before NAME/SUITE/... in the paths, with a slash behind it.
    """
    for name in names:
        for suite in suites:
            for path, schema, counted, chunks in _files(registry.get(name), Suite(source, suite)):
                yield _write(folder, f"{prefix}{name}/{suite}/{path}", schema, counted, chunks)


def _files(exporter: Exporter, suite: Suite) -> Iterator[tuple[str, str | None, bool, Iterable[Chunk]]]:
    for one in exporter.files(suite):
        yield one.path, one.schema, one.holds_records, one.chunks


def _write(folder: str, path: str, schema: str | None, counted: bool, chunks: Iterable[Chunk]) -> dict[str, Any]:
    hasher, size, records = hashlib.sha256(), 0, 0
    with files.create(files.join(folder, path)) as stream:
        for data, number in chunks:
            stream.write(data)
            hasher.update(data)
            size += len(data)
            records += number
    return {"path": path, "sha256": hasher.hexdigest(), "bytes": size, "records": records if counted else None, "schema": schema}


def nothing_exported(names: Sequence[str], suites: Sequence[str], outputs: Iterable[dict[str, Any]], prefix: str = "") -> list[str]:
    """Warnings about exports that hold no record, given the manifest's lines of files."""
    sums = {(name, suite): 0 for name in names for suite in suites}
    for one in outputs:
        if one["path"].startswith(prefix):
            name, suite = one["path"].removeprefix(prefix).split("/")[:2]
            sums[name, suite] += one["records"] or 0
    return [f"export {name}: suite {suite} has nothing that this format holds" for (name, suite), total in sums.items() if not total]


_ENCODER = msgspec.json.Encoder()


def dump(value: Any) -> bytes:
    """A value as JSON in one line."""
    return _ENCODER.encode(value)


def pretty(value: Any) -> bytes:
    """A value as JSON that people read, with a line end."""
    return msgspec.json.format(dump(value), indent=1) + b"\n"


def array(items: Iterable[bytes]) -> Iterator[Chunk]:
    """A JSON array with an element a line, each one record."""
    yield from within(b"[", b"]", items)


def mapping(items: Iterable[tuple[str, bytes]]) -> Iterator[Chunk]:
    """A JSON object with a member a line, each one record."""
    yield from within(b"{", b"}", (dump(key) + b": " + value for key, value in items))


def within(opening: bytes, closing: bytes, items: Iterable[bytes]) -> Iterator[Chunk]:
    """Items a line between two brackets, each one record."""
    yield Chunk(opening)
    first = True
    for item in items:
        yield Chunk((b"\n" if first else b",\n") + item, 1)
        first = False
    yield Chunk((b"" if first else b"\n") + closing + b"\n")


class Spool:
    """Lines that are written after other files, kept in a file without a name until then."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `lines`

    def add(self, line: bytes) -> None:
        """Keeps a line, which holds no line end."""
        self._file.write(line + b"\n")

    def lines(self, none: bytes | None = None) -> Iterator[bytes]:
        """The lines in their order, or `none` where there is none; the file is gone after the last one."""
        with self._file:
            if not self._file.tell() and none is not None:
                yield none
            self._file.seek(0)
            for line in self._file:
                yield line.rstrip(b"\n")


def lines(items: Iterable[bytes]) -> Iterator[Chunk]:
    """A record a line."""
    return (Chunk(item + b"\n", 1) for item in items)
