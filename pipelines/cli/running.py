"""What the commands share that make an output folder: `build`, `perturb`, `clean` and `disentangle`."""

from __future__ import annotations

import argparse
import os
import sys

from dialmill.pipelines.cli.options import add_output_options, check_file, fields, seed, write_json
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.terminal import printable
from dialmill.pipelines.runners import dataflow
from dialmill.schemas import archives

_INPUT = "files, zips, folders, URLs or patterns of a corpus; sample:NAME is a small one that comes along"


def max_unpacked(text: str) -> int:
    """A size for ``--max-unpacked``.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        return archives.size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of every run."""
    parser.add_argument(
        "--input",
        dest="inputs",
        nargs="+",
        action="extend",
        required=True,
        metavar="PATH",
        help=_INPUT,
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="the output folder; it is written completely or not at all")
    parser.add_argument("--format", metavar="SOURCE", help="the format of the input, one of `dialmill list sources` (default: inferred)")
    parser.add_argument(
        "--map", dest="fields", type=fields, default={}, metavar="OURS=YOURS,...", help="your names of fields: text=utterance,id=call"
    )
    parser.add_argument(
        "--seed", type=seed, metavar="N", help="the run seed (default 1; a long one is drawn where labels are held out: labels/manifest.json)"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="a sample of N dialogues, the same on every run with this seed")
    parser.add_argument("--recipe", metavar="FILE", help="YAML that changes the packaged recipe, or the manifest.json of a folder to be made again")
    parser.add_argument("--max-unpacked", type=max_unpacked, metavar="SIZE", help="take zip members of up to this size at any ratio (default 2G)")
    parser.add_argument("--overwrite", action="store_true", help="replace what a former run left in the output folder")
    parser.add_argument("--allow-missing", action="store_true", help="ignore inputs that don't exist or are empty")
    parser.add_argument("--commercial", action="store_true", help="leave out sources under a non-commercial licence, and count what was left out")
    parser.add_argument("--keep-audio", action="store_true", help="keep the audio of speech suites, in dialogues/SUITE/audio")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the resolved recipe and the inputs before the run")
    parser.add_argument("--dry-run", action="store_true", help="print the resolved recipe and the graph, and stop")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe; repeatable")
    add_output_options(parser)


def add_export_option(parser: argparse.ArgumentParser) -> None:
    """The option of runs whose suites can be written in other formats."""
    more = "write the suites in other formats too, below export/NAME/SUITE (`dialmill list exporters`)"
    parser.add_argument("--export", dest="exports", action="append", default=[], metavar="NAME[,NAME]", help=more)


def settings(options: argparse.Namespace) -> list[str]:
    """The recipe's keys that the options set, as "key=value"."""
    limit = [f"limit={options.limit}"] if options.limit is not None else []
    return [*options.settings, *limit, *(f"{key}=true" for key in ("commercial", "keep_audio") if getattr(options, key))]


def run_recipe(options: argparse.Namespace, recipe: Recipe, beam_options: list[str], reasons: bool = False) -> int:
    """Carries a recipe out, or tells what would be done.

    Args:
        reasons: whether the summary tells why the filters refused dialogues.

    Raises:
        DialmillError: the input or the run is at fault.
    """
    from dialmill.pipelines import build

    if options.dry_run and options.json_file is not None:
        raise UsageError("--json has no effect with --dry-run, which makes nothing whose result could be written")
    check_file(options.json_file)
    if options.max_unpacked is not None:
        os.environ[archives.VARIABLE] = str(options.max_unpacked)  # workers in other processes inherit it
    job = build.make_job(
        recipe,
        options.inputs,
        options.output,
        options.seed,
        options.format,
        options.overwrite,
        options.allow_missing,
        options.fields,
        getattr(options, "exports", ()),
        offline=options.dry_run and dataflow.meant(beam_options),
    )
    if options.dry_run:
        text, whole = build.describe(job, beam_options)
        print(printable(text))
        return 0 if whole else 1
    if options.verbose and not options.quiet:
        print(printable(build.recipe_text(job)), file=sys.stderr)
    manifest = build.run(job, beam_options, quiet=options.quiet)
    write_json(options, manifest)
    if not options.quiet and options.json_file != "-":
        print(printable(build.summary(manifest, options.output, reasons)))
    return 0
