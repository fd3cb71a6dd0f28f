"""What holds for every schema, present and future."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from dialmill.schemas import Dialogue
from dialmill.schemas.arrow import arrow_schema
from dialmill.schemas.validate import Validator, check_lint, load, names

from tests.schemas.cases import bad, good


@pytest.mark.parametrize("name", names())
def test_schema_is_sound(name: str) -> None:
    schema = load(name)
    assert check_lint(schema) == []
    assert schema["$id"] == f"urn:dialmill:schema:{name}"
    assert schema["title"].startswith(f"{name}: ")


@pytest.mark.parametrize("name", names())
def test_schema_has_fixtures_and_both_sides_agree_on_them(name: str) -> None:
    validator = Validator(name)
    assert good(name)
    for instance in good(name):
        assert validator.errors(instance) == []
        assert validator.is_valid(instance)
    cases = list(bad(name))
    assert cases
    for why, at, instance in cases:
        assert not validator.is_valid(instance), why
        problems = validator.errors(instance)
        assert problems, why
        assert problems[0].path == at, (why, problems)
        assert problems[0].message, why


def test_names_are_known_and_an_unknown_one_lists_them() -> None:
    assert {"dialogue", "reject", "manifest", "soloist", "dstc9-logs", "dstc9-labels", "dstc9-knowledge"} <= set(names())
    with pytest.raises(KeyError, match="dialogue, dstc9-knowledge"):
        load("dialog")


def _same_fields(kind: msgspec.inspect.Type, schema: dict[str, Any], root: dict[str, Any], path: str) -> None:
    """Every Struct below `kind` has the schema's properties, in its order, nullable where they are."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    types = schema.get("type", [part.get("type") for part in schema.get("anyOf", [])])
    if isinstance(kind, msgspec.inspect.UnionType):
        assert "null" in types, f"{path} may be null in Python, not in the schema"
        rest = [part for part in kind.types if not isinstance(part, msgspec.inspect.NoneType)]
        if len(rest) > 1:
            return  # a plain value of several types
        (kind,) = rest
        schema = next((part for part in schema.get("anyOf", []) if part.get("type") != "null"), schema)
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    else:
        assert "null" not in types, f"{path} may be null in the schema, not in Python"
    if isinstance(kind, msgspec.inspect.StructType):
        assert [field.name for field in kind.fields] == list(schema["properties"]), path
        for field in kind.fields:
            _same_fields(field.type, schema["properties"][field.name], root, f"{path}.{field.name}")
    elif isinstance(kind, msgspec.inspect.VarTupleType):
        _same_fields(kind.item_type, schema["items"], root, path + "[]")
    elif isinstance(kind, msgspec.inspect.LiteralType):
        assert {value for value in schema["enum"] if value is not None} == set(kind.values), path
    elif isinstance(kind, msgspec.inspect.DictType):
        assert "additionalProperties" in schema, path
    else:
        due = {msgspec.inspect.StrType: "string", msgspec.inspect.IntType: "integer"}[type(kind)]
        assert due in schema["type"], path


def test_python_and_schema_have_the_same_fields() -> None:
    schema = load("dialogue")
    _same_fields(msgspec.inspect.type_info(Dialogue), schema, schema, "dialogue")


@pytest.mark.parametrize("name", ["dialogue", "reject"])
def test_parquet_and_schema_have_the_same_fields(name: str) -> None:
    assert arrow_schema(name, {"rate": float}).names == list(load(name)["properties"])
