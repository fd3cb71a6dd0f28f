"""The recipe keys of DSTC9 Track 4, beside those of every build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.core.recipe import Recipe


@dataclass(frozen=True)
class Track4Recipe(Recipe):
    """Keys of DSTC9 Track 4."""

    candidates: Annotated[
        int, Meta(ge=2, le=1_000, description="responses that a turn has to choose from", examples=[20], extra={"unit": "candidates"})
    ] = 100
    pool_scope: Annotated[
        Literal["split", "all"],
        Meta(description="where wrong responses come from: the turn's own split, where that is large enough, or all"),
    ] = "split"
