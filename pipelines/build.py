"""The whole graph, top to bottom, and what happens before and after it runs."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from perturbers.base import PoolRequest
from pipelines import benchmarks, files
from pipelines.books import Books, total
from pipelines.engine import BeamEngine, Engine, PlainEngine
from pipelines.errors import DialmillError, UsageError
from pipelines.inputs import InputFile, find_inputs
from pipelines.noesis.recipe import LogRecipe
from pipelines.progress import Progress
from pipelines.recipe import Recipe
from pipelines.report import write as report
from pipelines.sinks import card, manifest
from pipelines.sinks.folder import OutputFolder
from pipelines.sinks.manifest import SPLIT_FILES
from pipelines.sinks.parts import WriteParts, join_parts
from pipelines.sources import registry
from pipelines.sources.base import MessageSource
from pipelines.stages import lessons, pools, tuning
from pipelines.stages.base import Item, Stage
from pipelines.stages.logs import JoinLogs
from pipelines.stages.mill import Mill, recipe_params
from pipelines.stages.overlap import CompareBand, CountPairs
from pipelines.stages.read import Contribute, JoinAndParse, ReadFile
from pipelines.stages.split import Layout, SplitPlanner
from schemas.validator import load

#: A shard of an output holds about this many bytes of input.
_SHARD_BYTES = 48 << 20
_BOOKS = "books.msgpack"
_LOCAL_RUNNERS = ("FnApiRunner", "DirectRunner", "BundleBasedDirectRunner", "SwitchingDirectRunner")


@dataclass(frozen=True)
class Job:
    """All that a run depends on. Two runs of equal jobs write equal bytes."""

    recipe: Recipe
    seed: int
    inputs: tuple[InputFile, ...]
    output: str
    overwrite: bool = False
    #: The input files of other corpora that pools are gathered from, by the path in the recipe.
    corpora: dict[str, tuple[InputFile, ...]] = field(default_factory=dict)

    @property
    def shards(self) -> int:
        """Shards of each large output, from the size of the input alone."""
        return max(1, min(256, sum(one.size for one in self.inputs) // _SHARD_BYTES))

    @property
    def remarks(self) -> list[str]:
        """What the suites' perturbers have to say before they start."""
        languages = {language for one in self.inputs for language in registry.get(one.source).language.split(", ")}
        return [f"suite {suite.name}: {remark}" for suite in self.recipe.suite_plan() for remark in suite.perturber.remarks(languages)]

    @property
    def params(self) -> dict[str, dict[str, set[type]]]:
        """The lineage options of each suite, for the Parquet schemas."""
        return recipe_params(self.recipe, benchmarks.get(self.recipe.benchmark))


def make_job(
    recipe: Recipe, paths: Sequence[str], output: str, seed: int = 1, source: str | None = None, overwrite: bool = False, allow_missing: bool = False
) -> Job:
    """A job from what the user named; looks at the input files and tells their formats apart.

    Raises:
        DialmillError: unusable input or output.
    """
    OutputFolder(output, overwrite).check()
    for path in paths:
        if not files.is_remote(path) and not files.is_remote(output) and Path(path).resolve().is_relative_to(Path(output).resolve()):
            raise DialmillError(f"{output}: holds the input {path}, which replacing it would delete; name another folder with --output")
    found = find_inputs(paths, source, allow_missing)
    for name in recipe.simulated:
        packaged = str(importlib.resources.files("pipelines") / "simulated" / f"{name}.json")
        found += [replace(one, number=len(found), shown=f"simulated/{name}.json") for one in find_inputs([packaged], name)]
    corpora = {
        request.source: tuple(find_inputs([request.source]))
        for request in pools.requests(recipe)
        if request.source not in (pools.FROM_INPUT, pools.FROM_TRAIN)
    }
    job = Job(recipe, seed, tuple(found), output, overwrite, corpora)
    _check_sources(job)
    if recipe.keep_audio and files.is_remote(output):
        raise UsageError(f"keep_audio writes audio files to a local folder, which {output} is not")
    return job


