"""`.ci/engines`: builds on real engines, compared byte by byte with the same builds in memory.

Each engine builds every job of `JOBS` into an emulated object store. Where an engine has several workers, one of them is killed in the middle of a
run of its own: the run either ends with the same bytes, or says what happened, leaves no folder, and the next run is whole again.

Exit code: 0 if all bytes are equal; 1 if a run failed or differs; 3 if all that ran are equal and an engine could not be had here.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple

from dialmill.pipelines.core import files

from tests.pipelines.tools import DATA, ROOT
from tests.remote.stores import Stores, running

from .engine import ENGINES, Engine, Given, names
from .fetch import UnavailableError, cache
from .processes import Meter, Own

_KNOWLEDGE = ",".join(str(DATA / "dstc9_track1" / name) for name in ("knowledge.json", "knowledge_eval.json"))
#: A build is given up after so many seconds.
_LIMIT = 1800


class Job(NamedTuple):
    """One build: the benchmark, its input, its settings, and the store that its output goes to."""

    benchmark: str
    corpus: str
    settings: tuple[str, ...]
    store: str

    def command(self, output: str) -> list[str]:
        """Without options of Beam."""
        chosen = [word for setting in self.settings for word in ("--set", setting)]
        return [sys.executable, "-m", "dialmill", "build", self.benchmark, "--input", str(DATA / self.corpus), "--output", output, "--quiet", *chosen]


#: The suites of raddle's recipe are all of them; speech is the ASR error simulator (tests/__init__.py sees to it).
JOBS = (
    Job("raddle", "multiwoz21", (), "gs"),
    Job("noesis-ubuntu", "ubuntu_irc", (), "s3"),
    Job("dstc9-track1", "multiwoz21", (f"knowledge={_KNOWLEDGE}",), "s3"),
)


class Row(NamedTuple):
    """A line of the table."""

    engine: str
    job: str
    dialogues: str
    cpu: str
    wall: str
    peak: str
    equal: str

    def told(self) -> str:
        """What came of it, as it is printed while the others run."""
        return f"{self.equal}; {self.cpu} s of CPU, {self.wall} s, at most {self.peak} MB" if self.cpu else self.equal


class Reference(NamedTuple):
    """What a job makes in memory."""

    hashes: dict[str, str]
    dialogues: int
    row: Row


def hashes_of(output: str) -> dict[str, str]:
    """SHA-256 of every file of a folder, local or remote, by its relative name."""
    with files.here(output) as local:
        return {one.relative_to(local).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest() for one in Path(local).rglob("*") if one.is_file()}


def _dialogues(output: str) -> int:
    """The records of the canonical files."""
    with files.here(output) as local:
        return sum(len(one.read_bytes().splitlines()) for one in Path(local, "dialogues").rglob("*.jsonl"))


def _row(engine: str, job: str, dialogues: int | str, meter: Meter | None, equal: str) -> Row:
    if meter is None:
        return Row(engine, job, str(dialogues), "", "", "", equal)
    return Row(engine, job, str(dialogues), f"{meter.cpu:.0f}", f"{meter.wall:.0f}", f"{meter.peak / 2**20:,.0f}", equal)


def build(job: Job, output: str, options: Sequence[str], without: Sequence[int]) -> tuple[subprocess.CompletedProcess[str], Meter]:
    """Runs a job to its end, and measures it with all that runs for it."""
    command = job.command(output) + (["--", *options] if options else [])
    with Meter(without) as meter:
        try:
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=_LIMIT, check=False)
        except subprocess.TimeoutExpired as late:
            done = subprocess.CompletedProcess(command, 124, "", f"no end after {late.timeout:.0f} seconds")
    return done, meter


def _says(stderr: str) -> str:
    return stderr.strip()[-600:]


def reference(job: Job, folder: Path) -> Reference:
    """The job in memory, on the local disk."""
    output = str(folder / job.benchmark)
    done, meter = build(job, output, (), ())
    if done.returncode:
        raise SystemExit(f"{job.benchmark} fails in memory: {_says(done.stderr)}")
    dialogues = _dialogues(output)
    return Reference(hashes_of(output), dialogues, _row("in memory", job.benchmark, dialogues, meter, "(reference)"))


def compare(engine: Engine, name: str, job: Job, whole: Reference, stores: Stores) -> Row:
    """One job on one engine."""
    output = f"{stores.buckets[job.store]}/{name}/{job.benchmark}"
    done, meter = build(job, output, engine.options, stores.processes)
    if done.returncode:
        print(f"   {job.benchmark}: exit code {done.returncode}: {_says(done.stderr)}")
        return _row(engine.about, job.benchmark, whole.dialogues, meter, "FAILED")
    found = hashes_of(output)
    different = sorted(one for one in found.keys() | whole.hashes.keys() if found.get(one) != whole.hashes.get(one))
    for one in different[:10]:
        print(f"   {job.benchmark}: {one} differs")
    return _row(engine.about, job.benchmark, whole.dialogues, meter, "DIFFERENT" if different else f"equal ({len(found)} files, {job.store})")


def lose_a_worker(engine: Engine, name: str, job: Job, whole: Reference, stores: Stores) -> Row:
    """One job of which a worker is killed on the way: it may give the same bytes, or a message and no folder; the next run is whole then."""
    assert engine.lose_worker is not None
    output, label = f"{stores.buckets[job.store]}/{name}/killed", f"{job.benchmark}, a worker killed"
    command = [*job.command(output), "--", *engine.options]
    with Meter(stores.processes) as meter, tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, cwd=ROOT)
        end = time.monotonic() + _LIMIT
        while not engine.busy() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
        if process.poll() is not None:
            return _row(engine.about, label, whole.dialogues, None, "FAILED: the run ended before a worker could be killed")
        engine.lose_worker()
        try:
            code = process.wait(timeout=max(1.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            return _row(engine.about, label, whole.dialogues, None, f"FAILED: hung for {_LIMIT} seconds")
        said.seek(0)
        message = said.read()
    engine.restore()
    if code == 0:
        same = hashes_of(output) == whole.hashes
        return _row(engine.about, label, whole.dialogues, meter, "equal (recovered)" if same else "DIFFERENT after the loss")
    print(f"   {label}: exit code {code}: {_says(message)}")
    if code != 1 or not message.startswith("dialmill: ") or "Traceback" in message:
        return _row(engine.about, label, whole.dialogues, meter, "FAILED: not told clearly")
    if files.is_folder(output):
        return _row(engine.about, label, whole.dialogues, meter, "FAILED: it left a folder")
    done, _ = build(job, output, engine.options, stores.processes)
    if done.returncode or hashes_of(output) != whole.hashes:
        print(f"   {label}: the next run: exit code {done.returncode}: {_says(done.stderr)}")
        return _row(engine.about, label, whole.dialogues, meter, "FAILED: the next run is not whole")
    return _row(engine.about, label, whole.dialogues, meter, "failed clearly, no folder; the next run equal")


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    """Where logs go: a given folder, which stays, or one that goes."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="dialmill-engines-") as made:
        yield Path(made)


