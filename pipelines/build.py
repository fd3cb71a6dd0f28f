"""The whole graph, top to bottom, and what happens before and after it runs."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
from dialmill.perturbers.core.contract import PoolRequest
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core import blind, files
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.counters import Counters, total_packed
from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.pipelines.core.folders import EXPORTS
from dialmill.pipelines.core.progress import Progress
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.stage import Item, Stage, StageChain
from dialmill.pipelines.core.subsets import tells_hard
from dialmill.pipelines.disentangle.recipe import LogRecipe
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.exporters import registry as exporters
from dialmill.pipelines.exporters import writing as export
from dialmill.pipelines.report import write as report
from dialmill.pipelines.runners import dataflow
from dialmill.pipelines.runners.known import size_warning
from dialmill.pipelines.runners.options import make_pipeline, run_beam
from dialmill.pipelines.runners.plain import PlainRunner
from dialmill.pipelines.sinks import card, croissant, manifest
from dialmill.pipelines.sinks.folder import output_folder
from dialmill.pipelines.sinks.manifest import SPLIT_FILES
from dialmill.pipelines.sinks.parts import DivideRejects, FileForms, JoinParts, WriteParts, join_parts
from dialmill.pipelines.sinks.shortfalls import empty_suites, reasons_of
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import find_inputs
from dialmill.pipelines.stages import difficulty, exports, hard, near_copies, offence, pools, training_sample, tuning
from dialmill.pipelines.stages.assign_split import AssignSplit
from dialmill.pipelines.stages.check_records import CheckRecords
from dialmill.pipelines.stages.choose_few_shot import ChooseFewShot
from dialmill.pipelines.stages.difficulty import MeasureDifficulty
from dialmill.pipelines.stages.insert_turns import InsertTurns
from dialmill.pipelines.stages.join_tokens import JOINED, JoinTokens
from dialmill.pipelines.stages.logs import GatherNames, JoinLogs
from dialmill.pipelines.stages.overlap import CompareBand, SignRecords
from dialmill.pipelines.stages.perturb import Perturb
from dialmill.pipelines.stages.read import Contribute, JoinAndParse
from dialmill.pipelines.stages.read_ranges import read_inputs
from dialmill.pipelines.stages.release import Release
from dialmill.pipelines.stages.split import Layout, SplitPlanner
from dialmill.pipelines.stages.write_records import WriteRecords
from dialmill.schemas.dialogue import STANDARD
from dialmill.schemas.validator import names as schema_names

_COUNTERS = "counters.msgpack"


def make_job(
    recipe: Recipe,
    paths: Sequence[str],
    output: str,
    seed: int | None = None,
    source: str | None = None,
    overwrite: bool = False,
    allow_missing: bool = False,
    fields: Mapping[str, str] | None = None,
    exports: Sequence[str] = (),
    offline: bool = False,
) -> Job:
    """A job from what the user named; looks at the input files and tells their formats apart.

    Args:
        seed: of the run, up to 64 bits; None for `blind.SEED`, or for a long one that is drawn where labels are held out.
        source: the name of the input's format, None to tell it apart.
        fields: our name of a field -> the input's, for one's own data.
        offline: don't ask a store whether the output can be written there.

    Raises:
        DialmillError: unusable input or output.
    """
    if not (offline and files.is_remote(output)):
        output_folder(output, overwrite).check()
    exporting = exporters.chosen(exports)
    export.check(exporting, recipe.held_out_labels)
    for path in paths:
        if not files.is_remote(path) and not files.is_remote(output) and Path(path).resolve().is_relative_to(Path(output).resolve()):
            raise DialmillError(f"{output}: holds the input {path}, which replacing it would delete; name another folder with --output")
    chosen = registry.chosen(source, fields or {})
    found = find_inputs(paths, chosen, allow_missing)
    for name in recipe.simulated:
        packaged = str(importlib.resources.files("dialmill.pipelines.sources") / "simulated" / f"{name}.json")
        found += [replace(one, number=len(found), shown=f"simulated/{name}.json") for one in find_inputs([packaged], name)]
    corpora = {
        request.source: tuple(find_inputs([request.source]))
        for request in pools.requests(recipe)
        if request.source not in (pools.FROM_INPUT, pools.FROM_TRAIN)
    }
    sources = {name: registry.get(name) for name in sorted({one.source for part in (found, *corpora.values()) for one in part})}
    if chosen is not None:
        sources[chosen.name] = chosen
    benchmark = benchmarks.get(recipe.benchmark)
    sources = {name: benchmark.source(source, recipe) for name, source in sources.items()}
    job = Job(benchmark, recipe, blind.run_seed(seed, recipe.held_out_labels), tuple(found), sources, output, overwrite, corpora, exporting)
    _check_sources(job)
    _check_schemas(job)
    training_sample.check(job)
    if recipe.offensive_model:
        offence.check_model(recipe.offensive_model)
    if recipe.keep_audio and files.is_remote(output):
        raise UsageError(f"keep_audio writes audio files to a local folder, which {output} is not")
    return job


def graph(runner: Runner, job: Job, folder: str) -> None:
    """The flow from files to part files and counters below `folder`."""
    inputs, recipe = list(job.inputs), job.recipe
    pieces, offsets, reading = read_inputs(runner, inputs, job.sources)
    wanted = wanted_pools(recipe)
    local = [request for request in wanted if request.source in (pools.FROM_INPUT, pools.FROM_TRAIN)]
    contribute = partial(pools.contributions, local) if local else None
    known = (
        runner.combine("gather the names", GatherNames(inputs, job.sources), pieces)
        if isinstance(recipe, LogRecipe) and recipe.anonymise
        else offsets
    )
    parsed = runner.apply("parse and filter", _parser(job, contribute), runner.group("join the pieces of a dialogue", pieces), side=known)
    dropped: list[Outputs] = []
    dialogues, facts = parsed.main, parsed.tagged["fact"]
    if near_copies.CHECK in recipe.clean:
        dialogues, facts, dropped = near_copies.without_copies(runner, parsed, recipe.held_out_labels)
    layout = runner.combine("plan the splits", SplitPlanner(recipe), facts)
    written, side_counters = gather_pools(runner, job, folder, wanted, layout, parsed.tagged["pool"]) if wanted else ([], [])
    learned, learned_counters = training_sample.learn(runner, job, folder, dialogues, parsed.tagged.get("spare"), layout)
    written, side_counters = [*written, *learned], [*side_counters, *learned_counters]
    if tuning.wanted(recipe):
        found, found_counters = tuning.learn(runner, recipe, job.seed, folder, dialogues, layout)
        written, side_counters = [*written, found], [*side_counters, *found_counters]
    paths = runner.combine("find the prepared files", pools.PoolPaths(), runner.flatten("all prepared files", written))
    side = runner.zip_side_inputs("layout and prepared files", layout, paths)
    chain = dialogue_stages(job, folder)
    made = runner.apply(chain.label, chain, dialogues, side=side)
    chosen, tested = choose_hard(runner, job, made)
    both = {tag: runner.flatten(f"all {tag}s", [made.tagged[tag], tested.tagged[tag]]) for tag in ("record", "band")}
    finished = job.benchmark.finish(runner, job, folder, both["record"])

    overlap = runner.apply("compare across splits", CompareBand(), runner.group("bring similar dialogues together", both["band"]))

    writing = [one for one in (*reading, parsed, *dropped, made, tested, *finished) if "out" in one.tagged]
    outs = runner.flatten("all outputs", [one.tagged["out"] for one in writing])
    if job.shards > 1:
        outs = runner.apply("divide rejects", DivideRejects(one.shown for one in inputs), outs).main
    parts = runner.apply("write parts", WriteParts(folder, job.params, recipe.held_out_labels), runner.group("collect shards", outs))
    whole = runner.apply(
        "join the parts", JoinParts(folder, job.params, FileForms.of(job)), runner.group("bring the parts of a file together", parts.main)
    )

    counting = (*reading, parsed, *dropped, made, chosen, tested, *finished, overlap, parts, whole)
    counters = runner.flatten("all counters", [one.counters for one in counting] + side_counters)
    runner.apply("write the counters", WriteCounters(folder), runner.group("bring the counters together", counters), side=layout)


def wanted_pools(recipe: Recipe) -> list[PoolRequest]:
    """The pools of a run: those of its perturbers, and the wording that the difficulty of suites is measured against."""
    return [*pools.requests(recipe), *difficulty.request(recipe)]


def dialogue_stages(job: Job, folder: str) -> StageChain:
    """What happens to one dialogue once the splits are planned, in this order; a test dialogue waits after it was judged (see `choose_hard`)."""
    benchmark, recipe, seed, params = job.benchmark, job.recipe, job.seed, job.params
    inserter = benchmark.inserter(recipe)
    stages: dict[str, Stage] = {"assigning splits": AssignSplit(recipe, benchmark.takes_records)}
    if inserter is not None:
        stages["inserting turns"] = InsertTurns(inserter, seed, params[STANDARD])
    needing = frozenset(name for name, source in job.sources.items() if source.values_needed)
    stages["perturbing"] = Perturb(recipe, seed, params, folder, needing, benchmark.releases_suites_together)
    if recipe.typography == "join":
        stages["joining tokens"] = JoinTokens(seed, params)
    return StageChain(
        stages
        | {
            "checking records": CheckRecords(),
            "measuring difficulty": MeasureDifficulty(),
            "judging": hard.JudgeTest(recipe, benchmark, seed),
            "choosing few-shot dialogues": ChooseFewShot(recipe, seed, benchmark.panel, benchmark.labels_are_classes),
        }
        | writing_stages(job)
    )


def writing_stages(job: Job) -> dict[str, Stage]:
    """What happens to a dialogue once its subsets are known."""
    benchmark, recipe, seed = job.benchmark, job.recipe, job.seed
    shown: Literal["all", "one", "none"] = "none" if benchmark.answers_in_dialogues else "one" if benchmark.releases_suites_together else "all"
    return {
        "signing for overlaps": SignRecords(),
        "writing records": WriteRecords(recipe, job.shards, shown, seed),
        "releasing": Release(benchmark, recipe, seed, job.shards, tuple(one.path for one in job.inputs if one.role == "other")),
    }


def choose_hard(runner: Runner, job: Job, made: Outputs) -> tuple[Outputs, Outputs]:
    """The hard part of each test suite is chosen once all of it was judged, and the test dialogues that waited go on.

    Returns:
        The choice, and what the dialogues give.
    """
    grouped = runner.group("bring the verdicts of a suite together", made.tagged["judged"])
    chosen = runner.apply("choose the hard", hard.ChooseHard(job.recipe, job.benchmark.panel), grouped)
    names = runner.combine("gather the hard", hard.GatherHard(), chosen.main)
    chain = StageChain({"taking the hard": hard.TakeHard(), **writing_stages(job)})
    return chosen, runner.apply("test dialogues", chain, made.tagged["held"], side=names)


def gather_pools(runner: Runner, job: Job, folder: str, wanted: Sequence[PoolRequest], layout: Any, given: Any) -> tuple[list[Any], list[Any]]:
    """The pools that perturbers need, in temporary files: where these lie, and counters."""
    gathered, counters = [given], []
    for source, corpus in job.corpora.items():
        number = len(gathered)
        pieces, offsets, reading = read_inputs(runner, corpus, job.sources, f" of corpus {number}")
        mine = [request for request in wanted if request.source == source]
        grouped = runner.group(f"join the pieces of corpus {number}", pieces)
        taken = runner.apply(f"gather from corpus {number}", pools.GatherFrom(list(corpus), job.sources, mine), grouped, side=offsets)
        gathered.append(taken.main)
        counters += [*(one.counters for one in reading), taken.counters]
    marked = runner.apply(
        "mark contributions", pools.MarkSplits(job.recipe, wanted), runner.flatten("all contributions to pools", gathered), side=layout
    )
    merged = runner.combine_keys("merge the pools", pools.MergeKey(wanted), marked.main)
    shards = pools.shards_of(sum(one.size for some in (job.inputs, *job.corpora.values()) for one in some))
    keyed = runner.apply("divide the pools", pools.KeyShards(shards), merged)
    written = runner.apply("write the pools", pools.WritePool(folder, wanted, shards), runner.group("collect shards of pools", keyed.main))
    return [written.main], [*counters, marked.counters, keyed.counters, written.counters]


def _parser(job: Job, contribute: Contribute | None) -> Stage:
    """The stage that makes dialogues of the pieces: one for each, or the many of a log."""
    if isinstance(job.sources[job.inputs[0].source], MessageSource):
        assert isinstance(job.recipe, LogRecipe)
        return JoinLogs(list(job.inputs), job.sources, job.recipe, job.seed)
    return JoinAndParse(list(job.inputs), job.sources, job.benchmark, job.recipe, job.seed, contribute)


def _check_sources(job: Job) -> None:
    """Raises `DialmillError` where the recipe can't take the sources."""
    logs = {one.source for one in job.inputs if isinstance(job.sources[one.source], MessageSource)}
    others = {one.source for one in job.inputs} - logs
    if logs and others:
        both = f"logs ({', '.join(sorted(logs))}) and dialogues ({', '.join(sorted(others))})"
        raise DialmillError(f"{both} can't be built together; name one with --format")
    if logs and not isinstance(job.recipe, LogRecipe):
        raise DialmillError(f"{job.inputs[0].shown} is a log of many conversations; `dialmill disentangle` makes dialogues of it, which this takes")
    if others and isinstance(job.recipe, LogRecipe):
        raise DialmillError(f"{job.recipe.benchmark} reads IRC logs, and {job.inputs[0].shown} holds {job.inputs[0].source} data")
    job.benchmark.check(job)


