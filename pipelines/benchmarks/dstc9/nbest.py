"""Lists of hypotheses for spoken logs, as DSTC10 Track 2 has them beside each user turn.

There a list is what a recogniser held for likely: the first is the text of the turn, the others differ from it in a word or two. Here the others are
what the error simulator of `speech` (`engine=text`) makes of the first at a low rate; the score is no recogniser's. It is an estimate that falls
with the length of a hypothesis and with its distance from the first, on the scale of the released lists (about -0.27 a character).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dialmill.perturbers import Perturber, get
from dialmill.perturbers.core.distance import distance
from dialmill.schemas import Dialogue, Turn

STEP = "nbest@1"
#: Word errors between the first hypothesis and the others, from the first to the last.
_RATES = (0.06, 0.12, 0.2)
#: Attempts for each hypothesis that is wanted; most texts of two words have few neighbours.
_TRIES = 4
_PER_CHARACTER, _PER_EDIT = -0.27, -0.18


@lru_cache(maxsize=8)
def _simulator(rate: float) -> Perturber:
    return get("speech").from_options({"engine": "text", "wer": rate})


def hypotheses(dialogue: Dialogue, turn: Turn, count: int, seed: int) -> list[dict[str, Any]]:
    """Up to `count` hypotheses of a user turn, best first, all different; the first is its text."""
    found = {turn.utterance: 0}
    alone = Turn(0, "user", turn.utterance)
    for attempt in range(_TRIES * (count - 1)):
        if len(found) >= count:
            break
        rate = _RATES[min(len(_RATES) - 1, attempt * len(_RATES) // max(_TRIES * (count - 1), 1))]
        said = dialogue.replace(source_id=f"{dialogue.dialogue_id}#{turn.turn}", turns=(alone,), lineage=())
        text = _simulator(rate).perturb(said, seed=seed, variant=attempt).turns[0].utterance
        if text:
            found.setdefault(text, distance(turn.utterance, text))
    ranked = sorted(found.items(), key=lambda one: (one[1], one[0]))
    return [{"hyp": text, "score": round(_PER_CHARACTER * len(turn.utterance) + _PER_EDIT * edits, 4)} for text, edits in _falling(ranked)]


def _falling(ranked: list[tuple[str, int]]) -> list[tuple[str, float]]:
    """Distances made to rise from each hypothesis to the next, so that no two scores are equal."""
    made: list[tuple[str, float]] = []
    for text, edits in ranked:
        made.append((text, max(float(edits), made[-1][1] + 0.25) if made else float(edits)))
    return made
