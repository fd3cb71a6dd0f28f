"""Beam pipelines from the options of the command line. Beam is imported when one is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.pipelines.core.runner import Runner

#: Runners all of whose options the Python package knows; job servers of the others add their own.
_CLOSED_RUNNERS = ("FnApiRunner", "DirectRunner", "BundleBasedDirectRunner", "SwitchingDirectRunner", "DataflowRunner")
_FIRST_LINE = re.compile(r"(.+?)(?: \[while running|\n|$)")
_STAGE_SAID = re.compile(r"DialmillError: (.+?)(?: \[while running|\n|$)")
#: How Beam tells what became of a job on an engine of its own: "Pipeline NAME failed in state FAILED: java.io.IOException: ...".
_ENGINE_GAVE_UP = re.compile(r"Pipeline \S+ failed in state (\w+): ([^\n]+)")


def run_beam(build: Callable[[Runner], None], options: Sequence[str]) -> None:
    """Builds a graph and runs it to its end.

    Raises:
        DialmillError: what a stage raised, without the runner's wrapping.
    """
    pipeline = make_pipeline(options)
    # After the pipeline is made, which silences what Beam logs when it is imported.
    from dialmill.pipelines.runners.beam import BeamRunner

    build(BeamRunner(pipeline))
    try:
        result = pipeline.run()
        result.wait_until_finish()
    except Exception as error:
        # Runners wrap a stage's error in what they say themselves, or keep its type and add where it was raised.
        message = _STAGE_SAID.search(str(error)) or (_FIRST_LINE.match(str(error)) if isinstance(error, DialmillError) else None)
        if message:
            raise DialmillError(f"{message[1]}; nothing was written") from None
        engine = _ENGINE_GAVE_UP.search(str(error))
        if engine and "Traceback" not in str(error):  # what an engine says of itself; a stage's own error has a traceback
            raise DialmillError(f"the engine gave the run up ({engine[1]}): {engine[2]}; nothing was written; its own log says more") from None
        raise


def make_pipeline(options: Sequence[str]) -> Any:
    """A Beam pipeline. FnApiRunner is the local default, pinned: DirectRunner switches to another runner where it has a network.

    Raises:
        UsageError: Beam doesn't take the options.
    """
    _import_quietly()
    import apache_beam as beam

    arguments = list(options)
    if not any(option.split("=")[0] == "--runner" for option in arguments):
        arguments.append("--runner=FnApiRunner")
    try:
        found = check_options(arguments)
        return beam.Pipeline(runner=_local_runner(found), options=found)
    except (ValueError, ImportError) as error:
        raise UsageError(f"Beam refused the options {' '.join(arguments)}: {error}") from None


def _import_quietly() -> None:
    """Before Beam's first import, which warns through the root logger where the gcp extra is missing; that is no news to a local user."""
    import logging

    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.NullHandler())


def _local_runner(options: Any) -> Any:
    """The local runner that keeps little in memory, with worker processes that don't print their log where the options ask for such; None where they
    name another runner, or in a Beam whose local runner is built in another way."""
    import sys

    from apache_beam.options.pipeline_options import DirectOptions, StandardOptions
    from apache_beam.transforms.environments import SubprocessSDKEnvironment

    if options.view_as(StandardOptions).runner != "FnApiRunner":
        return None
    kind: Any
    try:
        from dialmill.pipelines.runners.local import LocalRunner

        kind = LocalRunner
    except (ImportError, AttributeError):
        from apache_beam.runners.portability.fn_api_runner import FnApiRunner

        kind = FnApiRunner
    direct = options.view_as(DirectOptions)
    if direct.direct_running_mode != "multi_processing":
        return kind()
    # In its own mode of that name the runner would put Beam's entry point in the place of ours.
    direct.direct_running_mode = "in_memory"
    return kind(default_environment=SubprocessSDKEnvironment.from_command_string(f"{sys.executable} -m dialmill.pipelines.runners.worker"))


def check_options(arguments: Sequence[str]) -> Any:
    """The Beam options. Beam itself drops an option that it doesn't know with no more than a logged line; a local run and one on Dataflow refuse
    it here. Other runners may take options of their own, which pass.

    Raises:
        UsageError: an unknown option of such a run, or a value that doesn't fit.
    """
    import contextlib
    import io
    import logging

    _import_quietly()
    from apache_beam.options.pipeline_options import PipelineOptions

    dropped: list[str] = []
    logger = logging.getLogger("apache_beam.options.pipeline_options")

    def listen(record: logging.LogRecord) -> bool:
        if record.getMessage().startswith("Discarding unparseable args"):
            dropped.extend(map(str, record.args[0] if isinstance(record.args, tuple) and isinstance(record.args[0], list) else [record.args]))
        return False

    logger.addFilter(listen)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            found = PipelineOptions(list(arguments))
            found.get_all_options()
    except SystemExit:  # Beam's options are argparse's, which prints two hundred lines of usage and exits
        raise UsageError(f"Beam refused the options {' '.join(arguments)}: {said.getvalue().strip().splitlines()[-1]}") from None
    finally:
        logger.removeFilter(listen)
    if dropped and runner_of(found) in _CLOSED_RUNNERS:
        raise UsageError(f"Beam knows no option {' '.join(dropped)} (options after -- are Beam's)")
    return found


def runner_of(options: Any) -> str:
    """The runner that the Beam options name, without its modules."""
    from apache_beam.options.pipeline_options import StandardOptions

    return str(options.view_as(StandardOptions).runner).rsplit(".", 1)[-1]
