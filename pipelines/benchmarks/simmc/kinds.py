"""The kinds of files of DSTC9 Track 4, and how one is told. Its dialogues are the source's own kind, `simmc`."""

from __future__ import annotations

from dialmill.schemas.kinds import ANY, FileKind

DIALOGUES, CALLS, RETRIEVAL, PREDICTIONS = "simmc", "simmc-api-calls", "simmc-retrieval", "predictions-simmc"

KINDS = (
    FileKind(CALLS, ([{"dialog_id": ANY, "actions": ANY}],), ("*_api_calls.json",)),
    FileKind(RETRIEVAL, ({"system_transcript_pool": ANY, "retrieval_candidates": ANY},), ("*_retrieval_candidates.json",)),
    FileKind(
        PREDICTIONS,
        ([{"dialog_id": ANY, "predictions": ANY}], [{"dialog_id": ANY, "candidate_scores": ANY}], [{"dialog_id": ANY, "states": ANY}]),
    ),
)
