"""The kinds of files of DSTC9 Track 1, and how one is told."""

from __future__ import annotations

from dialmill.schemas.kinds import ANY, FileKind, Relative

LOGS, LABELS, KNOWLEDGE, OUTPUT_SCHEMA = "dstc9-logs", "dstc9-labels", "dstc9-knowledge", "dstc9-output-schema"
#: Predictions, which have the form of labels; told from them by `--schema` alone.
PREDICTIONS = "predictions-dstc9"

KINDS = (
    FileKind(LOGS, ([[{"speaker": ANY}]],), ("logs.json",)),
    FileKind(LABELS, ([{"target": ANY}],), ("labels.json",)),
    FileKind(KNOWLEDGE, ({ANY: {ANY: {"docs": ANY}}},), ("knowledge.json",)),
    FileKind(OUTPUT_SCHEMA, (), ("output_schema.json",)),
)

#: DSTC11 Track 5 has the same files, with reviews as knowledge too.
RELATIVES = (
    Relative("a file of labels of DSTC11 Track 5, whose knowledge has reviews", ([{"knowledge": [{"doc_type": ANY}]}],)),
    Relative("a file of knowledge of DSTC11 Track 5, which has reviews", ({ANY: {ANY: {"reviews": ANY}}},)),
)
