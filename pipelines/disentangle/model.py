"""The reply-link model: two passes of gradient-boosted trees, a softmax over each message's candidates, a calibration.

First pass: pair features (`features.py`) of about 18 candidates a message -> scores -> the best SHORT with probabilities.
Second pass: the same features and the thread features (`threads.py`) of the short list -> scores; several models trained
with other seeds may share it, their log-probabilities are averaged (or they vote). The best candidate is the link, its
calibrated probability the confidence.

A model is one file: a zip archive with LightGBM's own text models, `tables.npz` and `meta.json`; no pickles, no code.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.pipelines.disentangle import features, threads
from dialmill.pipelines.disentangle.features import CONTEXT, Floats, Ints, candidate_pairs, pair_features
from dialmill.pipelines.disentangle.frame import Frame, Roster
from dialmill.pipelines.disentangle.logs import LogLine
from dialmill.pipelines.disentangle.threads import AHEAD, EPOCH, SHORT, Shortlist, thread_features
from dialmill.schemas.archives import too_large

FORMAT = "dialmill irc links 1"
DEFAULT_MODEL = Path(__file__).parent / "models" / "ubuntu.model"
"""The model that comes with the package; ``ubuntu.model.json`` beside it says how it was made, from whose data, and its scores."""
BASE = len(features.NAMES) + threads.NAMES.index("log_p")
"""The second pass adds its scores to this column, the first pass's log-probability."""


START_SHARE = 0.143
"""How often the talk messages of the logs that the shipped model was calibrated on start a conversation, by the model."""
_PRIOR_MESSAGES = 50
"""So many messages of a log weigh as much as what is known of other channels."""
_MOST_ODDS = 8.0
"""A channel's odds of a start differ from those of others by this factor at most."""
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class ReplyLink:
    """`message` replies to `antecedent` (file lines; equal: it starts a conversation), with the probability that this is right.

    `start` is the probability that it starts a conversation, `other` the line that it replies to most probably if it doesn't (-1: none, or no talk),
    `likely` the probability of that.
    """

    message: int
    antecedent: int
    confidence: float
    start: float = 0.0
    other: int = -1
    likely: float = 0.0


def group_log_softmax(scores: np.ndarray, starts: Ints) -> np.ndarray:
    """Natural-log softmax of scores (p,) within groups that begin at `starts`."""
    sizes = np.diff(np.append(starts, len(scores)))
    shifted = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
    out: np.ndarray = shifted - np.repeat(np.log(np.add.reduceat(np.exp(shifted), starts)), sizes)
    return out


def group_starts(key: Ints) -> Ints:
    """Where the runs of equal values begin."""
    return np.flatnonzero(np.diff(key, prepend=key[0] - 1)) if len(key) else np.zeros(0, dtype=np.int64)


def shortlist(message: Ints, candidate: Ints, starts: Ints, log_p: np.ndarray, table: Floats) -> Shortlist:
    """The SHORT best candidates of each group, best first (ties to the nearer); the self candidate takes the last place at worst."""
    groups = len(starts)
    group = np.repeat(np.arange(groups), np.diff(np.append(starts, len(message))))
    boosted = np.where(candidate == message, np.inf, log_p)
    rank_in = np.arange(len(message)) - starts[group]
    order = np.lexsort((rank_in, -boosted, group))
    kept = np.sort(order[np.arange(len(order)) - starts[group] < SHORT])
    group = group[kept]
    order = kept[np.lexsort((kept, -log_p[kept], group))]
    counts = np.bincount(group, minlength=groups)
    slot = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    row = np.repeat(np.arange(groups), counts)
    out = Shortlist(
        np.full((groups, SHORT), -1, dtype=np.int64),
        np.full((groups, SHORT), -np.inf, np.float32),
        np.full((groups, SHORT, table.shape[1]), np.nan, np.float32),
    )
    out.candidate[row, slot], out.log_p[row, slot], out.features[row, slot] = candidate[order], log_p[order], table[order]
    return out