def _check_schemas(job: Job) -> None:
    """Raises `DialmillError` where the benchmark names a schema for a release file that doesn't exist, before any work is done."""
    known = schema_names()
    unknown = {path: schema for path, schema in manifest.expected_files(job).items() if schema and schema not in known}
    if unknown:
        told = ", ".join(f"{schema!r} for {path}" for path, schema in sorted(unknown.items()))
        raise DialmillError(f"benchmark {job.recipe.benchmark} names schemas that don't exist: {told}; `dialmill list schemas` shows those that do")


class WriteCounters(Stage):
    """The sum of all counters, with the layout of the splits, into one file."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, element: tuple[str, Iterable[bytes]], side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        with files.create(files.join(self.folder, _COUNTERS)) as stream:
            stream.write(msgspec.msgpack.encode((total_packed(element[1]), side)))
        return ()


def run(job: Job, beam_options: Sequence[str] = (), quiet: bool = True, plain: bool = False) -> dict[str, Any]:
    """Runs a job on Beam (FnApiRunner in this process unless the options name another runner), or as plain function calls.

    Returns:
        The manifest.

    Raises:
        DialmillError: unusable input or output; nothing was written.
    """
    if dataflow.meant(beam_options) and (lacking := dataflow.missing(beam_options, job)):
        raise UsageError("a run on Dataflow needs\n" + "\n".join(f"  {one}" for one in lacking))
    with output_folder(job.output, job.overwrite) as output, Progress(quiet) as progress:
        told = size_warning(beam_options, sum(one.size for one in job.inputs))
        if told:
            progress.say(f"warning: {told}")
        if plain:
            graph(PlainRunner(), job, output.temporary)
        else:
            run_beam(lambda runner: graph(runner, job, output.temporary), beam_options)
        counters, layout = msgspec.msgpack.decode(files.read_bytes(files.join(output.temporary, _COUNTERS)), type=tuple[Counters, Layout])
        files.remove(files.join(output.temporary, _COUNTERS))
        found = tuning.read(output.temporary)
        learned = training_sample.learned_files(job.recipe, job.benchmark.panel)
        for name in (*learned, tuning.FILE):
            if files.size(files.join(output.temporary, name)) is not None:
                files.remove(files.join(output.temporary, name))
        if counters.faults:
            raise DialmillError("\n".join(sorted(counters.faults)))
        counters.check()
        _check_readable(job, counters)
        _check_settings(job.recipe, layout, counters)
        _check_useful(job, counters)
        outputs = _finish_files(job, output.temporary, counters) + _audio_files(job, output.temporary)
        exported = _export(job, output.temporary, beam_options, plain)
        outputs += exported
        private: list[str] = []
        made = whole = manifest.make(job, counters, layout, outputs, found)
        if job.recipe.held_out_labels:
            made = manifest.public(whole, job.benchmark.split_of)
            private = [one] if (one := blind.seed_warning(job.seed)) else []
            whole["warnings"] += private
            with files.create(files.join(output.temporary, manifest.PRIVATE)) as stream:
                stream.write(manifest.encode(whole))
        made["warnings"] += export.nothing_exported(job.exports, job.recipe.suites, exported, f"{EXPORTS}/")
        _write_cards(job, output.temporary, made, outputs)
        report.add(output.temporary, made)
        output.commit(manifest.encode(made))
        # What a run was too large for is no property of what it made: it stands in no manifest.
        late = "" if told else size_warning(beam_options, dialogues=counters.stage("read").out)
        for warning in [*made["warnings"], *private, *([late] if late else [])]:
            progress.say(f"warning: {warning}")
        return made


def _write_cards(job: Job, folder: str, made: dict[str, Any], outputs: list[dict[str, Any]]) -> None:
    """The cards of the folder and of what is in it, and its entry for catalogues; their lines go into the manifest."""
    languages = card.languages_of(job, folder, outputs)
    card_text = card.make(job, made, languages).encode()
    inner = {path: text.encode() for path, text in card.inner_cards(job, made, languages).items()}
    for path, text in {"README.md": card_text, **inner}.items():
        with files.create(files.join(folder, path)) as stream:
            stream.write(text)
        made["outputs"].append(manifest.entry(path, text))
    catalogue = croissant.make(
        f"{job.recipe.benchmark}-by-dialmill",
        f"{job.benchmark.about}. Made by dialmill.",
        job.benchmark.paper,
        card.binding_licence(job, made),
        languages,
        made["dialmill"],
        made["outputs"],
    )
    with files.create(files.join(folder, "croissant.json")) as stream:
        stream.write(catalogue)
    made["outputs"].append(manifest.entry("croissant.json", catalogue) | {"schema": "croissant", "records": 1})


def _export(job: Job, folder: str, beam_options: Sequence[str], plain: bool) -> list[dict[str, Any]]:
    """Writes the suites in the formats that the job names, by workers where it has any; the manifest's lines of the files."""
    if job.exports:
        if plain or not beam_options:
            exports.write(PlainRunner(), folder, job.exports, job.recipe.suites)
        else:
            run_beam(lambda runner: exports.write(runner, folder, job.exports, job.recipe.suites), beam_options)
    return exports.outputs(folder, job.exports, job.recipe.suites)


