"""Few-shot and hard sets in a benchmark's own release: the records of a subset again, in files of the same form below release/SUBSET.

Which dialogues belong to a subset is decided once: few_shot holds what of train the recipe asks for, in nested order, test_hard the share of test
that several kinds of baselines get wrong most often for its length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dialmill.pipelines.core.stage import Out

FEW, HARD = "few_shot", "test_hard"
#: Subset -> the split that it is part of.
SUBSETS = {FEW: "train", HARD: "test"}
_ROOT = "release/"


def in_subset(subset: str, path: str) -> str:
    """Where a file of the release stands among those of a subset: "release/few_shot/..." for "release/...", in labels/ too."""
    head, found, tail = path.partition(_ROOT)
    if not found or (head and head != "labels/"):
        raise ValueError(f"{path} is no file of a release")
    return f"{head}{_ROOT}{subset}/{tail}"


def tells_hard(path: str) -> bool:
    """Whether a published file tells which test dialogues are hard. Where labels are held out there is none: who trains the baselines that chose
    them, from the public part, would know where these are wrong, which of two labels is the label."""
    parts = path.split("/")
    return parts[:2] == [_ROOT[:-1], HARD] or (parts[0] == "dialogues" and parts[-1].partition(".")[0] == HARD)


def repeats(path: str) -> str:
    """The file of the whole release of which a subset's file repeats some records; any other path as it is."""
    return next((whole for subset in SUBSETS if (whole := path.replace(f"{_ROOT}{subset}/", _ROOT, 1)) != path), path)


def repeated(outs: Iterable[Out], subsets: Iterable[str]) -> Iterator[Out]:
    """Pieces of release files, and again for each subset that their record belongs to."""
    made = list(outs)
    yield from made
    for subset in subsets:
        for one in made:
            yield one._replace(path=in_subset(subset, one.path))


def subset_files(files: Mapping[str, str], few_shot: float, split_of: Callable[[str], str | None]) -> dict[str, str]:
    """The files of all subsets (path -> schema), with or without records.

    Args:
        files: those of the whole release.
        few_shot: the recipe's share; without one there are no few-shot files.
        split_of: the split of a file, None where it holds what all splits share.
    """
    wanted = {subset: split for subset, split in SUBSETS.items() if subset != FEW or few_shot}
    return {in_subset(subset, path): schema for subset, split in wanted.items() for path, schema in files.items() if split_of(path) == split}


def check_subsets(root: Path, manifest: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """(what was checked, what is wrong): the records of every subset stand in the whole file, as they are."""
    records = {item["path"]: item["records"] or 0 for item in manifest["outputs"]}
    sound: dict[str, list[int]] = {}
    problems: list[str] = []
    for path in sorted(records):
        for subset in SUBSETS:
            whole = path.replace(f"{_ROOT}{subset}/", _ROOT, 1)
            if whole == path or whole not in records:
                continue
            left = {hashlib.sha256(line).digest(): line[:80] for line in _records(root / path)}
            for line in _records(root / whole) if left else ():
                left.pop(hashlib.sha256(line).digest(), None)
            if left:
                problems.append(f"{path}: holds {len(left)} records that {whole} doesn't, the first: {next(iter(left.values()))!r}")
            else:
                sound.setdefault(subset, []).append(records[path])
    checked = [f"{_ROOT}{subset}: {sum(some)} records in {len(some)} files, each a part of the one it repeats" for subset, some in sound.items()]
    return ([] if problems else checked), problems


def _records(path: Path) -> Iterator[bytes]:
    """The lines of a release file, one for each record, without what separates them."""
    with path.open("rb") as lines:
        for line in lines:
            line = line.rstrip().removesuffix(b",")
            if line not in (b"[", b"]", b"{", b"}", b"[]", b"{}", b""):
                yield line
