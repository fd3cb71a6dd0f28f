"""The cost of report.html: CPU time, peak memory and size for a finished folder, and its share of the build's time.

    python tests/benchmarks/bench_report.py --folder DIR [--build BENCHMARK --input PATH...]

`--folder` measures `dialmill report` on a copy of the folder, in a process of its own with the start-up taken off. With `--build` the build is run
as well, and told how much of its time the report took.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = """
import json, resource, sys, time
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.report import write
before = time.process_time()
path = write.write(sys.argv[1])
print(json.dumps({"cpu": time.process_time() - before, "start": before, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""
BUILD = """
import json, sys, time
import apache_beam, pyarrow.parquet
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.report import write
benchmark, output, *paths = json.loads(sys.argv[1])
spent = [0.0]
add = write.add
def timed(folder, manifest):
    began = time.process_time()
    add(folder, manifest)
    spent[0] = time.process_time() - began
write.add = timed
job = build.make_job(benchmarks.load_recipe(benchmark), paths, output, overwrite=True)
before = time.process_time()
build.run(job)
print(json.dumps({"cpu": time.process_time() - before, "report": spent[0]}))
"""


def _run(code: str, argument: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, help="an output folder")
    parser.add_argument("--build", metavar="BENCHMARK")
    parser.add_argument("--input", nargs="+", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(aside, "out")
        if given.build:
            found = _run(BUILD, json.dumps([given.build, str(folder), *given.input]))
            rest, own = found["cpu"] - found["report"], found["report"]
            print(f"build {given.build}: {rest:.1f} s CPU without its report, which adds {own:.2f} s ({100 * own / rest:.1f} %)")
        if given.folder:
            shutil.copytree(given.folder, folder, dirs_exist_ok=True)
        data = sum(path.stat().st_size for path in folder.glob("dialogues/*/*.jsonl"))
        found = _run(REPORT, str(folder))
        size = (folder / "report.html").stat().st_size
        print(f"report of {data / 1e6:.1f} MB of records: {found['cpu']:.2f} s CPU, peak {found['peak_mb']:.0f} MB, {size / 1e6:.2f} MB of HTML")


if __name__ == "__main__":
    main()
