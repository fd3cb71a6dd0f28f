"""`dialmill disentangle`: the reply links and conversations of chat logs."""

from __future__ import annotations

import argparse

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.running import add_run_options, run_recipe, settings


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    add_run_options(parser)
    parser.add_argument("--model", metavar="FILE", help="a reply-link model (default: the one that comes with dialmill)")
    parser.add_argument(
        "--min-confidence", type=float, metavar="P", help="keep only conversations whose links have at least this confidence (0 to 1)"
    )


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    own = {key: getattr(options, key) for key in ("model", "min_confidence")}
    keys = [*settings(options), *(f"{key}={value}" for key, value in own.items() if value is not None)]
    return run_recipe(options, benchmarks.load_recipe("disentangle", options.recipe, keys), beam_options)
