"""NOESIS, DSTC7 Task 1 (Gunasekara et al. 2019) and DSTC8 Track 2: the rank of the right next utterance among candidates.

Metrics in [0, 1]: `R@1`, `R@10`, `R@50`, `R@100` and `MRR` of the first right candidate, `MAP` (textbook) and `MAP_official` (the organisers'
metrics.py, which takes the right candidates in the order of the ground truth, not of the ranking), `final` = (MRR + R@10) / 2, by which a subtask is
won; of examples without a right candidate, `NONE.precision`, `NONE.recall` and `NONE.f1` of the answer "NONE" in first place. A candidate that the
example doesn't offer is an error, where the gold has the options.

``--official-compat``: examples that weren't predicted count as wrong instead of being an error, candidate ids must be in the upper case of the ground
truth, R@100 takes any rank, and candidates that aren't offered are counted in a note, as are example ids that aren't text (the script finds none).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, f_measure, ratio
from dialmill.pipelines.scoring.predictions import check_ids
from dialmill.pipelines.scoring.ranking import Ranking, average_precision, check_offered, read_rankings, strangers, whole_numbers
from dialmill.pipelines.scoring.truth import NONE, Truth, read_options, read_truth

_CUTS = (1, 10, 50, 100)
_SPLITS = {"test": ("test", "responses"), "valid": ("dev",), "dev": ("dev",), "train": ("train",)}
#: Folders of subsets, which repeat examples: they are looked into only where they are asked for.
_HARD, _SUBSETS = "test_hard", ("few_shot", "test_hard")
_NAME = re.compile(r"(?P<corpus>ubuntu|advising)_(?P<split>train|dev|test|responses)(?P<case>.*)_subtask_(?P<subtask>\d)\b")


class Noesis(Scorer):
    """Both corpora."""

    corpus: ClassVar[str]
    scale = "fraction"
    ranked = ("final", "MRR", "R@10", "R@1")
    paired = False

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if settings.split is not None and settings.split not in (*_SPLITS, _HARD):
            raise InputError(settings.gold, f"has no split {settings.split!r}", "there are: test, test_hard, valid, train")
        self._found = _files(settings.gold, self.corpus)
        self._truth: dict[str, Truth] = {}
        self._path = ""
        if not any(split in self._found for split in self._order()):
            looked = (
                f"{self.corpus}_{_SPLITS.get(self.split, _SPLITS['test'])[0]}_subtask_N.json, .targets.tsv or {self.corpus}_responses_subtask_N.tsv"
            )
            raise InputError(settings.gold, f"has no ground truth of NOESIS: looked for {looked}", "name the folder of the release")

    def _order(self) -> list[str]:
        """The splits to look into: the one that was named, or test first."""
        return [self.split] if self.settings.split else ["test", "valid", "train"]

    def suites(self) -> list[str]:
        return sorted({suite for split in self._order() for suite in self._found.get("valid" if split == "dev" else split, {})})

    def truth(self, suite: str) -> Truth:
        """The ground truth of a subtask."""
        key = "valid" if self.split == "dev" else self.split
        if f"{key}/{suite}" not in self._truth:
            if suite not in self._found.get(key, {}):
                raise InputError(self.settings.gold, f"has no {suite} of the split {self.split}", "name another split with --split")
            self._truth[f"{key}/{suite}"] = read_truth(self._found[key][suite])
        return self._truth[f"{key}/{suite}"]

    def read(self, path: str) -> dict[str, Ranking]:
        self._path = path
        found = read_rankings(path)
        if self.settings.official and (number := whole_numbers(path)):
            self.notes.add(
                f"{number:,} example ids are whole numbers, which the published script finds nowhere: it would give 0 for them; write text"
            )
        return found

    def covered(self, guesses: dict[str, Ranking]) -> list[str]:
        best: tuple[int, str, str] | None = None
        for split in self._order():
            self.split = split
            for suite in sorted(self._found.get("valid" if split == "dev" else split, {})):
                both = len(self.truth(suite).keys() & guesses.keys())
                if both and (best is None or both > best[0]):
                    best = (both, split, suite)
            if best is not None and best[0] == len(guesses):
                break
        if best is None:
            raise InputError(
                self._path, f"predicts examples such as {next(iter(guesses))}, and the gold has none of them", "name the gold they are of"
            )
        _, self.split, suite = best
        same = [
            other
            for other in self.suites()
            if other != suite and other in self._found.get(self.split, {}) and self.truth(other).keys() == self.truth(suite).keys()
        ]
        if same:
            self.notes.add(f"{suite} has the same examples as {', '.join(same)}; --suite names another")
        return [suite]

    def units(self, suite: str, guesses: dict[str, Ranking] | None) -> Units:
        truth = self.truth(suite)
        if guesses is not None and not self.settings.official:
            check_ids(list(truth), guesses, self._path, "example")
        if guesses is not None:
            self._check_candidates(suite, guesses)
        rows = [self._row(right, _own(right) if guesses is None else guesses.get(example)) for example, right in truth.items()]
        columns = columns_of(rows)
        return Units([Key(example, 0, "") for example in truth], columns, columns["R@1"] > 0 if rows else None)

    def _check_candidates(self, suite: str, guesses: dict[str, Ranking]) -> None:
        """Raises `InputError` where a candidate isn't offered; the published script passes over it, which a note then tells."""
        key = "valid" if self.split == "dev" else self.split
        options = read_options(self._found[key][suite], _shared_pools(self.settings.gold, self.corpus))
        if not self.settings.official:
            check_offered(self._path, guesses, options, {NONE})
        elif unknown := strangers(guesses, options, {NONE}):
            self.notes.add(f"{len(unknown):,} ranked candidates are no options of their examples, the first is {unknown[0][1]!r} of {unknown[0][0]}")

    def _row(self, right: Sequence[str], ranking: Ranking | None) -> dict[str, float]:
        row: dict[str, float] = {"n": 1, **{f"R@{cut}": 0 for cut in _CUTS}, "rr": 0, "ap": 0, "ap_official": 0}
        said = [] if ranking is None else ranking.candidates
        if not self.settings.official:
            said = [candidate.upper() for candidate in said]
        place = {candidate: rank for rank, candidate in enumerate(said, 1)}
        ranks = [place[one] for one in right if one in place]
        if right == [NONE] or (said and said[0] == NONE):
            row |= {"none_right": right == [NONE] and said[:1] == [NONE], "none_said": said[:1] == [NONE], "none_due": right == [NONE]}
        if ranks:
            first = min(ranks)
            row |= {f"R@{cut}": first <= cut for cut in _CUTS} | {"rr": 1 / first, "ap": average_precision(ranks, len(right))}
            if self.settings.official:
                row["R@100"] = 1
            row["ap_official"] = sum(number / place[one] for number, one in enumerate(right, 1) if one in place) / len(right)
        return row

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "n" not in sums:
            return {}
        found = {f"R@{cut}": ratio(sums[f"R@{cut}"], sums["n"]) for cut in _CUTS}
        official = ratio(sums["ap_official"], sums["n"])
        found |= {"MRR": ratio(sums["rr"], sums["n"]), "MAP": official if self.settings.official else ratio(sums["ap"], sums["n"])}
        found |= {"MAP_official": official, "final": (found["MRR"] + found["R@10"]) / 2}
        if "none_due" in sums:
            precision, recall = ratio(sums["none_right"], sums["none_said"]), ratio(sums["none_right"], sums["none_due"])
            found |= {"NONE.precision": precision, "NONE.recall": recall, "NONE.f1": f_measure(precision, recall)}
        return found

    def counts(self, units: Units) -> dict[str, int]:
        sums = units.sums()
        return {"examples": len(units), "examples_without_answer": int(sums.get("none_due", 0))}

    def policy(self) -> dict[str, str]:
        return {
            "order": "the list as it is, best first",
            "ids": "example ids as text; candidate ids " + ("as they are" if self.settings.official else "in upper case"),
            "map": "as the official script" if self.settings.official else "textbook; MAP_official beside it",
        }


