"""Simplification: the same in fewer words (RADDLE's third language variation, Peng et al., ACL 2021)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dialmill.perturbers.core.difficulty import near_copy, token_list
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.rewriter import Proposal, Rewriter, Task, bare_words, borrow_wording, words
from dialmill.perturbers.rewording.rewriting import Omissions
from dialmill.schemas import Turn, apply_edits

#: A simplified turn has at most this share of the words of its source.
_MOST = 0.9
#: The chances that a phrase is left out: some first, for variety, then all.
_RATES = (0.75, 1.0)
#: Up to this ratio the first will do, whatever is shorter.
_ENOUGH = 0.87
#: A donor is taken up to this ratio.
_SHORT = 0.75
#: A turn in the source's own words, frames apart, is worth having where it is this short: "I will need four tickets please" as "four tickets".
_HALF = 0.5

_SIGNS = re.compile(r"[，。！？；,;!?]|\.(?!\d)")


@dataclass(frozen=True)
class Simplification(Rewriter):
    """The same in fewer words: composed tersely, another user's short wording of the same, or the turn without the words that it can do without.

    What only leaves out frames ("could you please") and says the rest in the same words is no simpler: such a turn stays as it was, unless the
    composer leaves out more than half of it.
    """

    name: ClassVar[str] = "simplification"
    version: ClassVar[int] = 3
    style: ClassVar[str] = "less"
    instruction: ClassVar[str] = "Say the same in as few words as possible, as a person in a hurry would type it."

    def fits(self, text: str, language: str, turn: Turn) -> bool:
        before, after = bare_words(text, language, turn)
        if _near(text, language, turn):
            return any(act.slot for act in turn.acts) and len(after) < _HALF * len(before)
        return len(after) <= _MOST * len(before)

    def proposals(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        size = len(task.words)
        held: list[Proposal] = []
        for proposal in self._shorter(task, rng):
            if _near(task.text, task.view.language, proposal.turn) or (proposal.origin == "rules" and _hollow(task, proposal.turn)):
                continue
            length = len(words(proposal.turn.utterance, task.view.language))
            if length == 0:
                continue
            if length <= _ENOUGH * size:
                yield proposal
            elif length <= _MOST * size:
                held.append(proposal)
        yield from held

    def _shorter(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        """Donors, then the turn with less and less left of it."""
        turn = task.view.turn
        if task.donors is not None:
            whole = task.analysis.whole()
            found = [one for one in task.donors.search(whole, task.analysis.role, task.copies, rng) if one.ratio <= _SHORT]
            found.sort(key=lambda one: one.ratio + 0.1 * one.lost - 0.1 * one.same_role)
            best = found[:3]
            rng.shuffle(best)
            for one in best[:2]:
                yield Proposal(apply_edits(turn, borrow_wording(task, whole, one)), one.origin)
        omissions = Omissions(task.text, task.analysis.parts, task.view.language)
        for rate in _RATES:
            yield Proposal(apply_edits(turn, omissions.draw(rate, rng)), "rules")


def _near(text: str, language: str, turn: Turn) -> bool:
    """Whether a turn says its source's own words again, frames and particles apart."""
    return near_copy(token_list(turn.utterance, language), token_list(text, language), language)


def _hollow(task: Task, turn: Turn) -> bool:
    """Whether of a clause behind the first nothing but frames is left ("..., one?", "...。找。"), which says nothing any more."""
    language, said = task.view.language, set(_clauses(task.text))
    return any(_frames_alone(clause, language) for clause in _clauses(turn.utterance)[1:] if clause not in said)


def _clauses(text: str) -> list[str]:
    return [clause for clause in (part.strip() for part in _SIGNS.split(text)) if clause]


def _frames_alone(clause: str, language: str) -> bool:
    return near_copy(token_list(clause, language), (), language)
