"""DSTC9 Track 4, SIMMC (Gunasekara et al. 2020, section V): the assistant's next action, its response, and what the user's turn says.

The release has the official files: ``release/simmc2_dials_dstc10_{train,dev,devtest}.json`` (of 2.1 ``simmc2.1_dials_dstc11_...``, of 1.0
``DOMAIN/DOMAIN_{train,dev,devtest}_dials.json``), with ``..._retrieval_candidates.json``, 100 responses for every turn, and ``..._api_calls.json``
beside them. An entry is as it came, to the byte, but for the texts. Suites beside `standard` stand below ``release/SUITE/``: their candidates are the
same. ``release/few_shot`` and ``release/test_hard`` repeat the dialogues of these subsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dialmill.perturbers.core.contract import Chain
from dialmill.pipelines.benchmarks.simmc import predictor
from dialmill.pipelines.benchmarks.simmc.check import check_release
from dialmill.pipelines.benchmarks.simmc.kinds import CALLS, DIALOGUES, KINDS, RETRIEVAL
from dialmill.pipelines.benchmarks.simmc.recipe import Track4Recipe
from dialmill.pipelines.benchmarks.simmc.release import (
    around,
    asked,
    calls,
    domain_of,
    edition_of,
    entries,
    moved_values,
    release_parts,
    release_path,
    whole,
    written,
)
from dialmill.pipelines.benchmarks.simmc.scorer import SimmcScorer
from dialmill.pipelines.benchmarks.simmc.stages import AskTurns, DrawPools, Pools, WritePool, place_of
from dialmill.pipelines.candidates.gather import PoolShard, parts_of
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Out
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import STANDARD

_SCHEMAS = {"": DIALOGUES, "_api_calls": CALLS, "_retrieval_candidates": RETRIEVAL}


class Dstc9Track4(Benchmark):
    name = "dstc9-track4"
    about = "DSTC9 Track 4, SIMMC: next action, response among 100 candidates, and dialogue state with objects, in the official files"
    paper = "Moon et al. (2020), Situated and Interactive Multimodal Conversations"
    kinds = KINDS
    takes_records = True
    # The assistant's response is the next turn, and a later turn's history has it.
    answers_in_dialogues = True
    task_categories, task_ids = ("text-retrieval", "text-generation"), ("utterance-retrieval", "dialogue-modeling")

    def recipe(self) -> type[Recipe]:
        return Track4Recipe

    def scorer(self) -> type[Scorer]:
        return SimmcScorer

    def predictor(self) -> Predictor:
        return predictor

    def check(self, job: Job) -> None:
        others = sorted({one.source for one in job.inputs} - {"simmc"})
        if others:
            raise DialmillError(f"dstc9-track4 is made from simmc, not {', '.join(others)}; see data/simmc")
        if STANDARD not in job.recipe.suites:
            raise DialmillError(
                f"dstc9-track4 needs the suite {STANDARD!r}: API calls and candidates are its; suites are {', '.join(job.recipe.suites)}"
            )
        for suite in job.recipe.suite_plan():
            links = suite.perturber.links if isinstance(suite.perturber, Chain) else (suite.perturber,)
            if any(link.inserts for link in links):
                raise DialmillError(
                    f"suite {suite.name} inserts turns, for which the release has no scene and no candidates; `dialmill perturb` makes it"
                )

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        if record.suite != STANDARD and record.variant:
            return  # the official form has a dialogue once
        found = entries(record)
        moved = {} if record.suite == STANDARD else moved_values(found)
        edition, domain, split = edition_of(record), domain_of(record), str(record.split)
        suite = "" if record.suite == STANDARD else record.suite
        lines = [written(entry, moved) for entry in found]
        path = release_path(edition, domain, split, "", suite)
        called = release_path(edition, domain, split, "_api_calls")
        if not context.hides_labels(record):
            yield Out(path, order, 1, whole(record, lines))
            if record.suite == STANDARD:
                yield Out(called, order, 1, calls(record, found, moved))
            return
        place = place_of(record, found, context.seed)
        if place is None:
            return
        inputs, labels = asked(record, lines, place)
        yield Out(path, order, 1, inputs)
        yield Out(f"labels/{path}", order, 1, labels)
        yield Out(f"labels/{called}", order, 1, calls(record, found, moved, place))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        recipe = job.recipe
        assert isinstance(recipe, Track4Recipe)
        made = runner.apply("ask for every response", AskTurns(recipe, job.seed, parts_of(sum(one.size for one in job.inputs))), records)
        parts = runner.apply("one of each response", PoolShard(folder), runner.group("bring equal responses together", made.tagged["utterance"]))
        grouped = runner.group("bring the pools of domains together", parts.main)
        written_pools = runner.apply("write the pools of domains", WritePool(folder), grouped)
        found = runner.combine("find the pools of domains", Pools(), written_pools.main)
        asking = runner.group("collect the questions of a file", made.tagged["question"])
        drawn = runner.apply("draw responses", DrawPools(recipe, job.seed), asking, side=found)
        return [made, parts, written_pools, drawn]

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_release(folder, manifest)

    def around(self, path: str) -> tuple[bytes, bytes] | None:
        return around(path)

    def split_of(self, path: str) -> str | None:
        parts = release_parts(path)
        return None if parts is None else parts.split

    def schema_of(self, path: str, blind: bool) -> str | None:
        parts = release_parts(path)
        return None if parts is None else _SCHEMAS[parts.part]
