"""Scores of disentanglement: reply links and conversations against the gold, as the field reports them.

Definitions: Kummerfeld et al. (ACL 2019, P19-1374) for link P/R/F, scaled VI, one-to-one and exact match; Elsner and
Charniak (2008) for local-3; Shen et al. (2006) for their F; Hubert and Arabie (1985) for ARI. All values are percent.
Conversations of all files are pooled before scoring; link scores are micro-averaged.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from dialmill.pipelines.core.errors import DialmillError
from numpy.typing import NDArray

Link = tuple[int, int]
"""(antecedent, message), equal where the message starts a conversation."""


@dataclass(frozen=True)
class Scores:
    """All figures in percent, and the counts they rest on; `one_to_one` is NaN where SciPy, which finds the best matching, isn't installed."""

    link_precision: float
    link_recall: float
    link_f: float
    vi: float
    one_to_one: float
    ari: float
    shen_f: float
    local_3: float
    exact_precision: float
    exact_recall: float
    exact_f: float
    messages: int
    gold_links: int
    predicted_links: int
    matched_links: int
    gold_conversations: int
    predicted_conversations: int
    matched_conversations: int

    def as_dict(self) -> dict[str, float]:
        """Name to figure, of those that could be computed."""
        return {name: value for name, value in asdict(self).items() if value == value}


def conversations(links: Iterable[Link], messages: Iterable[int] = ()) -> list[list[int]]:
    """Connected components of links, each sorted, ordered by first message; `messages` without a link are alone."""
    parent: dict[int, int] = {m: m for m in messages}

    def root(node: int) -> int:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in links:
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    groups: dict[int, list[int]] = {}
    for node in sorted(parent):
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())


def start_of(links: Iterable[Link]) -> int:
    """The first annotated message: where evaluation starts in a file whose links these are (1000 in most, not in all)."""
    return min(b for _, b in links)


def score(gold: Mapping[str, Sequence[Link]], predicted: Mapping[str, Sequence[Link]], starts: Mapping[str, int] | None = None) -> Scores:
    """Score predicted links of files against gold links of the same names.

    A file's points are the messages from its start on that have a gold link; its start is `starts[name]`, else the
    first annotated message. A message without a predicted link is a conversation of its own.
    Raises `DialmillError` for a file missing on either side, and where there is nothing to score.
    """
    for missing, side in ((sorted(set(gold) - set(predicted)), "predictions"), (sorted(set(predicted) - set(gold)), "gold")):
        if missing:
            raise DialmillError(f"no {side} for {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}: both sides need the same files")
    truth: list[NDArray[np.int64]] = []
    guess: list[NDArray[np.int64]] = []
    gold_links = auto_links = both_links = 0
    for name in sorted(gold):
        start = (starts or {}).get(name, start_of(gold[name]) if gold[name] else 0)
        points = {b for _, b in gold[name] if b >= start}
        if not points:
            raise DialmillError(f"{name}: no annotated message from {start} on, nothing to score; give the start of this file's annotation")
        g = {link for link in gold[name] if link[1] in points}
        p = {(min(link), max(link)) for link in predicted[name]}
        p = {link for link in p if link[1] in points}
        gold_links, auto_links, both_links = gold_links + len(g), auto_links + len(p), both_links + len(g & p)
        order = sorted(points)
        truth.append(_labels(conversations(g, order), order))
        guess.append(_labels(conversations(p, order), order))
    if not truth:
        raise DialmillError("no file to score")
    link = _prf(both_links, auto_links, gold_links)
    matched = sum(len(_exact(t) & _exact(g)) for t, g in zip(truth, guess, strict=True))
    true_count, auto_count = sum(len(_exact(t)) for t in truth), sum(len(_exact(g)) for g in guess)
    # Conversations of one message don't count; where neither side has others, both agree.
    exact = _prf(matched, auto_count, true_count) if true_count or auto_count else (100.0, 100.0, 100.0)
    n = sum(map(len, truth))
    return Scores(
        *link,
        vi=variation(truth, guess),
        one_to_one=one_to_one(truth, guess) if matches() else math.nan,
        ari=adjusted_rand(truth, guess),
        shen_f=shen(truth, guess),
        local_3=local(truth, guess, 3),
        exact_precision=exact[0],
        exact_recall=exact[1],
        exact_f=exact[2],
        messages=n,
        gold_links=gold_links,
        predicted_links=auto_links,
        matched_links=both_links,
        gold_conversations=true_count,
        predicted_conversations=auto_count,
        matched_conversations=matched,
    )


