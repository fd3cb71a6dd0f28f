"""Train the reply-link model on annotated logs: ``python -m dialmill.pipelines.disentangle.train --data DIR --output MODEL``.

DIR holds ``train/`` and ``dev/`` with NAME.ascii.txt (or .raw.txt) and NAME.annotation.txt, as released by Kummerfeld et al. (2019);
``--train`` and ``--dev`` name other folders. Fixed seeds, one thread, no sampling by clock: the same data and versions
give the same model. The second pass is trained on first-pass predictions for files that the first pass did not see;
the calibration is fitted on dev.
Beside the model a JSON file tells how it was made: command, data digest, scores on dev, attribution.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.disentangle import features
from dialmill.pipelines.disentangle.features import Floats, Ints, candidate_pairs, pair_features
from dialmill.pipelines.disentangle.frame import HASH_BITS, Frame, Roster
from dialmill.pipelines.disentangle.logs import Log, annotation_path, read_annotated
from dialmill.pipelines.disentangle.metrics import Scores, score, start_of
from dialmill.pipelines.disentangle.model import BASE, Booster, LinkModel, ReplyLink, disentangle, group_log_softmax, group_starts
from dialmill.pipelines.disentangle.threads import AHEAD, EPOCH, Shortlist, thread_features

ATTRIBUTION = (
    'Trained on the Ubuntu IRC reply-structure annotations of Kummerfeld et al., "A Large-Scale Corpus for Conversation Disentanglement", '
    "ACL 2019 (P19-1374), licensed CC-BY 4.0."
)
BUCKETS = 1 << HASH_BITS
FOLDS = 5
SHRINK = 0.01
"""Pulls the calibration's bias towards none, by this much times its square: dev is small."""
RARE = 5
"""A token seen fewer times in training says nothing about new conversations."""


@dataclass(slots=True)
class Sample:
    """One annotated log: `frame` of its talk, gold links by file line, and the position of its first annotated message."""

    log: Log
    links: list[tuple[int, int]]
    frame: Frame
    first: int


@dataclass(slots=True)
class Rows:
    """Training rows: features (p, f), whether a pair is a gold link (p,), and a number that groups a message's pairs (p,)."""

    table: Floats
    gold: np.ndarray
    group: Ints


def read_samples(folder: Path) -> list[Sample]:
    """The annotated logs of a folder, read for training."""
    samples = []
    for log, links in read_annotated(folder):
        frame = Roster().read(log.lines)
        samples.append(Sample(log, links, frame, int(np.searchsorted(frame.line, start_of(links)))))
    return samples


def rarity_table(samples: Sequence[Sample]) -> Floats:
    """Inverse document frequency of hashed tokens over all talk, (BUCKETS,)."""
    seen = np.zeros(BUCKETS)
    for sample in samples:
        seen += np.bincount(sample.frame.tokens, minlength=BUCKETS)
    rarity: Floats = np.log((sum(len(s.frame) for s in samples) + 1) / (seen + 1)).astype(np.float16).astype(np.float32)
    return rarity


def starter_table(samples: Sequence[Sample]) -> Floats:
    """Smoothed log-odds of hashed tokens in messages that start a conversation against those that reply, (BUCKETS,)."""
    counts = np.zeros((2, BUCKETS))
    total = np.zeros(2)
    for sample in samples:
        selfs = {b for a, b in sample.links if a == b}
        marked = {b for _, b in sample.links}
        frame = sample.frame
        for at in range(sample.first, len(frame)):
            line = int(frame.line[at])
            if line in marked:
                starts = int(line in selfs)
                counts[starts, frame.tokens[frame.indptr[at] : frame.indptr[at + 1]]] += 1
                total[starts] += 1
    weight = np.log((counts[1] + 1) / (total[1] + 2)) - np.log((counts[0] + total[0] / total[1]) / (total[0] + 2 * total[0] / total[1]))
    weight[counts.sum(axis=0) < RARE] = 0
    table: Floats = weight.astype(np.float16).astype(np.float32)
    return table


