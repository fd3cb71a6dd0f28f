"""Scores and speed of disentanglement on annotated logs: ``python tests/benchmarks/bench_irc.py --model MODEL --data DIR``.

Prints link and conversation scores, the conversations kept at several confidence cuts, calibration, and messages a CPU second
end to end (bytes of the file to links) with the share of each step. One thread; CPU time, so a busy machine doesn't matter much.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from dialmill.pipelines.disentangle import train as training
from dialmill.pipelines.disentangle.conversations import gather
from dialmill.pipelines.disentangle.features import candidate_pairs, pair_features
from dialmill.pipelines.disentangle.frame import Roster
from dialmill.pipelines.disentangle.logs import find_logs, read_log
from dialmill.pipelines.disentangle.metrics import conversations, start_of
from dialmill.pipelines.disentangle.model import LinkModel, disentangle


def speed(model: LinkModel, folder: Path) -> dict[str, float]:
    """Messages (talk lines) and file lines a CPU second, end to end, and microseconds a message of the single steps."""
    paths = find_logs(folder)
    disentangle(model, read_log(paths[0]).lines)
    began = time.process_time()
    talk = lines = 0
    for path in paths:
        links = disentangle(model, read_log(path).lines)
        lines += len(links)
    whole = time.process_time() - began
    steps = dict.fromkeys(("read", "roster", "candidates", "features", "first_trees"), 0.0)
    for path in paths:
        t0 = time.process_time()
        log = read_log(path)
        t1 = time.process_time()
        frame = Roster().read(log.lines)
        t2 = time.process_time()
        pairs = candidate_pairs(frame)
        t3 = time.process_time()
        table = pair_features(frame, pairs, model.rarity, model.starters)
        t4 = time.process_time()
        model.first.scores(table)
        t5 = time.process_time()
        talk += len(frame)
        for name, spent in zip(steps, (t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4), strict=True):
            steps[name] += spent
    micro = {f"us_{name}": round(spent / talk * 1e6, 1) for name, spent in steps.items()}
    rates = {"messages_per_cpu_second": round(talk / whole), "lines_per_cpu_second": round(lines / whole)}
    return rates | {"us_all": round(whole / talk * 1e6, 1)} | micro


def cuts(model: LinkModel, samples: list[training.Sample]) -> None:
    """For confidence cuts: conversations kept, how many are exactly right, how many lie inside one true conversation, message purity."""
    rows = []
    for sample in samples:
        start = start_of(sample.links)
        truth = {m: number for number, group in enumerate(conversations(sample.links)) for m in group}
        groups = {tuple(m for m in group if m >= start) for group in conversations(sample.links)}
        for made in gather(disentangle(model, sample.log.lines), sample.log.lines):
            members = tuple(m for m in made.messages if m >= start)
            if len(members) > 1:
                owners = np.array([truth[m] for m in members])
                rows.append((made.confidence, len(members), members in groups, int(np.bincount(owners).max())))
    table = np.array(rows)
    for least in (0.0, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
        kept = table[table[:, 0] >= least]
        if len(kept):
            exact, inside = 100 * kept[:, 2].mean(), 100 * (kept[:, 1] == kept[:, 3]).mean()
            purity = 100 * kept[:, 3].sum() / kept[:, 1].sum()
            print(
                f"  confidence >= {least:.2f}: {len(kept):4d} conversations, {kept[:, 1].sum():5.0f} messages, exact {exact:5.1f} %, "
                f"inside one {inside:5.1f} %, message purity {purity:5.1f} %"
            )


def calibration(model: LinkModel, samples: list[training.Sample]) -> None:
    """Right links by confidence bin."""
    sure, right = [], []
    for sample in samples:
        gold = set(sample.links)
        start = start_of(sample.links)
        for link in disentangle(model, sample.log.lines):
            if link.message >= start and sample.log.lines[link.message].is_talk:
                sure.append(link.confidence)
                right.append((link.antecedent, link.message) in gold)
    for low in np.arange(0, 1, 0.1):
        inside = [(s, r) for s, r in zip(sure, right, strict=True) if low <= s < low + 0.1 or (low > 0.85 and s == 1)]
        if inside:
            mean, hits = np.mean(np.array(inside, dtype=float), axis=0)
            print(f"  {low:.1f}-{low + 0.1:.1f}: {len(inside):5d} links, mean confidence {mean:.3f}, right {hits:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder of annotated logs")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--details", action="store_true")
    options = parser.parse_args()
    model = LinkModel.load(options.model)
    samples = training.read_samples(options.data)
    scores, _ = training.evaluate(model, samples)
    print(json.dumps({name: round(value, 2) for name, value in scores.as_dict().items()}))
    if options.details:
        cuts(model, samples)
        calibration(model, samples)
    if options.speed:
        print(json.dumps(speed(model, options.data)))


if __name__ == "__main__":
    main()