class NoesisUbuntu(Noesis):
    name = "noesis-ubuntu"
    about = "NOESIS, Ubuntu: R@1/10/50/100, MRR, MAP, and NONE"
    corpus = "ubuntu"
    clean = "subtask_1"


class NoesisAdvising(Noesis):
    name = "noesis-advising"
    about = "NOESIS, Advising: R@1/10/50/100, MRR, MAP, and NONE"
    corpus = "advising"
    clean = "subtask_1"


def _shared_pools(gold: str, corpus: str) -> list[Path]:
    """The pools that examples without options of their own share."""
    root = Path(gold)
    return sorted((root.parent if root.is_file() else root).rglob(f"{corpus}*pool*.tsv"))


def _own(right: Sequence[str]) -> Ranking:
    return Ranking(list(right), None)


def _files(gold: str, corpus: str) -> Mapping[str, dict[str, list[Path]]]:
    """Split -> suite -> the files that may hold its ground truth, the best first.

    Raises:
        InputError: no such folder.
    """
    root = Path(gold)
    if not root.exists():
        raise InputError(gold, "does not exist", "check the path")
    found: dict[str, dict[str, list[Path]]] = {}
    for path in [root] if root.is_file() else sorted(root.rglob("*_subtask_*")):
        named = _NAME.search(path.name)
        if named is None or named["corpus"] != corpus or path.suffix not in (".json", ".tsv") or "pool" in path.name:
            continue
        split = next(name for name, kinds in _SPLITS.items() if named["split"] in kinds)
        below = [part for part in path.relative_to(root).parts[:-1] if part in _SUBSETS]
        if below:
            if below != [_HARD]:
                continue
            split = _HARD
        case = named["case"].strip("_")
        suite = f"{case}_subtask_{named['subtask']}" if case else f"subtask_{named['subtask']}"
        found.setdefault(split, {}).setdefault(suite, []).append(path)
    for suites in found.values():
        for paths in suites.values():
            # The small tables first; they say the same.
            paths.sort(key=lambda path: (not path.name.endswith(".targets.tsv"), path.suffix != ".tsv", str(path)))
    return found
