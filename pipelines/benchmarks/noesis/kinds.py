"""The kinds of files of next-utterance selection, and how one is told."""

from __future__ import annotations

from dialmill.pipelines.candidates.examples import SCHEMAS
from dialmill.schemas.kinds import ANY, FileKind

#: Examples of DSTC7 and of DSTC8, whose messages have a date.
EXAMPLES, DATED_EXAMPLES = SCHEMAS["dstc7"], SCHEMAS["dstc8"]
CONVERSATIONS, COURSES, MANUALS = "noesis-conversations", "noesis-courses", "noesis-manuals"

KINDS = (
    FileKind(EXAMPLES, ([{"example-id": ANY, "messages-so-far": ANY}],), ("*_subtask_?.json",)),
    FileKind(DATED_EXAMPLES, ([{"example-id": ANY, "messages-so-far": [{"date": ANY}]}],)),
    FileKind("predictions-noesis", ([{"example-id": ANY, "candidate-ranking": ANY}],)),
    FileKind(CONVERSATIONS, ([{"conversation-id": ANY, "messages": ANY, "data-split": ANY}],)),
    FileKind(MANUALS, ({"name": ANY, "section": ANY, "text": ANY},), lines=True, exact=True),
)
