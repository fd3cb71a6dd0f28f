"""`dialmill proxy`: noise between a client and a model's API."""

from __future__ import annotations

import argparse

from dialmill.pipelines.cli.options import seed
from dialmill.pipelines.core.errors import DialmillError


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--upstream", required=True, metavar="URL", help="the model's OpenAI-compatible API, up to its version: https://HOST/v1")
    parser.add_argument(
        "--with",
        dest="spec",
        required=True,
        metavar="SPEC",
        help="what is done to the user's texts: PERTURBER:OPTION=VALUE,..., such as 'typos:rate=0.1'; '+' chains perturbers; none for nothing",
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="the seed (default 1)")
    parser.add_argument(
        "--variant", type=_count, default=0, metavar="N", help="which draw of the noise (default 0); a request's X-Dialmill-Variant goes first"
    )
    parser.add_argument(
        "--guard",
        action="append",
        default=[],
        metavar="FILE",
        help="values that stay as they are: JSON with calls of tools, schemas of tools or a database, or a value on each line; repeatable. "
        "The choices of a request's tools are guarded without it",
    )
    parser.add_argument("--no-shapes", dest="shapes", action="store_false", help="guard no dates, amounts, codes, quotations and names by looks")
    parser.add_argument("--keep", default="", metavar="REGEX", help="leave the user's texts alone in which this is found: results of tools, say")
    parser.add_argument("--log", default="", metavar="FILE", help="JSON lines of what became of every text, added to FILE")
    parser.add_argument(
        "--on-error",
        choices=("pass", "fail"),
        default="pass",
        help="what becomes of a request when noise fails: it passes clean (default), or fails",
    )
    parser.add_argument("--max-body", type=_megabytes, default=64 << 20, metavar="MB", help="the largest body of a request (default 64)")
    parser.add_argument("--timeout", type=_seconds, default=600.0, metavar="SECONDS", help="how long the upstream may be silent (default 600)")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=_port, default=8100, help="the port to listen on, 0 for any that is free (default 8100)")
    parser.add_argument("--workers", type=_workers, default=1, metavar="N", help="processes (default 1); they share nothing")


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1_000_000:
        raise argparse.ArgumentTypeError(f"must be 0 to 999999: {text}")
    return number


def _megabytes(text: str) -> int:
    number = float(text)
    if not 0 < number <= 4096:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 4096: {text}")
    return int(number * (1 << 20))


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 86_400:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 86400: {text}")
    return number


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"must be 0 to 65535: {text}")
    return number


def _workers(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 256:
        raise argparse.ArgumentTypeError(f"must be 1 to 256: {text}")
    return number


# What argparse calls a value that doesn't fit.
_count.__name__ = _port.__name__ = _workers.__name__ = "int"
_megabytes.__name__ = _seconds.__name__ = "number"


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    try:
        from dialmill.pipelines.proxy import server
    except ModuleNotFoundError as error:
        raise DialmillError(f"proxy needs {error.name}, which is not installed: pip install 'dialmill[proxy]'") from None
    given = {key: value for key, value in vars(options).items() if key != "run"}
    server.serve(server.Options(**{**given, "guard": tuple(options.guard)}))
    return 0
