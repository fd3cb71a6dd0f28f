"""The recipe keys of next-utterance selection, beside those of every build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from dialmill.perturbers.core.effects import Except, Naming
from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.candidates.cuts import cut
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.disentangle.recipe import LogRecipe
from dialmill.schemas import Dialogue


@dataclass(frozen=True)
class SelectionRecipe(Recipe):
    """Keys of next-utterance selection."""

    subtasks: Annotated[list[Annotated[int, Meta(ge=1, le=5)]], Meta(description="the subtasks that are made", examples=[[1, 4]])] = field(
        default_factory=lambda: [1]
    )
    candidates: Annotated[
        int,
        Meta(
            ge=2,
            le=1_000,
            description="options of an example; a pool of more than a thousand is subtask 2's, which all examples share",
            examples=[20],
            extra={"unit": "candidates"},
        ),
    ] = 100
    pool_size: Annotated[
        int,
        Meta(
            ge=2,
            description="candidates of the one pool that all examples of DSTC7's subtask 2 share",
            examples=[10_000],
            extra={"unit": "candidates"},
        ),
    ] = 120_000
    none_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="share of subtask 4's examples (DSTC8: of subtasks 1 and 2, Advising: 1) in which no option is right",
            examples=[0.1],
            extra={"unit": "share of examples"},
        ),
    ] = 0.2
    distractors: Annotated[
        Literal["random", "similar"],
        Meta(description="wrong options: random, or near the context by BM25 as far as none stands in many more examples than others"),
    ] = "random"
    pool_scope: Annotated[
        Literal["split", "all"], Meta(description="where wrong options come from: the example's own split, where that is large enough, or all")
    ] = "split"
    max_pool_share: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="share of a file's examples in whose options one candidate (or generic replies of one kind) may stand; more only where the "
            "input holds too few different ones, which a warning tells",
            examples=[0.02],
            extra={"unit": "share of examples"},
        ),
    ] = 0.01
    min_context: Annotated[
        int,
        Meta(
            ge=1,
            description="turns before the answer at least; conversations without as many give no example (see short_contexts)",
            examples=[5],
            extra={"unit": "turns"},
        ),
    ] = 3
    short_contexts: Annotated[
        bool,
        Meta(
            description="cuts a conversation without min_context turns before an answer at its first answer",
            extra={"needs": {"min_context": Except((1,), "N above 1")}},
        ),
    ] = False
    knowledge: Annotated[list[str], Meta(description="manual pages (files or folders) for subtask 5", examples=[["man/man1"]])] = field(
        default_factory=list
    )

    #: Subtasks that have examples without a right answer, by form.
    unanswered: ClassVar[Mapping[str, frozenset[int]]] = {"dstc7": frozenset({4}), "dstc8": frozenset({1, 2})}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.subtasks:
            raise UsageError("subtasks are numbers from 1 to 5, not none")

    def without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        yield from super().without_effect(given)
        form: str = getattr(self, "form")  # noqa: B009 - each benchmark has this key, with forms of its own
        shared = form == "dstc7" and 2 in self.subtasks
        made = ",".join(map(str, self.subtasks))
        if not shared:
            yield "pool_size", f"one pool for all is that of DSTC7's subtask 2; form is {form}, and subtasks is {made}"
        if shared and len(self.subtasks) == 1:
            for key in ("candidates", "none_share"):
                yield key, "subtask 2 alone is made, whose examples share one pool"
        if not self.unanswered[form].intersection(self.subtasks):
            wanted = " or ".join(map(str, sorted(self.unanswered[form])))
            yield "none_share", f"of form {form} subtask {wanted} has examples without a right answer; subtasks is {made}"
        if 5 not in self.subtasks:
            yield "knowledge", f"manual pages are for subtask 5; subtasks is {made}"


def _own_subtasks(recipe: UbuntuRecipe | AdvisingRecipe, dstc7: list[int], dstc8: list[int]) -> None:
    """DSTC8's form has its own subtasks: they stand where the packaged recipe's list, which is DSTC7's, was left as it is."""
    if recipe.form == "dstc8" and recipe.subtasks == dstc7:
        object.__setattr__(recipe, "subtasks", list(dstc8))


