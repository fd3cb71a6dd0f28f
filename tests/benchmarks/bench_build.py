"""The cost of distribution: `build raddle` (standard, typos) on Beam against a plain loop of the same functions that writes the same files.

    python tests/benchmarks/bench_build.py --data FOLDER [--copies 10] [--workers]

Every figure is CPU time of a process of its own (children included). Start-up, which is what a build of one dialogue takes, is measured and taken
off; wall time only where two processes are compared. Also: growth with the input, peak memory, one process against two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, resource, sys, time
kind, output, seed, beam, *paths = json.loads(sys.argv[1])
import apache_beam, pyarrow.json, pyarrow.parquet
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
import dialmill.pipelines.runners.beam
from dialmill.perturbers import get
job = build.make_job(benchmarks.load_recipe("raddle", None, ["suites=standard,typos", "hard_share="]), paths, output, seed, overwrite=True)
before, began = time.process_time(), time.monotonic()
if kind == "loop":
    from tests.benchmarks.plain_loop import run
    run(job)
else:
    build.run(job, beam, plain=kind == "plain")
usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
cpu = time.process_time() - before + usage[1].ru_utime + usage[1].ru_stime
print(json.dumps({"cpu": cpu, "wall": time.monotonic() - began, "peak_mb": usage[0].ru_maxrss / 1024, "start": before}))
"""


def measure(kind: str, output: Path, paths: list[str], beam: list[str] | None = None) -> dict[str, float]:
    """CPU seconds, wall seconds and peak memory (MB) of one build in a fresh process."""
    arguments = json.dumps([kind, str(output), 1, beam or [], *paths])
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", CHILD, arguments], capture_output=True, text=True, cwd=root, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def multiply(paths: list[str], copies: int, folder: Path, most: int | None = None) -> list[str]:
    """The dialogues of data.json-shaped inputs (the first `most` of them) `copies` times, under new ids."""
    from dialmill.pipelines.core import files
    from dialmill.pipelines.sources.inputs import find_inputs
    from dialmill.pipelines.sources.reading import json_object_items

    folder.mkdir()
    dialogues: list[tuple[str, bytes]] = []
    for one in find_inputs(paths, "multiwoz21"):
        if one.role == "dialogues":
            dialogues += json_object_items(one.shown, files.read_bytes(one.path))
    dialogues = dialogues[:most]
    made = []
    for copy in range(copies):
        target = folder / f"copy{copy:02d}.json"
        body = b",\n".join(json.dumps(f"{source_id.removesuffix('.json')}-{copy}").encode() + b": " + data for source_id, data in dialogues)
        target.write_bytes(b"{" + body + b"}")
        made.append(str(target))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=[str(Path(__file__).parents[2] / "data" / "multiwoz21")])
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--workers", action="store_true", help="one process against two, on the multiplied input (needs an idle machine)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        one = multiply(options.data, 1, folder / "one", most=1)
        start = {kind: measure(kind, folder / f"{kind}-start", one)["cpu"] for kind in ("loop", "beam")}
        many = multiply(options.data, options.copies, folder / "many")
        results = {}
        for name, paths in (("as it is", options.data), (f"{options.copies} times", many)):
            loop, beam = measure("loop", folder / f"loop-{len(paths)}", paths), measure("beam", folder / f"beam-{len(paths)}", paths)
            results[name] = beam
            ratio = (beam["cpu"] - start["beam"]) / (loop["cpu"] - start["loop"])
            print(
                f"input {name}: plain loop {loop['cpu']:.2f} CPU s, {loop['peak_mb']:.0f} MB; Beam {beam['cpu']:.2f} CPU s, {beam['peak_mb']:.0f} MB"
            )
            print(f"  Beam / plain loop, start-up ({start['beam']:.1f} s and {start['loop']:.1f} s) taken off: {ratio:.2f}")
        small, large = results.values()
        growth = (large["cpu"] - start["beam"]) / (small["cpu"] - start["beam"])
        print(f"{options.copies} times the input takes {growth:.2f} times the CPU")
        if options.workers:
            two = measure("beam", folder / "two", many, ["--direct_running_mode=multi_processing", "--direct_num_workers=2"])
            print(
                f"two processes: {two['wall']:.1f} s wall against {large['wall']:.1f} s with one: {large['wall'] / two['wall']:.2f} times the speed"
            )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