def _check_readable(job: Job, counters: Counters) -> None:
    """A run of which no record could be read was given another format than it was told."""
    read = counters.stage("read")
    if read.entered and not read.out:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(read.rejected.items()))
        names = sorted({one.source for one in job.inputs})
        formats = ", ".join(names)
        expected = {reason for name in names for reason in registry.get(name).nothing_to_read}
        if read.rejected.keys() <= expected:
            told = f"none of the {read.entered:,} records of {formats} has anything to read ({reasons}); `dialmill validate` says what each lacks"
            raise DialmillError(told)
        raise DialmillError(
            f"none of the {read.entered:,} records could be read as {formats} ({reasons}); is it another format? name it with --format"
        )


def _check_settings(recipe: Recipe, layout: Layout, counters: Counters) -> None:
    """A setting that the input leaves without effect is as wrong as one that the others do."""
    idle = list(layout.without_effect(recipe))
    if not counters.notes.get(JOINED):
        idle.append(("typography", "no record of the input is of a text that a tokeniser pulled apart, in a language of which we know how"))
    for name, why in idle:
        if name in recipe.given:
            raise UsageError(f"{name} has no effect: {why}")


#: Reasons that are no property of a record but of the run: an engine that is broken, a fault of ours.
_FAILURES = ("perturber_failed", "invalid_record", "asr_failed", "tts_failed", "audio_too_short", "no_speech_engine")