def graph(engine: Engine, job: Job, folder: str) -> None:
    """The flow from files to part files and books below `folder`."""
    inputs, recipe = list(job.inputs), job.recipe
    licences = {name: registry.get(name).licence for name in {one.source for one in inputs}}

    read = engine.apply(
        "read files", ReadFile(inputs, licences, recipe), engine.create("input files", [one.number for one in inputs if one.role != "other"])
    )
    wanted = pools.requests(recipe)
    local = [request for request in wanted if request.source in (pools.FROM_INPUT, pools.FROM_TRAIN)]
    contribute = partial(pools.contributions, local) if local else None
    parsed = engine.apply("parse and filter", _parser(job, contribute), engine.group("join the pieces of a dialogue", read.main))
    layout = engine.combine("plan the splits", SplitPlanner(recipe), parsed.tagged["fact"])
    written, side_books = gather_pools(engine, job, folder, wanted, layout, parsed.tagged["pool"], licences) if wanted else ([], [])
    learned, learned_books = lessons.learn(engine, recipe, job.seed, folder, parsed.main, layout)
    written, side_books = [*written, learned], [*side_books, *learned_books]
    if tuning.wanted(recipe):
        found, found_books = tuning.learn(engine, recipe, job.seed, folder, parsed.main)
        written, side_books = [*written, found], [*side_books, *found_books]
    paths = engine.combine("find what was written aside", pools.PoolPaths(), engine.flatten("all that was written aside", written))
    side = engine.both("layout and what was written aside", layout, paths)
    benchmark = benchmarks.get(recipe.benchmark).bind(recipe, job.seed)
    milled = engine.apply("mill", Mill(recipe, job.seed, benchmark, job.shards, folder), parsed.main, side=side)
    finished = benchmark.finish(engine, job, folder, milled.tagged["record"])

    pairs = engine.apply("compare across splits", CompareBand(), engine.group("bring similar dialogues together", milled.tagged["band"]))
    overlap = engine.apply("count overlaps", CountPairs(), engine.group("each pair once", pairs.main))

    writing = [one for one in (read, parsed, milled, *finished) if "out" in one.tagged]
    outs = engine.flatten("all outputs", [one.tagged["out"] for one in writing])
    parts = engine.apply("write parts", WriteParts(folder, job.params), engine.group("collect shards", outs))

    books = engine.flatten("all books", [one.books for one in (read, parsed, milled, *finished, pairs, overlap, parts)] + side_books)
    engine.apply("write the books", WriteBooks(folder), engine.group("bring the books together", books), side=layout)


def gather_pools(
    engine: Engine, job: Job, folder: str, wanted: Sequence[PoolRequest], layout: Any, given: Any, licences: dict[str, str]
) -> tuple[list[Any], list[Any]]:
    """The pools that perturbers need, written aside: where they lie, and books."""
    gathered, books = [given], []
    for source, corpus in job.corpora.items():
        number = len(gathered)
        reader = ReadFile(list(corpus), licences | {one.source: registry.get(one.source).licence for one in corpus})
        numbers = engine.create(f"files of corpus {number}", [one.number for one in corpus if one.role != "other"])
        read = engine.apply(f"read corpus {number}", reader, numbers)
        mine = [request for request in wanted if request.source == source]
        pieces = engine.group(f"join the pieces of corpus {number}", read.main)
        taken = engine.apply(f"gather from corpus {number}", pools.GatherFrom(list(corpus), mine), pieces)
        gathered.append(taken.main)
        books += [read.books, taken.books]
    grouped = engine.group("bring the pools together", engine.flatten("all contributions to pools", gathered))
    merged = engine.apply("merge the pools", pools.MergePools(job.recipe, wanted), grouped, side=layout)
    written = engine.apply("write the pools", pools.WritePool(folder, wanted), engine.group("collect the pools", merged.main))
    return [written.main], [*books, merged.books, written.books]


def _parser(job: Job, contribute: Contribute | None) -> Stage:
    """The stage that makes dialogues of the pieces: one for each, or the many of a log."""
    if isinstance(registry.get(job.inputs[0].source), MessageSource):
        assert isinstance(job.recipe, LogRecipe)
        return JoinLogs(list(job.inputs), job.recipe, job.seed)
    return JoinAndParse(list(job.inputs), job.recipe, job.seed, contribute)


def _check_sources(job: Job) -> None:
    """Raises `DialmillError` where the recipe can't take the sources."""
    logs = {one.source for one in job.inputs if isinstance(registry.get(one.source), MessageSource)}
    others = {one.source for one in job.inputs} - logs
    if logs and others:
        both = f"logs ({', '.join(sorted(logs))}) and dialogues ({', '.join(sorted(others))})"
        raise DialmillError(f"{both} can't be built together; name one with --format")
    if logs and not isinstance(job.recipe, LogRecipe):
        raise DialmillError(f"{job.inputs[0].shown} is a log of many conversations; `dialmill disentangle` makes dialogues of it, which this takes")
    if others and isinstance(job.recipe, LogRecipe):
        raise DialmillError(f"{job.recipe.benchmark} reads IRC logs, and {job.inputs[0].shown} is of {job.inputs[0].source}")
    benchmarks.get(job.recipe.benchmark).check(job)


