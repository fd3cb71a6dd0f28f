"""What a record is: the ground floor of dialmill. Imports nothing else of ours."""

from dialmill.schemas.dialogue import (
    DONTCARE,
    INSERTED,
    STANDARD,
    Act,
    Dialogue,
    Edit,
    Goal,
    Message,
    SkippedTurn,
    SlotName,
    SlotValues,
    Snippet,
    Span,
    Step,
    Turn,
)
from dialmill.schemas.edits import EditError, apply_edits

__all__ = [
    "DONTCARE",
    "INSERTED",
    "STANDARD",
    "Act",
    "Dialogue",
    "Edit",
    "EditError",
    "Goal",
    "Message",
    "SkippedTurn",
    "SlotName",
    "SlotValues",
    "Snippet",
    "Span",
    "Step",
    "Turn",
    "apply_edits",
]
