"""CGoDial, retrieval-based (Dai et al. 2022): which of ten candidates is the response.

Metrics, in percent: `mrr`, `r_at_1`, `r_at_2`, `r_at_5`. Equal scores are settled by chance, and what is given is the expectation: a system that
gives every candidate the same score has 10 % `r_at_1`. The released scorer has it at 100 % (``--official-compat``): it sorts stably, and the right
candidate comes first in the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from dialmill.pipelines.benchmarks.cgodial.releases import HARD, find
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, ratio
from dialmill.pipelines.scoring.predictions import check_ids, first_byte, prediction_files, read_document
from dialmill.pipelines.scoring.ranking import Ranking, check_offered, read_rankings
from dialmill.pipelines.scoring.truth import Truth, read_options, read_truth

_FILES = {"test": "test", "valid": "dev", "train": "train"}
_CUTS = (1, 2, 5)


class _Session(msgspec.Struct):
    right: list[str] = msgspec.field(name="true")
    wrong: list[str] = msgspec.field(name="false")


class RetrievalScorer(Scorer):
    name = "cgodial-rbd"
    about = "CGoDial, retrieval-based: R@1, R@2, R@5 and MRR"
    scale = "percent"
    ranked = ("r_at_1", "mrr")
    clean = "test_std"
    paired = False

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if self.split not in _FILES:
            raise InputError(settings.gold, f"has no split {self.split!r}", f"there are: {', '.join(_FILES)}")
        name = _FILES[self.split]
        root = Path(settings.gold)
        path = find(settings.gold, f"{name}.json")
        listed = find(settings.gold, f"ecd_{name}_subtask_1.json") if root.is_dir() else None
        if path is None and listed is None:
            raise InputError(
                settings.gold, f"holds no {name}.json and no ecd_{name}_subtask_1.json", "name an output folder, or the release's folder"
            )
        self.sessions: dict[str, _Session] = {}
        if path is not None:
            try:
                self.sessions = msgspec.json.decode(path.read_bytes(), type=dict[str, _Session])
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise InputError(str(path), f"is no file of retrieval-based dialogues: {error}", "`dialmill validate` tells more") from None
        self.truth: Truth = {} if listed is None else read_truth([listed])
        self._options = {} if listed is None else read_options([listed])
        hard = find(settings.gold, "hard_dialog_id.json")
        self.hard = set() if hard is None else set(msgspec.json.decode(hard.read_bytes(), type=list[int]))
        self._path = ""

    def suites(self) -> list[str]:
        return [self.clean, *([HARD] if self.hard else [])]

    def read(self, path: str) -> dict[str, tuple[list[float], list[bool]]]:
        """Example -> the scores of its candidates, and which are right."""
        self._path = path
        (file, *more) = prediction_files(path)
        if not more and first_byte(file) == b"[" and b"candidate-ranking" not in file.read_bytes()[:100_000]:
            return self._flat(read_document(file, "predictions-cgodial-rbd"))
        found: dict[str, tuple[list[float], list[bool]]] = {}
        rankings = read_rankings(path)
        listed = bool(self.truth) and (not self.sessions or bool(rankings.keys() & self.truth.keys()))
        truth = self.truth if listed else self._positions()
        check_ids(list(truth), rankings, path, "example")
        check_offered(path, rankings, self._options if listed else self._places())
        for example, ranking in rankings.items():
            found[example] = _scored(ranking, truth[example])
        return found

    def _positions(self) -> Truth:
        """Candidates by their place in the release, which has the right ones first: "0" is right."""
        return {name: [str(place) for place in range(len(session.right))] for name, session in self.sessions.items()}

    def _places(self) -> dict[str, frozenset[str]]:
        """The places of all candidates in the release, by example."""
        return {name: frozenset(str(place) for place in range(len(one.right) + len(one.wrong))) for name, one in self.sessions.items()}

    def _flat(self, scores: Sequence[float]) -> dict[str, tuple[list[float], list[bool]]]:
        sizes = [len(session.right) + len(session.wrong) for session in self.sessions.values()]
        if not self.sessions:
            raise InputError(self._path, f"is a list of scores, and {self.settings.gold} has no {_FILES[self.split]}.json that gives their order", "")
        if sum(sizes) != len(scores):
            raise InputError(
                self._path, f"has {len(scores)} scores, the gold has {sum(sizes)} candidates in {len(sizes)} examples", "score all of them"
            )
        found = {}
        start = 0
        for name, session in self.sessions.items():
            end = start + len(session.right) + len(session.wrong)
            found[name] = (list(scores[start:end]), [place < len(session.right) for place in range(end - start)])
            start = end
        return found

    def covered(self, guesses: object) -> list[str]:
        return [self.clean]

    def every(self, guesses: object) -> list[str]:
        return self.suites()

    def units(self, suite: str, guesses: dict[str, tuple[list[float], list[bool]]] | None) -> Units:
        # In the gold's order: that is how the hard ones are counted.
        names = list(self.truth or self.sessions)
        if guesses is not None and not guesses.keys() <= set(names):
            names = list(self.sessions)
        chosen = [name for place, name in enumerate(names) if suite != HARD or place in self.hard]
        rows = [{"n": 1.0, "rr": 1.0, **{f"r{cut}": 1.0 for cut in _CUTS}} if guesses is None else self._row(*guesses[name]) for name in chosen]
        columns = columns_of(rows)
        return Units([Key(name, 0, "") for name in chosen], columns, columns["r1"] == 1 if rows else None)

    def _row(self, scores: Sequence[float], right: Sequence[bool]) -> dict[str, float]:
        row = {"n": 1.0}
        if self.settings.official:
            order = sorted(range(len(scores)), key=lambda place: -scores[place])
            ranked = [right[place] for place in order]
            first = ranked.index(True)
            return row | {"rr": 1 / (1 + first)} | {f"r{cut}": sum(ranked[:cut]) / sum(ranked) for cut in _CUTS}
        best = max((score for score, good in zip(scores, right, strict=True) if good), default=None)
        if best is None:
            return row
        above = sum(score > best for score in scores)
        tied = sum(score == best for score in scores)
        good = sum(hit for score, hit in zip(scores, right, strict=True) if score == best)
        return row | {"rr": _expected_reciprocal(above, tied, good)} | {f"r{cut}": self._expected_recall(scores, right, cut) for cut in _CUTS}

    def _expected_recall(self, scores: Sequence[float], right: Sequence[bool], cut: int) -> float:
        """The expected share of right candidates among the first `cut`, ties in random order."""
        total = 0.0
        for score, good in zip(scores, right, strict=True):
            if good:
                above, tied = sum(other > score for other in scores), sum(other == score for other in scores)
                total += min(max((cut - above) / tied, 0.0), 1.0)
        return total / max(sum(right), 1)

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "n" not in sums:
            return {}
        return {"mrr": 100 * ratio(sums["rr"], sums["n"])} | {f"r_at_{cut}": 100 * ratio(sums[f"r{cut}"], sums["n"]) for cut in _CUTS}

    def policy(self) -> dict[str, str]:
        return {"ties": "the release's order, right one first" if self.settings.official else "the expectation over all orders of equal scores"}


def _expected_reciprocal(above: int, tied: int, good: int) -> float:
    """The expected 1 / rank of the first of `good` right ones among `tied` equal candidates with `above` better ones."""
    total, missed = 0.0, 1.0
    for place in range(tied - good + 1):
        # The first right one is at this place: none before it, and one here.
        here = missed * good / (tied - place)
        total += here / (above + place + 1)
        missed *= (tied - place - good) / (tied - place)
    return total


def _scored(ranking: Ranking, right: Sequence[str]) -> tuple[list[float], list[bool]]:
    """A ranking as scores: its own, or without them its order. What is right and was not ranked comes last."""
    scores = ranking.scores if ranking.scores is not None else [-float(place) for place in range(len(ranking.candidates))]
    hits = [candidate.upper() in right for candidate in ranking.candidates]
    lost = len(right) - sum(hits)
    return [*scores, *[float("-inf")] * lost], [*hits, *[True] * lost]
