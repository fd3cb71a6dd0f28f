"""What a run was asked for and has nothing of, or much less: empty suites, splits and release files, and records that a threshold left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.counters import Counters, StageCount
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.subsets import SUBSETS
from dialmill.pipelines.stages.split import SPLITS, Layout
from dialmill.schemas.dialogue import STANDARD

#: Stages whose refusals are a matter of thresholds: what they hold.
_REFUSING = {"filter": "dialogues", "examples": "dialogues", "candidates": "examples"}
#: A threshold that costs less than this share of what comes to it needs no warning.
_WORTH_TELLING = 0.1
#: Files that are named in one warning.
_NAMED = 5


def relaxed(recipe: Recipe, reason: str, number: int) -> str:
    """How many records were left out for a reason, with the setting that takes them where one does: "7 too_many_turns (max_turns=N takes them)"."""
    setting = recipe.relaxed_by.get(reason)
    return f"{number:,} {reason}" + (f" ({setting.rstrip(',')} takes them)" if setting else "")


def reasons_of(recipe: Recipe, rejected: Mapping[str, int]) -> str:
    """All reasons of a stage, the most frequent first."""
    return ", ".join(relaxed(recipe, reason, number) for reason, number in sorted(rejected.items(), key=lambda item: (-item[1], item[0])))


def refusals(recipe: Recipe, counters: Counters) -> list[str]:
    """The thresholds that left out a good part of what came to them, each with the setting that relaxes it; a line for each stage."""
    found = []
    for name, what in _REFUSING.items():
        count = counters.stages.get(name)
        if count is None:
            continue
        most = {
            reason: number
            for reason, number in count.rejected.items()
            if reason in recipe.relaxed_by and number >= _WORTH_TELLING * (count.entered + count.made)
        }
        if most:
            found.append(f"of {count.entered + count.made:,} {what} thresholds left out: {reasons_of(recipe, most)}")
    return found


def empty_suites(job: Job, counters: Counters) -> dict[str, str]:
    """The suites that no record came to, each with why."""
    found = {}
    for suite in job.recipe.suites:
        count = counters.stages.get(suite, StageCount())
        if count.out:
            continue
        if count.entered + count.made:
            found[suite] = f"all {count.entered + count.made:,} records were left out: {reasons_of(job.recipe, count.rejected)}"
        elif suite in job.recipe.suite_domains:
            found[suite] = f"the input has no dialogue about {job.recipe.suite_domains[suite]} alone (suite_domains)"
        else:
            found[suite] = "no dialogue of the input is in a split that it takes"
    return found


def empty_parts(job: Job, counters: Counters, layout: Layout, outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings of suites and splits that were asked for and have nothing, and of release files that are empty all the same."""
    suites = empty_suites(job, counters)
    found = [f"suite {suite} is empty: {why}" for suite, why in suites.items()]
    records = {str(one["path"]): one["records"] for one in outputs}
    splits = [split for split in SPLITS if _asked(job.recipe, layout, split) and not _filled(job, split, records)]
    found += [f"split {split} is empty: {_why_empty(job.recipe, counters)}" for split in splits]
    if any(records.values()) and not splits and not suites:
        # Subsets are small by nature, and the ids that a benchmark holds back may be none.
        empty = [
            path
            for path, number in sorted(records.items())
            if number == 0 and path.startswith("release/") and path.endswith((".json", ".jsonl")) and not set(path.split("/")) & {*SUBSETS}
        ]
        if empty:
            more = f" and {len(empty) - _NAMED} more" if len(empty) > _NAMED else ""
            found.append(f"release files without a record: {', '.join(empty[:_NAMED])}{more}")
    return found


def _asked(recipe: Recipe, layout: Layout, split: str) -> bool:
    """Whether a run wants something in a split: not where sizes or fractions say none, nor where records keep the splits that they came with."""
    size = getattr(recipe, f"{split}_size", None)
    if layout.mode == "keep" or size == 0 or (isinstance(size, dict) and size and not any(size.values())):
        return False
    if layout.mode == "official":
        return recipe.splits != "official"  # which takes what is there, and has said what isn't
    return size is not None if recipe.proportional else recipe.fractions.get(split, 0.0) > 0


def _filled(job: Job, split: str, records: Mapping[str, int | None]) -> bool:
    """Whether some suite that takes the split has a record of it."""
    taking = [suite for suite in job.recipe.suites if suite == STANDARD or _takes(job.recipe, suite, split)]
    return not taking or any(records.get(f"dialogues/{suite}/{split}.jsonl") for suite in taking)


def _takes(recipe: Recipe, suite: str, split: str) -> bool:
    """Whether a perturbed suite takes a split, for some dialogue."""
    named = recipe.suite_domains.get(suite, "")
    return recipe.takes(suite, split, named.split("+") if named else ()) > 0


def _why_empty(recipe: Recipe, counters: Counters) -> str:
    """What left too little for a split."""
    entered = counters.stage("split")
    left = f"{entered.out:,} dialogues were left to divide"
    refused = {
        reason: number
        for name in ("filter", "split")
        for reason, number in counters.stage(name).rejected.items()
        if reason in recipe.relaxed_by or name == "split"
    }
    return f"{left}; left out before: {reasons_of(recipe, refused)}" if refused else f"{left}, which are too few"
