"""Rankings: the official NOESIS form or lines of JSON, and metrics of the rank of what is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from pipelines.errors import InputError

from .predictions import first_byte, prediction_files, read_bytes, read_document, read_lines, unique


class Ranking(NamedTuple):
    """The candidates of an example, best first, and their scores where all have one."""

    candidates: list[str]
    scores: list[float] | None


class _Candidate(msgspec.Struct, forbid_unknown_fields=True):
    candidate_id: str
    score: float | int | None = None


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    example_id: int | str
    candidates: list[_Candidate]


class _Official(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    candidate_id: str
    confidence: float | int | None = None


class _Item(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    example_id: int | str
    candidate_ranking: list[_Official]


_LINES = msgspec.json.Decoder(_Line)
_DOCUMENT = msgspec.json.Decoder(list[_Item])


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
    try:
        items = [_LINES.decode(line) for line in read_bytes(file).split(b"\n") if line.strip()]
    except (msgspec.DecodeError, UnicodeDecodeError):
        items = []
    # What the types take is valid; what they don't, the schema words better.
    if not items or any(not one.candidates or any(not other.candidate_id for other in one.candidates) for one in items):
        items = msgspec.convert(read_lines(file, "predictions-ranking"), list[_Line])
    for one in items:
        yield str(one.example_id), _ranking([(other.candidate_id, other.score) for other in one.candidates])


def _official(file: Path) -> Iterable[tuple[str, Ranking]]:
    try:
        items = _DOCUMENT.decode(read_bytes(file))
    except (msgspec.DecodeError, UnicodeDecodeError):
        items = []
    if not items or any(not one.candidate_ranking or any(not other.candidate_id for other in one.candidate_ranking) for one in items):
        items = msgspec.convert(read_document(file, "predictions-noesis"), list[_Item])
    for one in items:
        yield str(one.example_id), _ranking([(other.candidate_id, other.confidence) for other in one.candidate_ranking])


def _ranking(pairs: Sequence[tuple[str, float | None]]) -> Ranking:
    scores = [score for _, score in pairs if score is not None]
    return Ranking([candidate for candidate, _ in pairs], scores if len(scores) == len(pairs) else None)


def _check(path: str, example: str, ranking: Ranking) -> None:
    if len(set(ranking.candidates)) < len(ranking.candidates):
        twice = next(one for one in ranking.candidates if ranking.candidates.count(one) > 1)
        raise InputError(path, f"example {example} holds the candidate {twice} twice", "rank each candidate once")
    scores = ranking.scores
    if scores is not None and any(scores[place] < scores[place + 1] for place in range(len(scores) - 1)):
        raise InputError(
            path, f"example {example}: the scores rise along the list, so it isn't best first", "sort the candidates by descending score"
        )


def average_precision(ranks: Sequence[int], right: int) -> float:
    """The textbook's: the mean, over everything right, of the precision where it stands. `ranks` (from 1) are of what was ranked at all."""
    return sum(place / rank for place, rank in enumerate(sorted(ranks), 1)) / right if right else 0.0
