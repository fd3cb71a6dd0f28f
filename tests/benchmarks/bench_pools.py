"""Pools at full size: 100 candidates for 100,000 examples out of a million utterances.

Run ``python -m tests.benchmarks.bench_pools``; ``--examples`` and ``--utterances`` make it smaller. Each shard of examples is written by the stage
that a build runs, in one process and then in two, and the bytes are compared. The aim: under 10 minutes of CPU and 2 GB in any process.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.benchmarks.noesis.recipe import SelectionRecipe
from dialmill.pipelines.benchmarks.noesis.stages import WriteExamples
from dialmill.pipelines.candidates.examples import Example
from dialmill.pipelines.candidates.keys import hashes
from dialmill.pipelines.candidates.pool import WEIGHT, PoolInfo, join_shards, shard_of, utterance
from dialmill.pipelines.core.stage import compress

_SHARDS = 16
_VOCABULARY = 60_000


def sentence(rng: Rng) -> str:
    """Words with the frequencies of a language (Zipf's law), 3 to 22 of them."""
    return " ".join(f"w{int(_VOCABULARY ** rng.random())}" for _ in range(3 + rng.below(20)))


def pool(folder: Path, size: int) -> PoolInfo:
    """A pool of about `size` utterances, a part at a time."""
    parts: list[list[tuple[int, bytes]]] = [[] for _ in range(_SHARDS)]
    for number in range(size):
        made = utterance(sentence(Rng("utterance", number)), 1, WEIGHT)
        assert made is not None
        parts[made[0] * _SHARDS >> 61].append(made)
    shards = []
    for part in parts:
        shards.append(shard_of(data for _, data in part)[0])
        part.clear()
    return join_shards(shards, str(folder), None, False)


def shard(number: int, count: int) -> Iterator[bytes]:
    """The examples of one shard as they travel."""
    for at in range(number, count, _SHARDS):
        rng = Rng("example", at)
        messages = [("participant_1", sentence(rng), "", ""), ("participant_2", sentence(rng), "", ""), ("participant_1", sentence(rng), "", "")]
        answer = sentence(rng)
        texts = [text for _, text, _, _ in messages] + [answer]
        order = key_number("order", at).to_bytes(8, "big")
        yield compress(msgspec.msgpack.encode(Example(at, order, "train", 1, messages, [answer], [], hashes(texts), "participant_2")))


def write(task: tuple[int, int, str, PoolInfo]) -> tuple[str, float, int]:
    """One shard by the build's own stage: sha256 of the part, CPU seconds, and this process' peak memory in KiB."""
    number, count, folder, info = task
    began = time.process_time()
    recipe = SelectionRecipe(benchmark="noesis-ubuntu", pool_scope="all")
    stage = WriteExamples(folder, recipe, "dstc7", 1, {"train": _SHARDS}, frozenset({4}), None)
    for _ in stage.process((f"release/bench.json\t{number}", shard(number, count)), info):
        pass
    part = Path(folder, "parts", "release", f"bench.json.{number:04d}")
    digest = hashlib.sha256(part.read_bytes()).hexdigest()
    part.unlink()
    return digest, time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Builds the pool and draws from it, with one worker and with two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--utterances", type=int, default=1_000_000)
    parser.add_argument("--examples", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        info = pool(Path(folder, "pool"), options.utterances)
        size = sum(path.stat().st_size for path in Path(folder, "pool").iterdir())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"pool: {info.size:,} different utterances, {size >> 20} MiB, {time.process_time() - began:.0f} CPU s, peak {peak >> 10} MiB")
        digests = []
        for workers in (1, 2):
            tasks = [(number, options.examples, folder, info) for number in range(_SHARDS)]
            with multiprocessing.get_context("spawn").Pool(workers) as processes:
                done = processes.map(write, tasks, chunksize=1)
            digests.append([digest for digest, _, _ in done])
            cpu, most = sum(seconds for _, seconds, _ in done), max(kib for _, _, kib in done)
            print(f"{options.examples:,} examples of 100 candidates, {workers} workers: {cpu:.0f} CPU s, peak of a worker {most >> 10} MiB")
        print("bytes are equal" if digests[0] == digests[1] else "BYTES DIFFER")


if __name__ == "__main__":
    main()
