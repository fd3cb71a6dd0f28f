"""How hard the wording of each suite is: novelty against what a system can have seen, near-copies of the source, distance from it.

Counted over the user turns of test dialogues that the source has too (inserted turns are left out): over all, and over those that the suite changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dialmill.perturbers.core.contract import PoolRequest
from dialmill.perturbers.core.difficulty import Figures, Reference, WordingPool, measure
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.pipelines.stages.pools import FROM_INPUT, pool_in
from dialmill.pipelines.stages.split import Layout

#: Of how many sampled bigrams a share can be told.
_FEW = 200
#: The share of novel bigrams below which a suite of reworded turns is easy.
EASY = 0.10
_REWORDING = frozenset({"paraphrase", "simplification", "verbosity"})


def request(recipe: Recipe) -> list[PoolRequest]:
    """The pool of the reference, where a recipe has perturbed suites."""
    return [PoolRequest(WordingPool(), FROM_INPUT)] if recipe.suite_plan() else []


class MeasureDifficulty(Stage):
    """Adds the figures of a dialogue's records to the counters. Side input: (the layout, where the pools lie)."""

    def setup(self) -> None:
        self.reference: Reference | None = None

    def process(self, element: DialogueRecords, side: tuple[Layout, dict[str, str]] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        pool = pool_in(side[1], WordingPool.name, FROM_INPUT)
        if pool is not None and element.split == "test":
            if self.reference is None:
                self.reference = Reference(pool.open())
            for record in element.records:
                every, changed = Figures(), Figures()
                for turn in record.turns:
                    if turn.speaker == "user" and not turn.inserted:
                        figures = measure(turn.utterance, turn.source_text, record.language, self.reference)
                        every += figures
                        if turn.original is not None:
                            changed += figures
                for kind, sums in (("all", every), ("changed", changed)):
                    counted = self.counters.difficulty.setdefault(f"{record.suite}\n{kind}", {})
                    for name, number in sums._asdict().items():
                        counted[name] = counted.get(name, 0) + number
        yield "main", element


def report(sums: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The figures of each suite as the manifest has them, shares from 0 to 1: of all its user turns in test, and of the changed ones."""
    found: dict[str, Any] = {}
    for key in sorted(sums):
        suite, kind = key.split("\n")
        one = sums[key]
        found.setdefault(suite, {})[kind] = {
            "turns": one["turns"],
            "novel_bigrams": _share(one["novel_bigrams"], one["bigrams"]),
            "novel_words": _share(one["novel_words"], one["words"]),
            "near_copies": _share(one["near_copies"], one["turns"]),
            "distance": _share(one["distance"], one["source_words"]),
        }
    for figures in found.values():
        figures["changed_share"] = _share(figures["changed"]["turns"], figures["all"]["turns"])
    return found


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def warnings(recipe: Recipe, sums: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The suites of reworded turns whose wording a system has seen nearly as often as that of the source."""
    found = []
    reworded = {suite.name for suite in recipe.suite_plan() if suite.perturber.name in _REWORDING}
    for suite, figures in report(sums).items():
        share = figures["all"]["novel_bigrams"]
        if suite in reworded and share is not None and share < EASY and sums[f"{suite}\nall"]["bigrams"] >= _FEW:
            found.append(f"suite {suite} is easy: {share:.3f} of its bigrams are novel against the dialogues outside test, below {EASY:.2f}")
    return found
