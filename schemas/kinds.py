"""Kinds of files: which schema a file is held to, told from its content, else from its name.

The core's own kinds stand here; each source and each benchmark declares those of its formats (`Source.kinds`, `Benchmark.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from typing import Any

#: In a pattern: any value; as a key: whatever key comes first.
ANY = ...


@dataclass(frozen=True)
class FileKind:
    """A kind of JSON, YAML or JSONL file, and how one is recognised.

    Args:
        schema: the name of its JSON Schema, "dstc9-labels" say.
        like: patterns of the content, of which one must fit. A pattern has the shape of the document, down to the keys that tell: an object must have
            the pattern's keys (`ANY` is its first one), an array must hold something, and its first element that isn't an empty array fits.
            ``[{"target": ANY}]`` fits an array of objects with the key `target`.
        names: patterns of file names ("labels.json", "rejects/*.jsonl"), for files whose content tells nothing, such as an empty array.
        lines: whether it is JSONL, and `like` is about a line.
        exact: whether an object with more keys than the pattern's is none.
    """

    schema: str
    like: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()
    lines: bool = False
    exact: bool = False

    def fit(self, content: Any) -> int:
        """How many keys of the content speak for this kind, those of the pattern that fits best; 0 where none fits."""
        return max((_keys(pattern) for pattern in self.like if _fits(pattern, content, self.exact)), default=0)

    def fits_name(self, path: PurePath) -> int:
        """The length of the name pattern that fits, the longest one; 0 where none does."""
        return max((len(pattern) for pattern in self.names if path.match(pattern)), default=0)


@dataclass(frozen=True)
class Relative:
    """A kind of file of a known corpus or challenge that has no schema and isn't read, and is easily taken for one that is.

    Args:
        about: what it is and what to use instead, so that "FILE is ABOUT" is a sentence.
        like: patterns of the content as in `FileKind`, but an array may hold what fits anywhere among its first items.
        exact: whether an object with more keys than the pattern's is none; then all of an array's first items have to fit.
    """

    about: str
    like: tuple[Any, ...]
    exact: bool = False

    def fits(self, content: Any) -> bool:
        """Whether a document, or the first line of JSONL, is of this kind."""
        return any(_fits(pattern, content, self.exact, _LOOKED_AT) for pattern in self.like)


#: The items of an array that are looked at for a relative: its first may be one that says nothing.
_LOOKED_AT = 50


def related(relatives: Iterable[Relative], content: Any) -> str | None:
    """What a document is that is of a relative's kind; None for any other."""
    return next((one.about for one in relatives if one.fits(content)), None)


def _fits(pattern: Any, content: Any, exact: bool, items: int = 1) -> bool:
    if pattern is ANY:
        return True
    if isinstance(pattern, Sequence):
        if not isinstance(content, list):
            return False
        held = (item for item in content if item != [])
        fitting = [_fits(pattern[0], item, exact, items) for item in islice(held, items)]
        return bool(fitting) and (all if exact else any)(fitting)
    if not isinstance(content, dict):
        return False
    if ANY in pattern:
        return bool(content) and _fits(pattern[ANY], next(iter(content.values())), exact, items)
    if exact and content.keys() != pattern.keys():
        return False
    return all(key in content and _fits(inner, content[key], exact, items) for key, inner in pattern.items())


def _keys(pattern: Any) -> int:
    """The keys that a pattern asks for by name."""
    if isinstance(pattern, Mapping):
        return sum((key is not ANY) + _keys(inner) for key, inner in pattern.items())
    return sum(map(_keys, pattern)) if isinstance(pattern, Sequence) else 0


#: The kinds that belong to no source and no benchmark.
CORE = (
    FileKind("dialogue", ({"turns": ANY},), ("*.jsonl", "*.ndjson"), lines=True),
    FileKind("reject", ({"reason": ANY},), ("rejects/*.jsonl", "rejects/*.ndjson"), lines=True),
    FileKind("predictions-state", ({"dialogue_id": ANY, "turn": ANY, "state": ANY},), lines=True),
    FileKind("predictions-labels", ({"dialogue_id": ANY, "turn": ANY, "labels": ANY},), lines=True),
    FileKind("predictions-mwzeval", ({ANY: [{"response": ANY, "state": ANY}]}, {ANY: [{"response": ANY, "active_domains": ANY}]})),
    FileKind("predictions-ranking", ({"example_id": ANY, "candidates": ANY},), lines=True),
    FileKind("croissant", ({"@context": ANY, "conformsTo": ANY, "distribution": ANY},), ("croissant.json",)),
    FileKind("manifest", ({"dialmill": ANY},), ("manifest.json",)),
    FileKind("dialogue", ({"dialogue_id": ANY, "turns": ANY, "lineage": ANY},)),
    FileKind("questions", ({"pairs": ANY}, {"language": ANY, "pairs": ANY}), exact=True),
)


def by_content(kinds: Iterable[FileKind], content: Any, lines: bool) -> str | None:
    """The schema of the kind that a document (or a line) is of: where several fit, of the one with the most keys in common, then of the first."""
    best, schema = 0, None
    for kind in kinds:
        fit = kind.fit(content) if kind.lines == lines else 0
        if fit > best:
            best, schema = fit, kind.schema
    return schema


def by_name(kinds: Iterable[FileKind], path: PurePath, lines: bool) -> str | None:
    """The schema of the kind that a file's name says: where several patterns fit, of the longest, then of the first."""
    best, schema = 0, None
    for kind in kinds:
        fit = kind.fits_name(path) if kind.lines == lines else 0
        if fit > best:
            best, schema = fit, kind.schema
    return schema
