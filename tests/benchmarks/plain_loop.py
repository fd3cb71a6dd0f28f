"""`build raddle` as somebody would write it without Beam: the same functions, one loop, the same files; nothing compressed, keyed or shuffled. The
hard set is left out, which asks for all verdicts before any record is written."""

from __future__ import annotations

import io
from collections import defaultdict
from pathlib import Path

import msgspec
from dialmill.perturbers import Skipped, variants
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Job, ReleaseContext
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.core.stage import dialogue_order
from dialmill.pipelines.sinks.parts import rows
from dialmill.pipelines.sources import registry
from dialmill.pipelines.stages.few_shot import Bounds, CountDialogues, KeepLowest, is_few
from dialmill.pipelines.stages.filters import refusal
from dialmill.pipelines.stages.items import ParsedDialogue, pack_dialogue
from dialmill.pipelines.stages.split import Fact, Layout, SplitPlanner, fact_of
from dialmill.schemas.arrow import arrow_schema, write_parquet
from dialmill.schemas.dialogue import Dialogue, encode
from dialmill.schemas.validate import Validator, check_dialogue


def run(job: Job) -> None:
    """Reads, filters, splits, perturbs, validates and writes the job's dialogues, rejects and release files."""
    recipe, benchmark = job.recipe, benchmarks.get(job.recipe.benchmark)
    planner = SplitPlanner(recipe)
    state = planner.create()
    kept: list[Dialogue] = []
    rejected: list[bytes] = []
    pieces: dict[str, list[Piece]] = defaultdict(list)
    for one in job.inputs:
        if one.role in ("dialogues", "splits"):
            source = registry.get(one.source)
            for index, (source_id, kind, data) in enumerate(source.pieces(one.role, one.shown, files.read_bytes(one.path))):
                pieces[source_id].append(Piece(kind, one.number, index, data))
    source = registry.get(job.inputs[0].source)
    for source_id, parts in pieces.items():
        if not any(part.kind == "dialogue" for part in parts):
            for part in parts:
                planner.add(state, ("absent", msgspec.msgpack.encode([source.name, part.data.decode()])))
            continue
        dialogue = source.parse(source_id, parts)
        refused = refusal(dialogue, source, recipe)
        if refused is not None:
            rejected.append(msgspec.json.encode([source_id, refused.reason, refused.evidence]))
            continue
        planner.add(state, ("fact", msgspec.msgpack.encode(fact_of(dialogue, recipe, job.seed))))
        kept.append(dialogue)
    layout = planner.extract_output(state)
    facts = {dialogue.source_id: fact_of(dialogue, recipe, job.seed) for dialogue in kept}
    bounds = few_shot_bounds(job, layout, kept, facts)
    context = ReleaseContext(recipe, job.seed, Counters())
    validator = Validator("dialogue")
    lines: dict[str, list[tuple[bytes, bytes]]] = defaultdict(list)
    for dialogue in kept:
        split, _ = layout.assign(facts[dialogue.source_id], recipe)
        if split is None:
            continue
        standard = dialogue.replace(split=split, dialogue_id=f"{dialogue.source_id}/standard/0")
        records = [standard] if recipe.takes("standard", split, standard.domains) else []
        for suite in recipe.suite_plan():
            count = recipe.takes(suite.name, split, standard.domains)
            records += [made for made in variants(suite.perturber, standard, job.seed, count) if not isinstance(made, Skipped)]
        for record in records:
            if check_dialogue(record) or not validator.is_valid(msgspec.to_builtins(record)):
                raise SystemExit(f"invalid: {record.dialogue_id}")
            order = dialogue_order(record)
            lines[f"dialogues/{record.suite}/{split}.jsonl"].append((order, encode(record)))
            if split == "train" and is_few(bounds, job.seed, facts[record.source_id], dialogue, True):
                lines[f"few_shot/{record.suite}/train.jsonl"].append((order, encode(record)))
            for out in benchmark.release(record, order, context):
                lines[out.path].append((order, out.line))
    lines["rejects/filter.jsonl"] = [(b"", line) for line in rejected]
    for path, content in lines.items():
        target = Path(job.output, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = b"\n".join(line for _, line in sorted(content)) + b"\n"
        target.write_bytes(data)
        if path.startswith("dialogues/"):
            schema = arrow_schema("dialogue", job.params.get(path.split("/")[1], {}))
            with io.BytesIO() as buffer:
                write_parquet(buffer, [rows(data, schema)], schema)
                target.with_suffix(".parquet").write_bytes(buffer.getvalue())


def few_shot_bounds(job: Job, layout: Layout, kept: list[Dialogue], facts: dict[str, Fact]) -> Bounds:
    """The last few-shot dialogue of everything that counts."""
    count, lowest = CountDialogues(job.recipe, job.seed, True), KeepLowest()
    state = lowest.create()
    for dialogue in kept:
        parsed = ParsedDialogue(pack_dialogue(dialogue), b"", "", 0, facts[dialogue.source_id])
        for _, item in count.process(parsed.item(dialogue.source_id), layout):
            state = lowest.add(state, item)
    return lowest.extract_output(state)