class Booster:
    """A LightGBM text model, loaded once, evaluated on one thread."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._booster: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_booster": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def scores(self, table: Floats) -> np.ndarray:
        """The raw scores of rows, (p,) float64."""
        if self._booster is None:
            try:
                import lightgbm
            except ImportError as error:
                raise DialmillError("predicting reply links needs LightGBM: pip install 'dialmill[irc]'") from error
            self._booster = lightgbm.Booster(model_str=self.text)
        if not len(table):
            return np.zeros(0)
        return np.asarray(self._booster.predict(table, num_threads=1, raw_score=True), dtype=np.float64)


@dataclass
class LinkModel:
    """The trained parts: token tables (2**HASH_BITS,), first-pass trees, second-pass trees (one or more), calibration, notes."""

    rarity: Floats
    starters: Floats
    first: Booster
    second: list[Booster]
    temperature: float = 1.0
    self_bias: float = 0.0
    agreement: str = "mean"
    start_share: float = START_SHARE
    notes: dict[str, Any] = field(default_factory=dict)

    def first_pass(self, frame: Frame, first: int) -> Shortlist:
        """Short lists of the messages from position `first` on; they need CONTEXT messages in front, or the log's beginning."""
        pairs = candidate_pairs(frame, first)
        table = pair_features(frame, pairs, self.rarity, self.starters)
        log_p = group_log_softmax(self.first.scores(table), pairs.starts) if len(table) else np.zeros(0)
        return shortlist(pairs.message, pairs.candidate, pairs.starts, log_p, table)

    def second_pass(self, frame: Frame, short: Shortlist, offset: int, first: int, stop: int) -> tuple[Ints, Floats, Floats, Ints, Floats]:
        """Of the messages first to stop of one epoch (see `thread_features`) the best candidate and its calibrated probability, that of a start, and
        the best candidate besides (-1: none) with its own."""
        message, slot, extra = thread_features(frame, short, self.rarity, offset, first, stop)
        table = np.concatenate((short.features[message - offset, slot], extra), axis=1)
        starts = group_starts(message)
        candidate = short.candidate[message - offset, slot]
        bias = self.self_bias * (candidate == message)
        each = [group_log_softmax((table[:, BASE] + booster.scores(table)) / self.temperature, starts) for booster in self.second]
        log_p = group_log_softmax(np.mean(each, axis=0) + bias, starts)
        chosen = _votes(each, starts, message - candidate) if self.agreement == "vote" else log_p
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(message))))
        order = np.lexsort((message - candidate, -chosen, group))
        best = order[starts]
        alone = candidate == message
        start = np.add.reduceat(np.where(alone, np.exp(log_p), 0.0), starts)
        second = np.lexsort((message - candidate, -np.where(alone, -np.inf, chosen), group))[starts]
        other = np.where(alone[second], -1, candidate[second])
        likely = np.where(alone[second], 0.0, np.exp(log_p[second]))
        return candidate[best], np.exp(log_p[best]).astype(np.float32), start.astype(np.float32), other, likely.astype(np.float32)

    def save(self, path: Path) -> None:
        """Write the model; the same model gives the same bytes."""
        tables = io.BytesIO()
        np.savez(tables, rarity=self.rarity.astype(np.float16), starters=self.starters.astype(np.float16))
        meta = {
            "format": FORMAT,
            "temperature": self.temperature,
            "self_bias": self.self_bias,
            "agreement": self.agreement,
            "start_share": self.start_share,
            "second": len(self.second),
            "layout": layout(),
            "notes": self.notes,
        }
        members = {"meta.json": json.dumps(meta, indent=1, sort_keys=True).encode()}
        members |= {"tables.npz": tables.getvalue(), "first.txt": self.first.text.encode()}
        members |= {f"second-{i}.txt": booster.text.encode() for i, booster in enumerate(self.second)}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in members.items():
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)

    @classmethod
    def load(cls, path: Path) -> LinkModel:
        """Read a model written by `save`.

        Raises:
            InputError: anything else, or a file with another SHA-256 than the JSON file beside it says. The shipped model must have that file; a
                model that came without it is not checked.
        """
        try:
            data = path.read_bytes()
            _check(path, data)
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if problem := next(filter(None, map(too_large, archive.infolist())), None):
                    raise InputError(str(path), problem, "if it is what you want to read, raise the limit with --max-unpacked SIZE")
                meta = json.loads(archive.read("meta.json"))
                if meta.get("format") != FORMAT or meta.get("layout") != layout():
                    raise InputError(
                        str(path),
                        f"a model of another make ({meta.get('format')!r})",
                        "train it again: python -m dialmill.pipelines.disentangle.train",
                    )
                with np.load(io.BytesIO(archive.read("tables.npz")), allow_pickle=False) as tables:
                    rarity, starters = tables["rarity"].astype(np.float32), tables["starters"].astype(np.float32)
                first = Booster(archive.read("first.txt").decode())
                second = [Booster(archive.read(f"second-{i}.txt").decode()) for i in range(meta["second"])]
        except FileNotFoundError:
            raise InputError(str(path), "no such model") from None
        except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
            raise InputError(str(path), f"not a link model: {error}", "train one: python -m dialmill.pipelines.disentangle.train") from None
        share = meta.get("start_share", START_SHARE)
        return cls(rarity, starters, first, second, meta["temperature"], meta["self_bias"], meta["agreement"], share, meta["notes"])


