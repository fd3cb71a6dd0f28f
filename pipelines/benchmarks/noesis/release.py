"""The names of the release files, and their schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialmill.pipelines.benchmarks.noesis.kinds import CONVERSATIONS, COURSES, MANUALS
from dialmill.pipelines.candidates.examples import SCHEMAS, SPLIT_NAMES, Form, release_path


def release_files(corpus: str, subtasks: Iterable[int], test_cases: Iterable[str], form: Form, blind: bool, similar: bool = False) -> dict[str, str]:
    """Every file of examples and ground truth (path -> schema, "" for tables), with or without records."""
    found: dict[str, str] = {}
    for subtask in subtasks:
        for split in SPLIT_NAMES:
            for case in test_cases if split == "test" else ("",):
                path = release_path(corpus, split, subtask, case)
                where = "labels/" if blind and split == "test" else ""
                found[path] = SCHEMAS[form]
                found[where + path.removesuffix(".json") + ".targets.tsv"] = ""
                if similar:
                    found[where + also_right_path(path)] = ""
                if split == "test":
                    found[where + responses_path(path)] = ""
    return found


def responses_path(path: str) -> str:
    """The file of the right answers that is distributed with a test set: "release/ubuntu_responses_subtask_1.tsv"."""
    return path.replace("_test", "_responses").removesuffix(".json") + ".tsv"


_BY_ENDING = {"_conversations.json": CONVERSATIONS, "_courses.json": COURSES, "manuals.jsonl": MANUALS}


def also_right_path(path: str) -> str:
    """The file of candidates that were left out of an example because they may be right as well: "release/ubuntu_test_subtask_1.also_right.tsv"."""
    return path.removesuffix(".json") + ".also_right.tsv"


_SPLIT = re.compile(r"/(?:ubuntu|advising)_(train|dev|test|responses)_(?:.*subtask_|conversations)")


def split_of(path: str) -> str | None:
    """The split of a release file, None for one that all splits share."""
    match = _SPLIT.search(path)
    return None if match is None else {"dev": "valid", "responses": "test"}.get(match[1], match[1])


def schema_of(path: str) -> str | None:
    """The schema of a release file by its name."""
    return next((schema for ending, schema in _BY_ENDING.items() if path.endswith(ending)), None)
