"""Kinds of files: which schema a file is held to, told from its content, else from its name.

The core's own kinds stand here; each source and each benchmark declares those of its formats (`Source.kinds`, `Benchmark.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def _fits(pattern: Any, content: Any, exact: bool) -> bool:
    if pattern is ANY:
        return True
    if isinstance(pattern, Sequence):
        if not isinstance(content, list):
            return False
        first = next((item for item in content if item != []), ANY)
        return first is not ANY and _fits(pattern[0], first, exact)
    if not isinstance(content, dict):
        return False
    if ANY in pattern:
        return bool(content) and _fits(pattern[ANY], next(iter(content.values())), exact)
    if exact and content.keys() != pattern.keys():
        return False
    return all(key in content and _fits(inner, content[key], exact) for key, inner in pattern.items())


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
