"""The word lists in ``perturbers/lexicons/LANGUAGE/NAME.tsv``: one entry a line, columns by tab, alternatives by ``|``, ``#`` begins a comment."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def rows(language: str, name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a word list, in file order; empty for a language that has none."""
    file = resources.files("dialmill.perturbers") / "lexicons" / language / f"{name}.tsv"
    if not file.is_file():
        return ()
    lines = file.read_text("utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line.strip() and not line.startswith("#"))


def packaged(language: str, file: str) -> bytes:
    """A file of a language's folder that is no word list."""
    return (resources.files("dialmill.perturbers") / "lexicons" / language / file).read_bytes()


def words(text: str) -> frozenset[str]:
    """The words of a text between blanks, as a set."""
    return frozenset(text.split())


def alternatives(cell: str) -> list[str]:
    """The alternatives in one cell."""
    return [part for part in cell.split("|") if part]
