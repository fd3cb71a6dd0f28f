"""The versions of the engines that are tested together, and where they come from: the one place that pins them.

Beam itself is pinned by tests/constraints.txt; its job servers are taken at the version of the Python package that runs.
"""

from __future__ import annotations

from importlib.metadata import version

#: Flink: a release for which Beam has a job server. The distribution comes from PyPI (the source archive of apache-flink-libraries).
FLINK = "1.19.3"
#: Spark: the release that Beam's job server is built against and carries with it.
SPARK = "3.5.0"


def beam() -> str:
    """That of the Python package, which runs the stages on every engine."""
    return version("apache-beam")


def flink_line() -> str:
    """The Flink that a job server is for: "1.19"."""
    return ".".join(FLINK.split(".")[:2])


def flink_job_server(release: str) -> str:
    """The Maven coordinate of Beam's job server of Flink."""
    return f"org.apache.beam:beam-runners-flink-{flink_line()}-job-server:{release}"


def spark_job_server(release: str) -> str:
    """The Maven coordinate of Beam's job server of Spark."""
    return f"org.apache.beam:beam-runners-spark-3-job-server:{release}"


PRISM = "github.com/apache/beam/sdks/v2/go/cmd/prism"
