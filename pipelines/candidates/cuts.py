"""Where a conversation is cut: the turns before are the context, the turn at the cut is the answer."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
from dialmill.schemas import Dialogue

STEP = "cut@1"


def places(dialogue: Dialogue, min_context: int) -> list[int]:
    """The turns that may be the answer: by a helper, right after the one who asks. Those with a context of `min_context` turns or more, where there
    are any, else the first: a short conversation gives a short context rather than nothing."""
    turns = dialogue.turns
    found = [at for at in range(1, len(turns)) if turns[at].speaker == "system" and turns[at - 1].speaker == "user"]
    return [at for at in found if at >= min_context] or found[:1]


def cut(dialogue: Dialogue, seed: int, subtask: int, min_context: int) -> int | None:
    """The seeded cut of a conversation for a subtask, None if there is no place for one. Subtask 5 is subtask 1 with knowledge beside it."""
    found = places(dialogue, min_context)
    return Rng(seed, STEP, dialogue.source_id, 1 if subtask == 5 else subtask).choice(found) if found else None
