"""What the scorers of CGoDial's releases share: where files lie, and how ids of our records read."""

from __future__ import annotations

from pathlib import Path

from dialmill.pipelines.core.errors import InputError
from dialmill.schemas.kinds import FileKind

#: Suites of CGoDial's scorers: all versions of the test set, as the paper scores it, and its hard part.
ALL_VERSIONS, HARD = "test_std", "test_hard"

#: The lists of ids of a split.
IDS = FileKind("cgodial-ids", (), ("*_ids.json", "*ListFile.json"))


def find(gold: str, name: str) -> Path | None:
    """A file of a release by its name: `gold` itself, or below it; held-out labels come first. None if there is none.

    Raises:
        InputError: `gold` doesn't exist.
    """
    root = Path(gold)
    if not root.exists():
        raise InputError(gold, "does not exist", "check the path")
    if root.is_file():
        return root if root.name == name else None
    return min(root.rglob(name), key=lambda path: ("labels" not in path.relative_to(root).parts, str(path)), default=None)


def need(gold: str, name: str) -> Path:
    """`find`, of a file that must be there.

    Raises:
        InputError: it isn't.
    """
    path = find(gold, name)
    if path is None:
        raise InputError(gold, f"holds no {name}", "name an output folder, or the release's data folder")
    return path


def parts(dialogue_id: str, path: str) -> tuple[str, str, int]:
    """SOURCE_ID/SUITE/VARIANT taken apart.

    Raises:
        InputError: it isn't of that form.
    """
    name, _, rest = dialogue_id.rpartition("/")
    source, _, suite = name.rpartition("/")
    if not source or not rest.isdigit():
        raise InputError(path, f"holds the dialogue_id {dialogue_id!r}", "expected is SOURCE_ID/SUITE/VARIANT, as dialogues/SUITE/*.jsonl have it")
    return source, suite, int(rest)
