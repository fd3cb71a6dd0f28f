"""Job servers of Flink and Spark out of a checkout of Beam, for where Maven has no ready ones. (Beam's own Gradle build fetches from further places.)

Only the runner itself and the job service are compiled, against Beam's released jars (`versions.BEAM_JARS`), into one jar with all they need:

    python -m tests.engines.job_server flink|spark BEAM
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from . import fetch, versions

_JARS = {
    "flink": [
        *(f"org.apache.flink:{name}:{versions.FLINK}" for name in ("flink-clients", "flink-streaming-java", "flink-java", "flink-runtime")),
        f"org.apache.flink:flink-statebackend-rocksdb:{versions.FLINK}",
        "org.slf4j:slf4j-simple:2.0.16",
    ],
    "spark": [
        *(f"org.apache.spark:{name}:{versions.SPARK}" for name in ("spark-core_2.12", "spark-sql_2.12", "spark-streaming_2.12")),
        f"org.apache.beam:beam-sdks-java-extensions-avro:{versions.BEAM_JARS}",
        "org.hamcrest:hamcrest:2.1",
    ],
}
_COMMON = [
    *(
        f"org.apache.beam:{name}:{versions.BEAM_JARS}"
        for name in ("beam-sdks-java-core", "beam-runners-java-fn-execution", "beam-runners-core-java", "beam-sdks-java-expansion-service")
    ),
    f"org.apache.beam:beam-sdks-java-harness:{versions.BEAM_JARS}",
    "args4j:args4j:2.33",
    "com.google.auto.service:auto-service:1.0.1",
    "com.google.auto.value:auto-value:1.9",
    "com.github.spotbugs:spotbugs-annotations:4.8.3",
]
_MAIN = {"flink": "org.apache.beam.runners.flink.FlinkJobServerDriver", "spark": "org.apache.beam.runners.spark.SparkJobServerDriver"}


def release(source: Path) -> str:
    """The version that a checkout of Beam says it is."""
    found = re.search(r"(?m)^version=(.+)$", (source / "gradle.properties").read_text("utf-8"))
    return found[1].strip() if found else "unknown"


def build(engine: str, source: Path) -> Path:
    """The job server of an engine, in the cache.

    Raises:
        UnavailableError: a jar is missing, or the sources don't compile against it.
    """
    stamp = hashlib.sha256(repr((release(source), versions.BEAM_JARS, sorted(_JARS[engine]), sorted(_COMMON))).encode()).hexdigest()[:12]
    jar = fetch.cache() / f"{engine}-job-server-{release(source)}-{stamp}.jar"
    if jar.exists():
        return jar
    jars = fetch.maven_closure(f"{engine}-jars-{stamp}", [*_COMMON, *_JARS[engine]])
    with tempfile.TemporaryDirectory(dir=fetch.cache()) as folder:
        sources, classes = Path(folder, "sources"), Path(folder, "classes")
        classes.mkdir()
        _lay_sources(engine, source, sources, classes)
        files = sorted(str(one) for one in sources.rglob("*.java"))
        command = [fetch.tool("javac"), "-nowarn", "-cp", ":".join(map(str, jars)), "-d", str(classes), *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr[-300:])
            raise fetch.UnavailableError(f"Beam {release(source)} doesn't compile against the jars of {versions.BEAM_JARS}: {first}")
        whole = Path(folder, jar.name)
        _merge(whole, _MAIN[engine], classes, [one for one in jars if not one.name.startswith(("auto-", "spotbugs"))])
        whole.replace(jar)
    return jar


def _lay_sources(engine: str, source: Path, sources: Path, classes: Path) -> None:
    """The runner with what it changes for the newer releases of its engine, and the job service; resources go to the classes."""
    runner = source / "runners" / engine
    overlays = sorted((one for one in runner.iterdir() if re.fullmatch(r"[\d.]+", one.name)), key=lambda one: [*map(int, one.name.split("."))])
    wanted = [*map(int, versions.flink_line().split("."))] if engine == "flink" else [3]
    used = [one for one in overlays if [*map(int, one.name.split("."))] <= wanted]
    for part in (source / "runners" / "java-job-service", runner, *used):
        for kind, target in (("java", sources), ("resources", classes)):
            if (part / "src" / "main" / kind).is_dir():
                shutil.copytree(part / "src" / "main" / kind, target, dirs_exist_ok=True)
    for one in sources.rglob("package-info.java"):  # they carry annotations of Beam's build tools alone
        one.unlink()
    driver = sources / (_MAIN[engine].replace(".", "/") + ".java")
    # A buffer size of Google's store, whose classes no local run needs.
    driver.write_text("".join(line for line in driver.read_text("utf-8").splitlines(True) if "GcsOptions" not in line), "utf-8")


def _merge(target: Path, main: str, classes: Path, jars: Sequence[Path]) -> None:
    """One jar of many: the first of two equal names stays, lists of services are joined, signatures go."""
    services: dict[str, list[bytes]] = {}
    seen: set[str] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as whole:
        whole.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nMain-Class: {main}\nMulti-Release: true\n")
        for name, content in _contents(classes, jars):
            if name.startswith("META-INF/services/"):
                services.setdefault(name, []).append(content.rstrip())
            elif name not in seen and name != "META-INF/MANIFEST.MF" and not re.fullmatch(r"META-INF/[^/]+\.(SF|RSA|DSA)", name):
                # Folders have entries of their own: Spark looks its web pages up by their folder.
                for folder in (f"{one.as_posix()}/" for one in reversed(PurePosixPath(name).parents[:-1])):
                    if folder not in seen:
                        seen.add(folder)
                        whole.writestr(folder, b"")
                seen.add(name)
                whole.writestr(name, content)
        for name, parts in services.items():
            whole.writestr(name, b"\n".join(parts) + b"\n")


def _contents(classes: Path, jars: Sequence[Path]) -> Iterable[tuple[str, bytes]]:
    for one in sorted(classes.rglob("*")):
        if one.is_file() and one.suffix != ".java":
            yield one.relative_to(classes).as_posix(), one.read_bytes()
    for jar in jars:
        with zipfile.ZipFile(jar) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield info.filename, packed.read(info)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in _MAIN:
        sys.exit("usage: python -m tests.engines.job_server flink|spark BEAM, a checkout of Beam")
    try:
        print(build(sys.argv[1], Path(sys.argv[2])))
    except fetch.UnavailableError as error:
        sys.exit(str(error))
