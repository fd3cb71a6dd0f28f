"""The hard test subset: test dialogues that a baseline gets wrong and that are difficult on a scale of 1 to 5, with the reasons for both.

CGoDial (Dai et al., EMNLP 2022, section 3.4) keeps what at least one of its baselines gets wrong and people score above 2.5 for "hard to understand"
and "spoken errors on keywords". Here every reason of `Difficulty` adds one to the score. Where a source has no labels that a baseline could miss,
the score decides alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialmill.perturbers.core.tokens import tokens
from dialmill.pipelines.baselines.rankers import Frequencies
from dialmill.pipelines.baselines.trained import Mistake, TrainedBaselines
from dialmill.schemas import Dialogue, Step, Turn

STEP = "test_hard@2"
_NEGATION = {
    "en": re.compile(r"\b(?:not|no|never|without|don'?t|doesn'?t|isn'?t|won'?t|can'?t|nothing)\b|n't\b", re.I),
    "zh": re.compile(r"不(?!错|过)|没|别的?不|无需|不要"),
}
#: A user turn of more words than this is long; a Chinese word is about 1.5 characters.
_LONG = {"en": 22, "zh": 18}
#: A keyword is a word that fewer than one in so many training turns has.
_KEYWORD = 20
#: Edits on keywords are a reason from so many on, and from this share of the user's words on.
_EDITED, _EDITED_SHARE = 2, 0.06
#: The same for words that no training turn has.
_RARE, _RARE_SHARE = 3, 0.08
#: Names of slots that a reason quotes of one baseline, at most.
_QUOTED = 6


def reasons(dialogue: Dialogue, frequencies: Frequencies | None = None) -> tuple[str, ...]:
    """Why a dialogue is difficult, each reason with its turn or number; none if it isn't.

    Args:
        frequencies: how many training turns have each word; without, no word counts as rare and all as keywords.
    """
    found: list[str] = []
    users = [turn for turn in dialogue.turns if turn.speaker == "user"]
    statuses = [span.status for turn in users for span in turn.spans]
    for status in ("lost", "changed"):
        number = statuses.count(status)
        if number:
            found.append(f"values_{status}: {number}")
    said = [[turn.utterance[start:end].lower() for start, end in tokens(turn.utterance, dialogue.language)] for turn in users]
    total = sum(map(len, said))
    edited = sum(_edited_keywords(turn, dialogue.language, frequencies) for turn in users)
    if edited >= max(_EDITED, _EDITED_SHARE * total):
        found.append(f"keyword_edits: {edited} in {total} words")
    if frequencies is not None and frequencies.number:
        rare = [word for words in said for word in words if word not in frequencies.terms]
        if len(rare) >= max(_RARE, _RARE_SHARE * total):
            found.append(f"rare_words: {len(rare)} in {total} words")
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
    longest = max(map(len, said), default=0)
    if longest > _LONG.get(dialogue.language, 22):
        found.append(f"long_turn: {longest} words")
    if len(dialogue.domains) > 2:
        found.append(f"many_domains: {len(dialogue.domains)}")
    return tuple(found)


def _edited_keywords(turn: Turn, language: str, frequencies: Frequencies | None) -> int:
    """How many keywords of a turn's source an edit touches."""
    if turn.original is None:
        return 0
    limit = frequencies.number / _KEYWORD if frequencies is not None else float("inf")
    number = 0
    for start, end in tokens(turn.original, language):
        word = turn.original[start:end].lower()
        if any(edit.start < end and edit.end > start for edit in turn.edits) and (
            frequencies is None or frequencies.terms.get(word, 0) < max(limit, 1)
        ):
            number += 1
    return number


def score(why: tuple[str, ...]) -> int:
    """The difficulty on CGoDial's scale of 1 to 5."""
    return min(5, 1 + len(why))


def hard_copy(dialogue: Dialogue, threshold: float, baselines: TrainedBaselines) -> Dialogue | str:
    """The record as test_hard has it, with the reasons in its lineage, or why it isn't hard.

    That is "not_difficult", "baselines_right" or "no_baseline_applies".

    Args:
        threshold: the difficulty must be above it.
        baselines: trained ones; where none knows the dialogue's language, the difficulty decides alone.
    """
    why = reasons(dialogue, baselines.frequencies.get(dialogue.language))
    # The difficulty first: it costs less than the baselines do.
    if score(why) <= threshold:
        return "not_difficult"
    missed: list[str] = []
    names = baselines.names(dialogue.language)
    if names:
        verdicts = [(name, mistakes) for name in names if (mistakes := baselines.mistakes(name, dialogue)) is not None]
        if not verdicts:
            return "no_baseline_applies"
        missed = [_missed(name, mistakes) for name, mistakes in verdicts if mistakes]
        if not missed:
            return "baselines_right"
    step = Step(STEP, None, None, "selected", reasons=(f"difficulty: {score(why)}", *missed, *why))
    return dialogue.replace(lineage=(*dialogue.lineage, step))


def _missed(name: str, mistakes: Iterable[Mistake]) -> str:
    """What a baseline gets wrong, in words."""
    found = list(mistakes)
    names = sorted({what for mistake in found for what in mistake.what})
    quoted = ", ".join(names[:_QUOTED]) + (", ..." if len(names) > _QUOTED else "")
    return f"wrong: {name} at turns {', '.join(str(mistake.turn) for mistake in found)} ({quoted})"
