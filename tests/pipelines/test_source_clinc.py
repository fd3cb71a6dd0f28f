"""CLINC150: a query is a dialogue of one turn, with a label."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.sources.clinc import Clinc

from .source_tools import parse, read_data

SOURCE = Clinc()
CONTENT: dict[str, Any] = {
    "oos_val": [["why is the sea loud", "oos"]],
    "val": [["lock my card", "freeze_account"]],
    "train": [["hello", "greeting"], ["start a timer", "timer"]],
    "oos_test": [["who won", "oos"]],
    "test": [["hi", "greeting"]],
    "oos_train": [["is zinc old", "oos"]],
}


def test_ids_splits_and_labels() -> None:
    read = read_data(SOURCE, {"data_full.json": json.dumps(CONTENT).encode()})
    assert {key: (dialogue.split, dialogue.turns[0].utterance, dialogue.turns[0].labels) for key, dialogue in read.dialogues.items()} == {
        "oos_val/0": ("valid", "why is the sea loud", ("oos",)),
        "val/0": ("valid", "lock my card", ("intent:freeze_account",)),
        "train/0": ("train", "hello", ("intent:greeting",)),
        "train/1": ("train", "start a timer", ("intent:timer",)),
        "oos_test/0": ("test", "who won", ("oos",)),
        "test/0": ("test", "hi", ("intent:greeting",)),
        "oos_train/0": ("train", "is zinc old", ("oos",)),
    }
    assert all(len(dialogue.turns) == 1 and not dialogue.domains and not dialogue.lineage for dialogue in read.dialogues.values())


@pytest.mark.parametrize(
    ("query", "reason", "evidence"),
    [
        (["hello"], "wrong_type", "found 1 elements"),
        ("hello", "wrong_type", "found a string"),
        (["hello", 3], "wrong_type", "expected [text, intent]"),
        ([" ", "timer"], "empty_dialogue", "text is blank"),
        (["hello", ""], "empty_dialogue", "intent is blank"),
    ],
)
def test_what_is_refused(query: Any, reason: str, evidence: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, query)
    assert caught.value.reason == reason
    assert evidence in caught.value.evidence


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"train": [["a", "b"]], "dev": []}, "holds a list 'dev'"),
        ({"train": [["a", "b"]], "val": {}}, "found an object"),
    ],
)
def test_files_that_are_no_lists_of_queries(content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_data(SOURCE, {"data_full.json": json.dumps(content).encode()})
    with pytest.raises(InputError, match="is empty"):
        list(SOURCE.pieces("dialogues", "data_full.json", b""))


@pytest.mark.parametrize(
    ("path", "head", "role"),
    [
        ("data_full.json", json.dumps(CONTENT, indent=4), "dialogues"),
        ("mine.json", json.dumps(CONTENT), "dialogues"),
        ("data_oos_plus.json", "", "dialogues"),
        ("domains.json", '{"banking": ["freeze_account"]}', "other"),
        ("val.json", '{"1": {"goal": []}}', None),
        ("x.json", '{"train": ["a", "b"]}', None),
        ("all_wiki_sents.txt", "the two talk", None),
    ],
)
def test_files_are_told_apart(path: str, head: str, role: str | None) -> None:
    assert SOURCE.role(path, head) == role
