"""Part files: each shard of each output file, sorted and written into a temporary file by one worker; then joined, by one worker for each file.

Beam's own sharded writers give other bytes on every run (round robin). Here the shard of a record follows from a hash, so that
parts joined in their order are sorted as a whole, whoever wrote them.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Benchmark, Job
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.stage import REJECT_ORDER, Item, Stage, order_of, sorted_pieces
from dialmill.pipelines.core.subsets import repeats, tells_hard
from dialmill.pipelines.sinks.manifest import expected_files
from dialmill.schemas.arrow import Params
from dialmill.schemas.validator import load

#: Bytes of an output that are written, copied or made rows at a time.
_CONTENT = 8 << 20
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


class Form(NamedTuple):
    """How an output is written: its schema (None for tables and texts), whether its pieces make one JSON object, and what stands before and after the
    pieces of a document that is neither array nor object."""

    schema: str | None
    keyed: bool
    around: tuple[bytes, bytes] | None


@dataclass(frozen=True)
class FileForms:
    """The forms of a job's outputs.

    Args:
        expected: path -> schema of the files that there are whether or not a record goes there.
        benchmark: whose files they are.
        blind: whether labels are held out.
    """

    expected: Mapping[str, str]
    benchmark: Benchmark
    blind: bool

    @classmethod
    def of(cls, job: Job) -> FileForms:
        """Those of a job."""
        return cls(expected_files(job), job.benchmark, job.recipe.held_out_labels)

    def form(self, path: str) -> Form:
        """The form of the output at a path."""
        expected = self.expected
        schema = expected.get(path) or self.benchmark.schema_of(path, self.blind) or expected.get(repeats(path)) or _schema_by_place(path)
        return Form(schema, _is_map(schema), self.benchmark.around(path))


@cache
def _is_map(schema: str | None) -> bool:
    """Whether files of a schema are one JSON object of records by name."""
    shape = load(schema) if schema else {}
    return shape.get("type") == "object" and "properties" not in shape


def _schema_by_place(path: str) -> str | None:
    """The schema of a file that no benchmark claims; tables and texts have none."""
    if path.endswith((".tsv", ".txt")):
        return None
    return "reject" if path.startswith("rejects/") else "dialogue"


#: Files from which on rejects are divided by their files alone, and else by the first digit of a place as well.
_MANY = 25


class DivideRejects(Stage):
    """Pieces of outputs on their way to their shards: rejects, which come in the order of files and of places as text, in several shards as well.

    Args:
        shown: the files of the run as rejects name them.
    """

    def __init__(self, shown: Iterable[str]) -> None:
        self.starts = sorted(REJECT_ORDER + msgspec.json.encode([one])[:-1] + b"," for one in set(shown))

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        if element[0].startswith("rejects/"):
            path, value = element[0].rpartition("\t")[0], element[1]
            element = f"{path}\t{self._shard(order_of(value))}", value
        yield "main", element

    def _shard(self, order: bytes) -> int:
        """A number that is no lower for a piece that comes later."""
        rank = bisect_right(self.starts, order)
        if not rank or len(self.starts) >= _MANY:
            return 12 * rank
        start = self.starts[rank - 1]
        return 12 * rank + (max(0, min(order[len(start)] - ord("0"), 9)) if order.startswith(start) else 10)


class WriteParts(Stage):
    """All pieces of one shard of one output into a part file, and its rows into a Parquet part; gives the path with the number of the shard."""

    tags = ()

    def __init__(self, folder: str, params: SuiteParams, blind: bool = False) -> None:
        self.folder, self.params, self.blind = folder, params, blind

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        path, shard = element[0].rsplit("\t", 1)
        if self.blind and tells_hard(path):
            return  # it stands in labels/ alone
        written = _Written()
        with sorted_pieces(element[1]) as pieces, files.create(part_path(self.folder, path, int(shard))) as stream:
            contents = written.contents(pieces, stream, is_lines(path))
            if has_parquet(path):
                with files.create(part_path(self.folder, path + ".parquet", int(shard))) as table:
                    write_rows(table, contents, self.params.get(suite_of(path), {}))
            else:
                for _ in contents:
                    pass
        self.counters.add(Counters(parts=[(path, int(shard), written.records, written.size)]))
        yield "main", (path, shard.encode())


class _Written:
    """What was written of a part."""

    def __init__(self) -> None:
        self.records = self.size = 0

    def contents(self, pieces: Iterable[tuple[bytes, int, bytes]], stream: Any, lines: bool) -> Iterator[bytes]:
        """Writes pieces into a stream, and gives what was written some megabytes at a time."""
        held: list[bytes] = []
        size = 0
        for number, (_, records, line) in enumerate(pieces):
            # Other release files are JSON arrays and objects, whose elements are parted by commas.
            held.append(line + b"\n" if lines else b",\n" + line if number else line)
            self.records += records
            size += len(held[-1])
            if size > _CONTENT:
                yield self._put(held, stream)
                held, size = [], 0
        yield self._put(held, stream)

    def _put(self, held: list[bytes], stream: Any) -> bytes:
        content = b"".join(held)
        stream.write(content)
        self.size += len(content)
        return content


class JoinParts(Stage):
    """The parts of each output into its files, by one worker for each output, with their digests: the launching machine reads none of it."""

    tags = ()

    def __init__(self, folder: str, params: SuiteParams, forms: FileForms) -> None:
        self.folder, self.params, self.forms = folder, params, forms

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        path, shards = element[0], [int(shard) for shard in element[1]]
        for made, size, digest in join_parts(self.folder, path, shards, self.params, self.forms.form(path)):
            self.counters.files.append((path, made, size, digest))
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

    def tell(self) -> int:
        return self.size

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


def join_parts(folder: str, path: str, shards: list[int], params: SuiteParams, form: Form) -> Iterator[tuple[str, int, str]]:
    """Joins the parts of an output into its file (and its Parquet form) in `folder`; yields (path, bytes, sha256) of each file made. Pieces that
    are keyed (``"key": value``) make one JSON object, others an array or lines; of any other document the form says what stands before and after
    them. A path that ends in .zip becomes an archive of that one file."""
    array = not is_lines(path)
    opening, closing = form.around or ((b"{", b"}") if form.keyed else (b"[", b"]"))
    with files.create(files.join(folder, path)) as stream, _Digested(stream) as digested, _inside(digested, path) as inner:
        put = inner.write
        if array:
            put(opening)
        for number, shard in enumerate(sorted(shards)):
            if array:
                put(b",\n" if number else b"\n")
            with files.read(part_path(folder, path, shard)) as part:
                shutil.copyfileobj(part, inner, _CONTENT)
        if array:
            put((b"\n" if shards else b"") + closing + b"\n")
    yield path, digested.size, digested.hasher.hexdigest()
    if has_parquet(path):
        rows_path = path.removesuffix(".jsonl") + ".parquet"
        with files.create(files.join(folder, rows_path)) as stream, _Digested(stream) as digested:
            _join_rows(digested, [part_path(folder, path + ".parquet", shard) for shard in sorted(shards)], params.get(suite_of(path), {}))
        yield rows_path, digested.size, digested.hasher.hexdigest()


def _join_rows(stream: Any, parts: list[str], params: Params) -> None:
    from dialmill.schemas.arrow import arrow_schema, write_parquet
    from pyarrow import parquet

    if len(parts) == 1:
        with files.read(parts[0]) as part:
            shutil.copyfileobj(part, stream, _CONTENT)
        return
    tables = (parquet.read_table(io.BytesIO(files.read_bytes(part))) for part in parts)
    write_parquet(stream, tables, arrow_schema("dialogue", params))
