"""Which training dialogues are the few-shot ones.

Each training dialogue has a rank, a seeded hash of its text; copies of one text share it. A few-shot set is those of the lowest ranks: a share of
every group of the recipe, or so many of each domain; and of each domain and each label that test has the first five, where there are so many. A
smaller set is part of a larger one, whatever the order of the input and however it is spread over workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.stages.items import ParsedDialogue
from dialmill.pipelines.stages.split import Fact, Layout
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import class_labels

#: Dialogues of each domain and each label, at least.
LEAST = 5
_STEP = "few_shot@2"
#: (rank, source id).
Place = tuple[int, str]
#: What a dialogue counts for ("domain hotel", "label oos", "group hotel") -> the last few-shot dialogue of it.
Bounds = dict[str, Place]


class Counted(msgspec.Struct, array_like=True):
    """A dialogue as it is counted: its rank and id, and for each thing that it counts for how many of it are wanted. Of a test dialogue the names
    alone matter."""

    test: bool
    rank: int
    source_id: str
    wanted: dict[str, int]


def rank_of(seed: int, fact: Fact) -> int:
    """The rank of a training dialogue."""
    return key_number(seed, _STEP, fact.rank)


def counts_for(dialogue: Dialogue, labels: bool) -> list[str]:
    """The domains of a dialogue, and the labels of its user turns where these are classes."""
    found = {f"domain {name}" for name in dialogue.domains}
    if labels:
        found.update(f"label {label}" for turn in dialogue.turns if turn.speaker == "user" for label in class_labels(turn.labels))
    return sorted(found)


def is_few(bounds: Bounds, seed: int, fact: Fact, dialogue: Dialogue, labels: bool) -> bool:
    """Whether a training dialogue is a few-shot one."""
    place = (rank_of(seed, fact), fact.source_id)
    return any(name in bounds and place <= tuple(bounds[name]) for name in (f"group {fact.group}", *counts_for(dialogue, labels)))


class CountDialogues(Stage):
    """Training and test dialogues as `Counted`. Side input: the `Layout`.

    Args:
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
        labels: whether labels of turns are classes.
    """

    def __init__(self, recipe: Recipe, seed: int, labels: bool) -> None:
        self.recipe, self.seed, self.labels = recipe, seed, labels

    def process(self, element: Item, side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        parsed = ParsedDialogue.decode(element[1])
        split = side.assign(parsed.fact, self.recipe)[0]
        # Where test is blind, nothing of it tells what is trained on: every label of train counts.
        test = split == ("train" if self.recipe.held_out_labels else "test")
        if not self.recipe.few_shot or (split != "train" and not test):
            return
        names = counts_for(parsed.dialogue, self.labels)
        if test:
            yield "main", ("", msgspec.msgpack.encode(Counted(True, 0, "", dict.fromkeys(names, 0))))
        if split == "train":
            yield (
                "main",
                ("", msgspec.msgpack.encode(Counted(False, rank_of(self.seed, parsed.fact), element[0], self._wanted(parsed.fact, names, side)))),
            )

    def _wanted(self, fact: Fact, names: Iterable[str], layout: Layout) -> dict[str, int]:
        few = self.recipe.few_shot
        wanted = dict.fromkeys(names, LEAST)
        if few <= 1:
            wanted[f"group {fact.group}"] = max(1, int(few * layout.train_sizes.get(fact.group, 0) + 0.5))
            return wanted
        return {name: max(LEAST, int(few)) if name.startswith("domain ") else LEAST for name in wanted} or {f"group {fact.group}": int(few)}


class KeepLowest:
    """Combiner: the `Bounds` from all dialogues. Accumulators hold no more than what may be chosen, and merge in any order."""

    def create(self) -> dict[str, Any]:
        """Nothing."""
        return {"places": {}, "wanted": {}, "test": set()}

    def add(self, state: dict[str, Any], item: Item) -> dict[str, Any]:
        """Adds a dialogue."""
        given = msgspec.msgpack.decode(item[1], type=Counted)
        if given.test:
            state["test"].update(given.wanted)
            return state
        for name, number in given.wanted.items():
            state["wanted"][name] = number
            self._keep(state, name, [(given.rank, given.source_id)])
        return state

    def _keep(self, state: dict[str, Any], name: str, places: Iterable[Place]) -> None:
        mine, number = state["places"].setdefault(name, []), state["wanted"][name]
        mine.extend(places)
        if len(mine) > 2 * number + 64:
            mine[:] = sorted(mine)[:number]

    def merge(self, states: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """All of them, without what can't be chosen any more."""
        merged = self.create()
        for state in states:
            merged["wanted"] |= state["wanted"]
            merged["test"] |= set(state["test"])
            for name, places in state["places"].items():
                self._keep(merged, name, map(tuple, places))
        for name, places in merged["places"].items():
            places[:] = sorted(places)[: merged["wanted"][name]]
        return merged

    def extract_output(self, state: dict[str, Any]) -> Bounds:
        """The last few-shot dialogue of each thing that counts: all groups and domains, and the labels that test has."""
        return {
            name: sorted(map(tuple, places))[: state["wanted"][name]][-1]
            for name, places in sorted(state["places"].items())
            if not name.startswith("label ") or name in state["test"]
        }