def _check(path: Path, data: bytes) -> None:
    beside = path.with_name(path.name + ".json")
    remedy = "install dialmill again" if path == DEFAULT_MODEL else f"get the model again, with its {beside.name}, or train one"
    try:
        expected = json.loads(beside.read_bytes())["model"]["sha256"]
    except FileNotFoundError:
        if path != DEFAULT_MODEL:
            return
        expected = f"one that {beside.name} says"
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(str(beside), f"says no SHA-256 of the model beside it: {error!r}", remedy) from None
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise InputError(str(path), f"has SHA-256 {found}, expected {expected}; it is not loaded", remedy)


def layout() -> dict[str, Any]:
    """What a model's numbers depend on in this code; a model of another layout is refused."""
    return {
        "features": len(features.NAMES),
        "threads": len(threads.NAMES),
        "near": features.NEAR,
        "reach": features.REACH,
        "short": SHORT,
        "epoch": EPOCH,
        "ahead": AHEAD,
        "horizon": features.HORIZON,
    }


def _votes(each: Sequence[np.ndarray], starts: Ints, distance: Ints) -> np.ndarray:
    """How many models put each pair first, (p,); a model's own ties, and those of the vote, go to the shorter link."""
    count = np.zeros(len(distance))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(distance))))
    for log_p in each:
        count[np.lexsort((distance, -log_p, group))[starts]] += 1
    return count


class Disentangler:
    """Links of one log, read in runs of lines of any length: `push` lines, take the links that are ready, `finish` for the rest.

    The links do not depend on how the lines are cut into runs. Between runs it keeps EPOCH + CONTEXT + AHEAD messages,
    their short lists and the roster of nicks.
    """

    def __init__(self, model: LinkModel) -> None:
        self._model = model
        self._roster = Roster()
        self._frame: Frame | None = None
        self._base = 0
        self._done = 0
        self._short: Shortlist | None = None
        self._short_from = 0

    def push(self, lines: Iterable[LogLine]) -> list[ReplyLink]:
        """Read the next lines; returns the links that became certain: every system line at once, talk an epoch later."""
        lines = list(lines)
        links = [ReplyLink(line.line, line.line, 1.0) for line in lines if not line.is_talk]
        part = self._roster.read(lines)
        self._frame = part if self._frame is None else Frame.join([self._frame, part])
        while self._base + len(self._frame) >= self._done + EPOCH + AHEAD:
            links += self._epoch(self._done + EPOCH)
        return links

    def finish(self) -> list[ReplyLink]:
        """The links of the messages still open at the end of the log."""
        links: list[ReplyLink] = []
        while self._frame is not None and self._base + len(self._frame) > self._done:
            links += self._epoch(min(self._done + EPOCH, self._base + len(self._frame)))
        return links

    def _epoch(self, stop: int) -> list[ReplyLink]:
        """Link the messages `_done` to `stop` (absolute talk positions), which lie in one epoch."""
        assert self._frame is not None
        start, end = self._done, min(stop + AHEAD, self._base + len(self._frame))
        known = self._short_from + len(self._short.candidate) if self._short is not None else 0
        if end > known:
            low = max(known - CONTEXT, 0)
            view = self._frame.slice(low - self._base, end - self._base)
            more = self._model.first_pass(view, known - low)
            more.candidate[more.candidate >= 0] += low
            self._short = (
                more
                if self._short is None
                else Shortlist(*(np.concatenate((getattr(self._short, name), getattr(more, name))) for name in ("candidate", "log_p", "features")))
            )
        assert self._short is not None
        links = _epoch_links(self._model, self._frame, self._base, self._short, self._short_from, start, stop)
        self._done = stop
        self._forget(max(stop - EPOCH, 0))
        return links

    def _forget(self, keep: int) -> None:
        assert self._frame is not None and self._short is not None
        low = max(keep - CONTEXT, self._base)
        if low > self._base:
            self._frame = self._frame.slice(low - self._base, len(self._frame))
            self._base = low
        if keep > self._short_from:
            cut = keep - self._short_from
            self._short = Shortlist(self._short.candidate[cut:], self._short.log_p[cut:], self._short.features[cut:])
            self._short_from = keep


