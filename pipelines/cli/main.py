"""The command line. Exit codes: 0 done, 1 the input or the run is at fault, 2 wrong usage, 130 interrupted (143 by a request to end)."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dialmill.perturbers.core.options import OptionError
from dialmill.pipelines.core.errors import DialmillError, UsageError, of_option
from dialmill.pipelines.core.terminal import printable
from dialmill.schemas.version import VERSION

_INTERRUPTED = "interrupted; nothing was written"
#: The signal that ended the run, where one did.
_ENDED_BY = [signal.SIGINT]


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
    options = parser_of(words).parse_args(words)
    try:
        with _ended_as_interrupted():
            code: int = options.run(options, beam_options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _fail(str(error), 2)
    except DialmillError as error:
        return _fail(str(error), 1)
    except OptionError as error:  # of a step that a command makes without a recipe around it
        refused = of_option(error)
        return _fail(str(refused), 2 if isinstance(refused, UsageError) else 1)
    except BrokenPipeError:
        # The reader has seen enough (`| head`); what is left to flush at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _interrupted()
    except OSError as error:
        return _fail(f"{error.filename or 'the run'}: {error.strerror or error}; nothing was written", 1)
    except Exception as error:
        if str(error).startswith("KeyboardInterrupt"):  # as Beam tells it of its stages
            return _interrupted()
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

    def end(number: int, frame: object) -> None:
        _ENDED_BY[0] = signal.Signals(number)
        raise KeyboardInterrupt

    _ENDED_BY[0] = signal.SIGINT
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupted() -> int:
    """Tells of the end, and of what needn't be done again: transcripts and models' answers are kept one by one, as they are made."""
    cache = os.environ.get("DIALMILL_CACHE") or str(Path.home() / ".cache" / "dialmill")
    kept = f"; transcripts and models' answers are cached in {cache}, and a rerun continues from them" if Path(cache).is_dir() else ""
    return _fail(_INTERRUPTED + kept, 128 + _ENDED_BY[0])


def _fail(message: str, code: int) -> int:
    for line in message.split("\n"):
        print(f"dialmill: {printable(line)}", file=sys.stderr)
    return code


class Command(NamedTuple):
    """A command: the module beside this one that has it, and what it does."""

    module: str
    about: str


COMMANDS = {
    "build": Command("build", "build a benchmark from a corpus"),
    "perturb": Command("perturb", "make noisy variants of your own data"),
    "clean": Command("clean", "keep the dialogues of a log that are fit for a benchmark, and say why the others are not"),
    "disentangle": Command("disentangle", "predict reply links and conversations of IRC logs"),
    "score": Command("score", "score predictions: official metrics, robustness, consistency"),
    "predict-baseline": Command("predict", "write the predictions of a light baseline, in the format that `score` reads"),
    "export": Command("export", "write the suites of an output folder in other programs' formats"),
    "validate": Command("validate", "check a file against its schema, record by record"),
    "verify": Command("verify", "check an output folder against its manifest: files, counts, records, overlaps"),
    "report": Command("report", "write an output folder's report.html again"),
    "proxy": Command("proxy", "put noise on the user's side of conversations between a client and a model's API"),
    "show": Command("show", "print a source dialogue and its variants side by side"),
    "list": Command("list", "list what is installed: benchmarks, sources, perturbers and others, with their options"),
    "completion": Command("completion", "a script that completes commands and options in bash, zsh or tcsh"),
}


def parser_of(words: Sequence[str], every: bool = False) -> argparse.ArgumentParser:
    """The parser of these words. Only the module of the command they name is loaded, since most are needed by one command alone; or `every` one."""
    parser = argparse.ArgumentParser(
        prog="dialmill", description="Makes benchmark data sets and noisy variants of dialogue corpora, with labels that still hold."
    )
    parser.add_argument("--version", action="version", version=f"dialmill {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    named = next((word for word in words if not word.startswith("-")), None)
    for name, command in COMMANDS.items():
        of_command = commands.add_parser(name, help=command.about)
        if every or name == named:
            module = importlib.import_module(f"dialmill.pipelines.cli.{command.module}")
            module.add_options(of_command)
            of_command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
