"""Speed of the text perturbers, checks included, and of gathering their donors, on the same dialogues in one run.

    python tests/benchmarks/bench_text.py [--data DIR] [--dialogues 200] [--json FILE]

CPU seconds of this process, the best of several rounds that take turns, so that a busy machine hurts all alike; beside each the ratio to `typos`,
which says more of a perturber than a figure from a machine that others use. The dialogues are those of the MultiWOZ 2.1 files under DIR (by default
the miniature corpus that ships with dialmill). Donors are gathered once per build, and counted apart from the variants that are drawn from them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from dialmill.perturbers import parse  # noqa: E402
from dialmill.perturbers.core.contract import Perturber  # noqa: E402
from dialmill.perturbers.core.pools import PoolFile, build_table  # noqa: E402
from dialmill.perturbers.rewording.donors import DonorPool  # noqa: E402
from dialmill.perturbers.rewording.rewriter import Rewriter  # noqa: E402
from dialmill.schemas import Dialogue  # noqa: E402

from tests.benchmarks.bench_typos import cpu, read  # noqa: E402

ROUNDS = 5
#: Perturber -> variants of user turns that are asked for per CPU second.
WANTED = {"typos": 10_000, "paraphrase": 3_000, "simplification": 10_000, "verbosity": 10_000, "disfluency": 10_000, "entities": 10_000}


def perturb_all(perturber: Perturber, dialogues: list[Dialogue], seed: int) -> None:
    """One variant of each."""
    for dialogue in dialogues:
        perturber.perturb(dialogue, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "multiwoz21", help="a folder with MultiWOZ 2.1 files, zipped or not")
    parser.add_argument("--dialogues", type=int, default=200)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    every = read(arguments.data)
    dialogues = every[: arguments.dialogues]
    turns = sum(turn.speaker == "user" for dialogue in dialogues for turn in dialogue.turns)
    gathered: list[object] = []
    gathering = cpu(lambda: gathered.append(build_table(DonorPool(), every)))
    pool = PoolFile.of_dialogues(DonorPool(), every)
    perturbers = {name: parse(name).perturber for name in WANTED}
    perturbers = {name: one.with_pools({(DonorPool.name, "input"): pool}) if isinstance(one, Rewriter) else one for name, one in perturbers.items()}
    work: dict[str, Callable[[], object]] = {name: partial(perturb_all, one, dialogues, 1) for name, one in perturbers.items()}
    for one in perturbers.values():
        perturb_all(one, dialogues, 2)  # word lists and caches are loaded
    best = dict.fromkeys(work, float("inf"))
    for _ in range(ROUNDS):
        for name, call in work.items():
            best[name] = min(best[name], cpu(call))
    speed = {name: turns / seconds for name, seconds in best.items()}

    print(f"{turns} user turns in {len(dialogues)} dialogues of {arguments.data}, Python {sys.version.split()[0]}")
    print(f"donors of {len(every)} dialogues gathered in {gathering:.2f} s: {gathering / len(every) * 1000:.2f} ms each, once per build")
    for name, rate in speed.items():
        print(f"{name:16}{rate:10,.0f} user turns per CPU second ({WANTED[name]:,} asked){rate / speed['typos']:8.2f} x typos")
    if arguments.json:
        arguments.json.write_text(json.dumps({"turns": turns, "gathering_seconds": gathering, "per_cpu_second": speed}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
