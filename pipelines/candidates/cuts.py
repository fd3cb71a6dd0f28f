"""Where a conversation is cut: the turns before are the context, the turn at the cut is the answer."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.generic import kind_of
from dialmill.pipelines.candidates.keys import candidate_key, says_nothing
from dialmill.schemas import Dialogue

STEP = "cut@3"


def places(dialogue: Dialogue, min_context: int, short: bool = False) -> list[int]:
    """The turns that may be the answer: by a helper, right after the one who asks, with a context of `min_context` turns or more. Where there are
    none and `short` allows it, the first with a shorter context.

    What was said before in the same words is no answer: nothing else that the context shows is among the candidates.

    Of these a generic reply ("ok", "no problem") only where there is no other: as an answer it can't be told from any of its kind, and what is the
    answer of many examples would have to stand in most sets of candidates.
    """
    turns = dialogue.turns
    keys = [candidate_key(turn.utterance) for turn in turns]
    found = [
        at
        for at in range(1, len(turns))
        if turns[at].speaker == "system" and turns[at - 1].speaker == "user" and not says_nothing(turns[at].utterance) and keys[at] not in keys[:at]
    ]
    found = [at for at in found if at >= min_context] or (found[:1] if short else [])
    return [at for at in found if not kind_of(keys[at])] or found


def cut(dialogue: Dialogue, seed: int, subtask: int, min_context: int, short: bool = False) -> int | None:
    """The seeded cut of a conversation for a subtask, None if there is no place for one. Subtask 5 is subtask 1 with knowledge beside it."""
    found = places(dialogue, min_context, short)
    return Rng(seed, STEP, dialogue.source_id, 1 if subtask == 5 else subtask).choice(found) if found else None
