"""Where a conversation is cut: the turns before are the context, the turn at the cut is the answer."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.keys import says_nothing
from dialmill.schemas import Dialogue

STEP = "cut@2"


def places(dialogue: Dialogue, min_context: int, short: bool = False) -> list[int]:
    """The turns that may be the answer: by a helper, right after the one who asks, with a context of `min_context` turns or more. Where there are
    none and `short` allows it, the first with a shorter context."""
    turns = dialogue.turns
    found = [
        at
        for at in range(1, len(turns))
        if turns[at].speaker == "system" and turns[at - 1].speaker == "user" and not says_nothing(turns[at].utterance)
    ]
    return [at for at in found if at >= min_context] or (found[:1] if short else [])


def cut(dialogue: Dialogue, seed: int, subtask: int, min_context: int, short: bool = False) -> int | None:
    """The seeded cut of a conversation for a subtask, None if there is no place for one. Subtask 5 is subtask 1 with knowledge beside it."""
    found = places(dialogue, min_context, short)
    return Rng(seed, STEP, dialogue.source_id, 1 if subtask == 5 else subtask).choice(found) if found else None
