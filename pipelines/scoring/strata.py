"""Why a system breaks: what a turn is like, so that scores can be told apart by it."""

from __future__ import annotations

from collections.abc import Iterable

from dialmill.schemas import Turn
from dialmill.schemas.dialogue import SlotValues

#: Shares of a turn's characters that edits touch; the upper bound belongs to a class.
_STRENGTHS = ((0.0, "unchanged"), (0.05, "up to 5 %"), (0.15, "5 to 15 %"), (0.4, "15 to 40 %"))
_MOST = "above 40 %"
_DEPTHS = ((1, "1"), (3, "2-3"), (6, "4-6"))
_DEEPEST = "7 and more"

KINDS = ("strength", "domain", "depth", "values")


def strength(turn: Turn) -> str:
    """How much of the turn a perturbation changed: characters deleted or inserted (the larger number of each edit) in its source's length."""
    if turn.inserted:
        return "inserted"
    touched = sum(max(edit.end - edit.start, len(edit.replacement)) for edit in turn.edits)
    share = touched / max(len(turn.source_text), 1)
    return next((name for bound, name in _STRENGTHS if share <= bound), _MOST)


def depth(number: int) -> str:
    """The class of the n-th user turn (from 1) of a dialogue."""
    return next((name for bound, name in _DEPTHS if number <= bound), _DEEPEST)


def values(turn: Turn) -> str:
    """Whether the turn's slot values were preserved: the worst status among them ("none" without values)."""
    statuses = {span.status for span in turn.spans}
    return next((name for name in ("lost", "changed", "kept") if name in statuses), "none")


def domain(turn: Turn, before: Iterable[SlotValues], active: str) -> str:
    """What the turn is about: the domain whose slots it changes, else that of its acts, else what was talked about before."""
    earlier = set(before)
    changed = [entry.domain for entry in turn.state if entry not in earlier]
    if changed:
        return changed[0]
    return next((act.domain for act in turn.acts if act.domain and act.domain not in ("general", "booking")), active)
