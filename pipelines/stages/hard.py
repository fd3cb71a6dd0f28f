"""The hard test subset: how difficult a test dialogue is, on a scale of 1 to 5, and why.

CGoDial (Dai et al., EMNLP 2022, section 3.4) scores what its baselines get wrong from 1 to 5 and keeps what is above 2.5. The score here needs no
baseline: every reason below adds one to it.
"""

from __future__ import annotations

import re

from perturbers.tokens import tokens
from schemas import Dialogue, Step

STEP = "test_hard@1"
_NEGATION = {
    "en": re.compile(r"\b(?:not|no|never|without|don'?t|doesn'?t|isn'?t|won'?t|can'?t|nothing)\b|n't\b", re.I),
    "zh": re.compile(r"不(?!错|过)|没|别的?不|无需|不要"),
}
#: A user turn of more words than this is long; a Chinese word is about 1.5 characters.
_LONG = {"en": 22, "zh": 18}


def reasons(dialogue: Dialogue) -> tuple[str, ...]:
    """Why a dialogue is difficult, each reason with its turn or number; none if it isn't."""
    found: list[str] = []
    users = [turn for turn in dialogue.turns if turn.speaker == "user"]
    statuses = [span.status for turn in users for span in turn.spans]
    for status in ("lost", "changed"):
        number = statuses.count(status)
        if number:
            found.append(f"values_{status}: {number}")
    edits = sum(len(turn.edits) for turn in users)
    words = [len(tokens(turn.utterance, dialogue.language)) for turn in users]
    if edits and edits >= 0.12 * sum(words):
        found.append(f"dense_edits: {edits} in {sum(words)} words")
    known: set[tuple[str, str]] = set()
    most = 0
    for turn in users:
        state = {(entry.domain, entry.slot) for entry in turn.state}
        most = max(most, len(state - known))
        known |= state
    if most >= 3:
        found.append(f"several_values: {most} in one turn")
    negation = _NEGATION.get(dialogue.language, _NEGATION["en"])
    negated = [turn.turn for turn in users if negation.search(turn.source_text)]
    if len(negated) >= 2:
        found.append(f"negation: turns {', '.join(map(str, negated))}")
    longest = max(words, default=0)
    if longest > _LONG.get(dialogue.language, 22):
        found.append(f"long_turn: {longest} words")
    if len(dialogue.domains) > 2:
        found.append(f"many_domains: {len(dialogue.domains)}")
    return tuple(found)


def score(why: tuple[str, ...]) -> int:
    """The difficulty on CGoDial's scale of 1 to 5."""
    return min(5, 1 + len(why))


def hard_copy(dialogue: Dialogue, threshold: float) -> Dialogue | None:
    """The record as it stands in test_hard, with the reasons in its lineage, or None if it isn't hard."""
    why = reasons(dialogue)
    if score(why) <= threshold:
        return None
    step = Step(STEP, None, None, "selected", reasons=(f"difficulty: {score(why)}", *why))
    return dialogue.replace(lineage=(*dialogue.lineage, step))
