"""What the checks of CGoDial's releases share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.core.checked import Checked

#: At most so many faults of a file are named.
_MOST = 20


def found(sound: str, faults: Iterator[str]) -> Checked:
    """The first faults, or what holds where there are none."""
    problems = [fault for fault, _ in zip(faults, range(_MOST), strict=False)]
    return Checked([] if problems else [sound], problems)


def load(path: Path) -> Any:
    """A JSON file of a release, whose schema has been checked."""
    return msgspec.json.decode(path.read_bytes())


def listed(root: Path, lists: Mapping[str, Path], names: Iterable[str]) -> Iterator[str]:
    """Faults of split lists: every dialogue stands in one of them, once."""
    seen: dict[str, str] = {}
    for split, path in lists.items():
        for name in load(path):
            if name in seen:
                yield f"{path.relative_to(root)}: {name} is in {seen[name]} too"
            seen[name] = split
    there = set(names)
    for name in sorted(there ^ seen.keys()):
        yield f"{name} has a dialogue but is in no list of a split" if name in there else f"{name} is in a list but has no dialogue"
