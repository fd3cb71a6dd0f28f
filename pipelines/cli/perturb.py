"""`dialmill perturb`: noisy suites of one's own data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.running import add_export_option, add_run_options, run_recipe, settings
from dialmill.pipelines.core.errors import UsageError, of_option
from dialmill.schemas import STANDARD

from dialmill import perturbers


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    add_run_options(parser)
    add_export_option(parser)
    parser.add_argument(
        "--with",
        dest="chains",
        action="append",
        required=True,
        metavar="SPEC",
        help="a suite: PERTURBER:OPTION=VALUE,..., such as 'typos:rate=0.1'; '+' chains perturbers; repeat it for more suites",
    )
    parser.add_argument("--variants", type=int, metavar="N", help="variants of each dialogue in each suite (default 1)")


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    chains = chains_of(options.chains)
    fixed = {"suites": [STANDARD, *chains], "perturbations": chains} | ({} if options.variants is None else {"variants": options.variants})
    recipe = benchmarks.load_recipe("perturb", options.recipe, settings(options), fixed)
    return run_recipe(options, recipe, beam_options)


def chains_of(specs: Sequence[str]) -> dict[str, str]:
    """The suites that ``--with`` asks for: name -> spec.

    Raises:
        UsageError: a perturber or an option that isn't known, or two suites of one name.
    """
    chains: dict[str, str] = {}
    try:
        for spec in specs:
            name = perturbers.parse(spec).name
            if name in chains or name == STANDARD:
                raise UsageError(f"two suites are called {name!r}; rename one with name=: '{spec},name=other'")
            chains[name] = spec
    except perturbers.OptionError as error:
        raise of_option(error) from None
    return chains