class WriteBooks(Stage):
    """The sum of all books, with the layout of the splits, into one file."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, element: tuple[str, Iterable[bytes]], side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        with files.create(files.join(self.folder, _BOOKS)) as stream:
            stream.write(msgspec.msgpack.encode((total(element[1]), side)))
        return ()


def run(job: Job, beam_options: Sequence[str] = (), quiet: bool = True, plain: bool = False) -> dict[str, Any]:
    """Runs a job on Beam (FnApiRunner in this process unless the options name another runner), or as plain function calls.

    Returns:
        The manifest.

    Raises:
        DialmillError: unusable input or output; nothing was written.
    """
    with OutputFolder(job.output, job.overwrite) as output, Progress(quiet) as progress:
        if plain:
            graph(PlainEngine(), job, output.aside)
        else:
            _run_beam(lambda engine: graph(engine, job, output.aside), beam_options)
        books, layout = msgspec.msgpack.decode(files.read_bytes(files.join(output.aside, _BOOKS)), type=tuple[Books, Layout])
        files.remove(files.join(output.aside, _BOOKS))
        found = tuning.read(output.aside)
        for name in (*pools.pool_files(pools.requests(job.recipe)), lessons.FILE, tuning.FILE):
            if files.size(files.join(output.aside, name)) is not None:
                files.remove(files.join(output.aside, name))
        if books.faults:
            raise DialmillError("\n".join(sorted(books.faults)))
        books.check()
        _check_readable(job, books)
        outputs = _finish_files(job, output.aside, books) + _audio_files(job, output.aside)
        made = manifest.make(job, books, layout, outputs, found)
        card_text = card.make(job, made).encode()
        with files.create(files.join(output.aside, "README.md")) as stream:
            stream.write(card_text)
        made["outputs"].append(manifest.entry("README.md", card_text))
        report.add(output.aside, made)
        output.commit(manifest.encode(made))
        for warning in made["warnings"]:
            progress.say(f"warning: {warning}")
        return made


def _check_readable(job: Job, books: Books) -> None:
    """A run of which no record could be read was given another format than it was told."""
    read = books.stage("read")
    if read.entered and not read.out:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(read.rejected.items()))
        formats = ", ".join(sorted({one.source for one in job.inputs}))
        raise DialmillError(
            f"none of the {read.entered:,} records could be read as {formats} ({reasons}); is it another format? name it with --format"
        )


def _run_beam(build: Callable[[Engine], None], options: Sequence[str]) -> None:
    pipeline = make_pipeline(options)
    build(BeamEngine(pipeline))
    try:
        result = pipeline.run()
        result.wait_until_finish()
    except Exception as error:
        # Runners wrap a stage's error, or keep its type and add where it was raised.
        told = re.search(r"(?s)^.*?(?:DialmillError: |^)(.+?)(?: \[while running|\n|$)", str(error))
        if told and (isinstance(error, DialmillError) or "DialmillError: " in str(error)):
            raise DialmillError(f"{told[1]}; nothing was written") from None
        raise


def make_pipeline(options: Sequence[str]) -> Any:
    """A Beam pipeline. FnApiRunner is the local default, pinned: DirectRunner switches to another engine where it has a network.

    Raises:
        UsageError: Beam doesn't take the options.
    """
    import logging

    # Without the gcp extra Beam warns through the root logger on import; that is no news to a local user.
    logging.getLogger().addHandler(logging.NullHandler())
    import apache_beam as beam

    arguments = list(options)
    if not any(option.split("=")[0] == "--runner" for option in arguments):
        arguments.append("--runner=FnApiRunner")
    try:
        found = check_options(arguments)
        return beam.Pipeline(runner=_worker_processes(found), options=found)
    except (ValueError, ImportError) as error:
        raise UsageError(f"Beam refused the options {' '.join(arguments)}: {error}") from None


def _worker_processes(options: Any) -> Any:
    """FnApiRunner with worker processes that don't print their log, if that is what the options ask for; else None, the runner they name."""
    import sys

    from apache_beam.options.pipeline_options import DirectOptions, StandardOptions
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.transforms.environments import SubprocessSDKEnvironment

    direct = options.view_as(DirectOptions)
    if options.view_as(StandardOptions).runner != "FnApiRunner" or direct.direct_running_mode != "multi_processing":
        return None
    # In its own mode of that name the runner would put Beam's entry point in the place of ours.
    direct.direct_running_mode = "in_memory"
    return FnApiRunner(default_environment=SubprocessSDKEnvironment.from_command_string(f"{sys.executable} -m pipelines.beam_worker"))