def _prf(matched: int, predicted: int, gold: int) -> tuple[float, float, float]:
    p = 100 * matched / predicted if predicted else 0.0
    r = 100 * matched / gold if gold else 0.0
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def _labels(groups: list[list[int]], points: list[int]) -> NDArray[np.int64]:
    """The number of each point's group, (points,)."""
    label = {message: number for number, group in enumerate(groups) for message in group}
    return np.array([label[p] for p in points], dtype=np.int64)


def _exact(labels: NDArray[np.int64]) -> set[tuple[int, ...]]:
    """The groups of two and more, as tuples of point positions."""
    groups: dict[int, list[int]] = {}
    for position, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(position)
    return {tuple(group) for group in groups.values() if len(group) > 1}


@dataclass(frozen=True)
class _Table:
    """Contingency of two labellings of the same points: the cells that are not empty, with their counts."""

    row: NDArray[np.int64]
    col: NDArray[np.int64]
    data: NDArray[np.float64]

    def dense(self) -> NDArray[np.float64]:
        """(rows, columns) counts."""
        out = np.zeros((int(self.row.max()) + 1, int(self.col.max()) + 1))
        out[self.row, self.col] = self.data
        return out


def _table(truth: NDArray[np.int64], guess: NDArray[np.int64]) -> _Table:
    width = int(guess.max()) + 1
    cells, counts = np.unique(truth * width + guess, return_counts=True)
    return _Table(cells // width, cells % width, counts.astype(np.float64))


def variation(truth: Sequence[NDArray[np.int64]], guess: Sequence[NDArray[np.int64]]) -> float:
    """100 (1 - VI / log2 n), with VI = H(truth | guess) + H(guess | truth) in bits over the pooled conversations."""
    n = sum(map(len, truth))
    if n < 2:
        return 100.0
    loss = 0.0
    for t, g in zip(truth, guess, strict=True):
        table = _table(t, g)
        rows, columns = np.bincount(t), np.bincount(g)
        share = table.data / n
        loss -= float((share * (np.log2(table.data / rows[table.row]) + np.log2(table.data / columns[table.col]))).sum())
    return 100 * (1 - loss / float(np.log2(n)))


def matches() -> bool:
    """Whether SciPy is installed, which `one_to_one` needs."""
    return importlib.util.find_spec("scipy") is not None


def one_to_one(truth: Sequence[NDArray[np.int64]], guess: Sequence[NDArray[np.int64]]) -> float:
    """Share of messages covered by the best one-to-one matching of conversations."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError as error:
        raise DialmillError("the one-to-one score needs SciPy: pip install 'dialmill[irc]'") from error
    covered = 0.0
    for t, g in zip(truth, guess, strict=True):
        table = _table(t, g).dense()
        rows, columns = linear_sum_assignment(table, maximize=True)
        covered += float(table[rows, columns].sum())
    return 100 * covered / sum(map(len, truth))


def adjusted_rand(truth: Sequence[NDArray[np.int64]], guess: Sequence[NDArray[np.int64]]) -> float:
    """Adjusted Rand index over the pooled conversations; 100 for equal groupings, 0 expected by chance."""

    def choose(x: NDArray[np.float64]) -> float:
        """Pairs within the groups of these sizes."""
        return float((x * (x - 1) / 2).sum())

    n = sum(map(len, truth))
    cells = sum(choose(_table(t, g).data) for t, g in zip(truth, guess, strict=True))
    a = sum(choose(np.bincount(t).astype(float)) for t in truth)
    b = sum(choose(np.bincount(g).astype(float)) for g in guess)
    total = n * (n - 1) / 2
    if not total or a + b == 0:
        return 100.0
    expected = a * b / total
    return 100.0 if (a + b) / 2 == expected else 100 * (cells - expected) / ((a + b) / 2 - expected)


def shen(truth: Sequence[NDArray[np.int64]], guess: Sequence[NDArray[np.int64]]) -> float:
    """Shen et al.'s F: for each true conversation the best F of any predicted one, weighted by size."""
    total = 0.0
    for t, g in zip(truth, guess, strict=True):
        table = _table(t, g)
        rows, columns = np.bincount(t), np.bincount(g)
        f = 2 * table.data / (rows[table.row] + columns[table.col])
        best = np.zeros(len(rows))
        np.maximum.at(best, table.row, f)
        total += float((best * rows).sum())
    return 100 * total / sum(map(len, truth))


def local(truth: Sequence[NDArray[np.int64]], guess: Sequence[NDArray[np.int64]], window: int) -> float:
    """Share of message pairs at most `window` apart on which both sides agree: same conversation or not."""
    right = pairs = 0
    for t, g in zip(truth, guess, strict=True):
        for distance in range(1, window + 1):
            agree = (t[distance:] == t[:-distance]) == (g[distance:] == g[:-distance])
            right, pairs = right + int(agree.sum()), pairs + len(agree)
    return 100 * right / pairs if pairs else 100.0
