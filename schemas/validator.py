"""JSON Schemas by name: jsonschema is the reference and writes the messages, jsonschema-rs answers yes or no on the hot path.

Two rules are stricter than draft 2020-12, and hold in both: a float is no integer, 3.0 neither, and a number is finite. The fast side gets the
first one by reading the schemas as draft 4, where 3.0 is no integer; `check_lint` therefore keeps the schemas to the keywords on which the two
drafts agree. jsonschema-rs was chosen by measuring (tests/benchmarks/bench_validate.py).
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

_SUFFIX = ".schema.json"
#: The entry points of benchmarks: a package that brings one may bring its schemas.
_GROUP = "dialmill.benchmarks"

#: Keywords that mean the same in draft 2020-12 and draft 4. `pattern` is left out: Python and Rust read expressions differently.
_KEYWORDS = frozenset(
    {"$schema", "$id", "$ref", "$defs", "title", "description", "type", "enum", "properties", "required", "additionalProperties"}
    | {"items", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "allOf", "anyOf", "oneOf"}
)
_SUBSCHEMAS = ("additionalProperties", "items")
_SUBSCHEMA_LISTS = ("allOf", "anyOf", "oneOf")
_SUBSCHEMA_MAPS = ("properties", "$defs")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Args:
        path: where in the record: ``turns[3].spans[0].start``; empty for the record as a whole.
        message: what was expected.
        found: what is there, as JSON, shortened.
        line: line of the file, from 1, where it has lines.
    """

    path: str
    message: str
    found: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        found = f" (found {self.found})" if self.found and self.found not in self.message else ""
        return where + (f"{self.path}: " if self.path else "") + self.message + found


def names() -> tuple[str, ...]:
    """Names of all schemas, those of installed plug-ins too, sorted."""
    return tuple(sorted(_places()))


def load(name: str) -> dict[str, Any]:
    """The JSON Schema called `name`: ours, or that of a plug-in.

    Raises:
        KeyError: there is none (the message lists those there are), or two packages bring one of that name.
        ValueError: the file is no JSON.
    """
    found = _places().get(name)
    if found is None:
        raise KeyError(f"no schema {name!r}; there are: {', '.join(names())}")
    if len(found) > 1:
        raise KeyError(f"the schema {name!r} is brought by {' and '.join(map(str, found))}; uninstall one of the packages")
    loaded: dict[str, Any] = json.loads(found[0].read_bytes())
    return loaded


@functools.cache
def _places() -> dict[str, list[Path]]:
    """The files of each name. One of ours hides those of plug-ins; of two plug-ins none wins in silence."""
    found = _schemas_in(Path(__file__).parent)
    ours = set(found)
    for folder in _plugin_folders():
        for name, paths in _schemas_in(folder).items():
            if name not in ours:
                found.setdefault(name, []).extend(paths)
    return found


def _schemas_in(package: Path) -> dict[str, list[Path]]:
    return {path.name[: -len(_SUFFIX)]: [path] for path in sorted((package / "json").glob("*" + _SUFFIX))}


def _plugin_folders() -> list[Path]:
    """The folders of the packages that bring benchmarks, whose ``json/NAME.schema.json`` are schemas. No package is imported to find them."""
    folders = set()
    for point in metadata.entry_points(group=_GROUP):
        top, *inner = point.value.partition(":")[0].strip().split(".")
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):  # a package that is broken is reported where it is used
            spec = None
        for root in (spec.submodule_search_locations or ()) if spec is not None else ():
            # The module that the entry point names is a file, or a folder of its own.
            folder = Path(root, *inner)
            folders.add(folder if folder.is_dir() else folder.parent)
    return sorted(folders)


def check_lint(schema: dict[str, Any]) -> list[str]:
    """What is wrong with a schema itself, each as "PATH: MESSAGE"; empty if nothing is.

    It must be a valid draft 2020-12 schema with ``$id`` and title, hold only keywords that the fast side reads alike (a misspelt one would
    be ignored silently), describe every field, say for every object which further keys it takes, and leave no value without a type.
    """
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return [f"{_path(error.absolute_path)}: {error.message}"]
    faults = [f"{key}: is missing" for key in ("$schema", "$id", "title") if key not in schema]
    for path, part, whole in _subschemas(schema, "", True):
        faults += [f"{path}: unknown keyword {key!r}" for key in part if key not in _KEYWORDS]
        if "$ref" in part and set(part) - {"$ref", "description"}:
            faults.append(f"{path}: draft 4 ignores keywords beside $ref")
        if not whole:
            continue  # a branch of oneOf: the schema around it has the types
        if "description" not in part and "$ref" not in part and part.get("type") != "null":
            faults.append(f"{path}: has no description")
        if not {"type", "$ref", "anyOf", "oneOf"} & set(part):
            faults.append(f"{path}: has no type")
        if "object" in _types(part) and "additionalProperties" not in part:
            faults.append(f"{path}: does not say which further keys it takes (additionalProperties)")
        if "array" in _types(part) and "items" not in part:
            faults.append(f"{path}: does not say what its items are")
    return faults


