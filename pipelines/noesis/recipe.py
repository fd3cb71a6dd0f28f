"""The recipe keys of logs and of next-utterance selection, beside those of every build."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from pipelines.errors import UsageError
from pipelines.recipe import Recipe

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _at_least(least: float, **values: float | None) -> None:
    for key, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"{key} must be at least {least:g}, not {value}")


def _share(**values: float) -> None:
    for key, value in values.items():
        if not 0 <= value <= 1:
            raise UsageError(f"{key} must be a share from 0 to 1, not {value:g}")


@dataclass(frozen=True)
class LogRecipe(Recipe):
    """Keys for sources that are chat logs.

    `links` says where replies come from: predicted by the link model, or NAME.annotation.txt. `min_confidence` keeps the surer of predicted
    conversations. The filters are those of DSTC7 (Gunasekara et al. 2019, section 3.1): `undirected_start`, the number of participants (bots not
    counted), `max_share` of the messages by one of them; at least `min_turns` turns. `anonymise` takes names out, `merge` joins
    consecutive messages of a speaker; null leaves it to `form`. `valid_from` and `test_from` (YYYY-MM-DD) split by time.
    """

    links: Literal["predicted", "annotated"] = "predicted"
    model: str | None = None
    min_confidence: float = 0.0
    undirected_start: bool = False
    min_participants: int = 1
    max_participants: int | None = None
    max_share: float = 1.0
    drop_bots: bool = False
    anonymise: bool = False
    merge: bool | None = None
    form: Literal["dstc7", "dstc8", "plain"] = "plain"
    valid_from: str | None = None
    test_from: str | None = None
    entangled_lines: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least(1, min_participants=self.min_participants, max_participants=self.max_participants, entangled_lines=self.entangled_lines)
        _share(max_share=self.max_share, min_confidence=self.min_confidence)
        for key in ("valid_from", "test_from"):
            value = getattr(self, key)
            if value is not None and not _DATE.fullmatch(value):
                raise UsageError(f"{key} must be a date, YYYY-MM-DD, not {value!r}")
        if (self.valid_from is None) != (self.test_from is None) or (self.valid_from or "") > (self.test_from or ""):
            raise UsageError("valid_from and test_from go together, and valid_from is the earlier")

    @property
    def merges(self) -> bool:
        """Whether consecutive messages of a speaker are joined."""
        return self.form == "dstc7" if self.merge is None else self.merge

    @property
    def most_participants(self) -> int | None:
        """The bound on participants: two in DSTC7 unless the recipe says otherwise."""
        return 2 if self.max_participants is None and self.form == "dstc7" else self.max_participants


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
        _at_least(2, candidates=self.candidates, pool_size=self.pool_size)
        _at_least(1, min_context=self.min_context)
        _share(none_share=self.none_share)
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
        _at_least(1, partials_each=self.partials_each, test_cuts=self.test_cuts, correct=self.correct)
        _at_least(0, partials=self.partials)
        _share(overlap_share=self.overlap_share)
        allowed = {1, 3, 4, 5} if self.form == "dstc7" else {1, 3}
        if not set(self.subtasks) <= allowed:
            raise UsageError(f"the Advising subtasks of {self.form} are {', '.join(map(str, sorted(allowed)))}; set subtasks to some of them")
