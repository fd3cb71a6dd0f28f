"""CGoDial's retrieval-based dialogues (Dai et al., EMNLP 2022, section 3.3): which of 2 or 10 candidates is the shop's response.

Release files: ``release/{train,dev,test}.json`` as the loader of CGoDial reads them (AlibabaResearch/DAMO-ConvAI, cgodial/retrieval_based_dialog),
id -> {`history`, `true`, `false`}; and the same examples in the form of NOESIS, ``release/ecd_{train,dev,test}_subtask_1.json``, whose candidates
stand in a random order and are told by their ids. CGoDial's loader puts the right one first, and its scorer favours the first of equals.
``release/few_shot`` and ``release/test_hard`` repeat the examples of these subsets; ``hard_dialog_id.json`` has the places of hard ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.benchmarks.cgodial.rbd import ambiguity
from dialmill.pipelines.benchmarks.cgodial.rbd.check import check_release
from dialmill.pipelines.benchmarks.cgodial.rbd.meaning import Meaning, fits_anywhere
from dialmill.pipelines.benchmarks.cgodial.rbd.recipe import RetrievalRecipe
from dialmill.pipelines.benchmarks.cgodial.rbd.release import HARD, SPLITS, placed
from dialmill.pipelines.benchmarks.cgodial.rbd.scorer import RetrievalScorer
from dialmill.pipelines.benchmarks.cgodial.rbd.stages import SPOKEN, ChooseCandidates, NumberHard, Responses
from dialmill.pipelines.benchmarks.shared import ranking_predictor
from dialmill.pipelines.candidates.examples import SCHEMAS, release_path
from dialmill.pipelines.core.benchmark import Benchmark, Job
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.subsets import subset_files
from dialmill.schemas import Dialogue, Step
from dialmill.schemas.kinds import ANY, FileKind

ASSESSED = "mean_accuracy@3"


class CgodialRbd(Benchmark):
    name = "cgodial-rbd"
    about = "CGoDial, retrieval-based: the hardest examples of the E-commerce Dialogue Corpus, spoken, with 2 or 10 candidates"
    paper = "Dai et al. (2022), CGoDial: A Large-Scale Benchmark for Chinese Goal-oriented Dialog Evaluation"
    takes_records = True
    # The response is the last turn.
    answers_in_dialogues = True
    # The history of an example stands in its spoken words, whatever suite of it is published.
    wanted_suites, releases_suites_together = (SPOKEN,), True
    panel = "responses"
    kinds = (
        FileKind("cgodial-rbd", ({ANY: {"history": ANY, "true": ANY, "false": ANY}},)),
        FileKind("cgodial-hard-examples", (), ("hard_dialog_id.json",)),
    )

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_release(folder, manifest["recipe"])

    def scorer(self) -> type[Scorer]:
        return RetrievalScorer

    def predictor(self) -> Predictor:
        return ranking_predictor

    def recipe(self) -> type[Recipe]:
        return RetrievalRecipe

    def check(self, job: Job) -> None:
        for one in job.inputs:
            if one.source != "ecd":
                raise InputError(one.shown, f"holds {one.source} data, and cgodial-rbd reads the E-commerce Dialogue Corpus", "see data/ecd")

    def assess(self, dialogue: Dialogue, extra: bytes, recipe: Recipe, seed: int) -> tuple[Dialogue, int | None]:
        assert isinstance(recipe, RetrievalRecipe)
        *context, answer = [turn.utterance for turn in dialogue.turns]
        if ambiguity.length(answer) < recipe.min_response or fits_anywhere(answer):
            raise RecordError("ambiguous_response", f"{answer!r} fits many contexts")
        given = msgspec.msgpack.decode(extra, type=list[str])
        wrong = ambiguity.usable(answer, given, context, Meaning(), recipe.max_similarity)
        if not wrong:
            raise RecordError("ambiguous_candidates", f"no wrong response says something else than {answer!r}: {given[:3]}")
        mean = ambiguity.accuracy(context, answer, wrong, dialogue.language)
        if mean > recipe.max_accuracy:
            raise RecordError("too_easy", f"the baselines' mean accuracy is {mean:.2f}, above {recipe.max_accuracy:g}: {answer}")
        step = Step(ASSESSED, None, None, "selected", reasons=(f"mean_accuracy: {mean:.3f}", f"near_equal_candidates: {len(given) - len(wrong)}"))
        return dialogue.replace(lineage=(*dialogue.lineage, step)), ambiguity.priority(mean, key_number(seed, ASSESSED, dialogue.source_id))

    def judged_turns(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Sequence[int]:
        return [dialogue.turns[-1].turn]

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        assert isinstance(job.recipe, RetrievalRecipe)
        pool = runner.combine("gather responses", Responses(job.seed), records)
        chosen = runner.apply("choose candidates", ChooseCandidates(job.recipe, job.seed, job.shards), records, side=pool)
        return [
            chosen,
            runner.apply("number hard examples", NumberHard(job.recipe.held_out_labels), runner.group("order test examples", chosen.main)),
        ]

    def expected(self, recipe: Recipe) -> dict[str, str]:
        found = {f"release/{name}.json": "cgodial-rbd" for name in SPLITS.values()}
        found[HARD] = "cgodial-hard-examples"
        found |= {release_path("ecd", split, 1): SCHEMAS["dstc7"] for split in SPLITS}
        found = {placed(path, recipe.held_out_labels): schema for path, schema in found.items()}
        found |= {f"labels/{release_path('ecd', 'test', 1)}": SCHEMAS["dstc7"]} if recipe.held_out_labels else {}
        return found | subset_files(found, recipe.few_shot, self.split_of)

    def split_of(self, path: str) -> str | None:
        match = re.search(r"\b(?:ecd_)?(train|test)(?:_subtask_1)?\.json$", path)
        return match[1] if match else None

    def schema_of(self, path: str, blind: bool) -> str | None:
        if path.endswith("_subtask_1.json"):
            return SCHEMAS["dstc7"]
        return ("cgodial-hard-examples" if path.endswith(HARD) else "cgodial-rbd") if "release/" in path else None
