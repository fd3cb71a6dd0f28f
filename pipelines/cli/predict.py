"""`dialmill predict-baseline`: predictions of a light baseline."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dialmill.pipelines.benchmarks.predictions import predict
from dialmill.pipelines.cli.options import add_output_options, check_file, local, write_json
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.terminal import escaped, printable


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("benchmark", metavar="BENCHMARK", help="see `dialmill list benchmarks`")
    parser.add_argument("--gold", required=True, metavar="DIR", help="the folder to predict for; the baseline is trained on its train split")
    parser.add_argument("--output", required=True, metavar="FILE", help="the prediction file, or - for standard output")
    parser.add_argument("--suite", metavar="NAME", help="one suite (default: all; of next-utterance selection the first, subtask_1)")
    parser.add_argument("--split", default="test", metavar="NAME", help="the split to predict (default test)")
    parser.add_argument("--baseline", metavar="NAME", help="which baseline (default: the benchmark's first)")
    add_output_options(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    for path in (options.json_file, options.output):
        check_file(path)
    with local(options.gold) as (gold,):
        made = predict(options.benchmark, gold, options.suite, options.split, options.baseline)
    if options.output == "-":
        sys.stdout.write(escaped(made.content.decode()))
    else:
        try:
            Path(options.output).write_bytes(made.content)
        except OSError as error:
            raise DialmillError(f"{options.output}: can't be written: {error.strerror}") from None
    summary = {"benchmark": options.benchmark, "schema": made.schema, "predicted": made.predicted, "trained_on": made.trained}
    write_json(options, summary | {"output": options.output})
    if not options.quiet and "-" not in (options.json_file, options.output):
        print(printable(f"{made.predicted:,} predictions ({made.schema}), learned from {made.trained}: {options.output}"))
    return 0
