"""The kinds of files of agent-noise, and how one is told."""

from __future__ import annotations

from dialmill.schemas.kinds import ANY, FileKind

EXAMPLES, INPUTS, LABELS, PREDICTIONS = "agent-noise", "agent-noise-inputs", "agent-noise-labels", "predictions-agent-noise"

KINDS = (
    FileKind(EXAMPLES, ({"example_id": ANY, "messages": ANY, "target": ANY},), lines=True),
    FileKind(INPUTS, ({"example_id": ANY, "messages": ANY},), lines=True),
    FileKind(LABELS, ({"example_id": ANY, "target": ANY},), lines=True),
    FileKind(
        PREDICTIONS,
        ({"example_id": ANY, "calls": ANY}, {"example_id": ANY, "answer": ANY}, {"example_id": ANY, "message": ANY}),
        lines=True,
    ),
)
