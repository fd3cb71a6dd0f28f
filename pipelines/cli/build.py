"""`dialmill build`: a benchmark out of published corpora."""

from __future__ import annotations

import argparse

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.running import add_export_option, add_run_options, run_recipe, settings
from dialmill.pipelines.core.errors import UsageError


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.epilog = "Options after -- go to Beam: -- --runner=FlinkRunner ..."
    parser.add_argument("benchmark", metavar="BENCHMARK", help="see `dialmill list benchmarks`")
    add_run_options(parser)
    add_export_option(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    if options.benchmark not in benchmarks.names():
        raise UsageError(f"there is no benchmark {options.benchmark!r}; the known ones are: {', '.join(benchmarks.names())}")
    return run_recipe(options, benchmarks.load_recipe(options.benchmark, options.recipe, settings(options)), beam_options)
