"""Database files of corpora: tables of rows, as JSON, however a release wrote them.

A file is a list of rows called DOMAIN_db.json (MultiWOZ, RiSAWOZ), an object of lists by domain (DSTC9's db.json), or an object of objects by domain
and id (knowledge.json). Some releases write each row as text in Python's notation, some in JSON's (``true``, ``null``), and some mix the two;
CrossWOZ writes a row as a pair, its name and the object.
"""

from __future__ import annotations

import ast
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

_LITERALS = {"true": True, "false": False, "null": None, "nan": None}
#: What rows call the name of what they are about.
NAMES = ("name", "名称", "片名", "班号", "商品名称")


class Tables(NamedTuple):
    """The rows of a file by table, and where rows stand that can't be read ("hotel[3]: 'abc'")."""

    rows: dict[str, list[dict[str, Any]]]
    unread: tuple[str, ...]

    def warning(self, path: str) -> str | None:
        """What to tell of rows that can't be read, None where all can."""
        if not self.unread:
            return None
        total = len(self.unread) + sum(map(len, self.rows.values()))
        return f"{path}: {len(self.unread)} of {total} rows can't be read and are left out; the first is {self.unread[0]}"


class _Constants(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id.lower()
        return ast.copy_location(ast.Constant(_LITERALS[name]), node) if name in _LITERALS else node


@lru_cache(maxsize=16)
def read_tables(path: str) -> Tables:
    """The tables of one file.

    Raises:
        OSError: it can't be read.
        ValueError: it isn't JSON, or holds neither rows nor tables of rows.
    """
    try:
        loaded: Any = json.loads(Path(path).read_text("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: byte {error.start}") from None
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    return tables_of(loaded, Path(path).stem.removesuffix("_db").lower())


def tables_of(loaded: Any, domain: str) -> Tables:
    """The tables of a file's JSON; `domain` is the name of the one table where it is a list of rows.

    Raises:
        ValueError: it holds neither rows nor tables of rows.
    """
    if isinstance(loaded, list):
        loaded = {domain: loaded}
    if not isinstance(loaded, dict):
        raise ValueError("holds no rows; expected a list of objects, or lists by domain")
    found: dict[str, list[dict[str, Any]]] = {}
    unread: list[str] = []
    for table, rows in loaded.items():
        places = rows.items() if isinstance(rows, dict) else enumerate(rows) if isinstance(rows, list) else ()
        for place, row in places:
            plain = as_row(row)
            if plain is None:
                unread.append(f"{table}[{place}]: {str(row)[:60]!r}")
            else:
                found.setdefault(table, []).append(plain)
    return Tables(found, tuple(unread))


def as_row(row: Any) -> dict[str, Any] | None:
    """A row as an object, None where it is none and can't be read as one."""
    if isinstance(row, str):
        try:
            # JSON first: its escapes ("\\/", two of them for one emoji) are others in Python. A text may be a row that was written twice.
            return as_row(json.loads(row, parse_constant=lambda _: None))
        except (ValueError, RecursionError):
            pass
        try:
            tree = ast.fix_missing_locations(_Constants().visit(ast.parse(row.strip(), mode="eval")))
            row = ast.literal_eval(tree)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    if isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict):
        name, held = row
        return held if name_of(held) else {"name": name, **held}
    return row if isinstance(row, dict) else None


def name_of(row: dict[str, Any]) -> str:
    """The name of what a row is about, "" without one. Columns may be in capitals."""
    named = {str(key).casefold(): value for key, value in row.items() if isinstance(value, str)}
    return next((named[key].strip() for key in NAMES if key in named), "")


def warnings(paths: str) -> tuple[str, ...]:
    """What to tell of rows that can't be read, of several files ("|" between them)."""
    return tuple(said for path in filter(None, paths.split("|")) if (said := read_tables(path).warning(path)) is not None)
