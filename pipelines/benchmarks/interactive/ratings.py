"""Ratings of items by people, in FED's form, and a metric's scores of the same items; means, agreement and correlations of them.

Agreement is Krippendorff's alpha for ordinal data, and the Spearman correlation of each rating with the mean of the other ratings of its item (FED's
paper first removes outliers, which makes its figures higher). Ratings that are no numbers ("N/A (no errors)") are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from dialmill.pipelines.benchmarks.interactive.kinds import ITEMS, KEY, PREDICTIONS, RATINGS
from dialmill.pipelines.benchmarks.interactive.questionnaire import DIALOGUE, LEVELS, TURN
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.units import Floats
from dialmill.pipelines.scoring.predictions import check_ids, first_byte, read_document, read_lines, unique
from dialmill.pipelines.sources.fed import item_id


@dataclass
class Rated:
    """An item with its ratings: quality -> one number a rater."""

    id: str
    level: str
    system: str
    context: str
    response: str | None
    source: str
    ratings: dict[str, list[float]] = field(default_factory=dict)
    left_out: int = 0

    def add(self, annotations: Mapping[str, Sequence[Any]]) -> None:
        """Adds the ratings of some raters; what is no number is left out."""
        for quality, given in annotations.items():
            numbers = [float(one) for one in given if isinstance(one, int | float) and not isinstance(one, bool)]
            self.left_out += len(given) - len(numbers)
            self.ratings.setdefault(quality, []).extend(numbers)

    def mean(self, quality: str) -> float | None:
        """The mean rating, None where nobody rated it."""
        found = self.ratings.get(quality)
        return sum(found) / len(found) if found else None


def read_gold(path: str) -> dict[str, Rated]:
    """The items of an output folder, with the ratings that are there, or those of a file in FED's form.

    Raises:
        InputError: neither.
    """
    root = Path(path)
    if not root.exists():
        raise InputError(path, "does not exist", "check the path")
    if root.is_file():
        return _of_file(root)
    release = root / "release" if (root / "release").is_dir() else root
    held = root / "labels" / "release"
    keys = [one / "key.json" for one in (held, release) if (one / "key.json").is_file()]
    if not keys:
        raise InputError(path, "has no release/key.json", "expected is a folder that `dialmill build dstc9-track3` made, or a file in FED's form")
    about = read_document(keys[0], KEY)
    found: dict[str, Rated] = {}
    for level in LEVELS:
        file = release / f"{level}_level.json"
        for item in read_document(file, ITEMS) if file.is_file() else ():
            mine = about.get(item["id"])
            if mine is None:
                raise InputError(str(keys[0]), f"lacks the item {item['id']}", "it belongs to another build")
            found[item["id"]] = Rated(item["id"], level, mine["system"], item["context"], item.get("response"), mine["source_id"])
    for file in (held / "ratings.json", release / "ratings.json"):
        if file.is_file():
            add_ratings(found, file)
    return found


def _of_file(file: Path) -> dict[str, Rated]:
    if not is_ratings(file):
        raise InputError(str(file), "holds no ratings", "expected is FED's form: objects with context, system and annotations")
    pairs = []
    for number, item in enumerate(read_document(file, RATINGS)):
        name = item_id(msgspec.json.encode(item), file.name, number)
        level = TURN if item.get("response") is not None else DIALOGUE
        rated = Rated(name, level, item["system"], item["context"], item.get("response"), name)
        rated.add(item["annotations"])
        pairs.append((name, rated))
    return unique(pairs, str(file), "the item")


def is_ratings(file: Path) -> bool:
    """Whether a file is one of ratings, and not one of a metric's scores."""
    return file.is_file() and first_byte(file) == b"["


def add_ratings(items: dict[str, Rated], file: Path) -> None:
    """Adds the ratings of a file to the items that it rates, told by id, else by their texts. Several files of different raters add up.

    Raises:
        InputError: not FED's form, or an item that isn't among them.
    """
    by_text = {(one.context, one.response): one for one in items.values()}
    for number, item in enumerate(read_document(file, RATINGS)):
        found = items.get(str(item["id"])) if "id" in item else by_text.get((item["context"], item.get("response")))
        if found is None:
            raise InputError(str(file), f"item {number}: rates {item.get('id', item['context'][-60:])!r}, which the gold doesn't have", "give its id")
        found.add(item["annotations"])


def read_scores(items: Mapping[str, Rated], file: Path) -> dict[str, dict[str, float]]:
    """A metric's scores: item -> quality -> score; "" is every quality that isn't named. All items of a level that it scores at all are there.

    Raises:
        InputError: not the form, or an item is missing or unknown.
    """
    lines = unique(((str(line["item_id"]), line) for line in read_lines(file, PREDICTIONS)), str(file), "the item")
    levels = {items[name].level for name in lines if name in items}
    due = [one.id for one in items.values() if one.level in levels] if levels else [*items]
    check_ids(due, lines, str(file), "the item")
    return {name: {**line.get("scores", {}), **({"": float(line["score"])} if "score" in line else {})} for name, line in lines.items()}


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for ordinal ratings (Krippendorff 2004, chapter 11): 1 is agreement, 0 chance; None where nothing varies.

    Args:
        units: the ratings of each item; those with fewer than two say nothing.
    """
    rated = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in rated for value in unit})
    if len(values) < 2:
        return None
    place = {value: number for number, value in enumerate(values)}
    together = np.zeros((len(values), len(values)))
    for unit in rated:
        counts = np.bincount([place[value] for value in unit], minlength=len(values)).astype(float)
        together += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    margins = together.sum(axis=1)
    steps = np.cumsum(margins)
    # The distance of two values is how many ratings lie between their middles, squared.
    middles = steps - margins / 2
    distance = (middles[:, None] - middles[None, :]) ** 2
    expected = (np.outer(margins, margins) - np.diag(margins)) / (margins.sum() - 1)
    return 1.0 - float((together * distance).sum() / (expected * distance).sum())


def with_others(units: Sequence[Sequence[float]]) -> float | None:
    """The Spearman correlation of each rating with the mean of the others of its item."""
    pairs = [(value, (sum(unit) - value) / (len(unit) - 1)) for unit in units if len(unit) > 1 for value in unit]
    return correlation(ranks(np.array([one for one, _ in pairs])), ranks(np.array([mean for _, mean in pairs]))) if pairs else None


def ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing the mean of theirs."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    found = np.empty(len(values))
    starts = np.flatnonzero(np.r_[True, sorted_values[1:] != sorted_values[:-1]]) if len(values) else np.array([], int)
    ends = np.r_[starts[1:], len(values)]
    for start, end in zip(starts, ends, strict=True):
        found[order[start:end]] = (start + 1 + end) / 2
    return found


def correlation(one: Floats, other: Floats) -> float | None:
    """Pearson's correlation, None where one of the two doesn't vary or there are fewer than three pairs."""
    if len(one) < 3 or not np.ptp(one) or not np.ptp(other):
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def weighted(one: Floats, other: Floats, draws: Floats) -> Floats:
    """Pearson's correlation in each of many samples, (samples,): NaN where one of the two doesn't vary there.

    Args:
        draws: (samples, pairs): how often each pair is drawn.
    """
    total = draws.sum(axis=1)
    sums = [draws @ column for column in (one, other, one * other, one * one, other * other)]
    x, y, xy, xx, yy = (column / total for column in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x) * (yy - y * y)
        found: Floats = np.where(spread > 1e-12, (xy - x * y) / np.sqrt(np.maximum(spread, 1e-12)), np.nan)
    return found
