"""The kinds of files of DSTC9 Track 3, and how one is told."""

from __future__ import annotations

from dialmill.schemas.kinds import ANY, FileKind

ITEMS, KEY, QUESTIONS, RATINGS = "dstc9-track3-items", "dstc9-track3-key", "dstc9-track3-questionnaire", "fed-ratings"
PREDICTIONS = "predictions-dstc9-track3"

KINDS = (
    FileKind(RATINGS, ([{"context": ANY, "system": ANY, "annotations": ANY}],), ("ratings.json",)),
    FileKind(ITEMS, ([{"id": ANY, "context": ANY}],), ("turn_level.json", "dialogue_level.json")),
    FileKind(KEY, ({ANY: {"system": ANY, "source_id": ANY, "level": ANY}},), ("key.json",)),
    FileKind(QUESTIONS, ({"turn": [{"quality": ANY, "question": ANY}]}, {"dialogue": [{"quality": ANY, "question": ANY}]}), ("questionnaire.json",)),
    FileKind(PREDICTIONS, ({"item_id": ANY, "score": ANY}, {"item_id": ANY, "scores": ANY}), lines=True),
)
