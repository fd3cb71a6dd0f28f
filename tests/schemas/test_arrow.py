"""Parquet: the rows of the JSONL lines, the same bytes every time, no matter how rows arrive."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dialmill.schemas import Dialogue
from dialmill.schemas.arrow import ROW_GROUP, arrow_schema, complete_params, option_type, read_rows, table, write_parquet
from dialmill.schemas.validate import validate_record
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schemas.cases import good
from tests.strategies import PARAMS, dialogues


def written(records: list[dict[str, Any]], schema: pa.Schema, cuts: tuple[int, ...] = ()) -> bytes:
    """The records as a Parquet file, handed over in tables cut at `cuts`."""
    buffer = io.BytesIO()
    bounds = [0, *cuts, len(records)]
    tables = [table(records[start:end], schema) for start, end in pairwise(bounds)]
    assert write_parquet(buffer, tables, schema) == len(records)
    return buffer.getvalue()


@settings(max_examples=30)
@given(st.lists(dialogues(max_turns=3), max_size=3))
def test_rows_equal_lines(records: list[Dialogue]) -> None:
    schema = arrow_schema(params=PARAMS)
    lines = [complete_params(record.to_dict(), PARAMS) for record in records]
    rows = list(read_rows(io.BytesIO(written(lines, schema))))
    assert rows == lines
    for row, record in zip(rows, records, strict=True):
        assert validate_record("dialogue", row) == []
        assert Dialogue.from_dict(row).replace(lineage=()) == record.replace(lineage=())


SCHEMA_PARAMS = PARAMS | {"strict": bool, "limit": int}


def records(number: int) -> list[dict[str, Any]]:
    first = complete_params(good("dialogue")[0], SCHEMA_PARAMS)
    return [{**first, "dialogue_id": f"D{index}/typos/0", "source_id": f"D{index}"} for index in range(number)]


@pytest.mark.parametrize("cuts", [(1,), (ROW_GROUP,), (7, 900, ROW_GROUP + 1, 2 * ROW_GROUP), (0, 0, 2 * ROW_GROUP + 9)])
def test_bytes_do_not_depend_on_how_rows_arrive(cuts: tuple[int, ...]) -> None:
    schema = arrow_schema(params=SCHEMA_PARAMS)
    rows = records(2 * ROW_GROUP + 10)
    whole = written(rows, schema)
    assert written(rows, schema, cuts) == whole
    layout = pq.ParquetFile(io.BytesIO(whole)).metadata
    assert [layout.row_group(number).num_rows for number in range(layout.num_row_groups)] == [ROW_GROUP, ROW_GROUP, 10]


def test_shards_with_empty_lists_have_the_types_of_the_others() -> None:
    """A shard whose lists are all empty reads as list<null> where types are guessed."""
    schema = arrow_schema(params=SCHEMA_PARAMS)
    bare = complete_params(good("dialogue")[1], SCHEMA_PARAMS)
    shards = [pq.read_table(io.BytesIO(written(shard, schema))) for shard in ([bare] * 3, records(1), [])]
    assert {shard.schema for shard in shards} == {schema}
    assert pa.concat_tables(shards).num_rows == 4


def test_missing_keys_become_null() -> None:
    """A key that only some records of a shard have would otherwise be missing from its columns."""
    schema = arrow_schema("reject")
    rows = list(read_rows(io.BytesIO(written([{"stage": "read", "reason": "x"}, good("reject")[0]], schema))))
    assert rows[0]["index"] is None and rows[0]["stage"] == "read"
    assert rows[1] == good("reject")[0]


@pytest.mark.parametrize("value", [1408, True, ["1408"], {"a": 1}])
def test_values_of_another_type_are_refused_by_name(value: Any) -> None:
    """Nothing is converted silently."""
    schema = arrow_schema()
    record = {**good("dialogue")[1], "domains": ["hotel", value]}
    with pytest.raises(ValueError, match=r"record D2/standard/0, field domains"):
        table([good("dialogue")[1], record], schema)


def test_types_follow_the_json_schema() -> None:
    schema = arrow_schema(params={"wer": {float, int}, "rate": float, "style": {str, type(None)}, "limit": int, "strict": bool})
    assert schema.field("variant").type == pa.int64()
    assert schema.field("domains").type.value_type == pa.string()
    turn = schema.field("turns").type.value_type
    assert turn.field("spans").type.value_type.field("start").type == pa.int64()
    assert turn.field("state").type.value_type.field("values").type.value_type == pa.string()
    assert schema.field("goal").type.field("text").type == pa.string()
    params = schema.field("lineage").type.value_type.field("params").type
    assert [(field.name, field.type) for field in params] == [
        ("limit", pa.int64()),
        ("rate", pa.float64()),
        ("strict", pa.bool_()),
        ("style", pa.string()),
        ("wer", pa.float64()),
    ]
    assert arrow_schema().field("lineage").type.value_type.field("params").type == pa.null()


@pytest.mark.parametrize("kinds", [{int, str}, {bool, int}, set(), {type(None)}, list])
def test_an_option_needs_one_type(kinds: Any) -> None:
    with pytest.raises(ValueError, match="option 'x' has no single type"):
        option_type("x", kinds)


@pytest.mark.parametrize(("name", "message"), [("soloist", "no record with named fields"), ("dstc9-labels", "has no single type")])
def test_files_that_are_no_tables_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        arrow_schema(name)


def test_complete_params() -> None:
    step = {"step": "a@1", "seed": 1, "outcome": "changed", "skipped": [], "reasons": []}
    record = {"dialogue_id": "D1", "lineage": [{**step, "params": {"rate": 1}}, {**step, "params": None}, {**step, "params": {"n": 2, "s": "x"}}]}
    before = json.dumps(record)
    completed = complete_params(record, {"rate": float, "s": str, "n": int})
    assert [entry["params"] for entry in completed["lineage"]] == [{"n": None, "rate": 1.0, "s": None}, None, {"n": 2, "rate": None, "s": "x"}]
    assert list(completed["lineage"][0]["params"]) == ["n", "rate", "s"]
    assert json.dumps(completed["lineage"][0]["params"]["rate"]) == "1.0"
    assert json.dumps(record) == before
    with pytest.raises(ValueError, match="options without a declared type: n, s"):
        complete_params(record, {"rate": float})
    assert complete_params({"dialogue_id": "D1", "lineage": [{**step, "params": {}}]}, None)["lineage"][0]["params"] is None


def _chained() -> list[dict[str, Any]]:
    """Records of a chained suite: steps with different options, skipped turns, null goals, Chinese, empty lists."""
    base = good("dialogue")[0]
    step = base["lineage"][0]
    chain = [
        {**step, "params": {"rate": 0.5}},
        {**step, "step": "speech@1", "params": {"wer": 0.3, "engine": "espeak"}, "skipped": []},
        {**step, "params": None},
    ]
    made = [base | {"lineage": chain}, good("dialogue")[1], base | {"lineage": chain[::-1], "goal": None}]
    return [complete_params(record, {"rate": float, "wer": float, "engine": str}) for record in made]


@pytest.mark.slow
def test_both_forms_load_alike_with_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 8: equal rows through `datasets.load_dataset`, also for files without rows."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    datasets = pytest.importorskip("datasets")
    cache = str(tmp_path / "cache")
    params = {"rate": float, "wer": float, "engine": str}
    schema = arrow_schema(params=params)
    rows = _chained()
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    write_parquet(str(tmp_path / "test.parquet"), [table(rows, schema)], schema)
    write_parquet(str(tmp_path / "empty.parquet"), [], schema)

    def loaded(kind: str, name: str) -> Any:
        return datasets.load_dataset(kind, data_files=str(tmp_path / name), split="train", cache_dir=cache)

    from_lines, from_parquet = loaded("json", "test.jsonl").to_list(), loaded("parquet", "test.parquet").to_list()
    assert from_lines == from_parquet == rows
    # datasets refuses to *prepare* a split without rows in any format ("corresponds to no data"), but streams it.
    empty = datasets.load_dataset("parquet", data_files=str(tmp_path / "empty.parquet"), split="train", streaming=True)
    assert list(empty) == [] and list(empty.features) == schema.names
