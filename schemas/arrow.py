"""Arrow schemas and Parquet files, with types read off the JSON Schemas, so that the two forms of a record can't drift apart.

One explicit schema serves all shards of a suite: a shard whose lists are all empty, or whose values are all null, has the same types as the
others. pyarrow is imported on first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dialmill.schemas.validator import load

if TYPE_CHECKING:
    import pyarrow as pa

#: Options of a suite's steps: name to Python type (bool, int, float, str), or several where steps differ.
Params = Mapping[str, "type | Collection[type]"]

#: Rows of a row group. Fixed, so that the bytes don't depend on how the rows arrive.
ROW_GROUP = 1000
_COMPRESSION = "zstd"


def arrow_schema(name: str = "dialogue", params: Params | None = None) -> pa.Schema:
    """The Arrow schema of the record that the JSON Schema `name` describes; every field is nullable.

    Args:
        name: one of `dialmill.schemas.validate.names()` that describes an object.
        params: the fields of objects with free keys, which in a dialogue are the options in ``lineage[].params``: all options of all steps
            of the suite. Without any, that column is of type null.

    Raises:
        KeyError: no such schema.
        ValueError: the schema describes no object, or holds something that has no Arrow type (values of several types).
    """
    import pyarrow as pa

    root = load(name)
    kind = _Converter(root, params or {}).convert(root, name)
    if not isinstance(kind, pa.StructType):
        raise ValueError(f"schema {name} describes no record with named fields")
    return pa.schema([kind.field(i) for i in range(kind.num_fields)])


class _Converter:
    """From one JSON Schema to Arrow types."""

    def __init__(self, root: dict[str, Any], params: Params) -> None:
        self.root, self.params = root, params

    def convert(self, schema: dict[str, Any], path: str) -> pa.DataType:
        import pyarrow as pa

        if "$ref" in schema:
            return self.convert(self._resolve(schema["$ref"]), path)
        if "type" not in schema:
            branches = [part for key in ("anyOf", "oneOf") for part in schema.get(key, []) if part.get("type") != "null"]
            if len(branches) != 1:
                raise ValueError(f"{path}: has no single type")
            return self.convert(branches[0], path)
        types = [schema["type"]] if isinstance(schema["type"], str) else [kind for kind in schema["type"] if kind != "null"]
        if len(types) != 1:
            raise ValueError(f"{path}: has no single type, but {types}")
        if types[0] == "array":
            # "element" is what Parquet calls it: the schema is then the same after reading a file back.
            return pa.list_(pa.field("element", self.convert(schema["items"], path + "[]")))
        if types[0] == "object":
            if "properties" not in schema:
                return self._free(path)
            return pa.struct([pa.field(key, self.convert(part, f"{path}.{key}")) for key, part in schema["properties"].items()])
        scalar: pa.DataType = {"string": pa.string, "integer": pa.int64, "number": pa.float64, "boolean": pa.bool_, "null": pa.null}[types[0]]()
        return scalar

    def _resolve(self, reference: str) -> dict[str, Any]:
        found = self.root
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        return found

    def _free(self, path: str) -> pa.DataType:
        import pyarrow as pa

        if not self.params:
            return pa.null()  # Parquet can't hold a struct without fields
        arrow = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        return pa.struct([pa.field(name, arrow[option_type(name, kinds)]) for name, kinds in sorted(self.params.items())])


def option_type(name: str, kinds: type | Collection[type]) -> type:
    """The one type of an option: ints widen to float where both occur, None does not count.

    Raises:
        ValueError: the types have no common one.
    """
    found = {kinds} if isinstance(kinds, type) else set(kinds)
    found.discard(type(None))
    if found == {int, float}:
        return float
    if len(found) == 1 and found <= {str, int, float, bool}:
        return found.pop()
    listed = ", ".join(sorted(kind.__name__ for kind in found)) or "none"
    raise ValueError(f"option {name!r} has no single type for Parquet; its types are: {listed}")


def complete_options(options: Mapping[str, Any] | None, params: Params | None) -> dict[str, Any] | None:
    """One step's options under all the names of its suite, so that its JSON and its Parquet row are equal.

    Returns:
        All names of `params`, sorted: null where the step has no such option, an int as float where the option is a float. None for None, and
        where `params` is empty.

    Raises:
        ValueError: an option that `params` lacks: Parquet would lose it silently.
    """
    if options is None:
        return None
    kinds = {name: option_type(name, kind) for name, kind in sorted((params or {}).items())}
    unknown = sorted(options.keys() - kinds.keys())
    if unknown:
        raise ValueError(f"options without a declared type: {', '.join(unknown)}")
    completed = {name: options.get(name) for name in kinds}
    for name, value in completed.items():
        if kinds[name] is float and type(value) is int:
            completed[name] = float(value)
    return completed or None


def complete_params(record: dict[str, Any], params: Params | None) -> dict[str, Any]:
    """A plain dialogue with `complete_options` in every step of its lineage; the one given is not changed.

    Raises:
        ValueError: as `complete_options`.
    """
    return {**record, "lineage": [{**step, "params": complete_options(step["params"], params)} for step in record["lineage"]]}


def table(records: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Plain records as an Arrow table; missing keys become null.

    Raises:
        ValueError: a value does not fit its type (a number where text is due); names the record and the field.
    """
    import pyarrow as pa

    try:
        return pa.Table.from_pylist(records, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # Arrow does not say which record: find it.
        for index, record in enumerate(records):
            for field in schema:
                try:
                    pa.array([record.get(field.name)], field.type)
                except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
                    identity = record.get("dialogue_id", f"number {index}")
                    raise ValueError(f"record {identity}, field {field.name}: {error}") from None
        raise


def write_parquet(where: Any, tables: Iterable[pa.Table], schema: pa.Schema) -> int:
    """Writes tables as one Parquet file, zstd, in row groups of `ROW_GROUP` rows; the same rows give the same bytes however they are cut into tables.

    Args:
        where: a path, or a binary file object open for writing.
        tables: may be none at all: a file without rows is valid and loads.
        schema: of every table.

    Returns:
        The number of rows.
    """
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(where, schema, compression=_COMPRESSION, version="2.6", data_page_version="1.0") as writer:
        for group in _row_groups(tables):
            writer.write_table(group, row_group_size=ROW_GROUP)
            rows += group.num_rows
    return rows


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    import pyarrow as pa

    waiting: list[pa.Table] = []
    count = 0
    for part in tables:
        waiting.append(part)
        count += part.num_rows
        while count >= ROW_GROUP:
            # One chunk per column: chunk borders would end up in the pages.
            whole = pa.concat_tables(waiting).combine_chunks()
            yield whole.slice(0, ROW_GROUP).combine_chunks()
            waiting = [whole.slice(ROW_GROUP)]
            count -= ROW_GROUP
    if count:
        yield pa.concat_tables(waiting).combine_chunks()


def read_rows(where: Any) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as plain records, equal to the parsed lines of its JSONL form.

    Args:
        where: a path, or a binary file object that can seek.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(where) as file:
        for batch in file.iter_batches(batch_size=ROW_GROUP):
            yield from batch.to_pylist()