def _check_useful(job: Job, counters: Counters) -> None:
    """A run of which nothing is left, or most of a suite was lost to failures of one kind, is no run to be taken for done."""
    for name, what, key in (("filter", "passed the filters", "the keys of filters"), ("split", "got a split", "sizes and splits")):
        count = counters.stage(name)
        if count.entered and not count.out:
            raise DialmillError(
                f"none of the {count.entered:,} dialogues {what}: {reasons_of(job.recipe, count.rejected)}, so that nothing would be left;"
                f" `dialmill list recipe {job.recipe.benchmark}` explains {key}"
            )
    for suite in job.recipe.suites:
        count = counters.stage(suite)
        wanted = count.entered + count.made
        for reason in _FAILURES:
            lost = count.rejected.get(reason, 0)
            if wanted and lost > job.recipe.max_failures * wanted:
                raise DialmillError(
                    f"suite {suite} lost {lost:,} of {wanted:,} records to one kind of failure ({reason}), more than the"
                    f" {job.recipe.max_failures:.0%} that max_failures allows; {_first_failure(counters, suite, reason)}"
                )

    empty = empty_suites(job, counters)
    made = [suite for suite in job.recipe.suites if suite != STANDARD]
    reasons = {reason for suite in made for reason in counters.stage(suite).rejected}
    if STANDARD in empty and not made:
        raise DialmillError(f"nothing would be made: suite {STANDARD}: {empty[STANDARD]}")
    # Where failures alone emptied the suites, max_failures allows it.
    if made and all(suite in empty for suite in made) and not reasons <= set(_FAILURES):
        told = "; ".join(f"suite {suite}: {empty[suite]}" for suite in made)
        raise DialmillError(f"no record was perturbed, so that nothing would be made ({told})")


