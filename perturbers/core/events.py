"""What a perturber reports of a variant besides the record, so that a build can count it: typed, while the lineage says it in words."""

from __future__ import annotations

from typing import NamedTuple


class DonorWording(NamedTuple):
    """A turn took the wording of a turn of another dialogue; `split` is that one's, None where it is in none."""

    split: str | None


class ModelFallback(NamedTuple):
    """Rules worded a question that a language model was to word; `reason` is a short name: "llm_failed", "refused" or "no wordings"."""

    reason: str


class SpokenTurn(NamedTuple):
    """A turn that a step before had changed was spoken and recognised: the errors of the speech alone, against the turn as it was spoken, of `length`
    words (Chinese: characters)."""

    language: str
    substitutions: int
    deletions: int
    insertions: int
    length: int


Event = DonorWording | ModelFallback | SpokenTurn