def run_engine(name: str, given: Given, folder: Path, jobs: Sequence[Job], references: dict[str, Reference], stores: Stores) -> list[Row]:
    """All jobs on one engine, and one with a worker lost."""
    folder.mkdir(parents=True)
    with Own(folder) as own:
        try:
            with ENGINES[name](own, given) as engine:
                rows = []
                for job in jobs:
                    print(f"== {name}: {job.benchmark}", flush=True)
                    rows.append(compare(engine, name, job, references[job.benchmark], stores))
                    print(f"   {rows[-1].told()}", flush=True)
                if engine.lose_worker is not None:
                    job = jobs[0]
                    print(f"== {name}: {job.benchmark}, a worker killed on the way", flush=True)
                    rows.append(lose_a_worker(engine, name, job, references[job.benchmark], stores))
                    print(f"   {rows[-1].told()}", flush=True)
                return rows
        except UnavailableError as error:
            print(f"== {name}: not to be had here: {error}", flush=True)
            print("   (--job-server ENGINE=JAR names a job server that you have)", flush=True)
            return [_row(name, "all", "", None, "NOT RUN: not to be had here")]
        except RuntimeError as error:
            print(f"== {name}: {error}", flush=True)
            return [_row(name, "all", "", None, "FAILED: it didn't start")]


def table(rows: Sequence[Row]) -> str:
    """The rows as a table of Markdown."""
    head = Row("engine", "job", "dialogues", "CPU s", "wall s", "peak MB", "bytes")
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def _given(options: argparse.Namespace) -> Given:
    servers = {}
    for one in options.job_server:
        name, mark, path = one.partition("=")
        if not mark or name not in ("flink", "spark") or not Path(path).is_file():
            raise SystemExit(f"--job-server {one}: expected flink=JAR or spark=JAR, and a jar that is there")
        servers[name] = Path(path).resolve()
    return Given(servers)


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog=".ci/engines", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=names(), help="only this one; repeatable")
    parser.add_argument("--job", action="append", choices=[job.benchmark for job in JOBS], help="only this build; repeatable")
    parser.add_argument("--job-server", action="append", default=[], metavar="ENGINE=JAR", help="a job server in place of the one that Maven has")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="keep the engines' logs here (a folder that is empty or not there)")
    options = parser.parse_args()
    # A run that is told to end takes its engines with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given = _given(options)
    jobs = [job for job in JOBS if not options.job or job.benchmark in options.job]
    start = time.monotonic()
    rows: list[Row] = []
    with _folder(options.logs) as folder, running() as stores:
        print(f"== cache: {cache()}; in memory, for comparison", flush=True)
        references = {job.benchmark: reference(job, folder / "in-memory") for job in jobs}
        rows += [one.row for one in references.values()]
        for name in options.engine or names():
            rows += run_engine(name, given, folder / name, jobs, references, stores)
    print(f"\n{date.today().isoformat()}, {os.cpu_count()} cores, {time.monotonic() - start:.0f} s in all\n")
    print(table(rows))
    said = " ".join(row.equal for row in rows)
    return 1 if "FAILED" in said or "DIFFERENT" in said else 3 if "NOT RUN" in said else 0


if __name__ == "__main__":
    sys.exit(main())