def _first_failure(counters: Counters, suite: str, reason: str) -> str:
    """What is known of the first of some failures."""
    said = counters.failures.get(f"{suite}\n{reason}", "")
    return f"the first: {said}" if said else "mend what fails, or raise max_failures with --set"


def _finish_files(job: Job, folder: str, counters: Counters) -> list[dict[str, Any]]:
    """The lines of the data files. Workers joined those of the graph's own outputs; here are made those that a benchmark's stages left in parts, and
    those that no record went to."""
    forms = FileForms.of(job)
    shards: dict[str, list[int]] = {path: [] for path in forms.expected}
    records: dict[str, int] = dict.fromkeys(forms.expected, 0)
    for path, shard, number, _ in counters.parts:
        if forms.blind and tells_hard(path):
            continue
        shards.setdefault(path, []).append(shard)
        records[path] = records.get(path, 0) + number
    joined: dict[str, list[tuple[str, int, str]]] = {}
    for path, made, size, digest in sorted(counters.files, key=lambda one: (one[0], one[1] != one[0])):
        joined.setdefault(path, []).append((made, size, digest))
    outputs = []
    for path in sorted(shards):
        form = forms.form(path)
        number = records[path] if form.around is None else 1
        for made, size, digest in joined.get(path) or join_parts(folder, path, shards[path], job.params, form):
            outputs.append({"path": made, "sha256": digest, "bytes": size, "records": number, "schema": form.schema})
    return outputs


