"""Candidate sets to look at: the first examples of each release file that holds some."""

from __future__ import annotations

import json
from typing import Any

from dialmill.perturbers.core.graphemes import shortened
from dialmill.pipelines.candidates.examples import SCHEMAS
from dialmill.pipelines.core import files

#: Bytes of a file that are read: a hundred candidates take some ten thousand.
_HEAD = 400_000
_PER_FILE, _FILES = 3, 12
_MESSAGES, _CANDIDATES, _CHARACTERS = 6, 8, 400


def sets(folder: str, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first examples of each release file that has candidates, tests first: of a set, the right answers are shown and the first of the others.

    Returns:
        {"file", "examples": [{"id", "context": [{"speaker", "utterance"}], "options": [{"utterance", "right"}], "more"}]}
    """
    paths = [item["path"] for item in outputs if item["schema"] == SCHEMAS["dstc7"] and item["records"] and item["path"].startswith("release/")]
    paths.sort(key=lambda path: ("_test" not in path, path))
    made: list[dict[str, Any]] = []
    for path in paths:
        if len(made) == _FILES:
            break
        found = [_shown(one) for one in _first(files.read_head(files.join(folder, path), _HEAD)) if one.get("options-for-next")]
        if found:
            made.append({"file": path, "examples": found[:_PER_FILE]})
    return made


def _first(head: bytes) -> list[dict[str, Any]]:
    """The elements of a JSON array that stand whole in its first bytes."""
    text, decoder, place = head.decode("utf-8", "ignore"), json.JSONDecoder(), 1
    found: list[dict[str, Any]] = []
    while len(found) < _PER_FILE:
        while place < len(text) and text[place] in " \r\n\t,":
            place += 1
        try:
            one, place = decoder.raw_decode(text, place)
        except ValueError:
            break
        found.append(one)
    return found


def _shown(example: dict[str, Any]) -> dict[str, Any]:
    right = {one["candidate-id"] for one in example.get("options-for-correct-answers", [])}
    options = example["options-for-next"]
    chosen = [one for one in options if one["candidate-id"] in right]
    chosen += [one for one in options if one["candidate-id"] not in right][: max(0, _CANDIDATES - len(chosen))]
    return {
        "id": example["example-id"],
        "context": [
            {"speaker": one.get("speaker", ""), "utterance": shortened(str(one["utterance"]), _CHARACTERS)}
            for one in example["messages-so-far"][-_MESSAGES:]
        ],
        "options": [{"utterance": shortened(str(one["utterance"]), _CHARACTERS), "right": one["candidate-id"] in right} for one in chosen],
        "more": len(options) - len(chosen),
        "blind": "options-for-correct-answers" not in example,
    }
