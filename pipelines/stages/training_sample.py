"""What a run learns from its training split before it perturbs: which dialogues are the few-shot ones, and the baselines that tell hard from easy.

Each training dialogue has a rank, a seeded hash of its text. The few-shot set of a share is the dialogues of the lowest ranks, in every group of the
recipe's, so that a smaller set is part of a larger one; the baselines are trained on the lowest ranks too, as many as hold `SAMPLE_TURNS` user turns.
Neither depends on the order of the input or on how it is spread over workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.baselines.trained import Predictions, TrainedBaselines, open_baselines, read_predictions
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.recipe import BUILT_IN, Recipe
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.stages.items import ParsedDialogue, unpack_dialogue
from dialmill.pipelines.stages.split import Fact, Layout

#: User turns that baselines are trained on, at most: some seconds of CPU.
SAMPLE_TURNS = 1200
#: The file that holds the trained baselines while a run lasts.
FILE = "baselines.bin"
_STEP = "few_shot@1"
_FULL = 1 << 64


class TrainingDialogue(msgspec.Struct, array_like=True):
    """A training dialogue: its rank and id, how many of its group are few-shot, its user turns, and itself where it may be learned from."""

    rank: int
    source_id: str
    quota: int
    turns: int
    packed: bytes


class Chosen(msgspec.Struct):
    """What the ranks decide: the last few-shot dialogue of each group, and the dialogues to learn from."""

    few: dict[str, tuple[int, str]]
    sample: list[bytes]


def baseline_names(recipe: Recipe) -> tuple[str, ...]:
    """The baselines of a recipe: "auto" is every built-in one, of which each predicts what there are labels for."""
    found = [name for given in recipe.hard_baselines for name in (BUILT_IN if given == "auto" else (given,))]
    return tuple(dict.fromkeys(found))


def few_rank(seed: int, fact: Fact) -> int:
    """The rank of a training dialogue; copies of one text share it."""
    return key_number(seed, _STEP, fact.rank)


def is_few(few: dict[str, tuple[int, str]], seed: int, fact: Fact) -> bool:
    """Whether a training dialogue is a few-shot one."""
    bound = few.get(fact.group)
    return bound is not None and (few_rank(seed, fact), fact.source_id) <= tuple(bound)


class ChooseTrainingSample(Stage):
    """The training dialogues, each as a `TrainingDialogue`, keyed by group. Side input: the `Layout`."""

    def __init__(self, recipe: Recipe, seed: int) -> None:
        self.recipe, self.seed = recipe, seed

    def process(self, element: Item, side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        parsed = ParsedDialogue.decode(element[1])
        fact, packed = parsed.fact, parsed.packed
        assert side is not None
        if side.assign(fact, self.recipe)[0] != "train":
            return
        size = side.train_sizes.get(fact.group, 0)
        quota = max(1, int(self.recipe.few_shot * size + 0.5)) if self.recipe.few_shot else 0
        rank = few_rank(self.seed, fact)
        # A dialogue has one turn at least, so that no rank far beyond SAMPLE_TURNS dialogues can be in the sample: those stay behind.
        if rank * sum(side.train_sizes.values()) > 2 * SAMPLE_TURNS * _FULL:
            packed = b""
        turns = sum(turn.speaker == "user" for turn in parsed.dialogue.turns) if packed else 0
        yield "main", (fact.group, msgspec.msgpack.encode(TrainingDialogue(rank, fact.source_id, quota, turns, packed)))


class KeepLowest:
    """Combiner: `Chosen` from all training dialogues. Accumulators hold no more than what may be chosen, and merge in any order."""

    def create(self) -> dict[str, Any]:
        """Nothing."""
        return {"few": {}, "quota": {}, "sample": []}

    def add(self, state: dict[str, Any], item: Item) -> dict[str, Any]:
        """Adds a training dialogue."""
        given = msgspec.msgpack.decode(item[1], type=TrainingDialogue)
        if given.quota:
            places = state["few"].setdefault(item[0], [])
            places.append((given.rank, given.source_id))
            state["quota"][item[0]] = given.quota
            if len(places) > 2 * given.quota + 64:
                places[:] = sorted(places)[: given.quota]
        if given.packed:
            state["sample"].append((given.rank, given.source_id, given.turns, given.packed))
            if len(state["sample"]) > 2 * SAMPLE_TURNS:
                state["sample"] = _first_turns(state["sample"])
        return state

    def merge(self, states: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """All of them."""
        merged = self.create()
        for state in states:
            merged["quota"] |= state["quota"]
            merged["sample"] += state["sample"]
            for group, places in state["few"].items():
                merged["few"].setdefault(group, []).extend(places)
        return merged

    def extract_output(self, state: dict[str, Any]) -> Chosen:
        """The choice."""
        few = {group: sorted(map(tuple, places))[: state["quota"][group]][-1] for group, places in sorted(state["few"].items())}
        return Chosen(few, [given[3] for given in _first_turns(state["sample"])])


def _first_turns(sample: Iterable[Any]) -> list[Any]:
    """The training dialogues of the lowest ranks that hold `SAMPLE_TURNS` turns; what is left out of a part is left out of the whole."""
    reached = 0
    kept = []
    for given in sorted(sample, key=lambda one: (one[0], one[1])):
        if reached >= SAMPLE_TURNS:
            break
        reached += given[2]
        kept.append(given)
    return kept


class TrainBaselines(Stage):
    """Trains once, and writes `TrainedBaselines` into a file in `folder`; gives its path. Side input: what was `Chosen`."""

    def __init__(self, folder: str, recipe: Recipe) -> None:
        self.folder, self.recipe = folder, recipe

    def process(self, element: object, side: Chosen | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        names = baseline_names(self.recipe)
        given: dict[str, Predictions] = {}
        for path in names:
            if path in BUILT_IN:
                continue
            try:
                data = files.read_bytes(path)
                given[path] = read_predictions(path, data)
            except InputError as error:
                self.counters.faults.append(str(error))
                continue
            digest = hashlib.sha256(data).hexdigest()
            entry = {"path": path, "sha256": digest, "bytes": len(data), "records": None, "licence": None, "source": None, "role": "other"}
            self.counters.inputs.append(entry)
        dialogues = [unpack_dialogue(data) for data in side.sample]
        target = files.join(self.folder, FILE)
        with files.create(target) as stream:
            stream.write(TrainedBaselines.train(dialogues, names, side.few, given))
        yield "main", (FILE, target.encode())


def learn(runner: Runner, recipe: Recipe, seed: int, folder: str, parsed: Any, layout: Any) -> tuple[Any, list[Any]]:
    """The part of the graph that learns: (where the baselines lie, as `stages.pools.PoolPaths` takes it; counters)."""
    chosen = runner.apply("choose training dialogues", ChooseTrainingSample(recipe, seed), parsed, side=layout)
    lowest = runner.combine("find the lowest ranks", KeepLowest(), chosen.main)
    trained = runner.apply("train the baselines", TrainBaselines(folder, recipe), runner.create("baselines", [0]), side=lowest)
    return trained.main, [chosen.counters, trained.counters]


def bind(paths: dict[str, str], recipe: Recipe) -> TrainedBaselines:
    """The trained baselines of a run."""
    return open_baselines(paths[FILE], baseline_names(recipe))
