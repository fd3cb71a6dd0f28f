"""The recipe keys of next-utterance selection, beside those of every build."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dialmill.pipelines.candidates.cuts import cut
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.disentangle.recipe import LogRecipe, at_least, share
from dialmill.schemas import Dialogue


@dataclass(frozen=True)
class SelectionRecipe(Recipe):
    """Keys of next-utterance selection.

    An example has `candidates` options; subtask 2 of DSTC7 shares one pool of `pool_size`; in `none_share` of subtask 4's examples (DSTC8: of
    subtasks 1 and 2, Advising: 1) no option is right. `distractors` are random, or similar by BM25. `pool_scope` takes them from the
    example's own split, where that is large enough. `min_context` is the least number of turns before the answer, where a
    conversation has as many. `knowledge` names manual pages (files or folders) for subtask 5.
    """

    subtasks: list[int] = field(default_factory=lambda: [1])
    candidates: int = 100
    pool_size: int = 120_000
    none_share: float = 0.2
    distractors: Literal["random", "similar"] = "random"
    pool_scope: Literal["split", "all"] = "split"
    min_context: int = 3
    knowledge: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(2, candidates=self.candidates, pool_size=self.pool_size)
        at_least(1, min_context=self.min_context)
        share(none_share=self.none_share)
        if not self.subtasks or not set(self.subtasks) <= {1, 2, 3, 4, 5}:
            raise UsageError(f"subtasks are numbers from 1 to 5, not {', '.join(map(str, self.subtasks)) or 'none'}")


@dataclass(frozen=True)
class UbuntuRecipe(SelectionRecipe, LogRecipe):
    """NOESIS from logs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form == "plain":
            raise UsageError("form must be dstc7 or dstc8 here")
        allowed = {1, 2, 4, 5} if self.form == "dstc7" else {1, 2}
        if not set(self.subtasks) <= allowed:
            raise UsageError(f"the Ubuntu subtasks of {self.form} are {', '.join(map(str, sorted(allowed)))}; set subtasks to some of them")

    @property
    def writes_links(self) -> bool:
        return False

    def entangled_until(self, dialogue: Dialogue, seed: int) -> int | None:
        """DSTC8's subtask 2 shows the channel up to the answer in place of the conversation."""
        return cut(dialogue, seed, 2, self.min_context) if self.form == "dstc8" and 2 in self.subtasks else None


@dataclass(frozen=True)
class AdvisingRecipe(SelectionRecipe):
    """NOESIS from Advising conversations.

    Training has at most `partials` partial conversations for each subtask, at most `partials_each` of one conversation, so that with fewer
    conversations than the original's 500 it shrinks in proportion. A test conversation is cut at `test_cuts` places, in `test_cuts`
    wordings. `overlap_share` of the first test set (case 1) is cut from training conversations, as its original overlaps with
    train; the second (case 2) has none. `correct` bounds the right answers of subtask 3.
    """

    form: Literal["dstc7", "dstc8"] = "dstc7"
    partials: int = 100_000
    partials_each: int = 200
    test_cuts: int = 5
    overlap_share: float = 0.5
    correct: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(1, partials_each=self.partials_each, test_cuts=self.test_cuts, correct=self.correct)
        at_least(0, partials=self.partials)
        share(overlap_share=self.overlap_share)
        allowed = {1, 3, 4, 5} if self.form == "dstc7" else {1, 3}
        if not set(self.subtasks) <= allowed:
            raise UsageError(f"the Advising subtasks of {self.form} are {', '.join(map(str, sorted(allowed)))}; set subtasks to some of them")
