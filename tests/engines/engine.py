"""The engines: what starts each, and the options of a build that lead to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.remote.stores import free_port, wait_for_port

from . import fetch, versions
from .processes import Own

#: Java's modules that Flink opens to itself from Java 17 on, as its own start scripts do.
_FLINK_OPENS = (
    *(f"--add-exports={one}=ALL-UNNAMED" for one in ("java.base/sun.net.util", "java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5")),
    *(
        f"--add-opens=java.base/{one}=ALL-UNNAMED"
        for one in (
            *("java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text", "java.time", "java.util"),
            *("java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks"),
        )
    ),
)
_FLINK_CONF = """\
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: {rpc}
jobmanager.bind-host: 127.0.0.1
jobmanager.memory.process.size: 1024m
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: {rest}
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: 2
taskmanager.memory.process.size: 1600m
taskmanager.memory.managed.size: 128m
taskmanager.memory.network.min: 256mb
taskmanager.memory.network.max: 256mb
taskmanager.network.sort-shuffle.min-buffers: 64
heartbeat.interval: 2000
heartbeat.timeout: 20000
classloader.resolve-order: parent-first
io.tmp.dirs: {temporary}
"""
_LOG4J = """\
rootLogger.level=INFO
rootLogger.appenderRef.console.ref=Console
appender.console.name=Console
appender.console.type=CONSOLE
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %-5p %c{1} %m%n
"""


@dataclass(frozen=True)
class Engine:
    """A running engine.

    Args:
        about: its versions, as the table shows them.
        options: of Beam, for a build on it.
        lose_worker: takes one of its workers away in the middle of a run; None where it has one only.
        busy: whether a run has come to the workers; with `lose_worker` only.
        restore: puts a new worker in the place of a lost one.
    """

    about: str
    options: tuple[str, ...]
    lose_worker: Callable[[], None] | None = None
    busy: Callable[[], bool] = lambda: False
    restore: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Given:
    """What the command line says about where engines come from.

    Args:
        job_servers: engine -> a jar that stands in for Maven's.
    """

    job_servers: dict[str, Path]


def _java() -> str:
    return fetch.tool("java")


def _pool(own: Own) -> str:
    """Starts a worker pool; its address. Beam's pool starts its workers as `python`, so that this Python goes first on their PATH."""
    port = free_port()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main", f"--service_port={port}"]
    wait_for_port(port, own.start("worker-pool", command, PATH=path), 60)
    return f"localhost:{port}"


def _jar(engine: str, given: Given, coordinate: str) -> tuple[Path, str]:
    """The job server of an engine, and its version in words."""
    if engine in given.job_servers:
        return given.job_servers[engine], given.job_servers[engine].name
    return fetch.maven_jar(coordinate), f"Beam {versions.beam()}"


@contextmanager
def prism(own: Own, given: Given) -> Iterator[Engine]:
    """Prism, which a build starts by itself; its workers are threads of the launching process."""
    binary = fetch.prism()
    yield Engine(f"Prism {versions.beam()}", ("--runner=PrismRunner", f"--prism_location={binary}"))


@contextmanager
def flink(own: Own, given: Given) -> Iterator[Engine]:
    """A Flink cluster on loopback: a job manager, two task managers, a worker pool.

    The job server's jar is on the path of Flink's own processes, as if it lay in their ``lib/``: Beam ends the workers of each step with it where its
    classes are loaded for the job alone, and a new worker takes seconds.
    """
    jar, told = _jar("flink", given, versions.flink_job_server(versions.beam()))
    home = fetch.flink()
    rest = free_port()
    folder = own.folder / "flink"
    (folder / "tmp").mkdir(parents=True)
    (folder / "config.yaml").write_text(_FLINK_CONF.format(rpc=free_port(), rest=rest, temporary=folder / "tmp"), "utf-8")
    (folder / "log4j.properties").write_text(_LOG4J, "utf-8")
    started: list[str] = []

    def start(name: str, kind: str, main: str) -> None:
        sizes, settings = _flink_memory(home, folder, kind)
        logging = f"-Dlog4j.configurationFile=file:{folder / 'log4j.properties'}"
        command = [_java(), *_FLINK_OPENS, *sizes, logging, "-cp", f"{home / 'lib'}/*{os.pathsep}{jar}", main, "--configDir", str(folder), *settings]
        own.start(name, command, FLINK_CONF_DIR=str(folder))

    def add_task_manager() -> None:
        started.append(f"task-manager-{len(started) + 1}")
        start(started[-1], "TM", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner")

    def overview(what: str) -> Any:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{rest}/{what}", timeout=10) as answer:
                return json.load(answer)
        except (OSError, urllib.error.URLError):
            return {}

    def wait_for(number: int) -> None:
        for _ in range(240):
            if overview("overview").get("taskmanagers") == number:
                return
            time.sleep(0.5)
        raise RuntimeError(f"Flink has {overview('overview').get('taskmanagers')} task managers after two minutes, and {number} were started")

    def lose() -> None:
        own.kill(started[-1])

    def busy() -> bool:
        running = [job for job in overview("jobs/overview").get("jobs", []) if job["state"] == "RUNNING"]
        return any(job["tasks"]["finished"] > job["tasks"]["total"] // 4 for job in running)

    def restore() -> None:
        add_task_manager()
        wait_for(2)

    start("job-manager", "JM", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint")
    add_task_manager()
    add_task_manager()
    pool = _pool(own)
    wait_for(2)
    options = (
        *("--runner=FlinkRunner", f"--flink_version={versions.flink_line()}", f"--flink_master=localhost:{rest}", f"--flink_job_server_jar={jar}"),
        *("--environment_type=EXTERNAL", f"--environment_config={pool}", "--environment_cache_millis=60000", "--parallelism=2"),
    )
    yield Engine(f"Flink {versions.FLINK}, {told}", options, lose, busy, restore)


def _flink_memory(home: Path, folder: Path, kind: str) -> tuple[list[str], list[str]]:
    """How Flink divides the memory of a process ("JM" or "TM"), worked out by its own tool: options of Java, and settings."""
    classes = f"{home / 'bin' / 'bash-java-utils.jar'}{os.pathsep}{home / 'lib'}/*"
    command = [_java(), "-cp", classes, "org.apache.flink.runtime.util.bash.BashJavaUtils", f"GET_{kind}_RESOURCE_PARAMS", "--configDir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    mark = "BASH_JAVA_UTILS_EXEC_RESULT:"
    found = [line.partition(mark)[2].split() for line in done.stdout.splitlines() if mark in line]
    if len(found) != 2:
        raise RuntimeError(f"Flink's tool worked no memory out: {(done.stderr or done.stdout)[-400:]}")
    return found[0], found[1]


@contextmanager
def spark(own: Own, given: Given) -> Iterator[Engine]:
    """Spark in the job server's own process, with two threads; its workers are threads of the launching process."""
    jar, told = _jar("spark", given, versions.spark_job_server(versions.beam()))
    options = ("--runner=SparkRunner", "--spark_master_url=local[2]", f"--spark_job_server_jar={jar}", "--environment_type=LOOPBACK")
    yield Engine(f"Spark {versions.SPARK}, {told}", options)


ENGINES = {"prism": prism, "flink": flink, "spark": spark}


def names() -> Sequence[str]:
    """Of the engines, in the order in which they run."""
    return tuple(ENGINES)
