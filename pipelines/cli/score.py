"""`dialmill score`: predictions of one or several systems into a score file and tables."""

from __future__ import annotations

import argparse
import json

from dialmill.pipelines.benchmarks import scores
from dialmill.pipelines.benchmarks.registry import SCORED_ONLY
from dialmill.pipelines.cli.options import add_output_options, check_file, local, seed, write_json, write_text
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.core.terminal import printable
from dialmill.pipelines.scoring import plot


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    more = f"a benchmark (see `dialmill list benchmarks`), or what is scored only: {', '.join(SCORED_ONLY)}"
    parser.add_argument("benchmark", metavar="BENCHMARK", help=more)
    parser.add_argument(
        "--gold", required=True, metavar="DIR", help="the gold labels: an output folder, or a folder in the layout of the official release"
    )
    parser.add_argument("--predictions", nargs="+", action="extend", metavar="FILE", help="the predictions: one file or folder for each system")
    parser.add_argument(
        "--suite",
        metavar="NAME",
        help="the suite to score, or all, which adds robustness against the clean suite (default: what the predictions cover)",
    )
    parser.add_argument("--split", metavar="NAME", help="the split that was predicted (default test)")
    parser.add_argument("--database", metavar="DIR", help="DOMAIN_db.json files, for Inform and Success by entities")
    parser.add_argument(
        "--official-compat", action="store_true", help="compute the metrics exactly as the published scorer does, known errors included"
    )
    parser.add_argument("--samples", type=_samples, default=1000, metavar="N", help="bootstrap samples (default 1000)")
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="the seed of the bootstrap (default 1)")
    parser.add_argument("--metrics", metavar="NAME[,NAME]", help="the metrics of the table of systems and suites (default: the first that ranks)")
    parser.add_argument("--details", action="store_true", help="all tables: every metric, ranks, consistency, by domain, by how much changed")
    parser.add_argument("--plot", metavar="FILE", help="the drops with their intervals by suite, as .svg or .png")
    parser.add_argument("--mwzeval", metavar="FILE", help="the predictions in the form of MultiWOZ_Evaluation, for its evaluate.py")
    parser.add_argument("--markdown", metavar="FILE", help="the tables as Markdown")
    parser.add_argument("--latex", metavar="FILE", help="the tables as LaTeX")
    add_output_options(parser)


def _samples(text: str) -> int:
    samples = int(text)
    if not 1 <= samples <= 100_000:
        raise argparse.ArgumentTypeError(f"must be 1 to 100000: {text}")
    return samples


_samples.__name__ = "int"  # what argparse calls a value that doesn't fit


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    for path in (options.json_file, options.markdown, options.latex, options.plot, options.mwzeval):
        check_file(path)
    if options.plot is not None:
        plot.check(options.plot)
    metrics = [name.strip() for name in (options.metrics or "").split(",") if name.strip()]
    with local(options.gold, options.database, *(options.predictions or ())) as (gold, database, *predictions):
        settings = Settings(gold, options.split, options.official_compat, database or None)
        found = scores.score(options.benchmark, settings, predictions, options.suite, options.seed, options.samples, metrics)
        if options.mwzeval is not None:
            form = scores.mwzeval_form(options.benchmark, settings, predictions, options.suite)
            write_text(options.mwzeval, json.dumps(form, ensure_ascii=False, indent=1) + "\n")
    write_json(options, found)
    for path, made in ((options.markdown, scores.markdown), (options.latex, scores.latex)):
        if path is not None:
            write_text(path, made(found, options.details))
    if options.plot is not None:
        plot.write(options.plot, found)
    if not options.quiet and "-" not in (options.json_file, options.markdown, options.latex):
        print(printable(scores.text(found, options.details)))
    return 0