def _types(schema: dict[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return types if isinstance(types, list) else [types]


def _subschemas(schema: Any, path: str, whole: bool) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """(path, subschema, whether it stands on its own) for `schema` and everything below it."""
    if not isinstance(schema, dict):
        return
    yield path or "(root)", schema, whole
    beside_types = "type" in schema
    for key in _SUBSCHEMAS:
        yield from _subschemas(schema.get(key), f"{path}/{key}", whole)
    for key in _SUBSCHEMA_LISTS:
        for index, part in enumerate(schema.get(key, [])):
            yield from _subschemas(part, f"{path}/{key}/{index}", whole and not beside_types and "type" in part)
    for key in _SUBSCHEMA_MAPS:
        for name, part in schema.get(key, {}).items():
            yield from _subschemas(part, f"{path}/{key}/{name}", whole)


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: Any, value: Any) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)))


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_string(_: Any, value: Any) -> bool:
    return _is_text(value)


def _is_array(_: Any, value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_object(_: Any, value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value))


@functools.cache
def _reference_class() -> type[Draft202012Validator]:
    from jsonschema import Draft202012Validator, validators

    checker = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number, "string": _is_string, "array": _is_array, "object": _is_object}
    )
    made: type[Draft202012Validator] = validators.extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]
    return made


class Validator:
    """Validates instances (plain Python values) by one schema.

    Args:
        schema: a name out of `names()`, or a schema that passes `check_lint`.
    """

    def __init__(self, schema: str | dict[str, Any]) -> None:
        import jsonschema_rs

        self.schema = load(schema) if isinstance(schema, str) else schema
        self._fast = jsonschema_rs.Draft4Validator(self.schema).is_valid

    @functools.cached_property
    def _reference(self) -> Draft202012Validator:
        return _reference_class()(self.schema)

    def is_valid(self, instance: Any) -> bool:
        """The verdict, fast. Also False for what JSON can't hold: NaN, lone surrogates, keys that are no strings."""
        try:
            msgspec.json.encode(instance)  # jsonschema-rs lets lone surrogates pass
            verdict: bool = self._fast(instance)
        except (ValueError, TypeError, RecursionError):
            return False
        return verdict

    def errors(self, instance: Any) -> list[Problem]:
        """Everything that is wrong, in the order of the record; empty if it is valid. Slow: call it where `is_valid` says no."""
        found = [leaf for error in self._reference.iter_errors(instance) for leaf in _leaves(error)]
        found.sort(key=lambda error: [(isinstance(part, str), part) for part in error.absolute_path])
        return [Problem(_path(error.absolute_path), _message(error), _found(error)) for error in found]


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors inside the branch of `anyOf`/`oneOf` that was meant, since "not valid under any of the schemas" helps nobody."""
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        yield error
        return
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)

    def unlikely(branch: list[ValidationError]) -> tuple[bool, int]:
        # A wrong type at the top, or a wrong enum (the discriminator), says that another branch was meant.
        return any(e.validator == "enum" or (e.validator == "type" and not e.path) for e in branch), len(branch)

    for inner in min(branches.values(), key=unlikely):
        yield from _leaves(inner)


def _message(error: ValidationError) -> str:
    value = error.instance
    if error.validator == "type":
        due = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        if "integer" in due and isinstance(value, float):
            return f"{value!r} is not of type 'integer' (write it without point and exponent)"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{value!r} is no JSON number"
        if isinstance(value, str) and "string" in due:
            return f"{value!r} holds a lone surrogate, which no UTF-8 text can carry"
        return f"{show(value)} is not of type " + ", ".join(repr(t) for t in due)
    message: str = error.message
    return message if len(message) <= 300 else message[:200] + " ... " + message[-90:]


def _found(error: ValidationError) -> str:
    if error.validator in ("required", "additionalProperties") and isinstance(error.instance, dict):
        return "the keys " + ", ".join(ascii(key)[1:-1] for key in error.instance) if error.instance else "no keys"
    return show(error.instance)


def show(value: Any, limit: int = 80) -> str:
    """`value` as JSON, shortened to `limit` characters, safe to print."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else text[: limit - 4] + " ..."


def _path(parts: Any) -> str:
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("_", "a").replace("-", "a").isalnum():
            text += f".{part}" if text else part
        else:
            text += f"[{part!r}]"
    return text
