"""Verbosity: the same in more words than needed (RADDLE's second language variation, Peng et al., ACL 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording import loose
from dialmill.perturbers.rewording.rewriter import CIRCUMSTANCES, Proposal, Rewriter, Task, bare_words, borrow_wording, kind_of_turn
from dialmill.schemas import Turn, apply_edits

#: How much longer than the turn a donor is, at least and at most.
_LONG, _LONGEST = 1.3, 3.0


@dataclass(frozen=True)
class Verbosity(Rewriter):
    """The same in more words than needed, with reasons and asides that fit what the user asks for.

    Where labels don't tell what a turn means, it takes another user's long wording of the same, or puts phrases such as "I was wondering if" around
    the turn's own words.
    Thanks, goodbyes, a yes, a no and "no preference" stay as they are: nobody gives reasons for those.
    """

    name: ClassVar[str] = "verbosity"
    version: ClassVar[int] = 3
    style: ClassVar[str] = "more"
    instruction: ClassVar[str] = "Say the same in more words than needed, as a talkative person would, without adding any wish or fact."

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine == "rules":
            raise OptionError("verbosity: engine=rules has no rules that lengthen a turn; take compose, donors or llm")

    def fits(self, text: str, language: str, turn: Turn) -> bool:
        before, after = bare_words(text, language, turn)
        return len(after) >= _LONG * len(before)

    def proposals(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        plain = kind_of_turn(task) in ("thank", "yes", "no") or any(signal.kind == "dontcare" for signal in task.view.signals)
        if plain:
            return
        if self.engine == "donors":  # beside the composer, a donor's few more words are seldom wordier than the turn with a hedge
            yield from self._donated(task, rng)
        for turn in loose.wordier(task.view, task.said, rng, task.before):
            yield Proposal(turn, CIRCUMSTANCES)

    def _donated(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        """The turn with the wording of one of the longest donors."""
        if task.donors is None:
            return
        whole = task.analysis.whole()
        found = [one for one in task.donors.search(whole, task.analysis.role, task.copies, rng) if _LONG <= one.ratio <= _LONGEST]
        found.sort(key=lambda one: one.ratio - 0.3 * one.lost + 0.3 * one.same_role, reverse=True)
        best = found[:3]
        rng.shuffle(best)
        for one in best:
            yield Proposal(apply_edits(task.view.turn, borrow_wording(task, whole, one)), one.origin)