@dataclass(frozen=True)
class UbuntuRecipe(SelectionRecipe, LogRecipe):
    """NOESIS from logs.

    In valid and test each conversation serves one subtask alone (5 is 1 with knowledge), so that no file shows the answers of another; sizes of
    these splits are examples of each subtask. Where subtask 2 shows the channel (DSTC8), stretches of it serve one subtask each, and no example
    shows another's answer.
    """

    drop_near_copies: Annotated[
        list[Literal["valid", "test"]],
        Meta(description="splits that lose their near copies of training conversations; none keeps them", examples=[["valid", "test"]]),
    ] = field(default_factory=lambda: ["test"])
    near_copy: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="share of equal word trigrams (Jaccard) from which on a conversation is a near copy",
            examples=[0.6],
            extra={"unit": "share of trigrams", "needs": {"drop_near_copies": Except(([],), "test")}},
        ),
    ] = 0.4
    keep_common_answers: Annotated[
        bool, Meta(description="keeps every example with an answer that is said all the time, though its frequency tells it among the candidates")
    ] = False

    relaxed_by: ClassVar[Mapping[str, str]] = {
        **LogRecipe.relaxed_by,
        "no_cut": "short_contexts=true, or a lower min_context,",
        "near_copy": "drop_near_copies= (none), or a higher near_copy,",
        "common_answer": "keep_common_answers=true",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form == "plain":
            raise UsageError("form must be dstc7 or dstc8 here")
        _own_subtasks(self, [1, 2, 4, 5], [1, 2])
        allowed = {1, 2, 4, 5} if self.form == "dstc7" else {1, 2}
        if not set(self.subtasks) <= allowed:
            raise UsageError(f"the Ubuntu subtasks of {self.form} are {', '.join(map(str, sorted(allowed)))}; set subtasks to some of them")

    @property
    def writes_links(self) -> bool:
        return False

    def entangled_until(self, dialogue: Dialogue, seed: int) -> int | None:
        """DSTC8's subtask 2 shows the channel up to the answer in place of the conversation."""
        return cut(dialogue, seed, 2, self.min_context, self.short_contexts) if self.shows_channel else None

    @property
    def shows_channel(self) -> bool:
        """Whether a subtask shows the channel in place of the conversation."""
        return self.form == "dstc8" and 2 in self.subtasks

    @property
    def stretch_subtasks(self) -> list[int]:
        return self.groups

    @property
    def groups(self) -> list[int]:
        """The subtasks that divide the conversations of valid and test among them."""
        return sorted({1 if subtask == 5 else subtask for subtask in self.subtasks})

    def size(self, split: str, group: str) -> int | None:
        size = super().size(split, group)
        return size if size is None or split == "train" else size * len(self.groups)

    def startup_warnings(self) -> list[str]:
        found = super().startup_warnings()
        if 5 in self.subtasks and not self.knowledge:
            found.append("subtask 5 has no knowledge: its examples are those of subtask 1 under another number; knowledge= names manual pages")
        return found


@dataclass(frozen=True)
class AdvisingRecipe(SelectionRecipe):
    """NOESIS from Advising conversations."""

    unanswered: ClassVar[Mapping[str, frozenset[int]]] = {"dstc7": frozenset({4}), "dstc8": frozenset({1})}

    form: Annotated[Literal["dstc7", "dstc8"], Meta(description="the form of the release")] = "dstc7"
    partials: Annotated[
        int, Meta(ge=0, description="partial conversations for each subtask in training at most", examples=[1_000], extra={"unit": "conversations"})
    ] = 100_000
    partials_each: Annotated[
        int,
        Meta(
            ge=1,
            description="partial conversations that training has of one conversation at most, so that with fewer conversations than the "
            "original's 500 it shrinks in proportion",
            examples=[50],
            extra={"unit": "conversations", "needs": {"partials": Except((0,), "N above 0")}},
        ),
    ] = 200
    test_cuts: Annotated[
        int, Meta(ge=1, description="places at which a test conversation is cut, and wordings it has", examples=[3], extra={"unit": "cuts"})
    ] = 5
    overlap_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="share of the first test set (case 1) that is cut from training conversations, as its original overlaps with "
            "train; the second (case 2) has none",
            examples=[0.2],
            extra={"unit": "share of conversations"},
        ),
    ] = 0.5
    min_rivals: Annotated[
        int,
        Meta(
            ge=0,
            description="wordings of other conversations that name a course: conversations are seldom cut where the answer names one of which there "
            "are fewer",
            examples=[20],
            extra={"unit": "candidates"},
        ),
    ] = 10
    correct: Annotated[
        int,
        Meta(
            ge=1,
            description="right answers of subtask 3 at most",
            examples=[3],
            extra={"unit": "answers", "needs": {"subtasks": Naming((3,))}},
        ),
    ] = 5

    def without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        yield "knowledge", "what Advising's subtask 5 gives beside the dialogue are its courses and profiles"
        yield from super().without_effect(given)

    def __post_init__(self) -> None:
        super().__post_init__()
        _own_subtasks(self, [1, 3, 4, 5], [1, 3])
        allowed = {1, 3, 4, 5} if self.form == "dstc7" else {1, 3}
        if not set(self.subtasks) <= allowed:
            raise UsageError(f"the Advising subtasks of {self.form} are {', '.join(map(str, sorted(allowed)))}; set subtasks to some of them")
