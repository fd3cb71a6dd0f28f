"""`dialmill clean`: the dialogues of a log that are fit for a benchmark."""

from __future__ import annotations

import argparse

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.perturb import chains_of
from dialmill.pipelines.cli.running import add_export_option, add_run_options, run_recipe, settings
from dialmill.schemas import STANDARD


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.epilog = "Options after -- go to Beam: -- --runner=FlinkRunner ..."
    add_run_options(parser)
    add_export_option(parser)
    parser.add_argument(
        "--check",
        dest="checks",
        action="append",
        default=[],
        metavar="NAME[,NAME]",
        help="the checks to pass (default all): encoding, control, empty, repeats, loops, length, offensive, language, duplicates",
    )
    parser.add_argument(
        "--with",
        dest="chains",
        action="append",
        default=[],
        metavar="SPEC",
        help="what is done to dialogues that stay, such as 'redact' or 'redact:kinds=phone|email'; the suite takes the place of the unchanged one",
    )


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    chains = chains_of(options.chains)
    fixed = {"suites": [*chains], "perturbations": chains} if chains else {"suites": [STANDARD]}
    checks = [f"clean={','.join(options.checks)}"] if options.checks else []
    recipe = benchmarks.load_recipe("clean", options.recipe, [*checks, *settings(options)], fixed)
    return run_recipe(options, recipe, beam_options, reasons=True)
