"""Files of rows, whatever they are written in: JSON lines, a JSON array, CSV, TSV, Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.sources.peek import PARQUET, around
from dialmill.pipelines.sources.reading import json_array_items, load_record, opening

#: The endings of files of rows.
ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
#: What may part the cells of a file that ends in .csv; the one that its first line holds most counts.
_SEPARATORS = ",;\t|"
#: Under this name stand the cells of a row of a table beyond those that have a name.
OVERFLOW = ""


class Row(NamedTuple):
    """One row: its place (the line, counted from 1; of JSON arrays and Parquet the record), and its fields. `raw` is the text of one that can't be
    read, whose `fields` are empty."""

    place: int
    fields: dict[str, Any]
    raw: bytes = b""


def read_rows(path: str, data: bytes, unwrap: Callable[[Any], bool] | None = None) -> Iterator[Row]:
    """The rows of a file, told by its ending and its first bytes; `unwrap` as of `raw_rows`.

    Raises:
        InputError: empty, cut off, not UTF-8, or not what its ending says; with line and remedy.
    """
    if data[:4] == PARQUET.encode():
        yield from _parquet(path, data)
    elif data.strip() and path.endswith((".csv", ".tsv")):
        yield from _table(path, data)
    else:
        yield from (_row(place, raw) for place, raw in raw_rows(path, data, unwrap))


def raw_rows(path: str, data: bytes, unwrap: Callable[[Any], bool] | None = None) -> Iterator[tuple[int, bytes]]:
    """The rows of a file of JSON or Parquet, each with its place and as JSON: of a file of JSON to the byte, sound or not.

    Args:
        path, data: the file.
        unwrap: whether what stands in the list of an object around everything ({"dialogues": [...]}) is a record; without it no object is opened.

    Raises:
        InputError: as `read_rows`.
    """
    if data[:4] == PARQUET.encode():
        yield from ((row.place, msgspec.json.encode(row.fields)) for row in _parquet(path, data))
    elif not data.strip():
        raise InputError(path, "is empty", "download or make it again")
    elif opening(data[:64].decode("utf-8", "replace")).startswith("["):
        yield from enumerate(json_array_items(path, data), 1)
    else:
        yield from _lines(path, data, unwrap)


def _row(place: int, raw: bytes) -> Row:
    try:
        fields = load_record(raw)
    except RecordError:
        return Row(place, {}, raw)
    return Row(place, fields) if isinstance(fields, dict) else Row(place, {}, raw)


def _lines(path: str, data: bytes, unwrap: Callable[[Any], bool] | None) -> Iterator[tuple[int, bytes]]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        # One object over several lines.
        whole = msgspec.json.decode(data)
    except UnicodeDecodeError:
        raise _not_utf8(path, data) from None
    except (msgspec.DecodeError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        name = around(whole)
        if name is None or unwrap is None or unwrap(whole) or not unwrap(whole[name][0]):
            yield 1, data.strip()
        else:
            inner = msgspec.json.decode(msgspec.json.decode(data, type=dict[str, msgspec.Raw])[name], type=list[msgspec.Raw])
            yield from ((place, bytes(raw)) for place, raw in enumerate(inner, 1))
        return
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            if number == len(lines) and not _is_json(line):
                if number == 1:
                    raise InputError(path, "line 1 is no JSON object", "expected one a line, or a JSON array of them")
                raise InputError(path, f"line {number} is cut off", "make or download it again")
            yield number, line.strip()


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _table(path: str, data: bytes) -> Iterator[Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _not_utf8(path, data) from None
    separator, text = told_separator(text)
    first = text.partition("\n")[0]
    separator = separator or ("\t" if path.endswith(".tsv") else max(_SEPARATORS, key=first.count))
    if csv.field_size_limit() < sys.maxsize:
        csv.field_size_limit(sys.maxsize)  # a cell may hold a whole dialogue
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    names: list[str] | None = None
    place = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if names is None:
                    names = [cell.strip() for cell in cells]
                    _check_header(path, names)
                else:
                    row: dict[str, Any] = dict(zip(names, cells, strict=False))
                    if len(cells) > len(names):
                        row[OVERFLOW] = cells[len(names) :]
                    yield Row(place, row)
            place = reader.line_num + 1
    except csv.Error as error:
        remedy = "a quotation mark inside a quoted cell is written twice" if "'" in str(error) or '"' in str(error) else "is a quoted cell left open?"
        raise InputError(path, f"line {place}: {error}", remedy) from None


def told_separator(text: str) -> tuple[str, str]:
    """(what parts the cells, the table) of a table whose first line tells it, as Excel wants it ("sep=;"); ("", the table) of any other."""
    told = re.match(r'"?sep=(.)"?\r?\n', text)
    return (told[1], text[told.end() :]) if told is not None else ("", text)


def _not_utf8(path: str, data: bytes) -> InputError:
    """The error of a file that isn't UTF-8, with its first byte that no such text has."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8")
    return InputError(path, "is not UTF-8", "convert it to UTF-8")


def _check_header(path: str, names: list[str]) -> None:
    """Raises `InputError` where two columns have one name."""
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    if repeated:
        raise InputError(path, f"has two columns called {repeated[0]!r}", "rename one of them")


def _parquet(path: str, data: bytes) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(io.BytesIO(data)) as file:
            number = 0
            for batch in file.iter_batches(batch_size=1000):
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(number, fields)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(path, f"is no sound Parquet file: {str(error).splitlines()[0]}", "download or make it again") from None
