"""Part files: each shard of each output file, sorted and written into a temporary file by one worker; then joined.

Beam's own sharded writers give other bytes on every run (round robin). Here the shard of a record follows from a hash, so that
parts joined in their order are sorted as a whole, whoever wrote them.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dialmill.pipelines.core import files
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.stage import Item, Stage, out_pieces
from dialmill.schemas.arrow import Params

#: Options of each suite's steps by suite, for its Parquet schema.
SuiteParams = Mapping[str, Params]


def has_parquet(path: str) -> bool:
    """Whether an output has a Parquet form: the canonical records do."""
    return path.endswith(".jsonl") and "dialogues/" in path


def is_lines(path: str) -> bool:
    """Whether an output holds one record a line, and not one JSON array."""
    return path.endswith((".jsonl", ".tsv", ".txt"))


def part_path(folder: str, path: str, shard: int) -> str:
    """Where a part of an output lies while the run lasts."""
    return files.join(folder, "parts", f"{path}.{shard:04d}")


def suite_of(path: str) -> str:
    """The suite of an output below dialogues/."""
    return path.split("dialogues/")[1].split("/")[0]


class WriteParts(Stage):
    """All pieces of one shard of one output into a part file, and its rows into a Parquet part."""

    tags = ()

    def __init__(self, folder: str, params: SuiteParams) -> None:
        self.folder, self.params = folder, params

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        key, values = element
        path, shard = key.rsplit("\t", 1)
        pieces = out_pieces(values)
        lines = is_lines(path)
        # Other release files are JSON arrays and objects, whose elements are parted by commas.
        content = (b"\n" if lines else b",\n").join(piece[2] for piece in pieces)
        if lines:
            content += b"\n"
        with files.create(part_path(self.folder, path, int(shard))) as stream:
            stream.write(content)
        if has_parquet(path):
            with files.create(part_path(self.folder, path + ".parquet", int(shard))) as stream:
                write_rows(stream, [content], self.params.get(suite_of(path), {}))
        self.counters.add(Counters(parts=[(path, int(shard), sum(piece[1] for piece in pieces), len(content))]))
        return ()


def rows(content: bytes, schema: Any) -> Any:
    """JSON lines as an Arrow table, parsed by Arrow itself: a tenth of the cost of going through Python objects."""
    import pyarrow.json

    return pyarrow.json.read_json(
        io.BytesIO(content),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(content) + 1, 1 << 16)),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="error"),
    ).select(schema.names)


def write_rows(stream: Any, contents: Iterable[bytes], params: Params) -> int:
    """JSON lines of canonical records as one Parquet file; the number of rows."""
    from dialmill.schemas.arrow import arrow_schema, write_parquet

    schema = arrow_schema("dialogue", params)
    return write_parquet(stream, (rows(content, schema) for content in contents if content), schema)


class _Digested(io.RawIOBase):
    """A stream that counts and digests what goes through it; it can't be sought in, so that an archive is written from front to back."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.hasher, self.size = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.stream.write(data)
        self.hasher.update(data)
        self.size += len(data)
        return len(data)


@contextmanager
def _inside(stream: _Digested, path: str) -> Iterator[Any]:
    """The stream itself, or the one file of a zip archive that goes into it. Its date is that of no day, so that equal content gives equal bytes."""
    if not path.endswith(".zip"):
        yield stream
        return
    member = zipfile.ZipInfo(path.rpartition("/")[2].removesuffix(".zip"), (1980, 1, 1, 0, 0, 0))
    member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    with zipfile.ZipFile(stream, "w") as archive, archive.open(member, "w", force_zip64=True) as inner:
        yield inner


def join_parts(
    folder: str, path: str, shards: list[int], params: SuiteParams, keyed: bool = False, around: tuple[bytes, bytes] | None = None
) -> Iterator[tuple[str, int, str]]:
    """Joins the parts of an output into its file (and its Parquet form) in `folder`; yields (path, bytes, sha256) of each file made. Pieces that
    are `keyed` (``"key": value``) make one JSON object, others an array or lines; of any other document `around` says what stands before and after
    them. A path that ends in .zip becomes an archive of that one file."""
    array = not is_lines(path)
    opening, closing = around or ((b"{", b"}") if keyed else (b"[", b"]"))
    with files.create(files.join(folder, path)) as stream, _Digested(stream) as digested, _inside(digested, path) as inner:
        put = inner.write
        if array:
            put(opening)
        for number, shard in enumerate(sorted(shards)):
            if array:
                put(b",\n" if number else b"\n")
            put(files.read_bytes(part_path(folder, path, shard)))
        if array:
            put((b"\n" if shards else b"") + closing + b"\n")
    yield path, digested.size, digested.hasher.hexdigest()
    if has_parquet(path):
        rows_path = path.removesuffix(".jsonl") + ".parquet"
        with files.create(files.join(folder, rows_path)) as stream:
            _join_rows(stream, [part_path(folder, path + ".parquet", shard) for shard in sorted(shards)], params.get(suite_of(path), {}))
        data = files.read_bytes(files.join(folder, rows_path))
        yield rows_path, len(data), hashlib.sha256(data).hexdigest()


def _join_rows(stream: Any, parts: list[str], params: Params) -> None:
    from dialmill.schemas.arrow import arrow_schema, write_parquet
    from pyarrow import parquet

    if len(parts) == 1:
        stream.write(files.read_bytes(parts[0]))
        return
    tables = (parquet.read_table(io.BytesIO(files.read_bytes(part))) for part in parts)
    write_parquet(stream, tables, arrow_schema("dialogue", params))
