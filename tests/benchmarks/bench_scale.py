"""How a build grows with its input: CPU seconds, peak memory and the parent's share, on a corpus as large as one likes made of a small one.

    python tests/benchmarks/bench_scale.py [--data FOLDER] [--dialogues 20000,50000] [--plain-copies] [--workers N] [--set key=value] [BENCHMARK]

The dialogues of MultiWOZ 2.1 files (by default those that ship with dialmill) are repeated under new ids; the names in a copy are other names, of as
many words, and its times lie some hours away, in texts and labels alike (`--plain-copies` leaves them as they are: every dialogue is then an
exact copy of many). Each build runs in a process of its own; CPU time is that process's with its workers', memory the largest resident set of each.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from dialmill.perturbers.core.rng import Rng  # noqa: E402

#: Of dialogues, in each file of a corpus made here.
_EACH = 5_000
_SYLLABLES = ("ba", "cor", "dun", "el", "far", "gil", "har", "il", "jor", "ken", "lo", "mar", "nor", "or", "pen", "quin", "ros", "sal", "tam", "ver")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")

CHILD = """
import json, resource, sys, time
benchmark, output, keys, beam, *paths = json.loads(sys.argv[1])
import apache_beam, pyarrow.json, pyarrow.parquet
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
import dialmill.pipelines.runners.beam
job = build.make_job(benchmarks.load_recipe(benchmark, None, keys), paths, output, 1, overwrite=True)
before, began = time.process_time(), time.monotonic()
build.run(job, beam)
own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({
    "parent": time.process_time() - before, "workers": children.ru_utime + children.ru_stime, "wall": time.monotonic() - began,
    "peak_mb": own.ru_maxrss / 1024, "worker_peak_mb": children.ru_maxrss / 1024,
}))
"""


def names_in(dialogue: Any) -> list[str]:
    """The names of places in the labels of a dialogue of data.json's form, the longest first."""
    found: set[str] = set()
    for turn in dialogue["log"]:
        for domain in turn.get("metadata", {}).values():
            name = domain.get("semi", {}).get("name", "") if isinstance(domain, dict) else ""
            found.update(name.split("|") if isinstance(name, str) else ())
        acts = turn.get("dialog_act", {})
        for pairs in acts.values() if isinstance(acts, dict) else ():
            found.update(pair[1] for pair in pairs if len(pair) == 2 and pair[0] == "Name" and isinstance(pair[1], str))
    found -= {"none", "not mentioned", "dontcare"}
    return sorted((name for name in found if len(name) > 4), key=lambda name: (-len(name), name))


def other_name(name: str, copy: int) -> str:
    """A name of as many words for a copy, the same wherever the name stands in it."""
    rng = Rng("name", name, copy)
    return " ".join("".join(rng.sample(_SYLLABLES, 2 + rng.below(2))) if word.isalpha() and len(word) > 3 else word for word in name.split(" "))


def cut_up(raw: bytes) -> list[str]:
    """A dialogue's JSON in pieces: what stays, then a name or a time that copies change, and so on in turn."""
    text = raw.decode()
    names = "|".join(map(re.escape, names_in(json.loads(text))))
    marks = rf"(?<!\w)(?:{names})(?!\w)|{_TIME.pattern}" if names else _TIME.pattern
    pieces, reached = [], 0
    for found in re.finditer(marks, text, flags=re.IGNORECASE):
        pieces += [text[reached : found.start()], found[0]]
        reached = found.end()
    return [*pieces, text[reached:]]


def varied(pieces: Sequence[str], copy: int) -> bytes:
    """A dialogue's JSON with other names and other times."""
    hours = Rng("hours", copy).below(23) + 1
    others: dict[str, str] = {}
    for mark in set(pieces[1::2]):
        time = _TIME.fullmatch(mark)
        others[mark] = f"{(int(time[1]) + hours) % 24:02d}:{time[2]}" if time else other_name(mark.lower(), copy)
    return "".join(others[piece] if at % 2 else piece for at, piece in enumerate(pieces)).encode()


def multiplied(paths: Sequence[str], count: int, plain: bool) -> Iterator[tuple[str, bytes]]:
    """(id, JSON) of so many dialogues: those of data.json-shaped inputs, again and again."""
    from dialmill.pipelines.core import files
    from dialmill.pipelines.sources.inputs import find_inputs
    from dialmill.pipelines.sources.reading import json_object_items

    dialogues: list[tuple[str, bytes]] = []
    for one in find_inputs(paths, "multiwoz21"):
        if one.role == "dialogues":
            dialogues += json_object_items(one.shown, files.read_bytes(one.path))
    cut = [] if plain or count <= len(dialogues) else [cut_up(raw) for _, raw in dialogues]
    for number in range(count):
        copy, place = divmod(number, len(dialogues))
        source_id, raw = dialogues[place]
        yield f"{source_id.removesuffix('.json')}-{copy}", raw if plain or not copy else varied(cut[place], copy)


def write_corpus(paths: Sequence[str], count: int, plain: bool, folder: Path) -> list[str]:
    """A corpus of so many dialogues as files of data.json's form below `folder`; their paths."""
    folder.mkdir(parents=True)
    made: list[str] = []
    stream = None
    for number, (source_id, raw) in enumerate(multiplied(paths, count, plain)):
        if number % _EACH == 0:
            if stream is not None:
                stream.write(b"}")
                stream.close()
            made.append(str(folder / f"part{number // _EACH:04d}" / "data.json"))
            Path(made[-1]).parent.mkdir()
            stream = Path(made[-1]).open("wb")  # noqa: SIM115 - closed above and below
            stream.write(b"{")
        else:
            assert stream is not None
            stream.write(b",\n")
        stream.write(json.dumps(source_id).encode() + b": " + raw)
    if stream is not None:
        stream.write(b"}")
        stream.close()
    return made


def measure(benchmark: str, output: Path, paths: Sequence[str], keys: Sequence[str], beam: Sequence[str]) -> dict[str, float]:
    """CPU seconds of the parent and of its workers, wall seconds and peak memory (MB) of one build in a fresh process."""
    arguments = json.dumps([benchmark, str(output), list(keys), list(beam), *paths])
    done = subprocess.run([sys.executable, "-c", CHILD, arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("benchmark", nargs="?", default="splits")
    parser.add_argument("--data", nargs="+", default=[str(ROOT / "data" / "multiwoz21")])
    parser.add_argument("--dialogues", default="2000,20000", help="sizes, parted by commas")
    parser.add_argument("--plain-copies", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], dest="keys")
    parser.add_argument("--keep", type=Path, help="write the corpus of the last size here and build nothing")
    options = parser.parse_args()
    sizes = [int(size) for size in options.dialogues.split(",")]
    if options.keep:
        write_corpus(options.data, sizes[-1], options.plain_copies, options.keep)
        return
    beam = ["--direct_running_mode=multi_processing", f"--direct_num_workers={options.workers}"] if options.workers > 1 else []
    print(f"{'dialogues':>10}{'CPU s':>9}{'parent':>9}{'wall s':>9}{'peak MB':>9}{'a worker':>9}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            paths = write_corpus(options.data, size, options.plain_copies, folder / "corpus")
            found = measure(options.benchmark, folder / "out", paths, options.keys, beam)
        cpu = found["parent"] + found["workers"]
        share, worker = found["parent"] / cpu, found["worker_peak_mb"] if options.workers > 1 else 0
        print(f"{size:>10,}{cpu:>9.1f}{share:>9.1%}{found['wall']:>9.1f}{found['peak_mb']:>9,.0f}{worker:>9,.0f}", flush=True)


if __name__ == "__main__":
    main()
