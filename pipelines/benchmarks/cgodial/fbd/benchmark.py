"""CGoDial's flow-based dialogues (Dai et al., EMNLP 2022, section 3.2): which user node of a flow does an utterance mean.

Release files, in a folder for each scenario, as the loader of CGoDial reads them (AlibabaResearch/DAMO-ConvAI, cgodial/flow_based_dialog):
``release/data/SCENARIO/{selected_simu_data,real_data}.jsonasr.json`` (walks, logs), ``{train,dev,test}_ids.json`` and ``int2act.json`` (intent ->
the action it leads to; the classes are its keys and 拒识). `asr_results` of a turn are its texts in the variants of the suite `asr`, or those
that a log came with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.benchmarks.cgodial.fbd.check import check_release
from dialmill.pipelines.benchmarks.cgodial.fbd.release import (
    ASR,
    FEW,
    HARD,
    INTENTS,
    LOGS,
    SPLITS,
    WALKS,
    blind_prefix,
    hard_versions,
    log_turns,
    scenario,
    transcripts,
)
from dialmill.pipelines.benchmarks.cgodial.fbd.scorer import FlowScorer
from dialmill.pipelines.benchmarks.cgodial.fbd.stages import GivenIntents, SeenIntents, WriteIntents
from dialmill.pipelines.benchmarks.cgodial.releases import IDS
from dialmill.pipelines.benchmarks.cgodial.writing import keyed, needs_written
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext, SourceRecords
from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.core.stage import Out
from dialmill.pipelines.sources.flow import Flows
from dialmill.schemas.dialogue import STANDARD
from dialmill.schemas.kinds import ANY, FileKind


class CgodialFbd(Benchmark):
    name = "cgodial-fbd"
    about = "CGoDial, flow-based: dialogues that follow a flow; the task is to tell from noisy speech which node of the flow the user is at"
    paper = "Dai et al. (2022), CGoDial: A Large-Scale Benchmark for Chinese Goal-oriented Dialog Evaluation"
    takes_records = True
    # The system's next turn tells which node was recognised.
    answers_in_dialogues, releases_suites_together = True, True
    task_categories, task_ids = ("text-classification",), ("intent-classification",)
    kinds = (
        FileKind("cgodial-fbd", ({ANY: [{"sys_response": ANY}]}, {ANY: [{"usr_query": ANY}]}), ("*.jsonasr.json",)),
        FileKind("cgodial-intents", (), (INTENTS,)),
        FileKind("cgodial-hard-flows", (), ("hard_data_id.json",)),
        IDS,
    )

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_release(folder)

    def scorer(self) -> type[Scorer]:
        return FlowScorer

    def predictor(self) -> Predictor:
        return turn_predictor

    def check(self, job: Job) -> None:
        needs_written(self.name, job.recipe)
        for one in job.inputs:
            if one.source not in ("flow", "dialmill"):
                raise InputError(one.shown, f"holds {one.source} data, and cgodial-fbd reads dialogue flows and agent logs", "see data/flow")

    def source(self, source: Source, recipe: Recipe) -> Source:
        # Walks are made to order: the sizes say how many of each flow, more than its file asks for as well.
        return Flows(recipe.size) if isinstance(source, Flows) else source

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        order, extra = made.order, made.extra
        clean = next((one for one in made.records if one.suite == STANDARD), None)
        if clean is None:
            return
        variants = [one for one in made.records if one.suite == ASR]
        transcribed = msgspec.msgpack.decode(extra, type=list[list[str]]) if extra else transcripts(clean, variants)
        folder = f"release/data/{scenario(clean)}"
        file = f"{folder}/{LOGS if extra else WALKS}"
        line = keyed(clean.source_id, log_turns(clean, transcribed))
        if context.hides_labels(clean):
            shown, transcribed = blind_prefix(drawn(made.records, context.seed, clean.source_id, "suite"), context.seed)
            yield Out(f"labels/{file}", order, 1, keyed(clean.source_id, log_turns(shown, transcribed)))
            line = keyed(clean.source_id, log_turns(shown, transcribed, labels=False))
        yield Out(file, order, 1, line)
        yield Out(f"{folder}/{SPLITS[str(clean.split)]}_ids.json", order, 1, msgspec.json.encode(clean.source_id))
        if made.few:
            yield Out(f"{folder}/{FEW}", order, 1, msgspec.json.encode(clean.source_id))
        if made.hard:
            # A log's own transcripts are not the variants, of which some may be hard.
            places = [] if extra else [place for place, one in enumerate(variants) if one.dialogue_id in made.hard]
            hide = "labels/" if context.hides_labels(clean) else ""
            yield Out(f"{hide}{HARD}", order, 1, keyed(clean.source_id, hard_versions(clean, variants, places)))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        paths = [one.path for one in job.inputs if one.source == "flow"]
        seen = runner.apply("find intents", SeenIntents(), records)
        given = runner.apply("read intents", GivenIntents(), runner.create("flow files", paths))
        joined = runner.group("bring scenarios together", runner.flatten("all intents", [seen.main, given.main]))
        return [runner.apply("write intents", WriteIntents(job.recipe.few_shot), joined)]

    def schema_of(self, path: str, blind: bool) -> str | None:
        if path.endswith(".jsonasr.json"):
            return "cgodial-fbd"
        if path.endswith(f"/{INTENTS}"):
            return "cgodial-intents"
        return "cgodial-ids" if path.endswith("_ids.json") else None

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        return {f"labels/{HARD}" if blind else HARD: "cgodial-hard-flows"}
