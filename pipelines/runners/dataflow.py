"""Runs on Google Cloud Dataflow: what one lacks is told before anything is sent, and a dry run translates the graph without the network."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from typing import Any

from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.runners.options import check_options, make_pipeline, runner_of

#: A folder in a bucket, which Dataflow's own client tries for minutes where it is malformed.
_BUCKET_FOLDER = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](/[^\s]+)?/?")
#: What makes dialmill known to workers, each with the name that Beam's options have for it.
_PACKAGES = ("sdk_container_image", "setup_file", "extra_packages", "requirements_file")


def meant(arguments: Sequence[str]) -> bool:
    """Whether the options of Beam name Dataflow as the runner."""
    return bool(arguments) and runner_of(check_options(arguments)) == "DataflowRunner"


def missing(arguments: Sequence[str], job: Job) -> list[str]:
    """What a run on Dataflow with these options of Beam would fail for, in words; empty where nothing is known. Asks nobody.

    Raises:
        UsageError: Beam doesn't take the options.
    """
    from apache_beam.options.pipeline_options import GoogleCloudOptions, SetupOptions, WorkerOptions

    options = check_options(arguments)
    cloud = options.view_as(GoogleCloudOptions)
    lacking = []
    if not _has_client():
        lacking.append("Google's client libraries: pip install 'dialmill[gcp]'")
    for name, value, form in (("project", cloud.project, "PROJECT"), ("region", cloud.region, "REGION")):
        if not value:
            lacking.append(f"--{name}={form}")
    folders = [("temp_location", cloud.temp_location), ("staging_location", cloud.staging_location)]
    if not any(value for _, value in folders):
        lacking.append("--temp_location=gs://BUCKET/FOLDER, where Dataflow keeps the job while it runs")
    for name, value in folders:
        if value and not _BUCKET_FOLDER.fullmatch(value):
            lacking.append(f"--{name} as gs://BUCKET/FOLDER; {value} is none")
    setup, worker = options.view_as(SetupOptions), options.view_as(WorkerOptions)
    if not any(getattr(view, name, None) for name in _PACKAGES for view in (setup, worker)):
        lacking.append("dialmill on the workers: --sdk_container_image=IMAGE (docker/Dockerfile makes one), or --extra_package=WHEEL to try it")
    # What comes along with dialmill lies elsewhere on a worker, too.
    local = [one.shown for part in (job.inputs, *job.corpora.values()) for one in part if not files.is_remote(one.path)]
    if local:
        more = f" and {len(local) - 3} more" if len(local) > 3 else ""
        lacking.append(f"inputs that workers can read: {', '.join(local[:3])}{more} lie on this machine; copy them to a bucket")
    if not files.is_remote(job.output):
        lacking.append(f"an output that workers can write: {job.output} is a folder of this machine; name gs://BUCKET/FOLDER")
    return lacking


def _has_client() -> bool:
    try:
        return importlib.util.find_spec("google.cloud.dataflow") is not None
    except ModuleNotFoundError:  # not even its parent
        return False


def translate(build: Callable[[Runner], None], arguments: Sequence[str]) -> str:
    """Translates a graph as a job would be: every stage is pickled, every coder and every environment written out. Nothing is sent.

    Returns:
        What came of it, in a line.
    """
    from apache_beam.options.pipeline_options import WorkerOptions
    from apache_beam.transforms.environments import DockerEnvironment
    from dialmill.pipelines.runners.beam import BeamRunner

    # Dataflow's own runner would ask the storage service for its buckets as soon as it is made; the graph is the same on any.
    pipeline = make_pipeline(())
    build(BeamRunner(pipeline))
    image = check_options(arguments).view_as(WorkerOptions).sdk_container_image
    environment = DockerEnvironment.from_container_image(image) if image else DockerEnvironment()
    made: Any = pipeline.to_runner_api(default_environment=environment)
    steps = sum(not one.subtransforms for one in made.components.transforms.values())
    return f"translated for Dataflow: {steps} steps, {made.ByteSize():,} bytes, on {environment.container_image}"
