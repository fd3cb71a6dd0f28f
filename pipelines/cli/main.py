"""The command line. Exit codes: 0 done, 1 the input or the run is at fault, 2 wrong usage."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.schemas.version import VERSION

if TYPE_CHECKING:
    from dialmill.pipelines.cli.verify import Findings

_INTERRUPTED = "interrupted; nothing was written"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    beam_options: list[str] = []
    if "--" in words:
        cut = words.index("--")
        words, beam_options = words[:cut], words[cut + 1 :]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that can't show Chinese gets escapes, not a crash
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(words)
    try:
        with _ended_as_interrupted():
            code: int = options.run(options, beam_options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _fail(str(error), 2)
    except DialmillError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # The reader has seen enough (`| head`); what is left to flush at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail(_INTERRUPTED, 1)
    except OSError as error:
        return _fail(f"{error.filename or 'the run'}: {error.strerror or error}; nothing was written", 1)
    except Exception as error:
        if str(error).startswith("KeyboardInterrupt"):  # as Beam tells it of its stages
            return _fail(_INTERRUPTED, 1)
        if os.environ.get("DIALMILL_TRACEBACK"):
            raise
        about = " ".join(str(error).split())
        about = about if len(about) < 600 else f"{about[:200]} ... {about[-350:]}"
        about = f"this is a fault of dialmill or of its engine, please report it: {type(error).__name__}: {about}"
        return _fail(f"{about}\n(DIALMILL_TRACEBACK=1 shows where)", 1)


@contextlib.contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """A run that is asked to end (by a batch system's time limit, say) cleans up as after Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _fail(message: str, code: int) -> int:
    for line in message.splitlines():
        print(f"dialmill: {line}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dialmill", description="Mills dialogue corpora into benchmark data sets.")
    parser.add_argument("--version", action="version", version=f"dialmill {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    build = commands.add_parser("build", help="build a benchmark", epilog="Options after -- go to Beam: -- --runner=FlinkRunner ...")
    build.add_argument("benchmark", metavar="BENCHMARK", help="see `dialmill list benchmarks`")
    _add_run_options(build)
    build.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe; repeatable")
    build.add_argument("--recipe", metavar="FILE", help="a YAML file whose keys replace the benchmark's own recipe's")
    build.set_defaults(run=_build)

    perturb = commands.add_parser("perturb", help="make noisy suites of your own data")
    _add_run_options(perturb)
    perturb.add_argument("--with", dest="chains", action="append", required=True, metavar="SPEC", help="'typos:rate=0.1'; '+' chains; one suite each")
    perturb.add_argument("--variants", type=int, default=1, metavar="N", help="variants of each dialogue in each suite (default 1)")
    perturb.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe; repeatable")
    perturb.set_defaults(run=_perturb)

    disentangle = commands.add_parser("disentangle", help="reply links and conversations of IRC logs")
    _add_run_options(disentangle)
    disentangle.add_argument("--model", metavar="FILE", help="a link model of your own (default: the one that comes with dialmill)")
    disentangle.add_argument("--min-confidence", type=float, metavar="P", help="keep conversations whose links are this sure (0 to 1)")
    disentangle.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe; repeatable"
    )
    disentangle.set_defaults(run=_disentangle)

    score = commands.add_parser("score", help="score predictions: official metrics, robustness, consistency")
    score.add_argument("benchmark", metavar="BENCHMARK", help="a benchmark (see `dialmill list benchmarks`), cross-lingual, disentanglement, or wer")
    score.add_argument("--gold", required=True, metavar="DIR", help="the right answers: an output folder, or the official release's layout")
    score.add_argument("--predictions", nargs="+", metavar="FILE", help="what is to be scored: a file or folder of each system")
    score.add_argument("--suite", metavar="NAME", help="a suite, or all: robustness against the clean one (default: what the predictions are about)")
    score.add_argument("--split", metavar="NAME", help="the split that the predictions are about (default test)")
    score.add_argument("--database", metavar="DIR", help="DOMAIN_db.json files, for Inform and Success by entities")
    score.add_argument("--official-compat", action="store_true", help="as the published scorer computes it, its faults included")
    score.add_argument("--samples", type=_samples, default=1000, metavar="N", help="bootstrap samples (default 1000)")
    score.add_argument("--seed", type=_seed, default=1, metavar="N", help="the seed of the bootstrap (default 1)")
    score.add_argument("--markdown", metavar="FILE", help="the tables as Markdown")
    score.add_argument("--latex", metavar="FILE", help="the tables as LaTeX")
    _add_output_options(score)
    score.set_defaults(run=_score)

    baseline = commands.add_parser("predict-baseline", help="predictions of a light baseline, as `score` takes them")
    baseline.add_argument("benchmark", metavar="BENCHMARK", help="see `dialmill list benchmarks`")
    baseline.add_argument("--gold", required=True, metavar="DIR", help="the folder to predict for; its training part is learned from")
    baseline.add_argument("--output", required=True, metavar="FILE", help="the prediction file, or - for standard output")
    baseline.add_argument("--suite", metavar="NAME", help="one suite (default: all; of next-utterance selection the first, subtask_1)")
    baseline.add_argument("--split", default="test", metavar="NAME", help="the split to predict (default test)")
    baseline.add_argument("--baseline", metavar="NAME", help="which baseline (default: the benchmark's first)")
    _add_output_options(baseline)
    baseline.set_defaults(run=_predict_baseline)

    validate = commands.add_parser("validate", help="check a file of a known kind, ours or a source's, record by record")
    validate.add_argument("path", metavar="PATH", help="a file, or a folder whose files of known kinds are checked")
    validate.add_argument("--schema", metavar="NAME", help="see `dialmill list schemas`; inferred without")
    validate.add_argument("--gold", metavar="DIR", help="the folder of the right answers, where the benchmark compares predictions with them")
    _add_output_options(validate)
    validate.set_defaults(run=_validate)

    verify = commands.add_parser("verify", help="check an output folder against its manifest: files, books, records, overlaps")
    verify.add_argument("folder", metavar="DIR")
    _add_output_options(verify)
    verify.set_defaults(run=_verify)

    report = commands.add_parser("report", help="write an output folder's report.html again")
    report.add_argument("folder", metavar="DIR")
    report.add_argument("--quiet", action="store_true", help="say nothing but errors")
    report.set_defaults(run=_report)

    show = commands.add_parser("show", help="a source dialogue and its variants side by side")
    show.add_argument("folder", metavar="DIR")
    show.add_argument("--id", required=True, metavar="ID", help="a source id (all suites) or a dialogue id")
    show.add_argument("--width", type=int, metavar="COLUMNS", help="width of the output (default: the terminal's)")
    show.set_defaults(run=_show)

    listing = commands.add_parser("list", help="what this installation knows")
    listing.add_argument("what", nargs="?", metavar="WHAT", help="benchmarks, sources, perturbers, engines or schemas; all without")
    _add_output_options(listing)
    listing.set_defaults(run=_list)
    return parser


def _seed(text: str) -> int:
    seed = int(text)
    if not -(2**63) <= seed < 2**63:
        raise argparse.ArgumentTypeError(f"must have 64 bits at most: {text}")
    return seed


def _samples(text: str) -> int:
    samples = int(text)
    if not 1 <= samples <= 100_000:
        raise argparse.ArgumentTypeError(f"must be 1 to 100000: {text}")
    return samples


_samples.__name__ = _seed.__name__ = "int"  # what argparse calls a value that doesn't fit


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", dest="inputs", nargs="+", required=True, metavar="PATH", help="files, zips or folders of a published corpus")
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to make; whole or absent")
    parser.add_argument("--format", metavar="SOURCE", help="the source's format; inferred without (`dialmill list sources`)")
    parser.add_argument("--seed", type=_seed, default=1, metavar="N", help="the run seed (default 1)")
    parser.add_argument("--overwrite", action="store_true", help="replace what a former run left in the output folder")
    parser.add_argument("--allow-missing", action="store_true", help="go on without inputs that don't exist or are empty")
    parser.add_argument("--commercial", action="store_true", help="leave out sources under a non-commercial licence, and count them")
    parser.add_argument("--keep-audio", action="store_true", help="leave the audio of speech suites beside them, in dialogues/SUITE/audio")
    parser.add_argument("--dry-run", action="store_true", help="print the resolved recipe and the graph, and stop")
    _add_output_options(parser)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("--json", dest="json_file", metavar="FILE", help="the result as JSON into a file, or - for standard output")


def _build(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.benchmarks import registry as benchmarks

    if options.benchmark not in benchmarks.names():
        raise UsageError(f"there is no benchmark {options.benchmark!r}; the known ones are: {', '.join(benchmarks.names())}")
    return _run(options, benchmarks.load_recipe(options.benchmark, options.recipe, _settings(options)), beam_options)


def _perturb(options: argparse.Namespace, beam_options: list[str]) -> int:
    import dataclasses

    from dialmill.pipelines.benchmarks import registry as benchmarks

    from dialmill import perturbers

    chains: dict[str, str] = {}
    try:
        for spec in options.chains:
            name = perturbers.parse(spec).name
            if name in chains or name == "standard":
                raise UsageError(f"two suites are called {name!r}; rename one with name=: '{spec},name=other'")
            chains[name] = spec
    except perturbers.OptionError as error:
        raise UsageError(str(error)) from None
    plan = benchmarks.load_recipe("perturb", None, _settings(options))
    plan = dataclasses.replace(plan, suites=["standard", *chains], perturbations=chains, variants=options.variants)
    return _run(options, plan, beam_options)


def _disentangle(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.benchmarks import registry as benchmarks

    settings = list(_settings(options))
    if options.model is not None:
        settings.append(f"model={options.model}")
    if options.min_confidence is not None:
        settings.append(f"min_confidence={options.min_confidence}")
    return _run(options, benchmarks.load_recipe("disentangle", None, settings), beam_options)


def _score(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.cli import score as command

    for path in (options.json_file, options.markdown, options.latex):
        _check_file(path)
    scores = command.run(options)
    _write_json(options, scores)
    for path, made in ((options.markdown, command.markdown), (options.latex, command.latex)):
        if path is not None:
            _write_text(path, made(scores))
    if not options.quiet and "-" not in (options.json_file, options.markdown, options.latex):
        print(command.text(scores))
    return 0


def _predict_baseline(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.cli.predict import predict

    _check_json(options)
    _check_json(argparse.Namespace(json_file=options.output))
    made = predict(options.benchmark, options.gold, options.suite, options.split, options.baseline)
    if options.output == "-":
        sys.stdout.write(made.content.decode())
    else:
        try:
            Path(options.output).write_bytes(made.content)
        except OSError as error:
            raise DialmillError(f"{options.output}: can't be written: {error.strerror}") from None
    told = {"benchmark": options.benchmark, "schema": made.schema, "predicted": made.predicted, "trained_on": made.trained, "output": options.output}
    _write_json(options, told)
    if not options.quiet and "-" not in (options.json_file, options.output):
        print(f"{made.predicted:,} predictions ({made.schema}), learned from {made.trained}: {options.output}")
    return 0


def _settings(options: argparse.Namespace) -> list[str]:
    return [*options.settings, *(f"{key}=true" for key in ("commercial", "keep_audio") if getattr(options, key))]


def _run(options: argparse.Namespace, recipe: Any, beam_options: list[str]) -> int:
    from dialmill.pipelines import build

    _check_json(options)
    job = build.make_job(recipe, options.inputs, options.output, options.seed, options.format, options.overwrite, options.allow_missing)
    if options.dry_run:
        print(build.describe(job, beam_options))
        return 0
    if not options.quiet:
        print(build.recipe_text(job), file=sys.stderr)
    manifest = build.run(job, beam_options, quiet=options.quiet)
    _write_json(options, manifest)
    if not options.quiet and options.json_file != "-":
        print(build.summary(manifest, options.output))
    return 0


def _validate(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.cli.verify import validate_path

    checked = validate_path(options.path, options.schema, options.gold)
    _write_json(options, checked.to_dict())
    return _tell(options, checked)


def _verify(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.cli.verify import verify_folder

    found = verify_folder(options.folder)
    _write_json(options, found.to_dict())
    return _tell(options, found)


def _tell(options: argparse.Namespace, found: Findings) -> int:
    if found.problems:
        print(found.text(), file=sys.stderr)
    elif not options.quiet and options.json_file != "-":
        print(found.text())
    return 1 if found.problems else 0


def _report(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.report.write import write

    path = write(options.folder)
    if not options.quiet:
        print(f"written: {path}")
    return 0


def _show(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.cli.show import show

    print(show(options.folder, options.id, options.width, color=sys.stdout.isatty()))
    return 0


def _list(options: argparse.Namespace, beam_options: list[str]) -> int:
    from dialmill.pipelines.cli.listing import listing, listing_text

    found = listing(options.what)
    _write_json(options, found)
    if options.json_file != "-":
        print(listing_text(found))
    return 0


def _check_json(options: argparse.Namespace) -> None:
    _check_file(options.json_file)


def _check_file(path: str | None) -> None:
    """Finds out before the run that its result couldn't be written."""
    if path not in (None, "-") and (Path(path).is_dir() or not Path(path).absolute().parent.is_dir()):
        raise DialmillError(f"{path}: can't be written: no such folder, or a folder itself")


def _write_json(options: argparse.Namespace, value: Any) -> None:
    if options.json_file is not None:
        _write_text(options.json_file, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def _write_text(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise DialmillError(f"{path}: can't be written: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