def _audio_files(job: Job, folder: str) -> list[dict[str, Any]]:
    """The lines of the audio that was kept, for the manifest."""
    if not job.recipe.keep_audio:
        return []
    paths = sorted(path for suite in job.recipe.suites for path in Path(folder, "dialogues", suite, "audio").rglob("*") if path.is_file())
    return [manifest.entry(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]


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


def describe(job: Job, options: Sequence[str] = ()) -> tuple[str, bool]:
    """What a run would do: the recipe and the transforms of the graph. Nothing is read beyond the heads of the inputs, nothing written.

    For Dataflow the graph is translated as well, and what the run would lack is said, without the network.

    Returns:
        The text, and whether nothing is known that the run would fail for.
    """
    on_dataflow = dataflow.meant(options)
    pipeline = make_pipeline(() if on_dataflow else options)
    from dialmill.pipelines.runners.beam import BeamRunner

    runner = BeamRunner(pipeline)
    graph(runner, job, job.output)
    lines = [recipe_text(job), "graph:", *(f"  {label}" for label in runner.labels)]
    lacking = []
    if on_dataflow:
        lines.append(dataflow.translate(lambda one: graph(one, job, job.output), options))
        lacking = dataflow.missing(options, job)
    return "\n".join([*lines, *(f"missing: {one}" for one in lacking)]), not lacking


def summary(made_manifest: dict[str, Any], output: str, reasons: bool = False) -> str:
    """What a run made, in a few lines; with the `reasons` of the filters where asked for."""
    made = {item["path"]: item["records"] for item in made_manifest["outputs"]}
    lines = []
    for suite in made_manifest["recipe"]["suites"]:
        counts = ", ".join(f"{split} {made.get(f'dialogues/{suite}/{split}.jsonl', 0):,}" for split in SPLIT_FILES)
        lines.append(f"{suite}: {counts}")
    lines += filter(None, (manifest.located(made_manifest["notes"]), manifest.linked(made_manifest["notes"])))
    rejected = sum(sum(stage["rejected"].values()) for stage in made_manifest["stages"] if stage["name"] in ("read", "filter", "split"))
    if reasons:
        refused: dict[str, int] = next((stage["rejected"] for stage in made_manifest["stages"] if stage["name"] == "filter"), {})
        lines += [f"  {number:,} {reason}" for reason, number in sorted(refused.items(), key=lambda item: (-item[1], item[0]))]
    lines.append(f"rejected: {rejected:,} (reasons in {output}/rejects and {output}/README.md)")
    lines.append(f"written: {output}")
    return "\n".join(lines)
