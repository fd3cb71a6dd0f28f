"""Rankings: the official NOESIS form or lines of JSON, and metrics of the rank of what is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.scoring.predictions import first_byte, prediction_files, read_bytes, read_document, read_lines, unique
from dialmill.pipelines.scoring.shapes import OfficialRanked, Ranked, typed


class Ranking(NamedTuple):
    """The candidates of an example, best first, and their scores where all have one."""

    candidates: list[str]
    scores: list[float] | None


def read_rankings(path: str) -> dict[str, Ranking]:
    """Example id (as text) -> ranking, from a file or a folder of files.

    Raises:
        InputError: not of either form, an example or a candidate twice, or scores that rise along the list.
    """
    pairs: list[tuple[str, Ranking]] = []
    for file in prediction_files(path):
        official = first_byte(file) == b"["
        pairs += _official(file) if official else _lines(file)
    found = unique(pairs, path, "the example")
    for example, ranking in found.items():
        _check(path, example, ranking)
    return found


def _lines(file: Path) -> Iterable[tuple[str, Ranking]]:
    items: list[Any] = [typed("predictions-ranking", line) for line in read_bytes(file).split(b"\n") if line.strip()]
    if None in items:
        items = msgspec.convert(read_lines(file, "predictions-ranking"), list[Ranked])
    for one in items:
        yield str(one.example_id), _ranking([(other.candidate_id, other.score) for other in one.candidates])


def _official(file: Path) -> Iterable[tuple[str, Ranking]]:
    items = typed("predictions-noesis", read_bytes(file))
    if items is None:
        items = msgspec.convert(read_document(file, "predictions-noesis"), list[OfficialRanked])
    for one in items:
        yield str(one.example_id), _ranking([(other.candidate_id, other.confidence) for other in one.candidate_ranking])


def whole_numbers(path: str) -> int:
    """How many example ids of files in the official form are whole numbers, though the published script looks them up as text."""
    return sum(
        isinstance(one.example_id, int)
        for file in prediction_files(path)
        if first_byte(file) == b"["
        for one in typed("predictions-noesis", read_bytes(file)) or ()
    )


def _ranking(pairs: Sequence[tuple[str, Any]]) -> Ranking:
    scores = [score for _, score in pairs if score is not msgspec.UNSET]
    return Ranking([candidate for candidate, _ in pairs], scores if len(scores) == len(pairs) else None)


def _check(path: str, example: str, ranking: Ranking) -> None:
    named = [candidate.upper() for candidate in ranking.candidates]
    if len(set(named)) < len(named):
        twice = next(one for one in ranking.candidates if named.count(one.upper()) > 1)
        raise InputError(path, f"example {example} holds the candidate {twice} twice", "rank each candidate once")
    scores = ranking.scores
    if scores is not None and any(scores[place] < scores[place + 1] for place in range(len(scores) - 1)):
        raise InputError(
            path, f"example {example}: the scores rise along the list, so it isn't best first", "sort the candidates by descending score"
        )


def strangers(rankings: Mapping[str, Ranking], options: Mapping[str, Set[str]], also: Set[str] = frozenset()) -> list[tuple[str, str]]:
    """Candidates that are ranked and aren't offered, as (example, candidate), in the order of the rankings.

    Args:
        options: example -> the ids it offers, in upper case; examples that it doesn't have aren't looked at.
        also: ids that may be ranked everywhere.
    """
    return [
        (example, candidate)
        for example, ranking in rankings.items()
        if example in options
        for candidate in ranking.candidates
        if candidate.upper() not in options[example] and candidate.upper() not in also
    ]


def check_offered(path: str, rankings: Mapping[str, Ranking], options: Mapping[str, Set[str]], also: Set[str] = frozenset()) -> None:
    """Raises `InputError`, naming the first, where a ranking holds candidates that its example doesn't offer; arguments as for `strangers`."""
    unknown = strangers(rankings, options, also)
    if unknown:
        example, candidate = unknown[0]
        more = f", and {len(unknown) - 1:,} more such candidates" if len(unknown) > 1 else ""
        offered = ", ".join(sorted(options[example])[:3])
        raise InputError(
            path,
            f"example {example} ranks the candidate {candidate!r}, which is none of its {len(options[example]):,} options ({offered}, ...){more}",
            "are the predictions of this gold and subtask?",
        )


def average_precision(ranks: Sequence[int], right: int) -> float:
    """The textbook's: the mean, over everything right, of the precision where it stands. `ranks` (from 1) are of what was ranked at all."""
    return sum(place / rank for place, rank in enumerate(sorted(ranks), 1)) / right if right else 0.0