def check_options(arguments: Sequence[str]) -> Any:
    """The Beam options. Beam itself drops an option that it doesn't know with no more than a logged line; a local run refuses it here. Other
    runners may take options of their own, which pass.

    Raises:
        UsageError: an unknown option of a local run, or a value that doesn't fit.
    """
    import contextlib
    import io
    import logging

    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions

    dropped: list[str] = []
    logger = logging.getLogger("apache_beam.options.pipeline_options")

    def listen(record: logging.LogRecord) -> bool:
        if record.getMessage().startswith("Discarding unparseable args"):
            dropped.extend(map(str, record.args[0] if isinstance(record.args, tuple) and isinstance(record.args[0], list) else [record.args]))
        return False

    logger.addFilter(listen)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            found = PipelineOptions(list(arguments))
            found.get_all_options()
    except SystemExit:  # Beam's options are argparse's, which prints two hundred lines of usage and exits
        raise UsageError(f"Beam refused the options {' '.join(arguments)}: {said.getvalue().strip().splitlines()[-1]}") from None
    finally:
        logger.removeFilter(listen)
    runner = str(found.view_as(StandardOptions).runner)
    if dropped and runner.rsplit(".", 1)[-1] in _LOCAL_RUNNERS:
        raise UsageError(f"Beam knows no option {' '.join(dropped)} (options after -- are Beam's)")
    return found


def _finish_files(job: Job, folder: str, books: Books) -> list[dict[str, Any]]:
    """Joins the parts, and makes the files that no record went to."""
    expected = manifest.expected_files(job)
    benchmark, blind = benchmarks.get(job.recipe.benchmark), job.recipe.held_out_labels
    shards: dict[str, list[int]] = {path: [] for path in expected}
    records: dict[str, int] = dict.fromkeys(expected, 0)
    for path, shard, number, _ in books.parts:
        shards.setdefault(path, []).append(shard)
        records[path] = records.get(path, 0) + number
    outputs = []
    for path in sorted(shards):
        schema = expected.get(path) or benchmark.schema_of(path, blind) or _schema_by_place(path)
        for made, size, digest in join_parts(folder, path, shards[path], job.params, is_map(schema)):
            outputs.append({"path": made, "sha256": digest, "bytes": size, "records": records[path], "schema": schema})
    return outputs


def _audio_files(job: Job, folder: str) -> list[dict[str, Any]]:
    """The lines of the audio that was kept, for the manifest."""
    if not job.recipe.keep_audio:
        return []
    paths = sorted(path for suite in job.recipe.suites for path in Path(folder, "dialogues", suite, "audio").rglob("*") if path.is_file())
    return [manifest.entry(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]


@cache
def is_map(schema: str | None) -> bool:
    """Whether files of a schema are one JSON object of records by name."""
    shape = load(schema) if schema else {}
    return shape.get("type") == "object" and "properties" not in shape


def _schema_by_place(path: str) -> str | None:
    """The schema of a file that no benchmark claims; tables and texts have none."""
    if path.endswith((".tsv", ".txt")):
        return None
    return "reject" if path.startswith("rejects/") else "dialogue"


def recipe_text(job: Job) -> str:
    """The resolved recipe and the inputs, as they are printed before a run."""
    import yaml

    lines = [
        f"seed: {job.seed}",
        yaml.safe_dump(job.recipe.to_dict(), sort_keys=False, allow_unicode=True, default_flow_style=None).rstrip(),
        "inputs:",
    ]
    lines += [f"  {one.shown}: {one.source}, {one.role}, {one.size:,} bytes" for one in job.inputs]
    return "\n".join(lines)


def describe(job: Job, options: Sequence[str] = ()) -> str:
    """What a run would do: the recipe and the transforms of the graph. Nothing is read beyond the heads of the inputs, nothing written."""
    OutputFolder(job.output, job.overwrite).check()
    dataflow = any("dataflow" in option.lower() for option in options if option.startswith("--runner"))
    # Dataflow's own dry run translates the graph into a job and stops before anything is sent.
    pipeline = make_pipeline([*options, "--dry_run=True", "--no_auth"] if dataflow else options)
    engine = BeamEngine(pipeline)
    graph(engine, job, job.output)
    if dataflow:
        pipeline.run()
    return "\n".join([recipe_text(job), "graph:", *(f"  {label}" for label in engine.labels)])


def summary(made_manifest: dict[str, Any], output: str) -> str:
    """What a run made, in a few lines."""
    made = {item["path"]: item["records"] for item in made_manifest["outputs"]}
    lines = []
    for suite in made_manifest["recipe"]["suites"]:
        counts = ", ".join(f"{split} {made.get(f'dialogues/{suite}/{split}.jsonl', 0):,}" for split in SPLIT_FILES)
        lines.append(f"{suite}: {counts}")
    rejected = sum(sum(stage["rejected"].values()) for stage in made_manifest["stages"] if stage["name"] in ("read", "filter", "split"))
    lines.append(f"rejected: {rejected:,} (reasons in {output}/rejects and {output}/README.md)")
    lines.append(f"written: {output}")
    return "\n".join(lines)
