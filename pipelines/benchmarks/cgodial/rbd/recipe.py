"""The recipe keys of CGoDial's retrieval-based dialogues, beside those of every build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.benchmarks.cgodial.rbd.both_sides import BothSides
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe

from dialmill import perturbers


@dataclass(frozen=True)
class RetrievalRecipe(Recipe):
    """Keys of retrieval-based dialogues."""

    candidate_numbers: Annotated[
        dict[str, Annotated[int, Meta(ge=2)]],
        Meta(
            description="candidates of an example in each split, one of them right",
            examples=[{"train": 2, "valid": 10, "test": 10}],
            extra={"unit": "candidates"},
        ),
    ] = field(default_factory=lambda: {"train": 2, "valid": 2, "test": 10})
    max_accuracy: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="examples of which the baselines' mean accuracy is above this are too easy and left out; of the others, the sizes "
            "take the hardest",
            examples=[0.5],
            extra={"unit": "accuracy"},
        ),
    ] = 0.8
    min_response: Annotated[
        int,
        Meta(
            ge=1,
            description="a right response of fewer characters fits many contexts, and makes an example ambiguous, as formulas of any length do",
            examples=[6],
            extra={"unit": "characters"},
        ),
    ] = 4

    max_similarity: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="wrong responses that are more like the right one than this, by what they say, may be right too, and are left out",
            examples=[0.4],
            extra={"unit": "similarity"},
        ),
    ] = 0.2
    noised: Annotated[
        Literal["both", "customer"],
        Meta(description="whose turns of a context the suite spoken reads out: both speakers', as the paper has it, or the customer's alone"),
    ] = "both"

    def suite_plan(self) -> list[perturbers.Suite]:
        plan = super().suite_plan()
        if self.noised == "customer":
            return plan
        return [suite._replace(perturber=BothSides.of(suite.perturber)) for suite in plan]

    def without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        yield from super().without_effect(given)
        if not super().suite_plan():
            yield "noised", "no suite is spoken"

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.candidate_numbers) != {"train", "valid", "test"}:
            raise UsageError(f"candidate_numbers must name each of train, valid and test, not {self.candidate_numbers}")