def _epoch_links(model: LinkModel, frame: Frame, base: int, short: Shortlist, short_from: int, start: int, stop: int) -> list[ReplyLink]:
    """Links of the messages start to stop, in one epoch; all numbers are talk positions in the log.

    `frame` begins at position `base` and `short` at position `short_from`, with the candidates' positions in the log.
    """
    offset, end = max(start - EPOCH, 0), min(stop + AHEAD, base + len(frame))
    cut = slice(offset - short_from, end - short_from)
    # A candidate before the window gets a negative position: it has no thread. No message from `start` on has such a candidate.
    candidate = np.where(short.candidate[cut] >= offset, short.candidate[cut] - offset, -1)
    view = Shortlist(candidate, short.log_p[cut], short.features[cut])
    best, confidence, alone, other, likely = model.second_pass(frame.slice(offset - base, end - base), view, 0, start - offset, stop - offset)
    line = frame.line
    columns = (range(start, stop), best.tolist(), confidence.tolist(), alone.tolist(), other.tolist(), likely.tolist())
    return [
        ReplyLink(int(line[at - base]), int(line[to + offset - base]), sure, begins, int(line[than + offset - base]) if than >= 0 else -1, share)
        for at, to, sure, begins, than, share in zip(*columns, strict=True)
    ]


def block_links(model: LinkModel, frame: Frame, base: int, start: int, stop: int) -> list[ReplyLink]:
    """Links of the talk messages start to stop of a log, from a frame that begins at position `base` of the log.

    A pure function, for workers that each take a block: `start` is a multiple of EPOCH, and the frame reaches from
    start - EPOCH - CONTEXT (or the log's beginning) to stop + AHEAD (or its end). The same links as reading the whole log.
    """
    low, end = max(start - EPOCH, 0), min(stop + AHEAD, base + len(frame))
    begin = max(low - CONTEXT, 0)
    if start % EPOCH or begin < base or stop > end:
        raise ValueError(f"a block needs messages {begin} to {end} and a start that is a multiple of {EPOCH}")
    short = model.first_pass(frame.slice(begin - base, end - base), low - begin)
    short.candidate[short.candidate >= 0] += begin
    links: list[ReplyLink] = []
    for first in range(start, stop, EPOCH):
        links += _epoch_links(model, frame, base, short, low, first, min(first + EPOCH, stop))
    return links


def disentangle(model: LinkModel, lines: Sequence[LogLine], chunk: int | None = None) -> list[ReplyLink]:
    """The reply link of every line of a log, by message; `chunk` lines are read at a time (all at once by default)."""
    worker = Disentangler(model)
    links = [link for part in _runs(lines, chunk) for link in worker.push(part)] + worker.finish()
    return to_channel(model, links)


def to_channel(model: LinkModel, links: Iterable[ReplyLink]) -> list[ReplyLink]:
    """The links of a whole log, by message, with the odds of a start that the log itself shows.

    How often a message starts a conversation is a matter of the channel: of how many talk in it at once, and what for. The model knows how often
    that is so where it was trained. What share of a log's messages starts one is found by expectation maximisation over the model's probabilities
    (Saerens, Latinne and Decaestecker 2002), from `start_share` as if that many messages had been seen, and each message's odds are corrected by it.
    """
    ordered = sorted(links, key=lambda link: link.message)
    talk = np.array([link.start for link in ordered if link.other >= 0 or link.start > 0], dtype=np.float64)
    if not len(talk) or model.agreement == "vote":
        return ordered
    known, share, factor = model.start_share, model.start_share, 1.0
    for _ in range(_ROUNDS):
        factor = min(max(share / (1 - share) / (known / (1 - known)), 1 / _MOST_ODDS), _MOST_ODDS)
        starts = talk * factor / (talk * factor + 1 - talk)
        share = float((starts.sum() + _PRIOR_MESSAGES * known) / (len(starts) + _PRIOR_MESSAGES))
    return [_with_odds(link, factor) if link.other >= 0 else link for link in ordered]


def _with_odds(link: ReplyLink, factor: float) -> ReplyLink:
    """A link where the odds of a start are so many times the model's."""
    total = link.start * factor + 1 - link.start
    start, likely = link.start * factor / total, link.likely / total
    antecedent = link.message if start > likely else link.other
    return ReplyLink(link.message, antecedent, round(max(start, likely), 6), round(start, 6), link.other, round(likely, 6))


def _runs(lines: Sequence[LogLine], size: int | None) -> Iterator[Sequence[LogLine]]:
    step = size or max(len(lines), 1)
    for start in range(0, len(lines), step):
        yield lines[start : start + step]