def _gold(sample: Sample, message: Ints, candidate: Ints) -> np.ndarray:
    size = len(sample.log.lines)
    keys = np.array([a * size + b for a, b in sample.links])
    return np.isin(sample.frame.line[candidate] * size + sample.frame.line[message], keys)


def first_rows(samples: Sequence[Sample], rarity: Floats, starters: Sequence[Floats]) -> Rows:
    """First-pass rows of all annotated messages; `starters[i]` is the table for sample i."""
    tables, golds, groups = [], [], []
    base = 0
    for sample, table in zip(samples, starters, strict=True):
        pairs = candidate_pairs(sample.frame, sample.first)
        tables.append(pair_features(sample.frame, pairs, rarity, table))
        golds.append(_gold(sample, pairs.message, pairs.candidate))
        groups.append(pairs.message + base)
        base += len(sample.frame)
    return Rows(np.concatenate(tables), np.concatenate(golds), np.concatenate(groups))


def second_rows(samples: Sequence[Sample], models: Sequence[LinkModel]) -> Rows:
    """Second-pass rows of all annotated messages, with the first pass of `models[i]` for sample i."""
    tables, golds, groups = [], [], []
    base = 0
    for sample, model in zip(samples, models, strict=True):
        frame = sample.frame
        low = max(sample.first // EPOCH * EPOCH - EPOCH, 0)
        view = frame.slice(max(low - features.CONTEXT, 0), len(frame))
        shift = len(frame) - len(view)
        short = model.first_pass(view, low - shift)
        short.candidate[short.candidate >= 0] += shift
        for epoch in range(sample.first // EPOCH * EPOCH, len(frame), EPOCH):
            offset, stop = max(epoch - EPOCH, 0), min(epoch + EPOCH, len(frame))
            end = min(stop + AHEAD, len(frame))
            cut = slice(offset - low, end - low)
            part = Shortlist(short.candidate[cut], short.log_p[cut], short.features[cut])
            message, slot, extra = thread_features(frame.slice(0, end), part, model.rarity, offset, max(epoch, sample.first), stop)
            candidate = part.candidate[message - offset, slot]
            tables.append(np.concatenate((part.features[message - offset, slot], extra), axis=1))
            golds.append(_gold(sample, message, candidate))
            groups.append(message + base)
        base += len(frame)
    return Rows(np.concatenate(tables), np.concatenate(golds), np.concatenate(groups))


def fit(rows: Rows, trees: int, rate: float, leaves: int, seed: int, base: int | None = None, **settings: Any) -> Booster:
    """Boosted trees with a softmax over each message's candidates against a uniform share of its gold links.

    Messages whose gold links are all out of the candidates' reach are left out. The trees add to the column `base`, if given.
    """
    import lightgbm

    starts = group_starts(rows.group)
    hits = np.add.reduceat(rows.gold.astype(np.float64), starts)
    kept = np.repeat(hits > 0, np.diff(np.append(starts, len(rows.group))))
    table, group = rows.table[kept], rows.group[kept]
    starts = group_starts(group)
    sizes = np.diff(np.append(starts, len(group)))
    target = rows.gold[kept] / np.repeat(hits[hits > 0], sizes)

    initial = None if base is None else table[:, base].astype(np.float64)

    def softmax_loss(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        p = np.exp(group_log_softmax(scores, starts))
        return p - target, np.maximum(p * (1 - p), 1e-3)

    parameters = {
        "objective": softmax_loss,
        "learning_rate": rate,
        "num_leaves": leaves,
        "min_data_in_leaf": 50,
        "feature_fraction": 0.7,
        "lambda_l2": 5.0,
        "max_bin": 127,
        "num_threads": 1,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    } | settings
    booster = lightgbm.train(parameters, lightgbm.Dataset(table, label=rows.gold[kept].astype(np.float32), init_score=initial), trees)
    return Booster(booster.model_to_string())


@dataclass(frozen=True)
class Plan:
    """How a model is trained: (trees, learning rate, leaves) of both passes, and the seeds (each gives one second-pass model)."""

    first: tuple[int, float, int] = (150, 0.1, 63)
    second: tuple[int, float, int] = (200, 0.05, 31)
    seeds: tuple[int, ...] = (1,)


def train(samples: Sequence[Sample], plan: Plan, tell: Callable[[str], None] = lambda _: None) -> LinkModel:
    """Train both passes on annotated logs (two at least); `tell` hears of each step."""
    if len(samples) < 2:
        raise DialmillError("training needs two annotated logs at least: the second pass learns from files that the first pass did not see")
    trees, rate, leaves = plan.first
    seed = plan.seeds[0]
    rarity = rarity_table(samples)
    folds = min(FOLDS, len(samples))
    fold = np.arange(len(samples)) % folds
    starters = [starter_table([s for s, f in zip(samples, fold, strict=True) if f != k]) for k in range(folds)]
    rows = first_rows(samples, rarity, [starters[f] for f in fold])
    ends = np.cumsum([len(s.frame) for s in samples])
    fold_of = fold[np.searchsorted(ends, rows.group, side="right")]
    unseen = []
    for k in range(folds):
        seen = fold_of != k
        booster = fit(Rows(rows.table[seen], rows.gold[seen], rows.group[seen]), trees, rate, leaves, seed)
        unseen.append(LinkModel(rarity, starters[k], booster, []))
        tell(f"first pass without part {k + 1} of {folds}")
    first = fit(rows, trees, rate, leaves, seed)
    tell("first pass on everything")
    rows = second_rows(samples, [unseen[f] for f in fold])
    trees, rate, leaves = plan.second
    second = []
    for seed in plan.seeds:
        second.append(fit(rows, trees, rate, leaves, seed, base=BASE, feature_fraction=0.4, min_data_in_leaf=100))
        tell(f"second pass, seed {seed}")
    return LinkModel(rarity, starter_table(samples), first, second)


def calibrate(model: LinkModel, samples: Sequence[Sample]) -> None:
    """Set the model's temperature and its bias for starting a conversation, by the likelihood of the gold links of `samples`.

    Annotators differ in how readily they start a conversation; the bias moves from those of the training data to those of dev.
    """
    rows = second_rows(samples, [model] * len(samples))
    starts = group_starts(rows.group)
    is_self = rows.table[:, features.NAMES.index("self")] == 1
    reachable = np.add.reduceat(rows.gold.astype(np.int64), starts) > 0
    raw = [booster.scores(rows.table) + rows.table[:, BASE] for booster in model.second]

    def loss(temperature: float, bias: float) -> float:
        mean = np.mean([group_log_softmax(scores / temperature, starts) for scores in raw], axis=0)
        p = np.exp(group_log_softmax(mean + bias * is_self, starts))
        return float(-np.log(np.maximum(np.add.reduceat(p * rows.gold, starts)[reachable], 1e-9)).mean())

    grid = [(loss(t, b) + SHRINK * b * b, t, b) for t in (0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2) for b in np.arange(-10, 6) / 10]
    _, model.temperature, bias = min(grid)
    model.self_bias = float(bias)
    mean = np.mean([group_log_softmax(scores / model.temperature, starts) for scores in raw], axis=0)
    model.start_share = round(float((np.exp(group_log_softmax(mean + bias * is_self, starts)) * is_self).sum() / len(starts)), 4)


def evaluate(model: LinkModel, samples: Sequence[Sample]) -> tuple[Scores, dict[str, list[ReplyLink]]]:
    """Scores of a model on annotated logs, and its links of each."""
    predicted = {s.log.name: disentangle(model, s.log.lines) for s in samples}
    links = {name: [(link.antecedent, link.message) for link in found] for name, found in predicted.items()}
    return score({s.log.name: s.links for s in samples}, links), predicted


def data_digest(samples: Sequence[Sample]) -> str:
    """SHA-256 over the names and bytes of logs and annotations, in order of name."""
    digest = hashlib.sha256()
    for sample in sorted(samples, key=lambda s: s.log.name):
        for path in (Path(sample.log.path), annotation_path(Path(sample.log.path))):
            digest.update(f"{path.name}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def describe(samples: Sequence[Sample]) -> dict[str, Any]:
    """Digest and size of a set of annotated logs."""
    lines, links = sum(len(s.log.lines) for s in samples), sum(len(s.links) for s in samples)
    return {"sha256": data_digest(samples), "files": len(samples), "lines": lines, "links": links}


def save_with_notes(
    model: LinkModel, output: Path, command: str, attribution: str, samples: Sequence[Sample], dev: Sequence[Sample], seconds: float
) -> Scores:
    """Write the model, and beside it a JSON file on how it was made: command, digests, attribution, versions, scores on dev (returned)."""
    import lightgbm

    model.notes = {
        "command": command,
        "attribution": attribution,
        "data": describe(samples),
        "calibration_data": describe(dev),
        "versions": {"lightgbm": lightgbm.__version__, "numpy": np.__version__},
    }
    scores, _ = evaluate(model, dev)
    model.save(output)
    data = output.read_bytes()
    sidecar = model.notes | {
        "model": {"file": output.name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)},
        "cpu_seconds": round(seconds),
        "scores": {"dev": {k: round(v, 2) for k, v in scores.as_dict().items()}},
    }
    output.with_name(output.name + ".json").write_text(json.dumps(sidecar, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return scores


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(
        prog="python -m dialmill.pipelines.disentangle.train", description="Train the reply-link model on annotated IRC logs."
    )
    parser.add_argument("--data", type=Path, help="folder with train/ and dev/ as released")
    parser.add_argument("--train", type=Path, help="folder of the annotated training logs (default: DATA/train)")
    parser.add_argument("--dev", type=Path, help="folder of the annotated logs to report scores on (default: DATA/dev)")
    parser.add_argument("--output", type=Path, required=True, help="the model file to write; MODEL.json beside it tells how it was made")
    parser.add_argument("--seeds", default="1", help="one second-pass model for each seed, with commas between (default: 1)")
    parser.add_argument("--agreement", choices=("mean", "vote"), default="mean", help="of several second-pass models (default: mean log-probability)")
    parser.add_argument("--first-trees", type=int, default=Plan.first[0])
    parser.add_argument("--second-trees", type=int, default=Plan.second[0])
    parser.add_argument("--attribution", default=ATTRIBUTION, help="whose data this is, for the model's notes")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args(arguments)
    if options.data is None and (options.train is None or options.dev is None):
        parser.error("give --data, or both --train and --dev")
    try:
        plan = Plan((options.first_trees, *Plan.first[1:]), (options.second_trees, *Plan.second[1:]), tuple(int(s) for s in options.seeds.split(",")))
    except ValueError:
        parser.error("--seeds takes whole numbers with commas between them")
    began = time.process_time()

    def tell(text: str) -> None:
        if not options.quiet:
            print(f"[{time.process_time() - began:6.0f} CPU s] {text}", file=sys.stderr, flush=True)

    try:
        samples, dev = read_samples(options.train or options.data / "train"), read_samples(options.dev or options.data / "dev")
        tell(f"read {len(samples)} logs to train on, {len(dev)} to report on")
        model = train(samples, plan, tell)
        model.agreement = options.agreement
        calibrate(model, dev)
        tell(f"calibrated on dev: temperature {model.temperature}, bias of a start {model.self_bias}")
        command = f"python -m dialmill.pipelines.disentangle.train --data DATA --output MODEL --seeds {options.seeds} --agreement {options.agreement}"
        command += f" --first-trees {options.first_trees} --second-trees {options.second_trees}"
        scores = save_with_notes(model, options.output, command, options.attribution, samples, dev, time.process_time() - began)
        tell(f"wrote {options.output}: dev link F {scores.link_f:.2f}, exact F {scores.exact_f:.2f}, VI {scores.vi:.1f}, 1-1 {scores.one_to_one:.1f}")
    except DialmillError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
