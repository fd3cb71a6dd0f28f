"""Verbosity: the same in more words than needed (RADDLE's second language variation, Peng et al., ACL 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.rewriter import Proposal, Rewriter, Task, borrow_wording, kind_of_turn, words
from dialmill.perturbers.rewording.rewriting import lengthened, words_of
from dialmill.schemas import apply_edits

#: The ratio of lengths that sentences are added up to, and the least that passes.
_WANTED, _LEAST = 1.7, 1.3
_LONG, _LONGEST = 1.2, 3.0


@dataclass(frozen=True)
class Verbosity(Rewriter):
    """The same in more words than needed: one of the longest donors, or the turn itself, with sentences that give a reason, are polite, or hedge.

    What is added depends on what the turn does; thanks, goodbyes, a yes and a no have sentences of their own.
    """

    name: ClassVar[str] = "verbosity"
    version: ClassVar[int] = 1
    instruction: ClassVar[str] = "Say the same in more words than needed, as a talkative person would, without adding any wish or fact."

    def proposals(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        turn, language = task.view.turn, task.view.language
        kind = kind_of_turn(task)
        bases = [Proposal(turn, "rules")]
        if task.donors is not None:
            whole = task.analysis.whole()
            found = [one for one in task.donors.search(whole, task.analysis.role, task.copies, rng) if _LONG <= one.ratio <= _LONGEST]
            found.sort(key=lambda one: one.ratio - 0.3 * one.lost + 0.3 * one.same_role, reverse=True)
            best = found[:3]
            rng.shuffle(best)
            bases = [Proposal(apply_edits(turn, borrow_wording(task, whole, one)), one.origin) for one in best[:2]] + bases
        size = len(task.words)
        for base in bases:
            parts = task.analysis.parts if base.turn is turn else words_of(base.turn.utterance, language)
            for _ in range(2):
                edits = lengthened(base.turn.utterance, parts, kind, task.first, round(_WANTED * size), language, task.said, rng)
                made = apply_edits(base.turn, edits)
                if len(words(made.utterance, language)) >= _LEAST * size:
                    yield Proposal(made, base.origin)
