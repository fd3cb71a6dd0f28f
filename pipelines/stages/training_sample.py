"""What a run learns before it perturbs: the few-shot bounds, and the panel of baselines that tells which test records are hard.

Baselines learn from every dialogue of the input that is not a test one, those that filters or sizes leave out too, up to `SAMPLE_TURNS` user turns:
the dialogues of the lowest ranks, seeded hashes of their text. Where those hold fewer than `LEAST_TURNS`, the test dialogues are divided into folds
by their source, and each fold is judged by baselines that have learned from the others as well. Nothing depends on the order of the input or on how
it is spread over workers.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.baselines.panel.given import Predictions, read_predictions
from dialmill.pipelines.baselines.panel.panel import Panel
from dialmill.pipelines.baselines.panel.registry import panel as panel_of
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.recipe import AUTO, BASELINE_KINDS, Recipe
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.stages.few_shot import Bounds, CountDialogues, KeepLowest
from dialmill.pipelines.stages.items import ParsedDialogue, unpack_dialogue
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue

#: User turns that baselines learn from, at most.
SAMPLE_TURNS = 16_000
#: With fewer user turns outside test, test dialogues teach too, in folds.
LEAST_TURNS = 1200
FOLDS = 3
#: The files that hold what was learned while a run lasts.
FEW_FILE = "few-shot.bin"
_STEP = "baselines@3"
_FULL = 1 << 64


class TrainingDialogue(msgspec.Struct, array_like=True):
    """A dialogue to learn from: its rank and id, its user turns, whether it is a test one, and itself."""

    rank: int
    source_id: str
    turns: int
    test: bool
    packed: bytes


class Sample(msgspec.Struct):
    """The dialogues to learn from, (source id, packed): those outside test, and where these are too few those of test."""

    outside: list[tuple[str, bytes]]
    test: list[tuple[str, bytes]]


def kinds_of(recipe: Recipe, panel: Panel) -> tuple[str, ...]:
    """The kinds of baselines of a recipe; "auto" is every one of the benchmark's panel. Prediction files are none."""
    if not recipe.hard_share:
        return ()
    named = [name for given in recipe.hard_baselines for name in (sorted(panel.families) if given == AUTO else (given,))]
    return tuple(dict.fromkeys(name for name in named if name in panel.families))


def check(job: Job) -> None:
    """Raises `UsageError` where a recipe names baselines that the benchmark's panel doesn't have, or predictions that it doesn't take."""
    panel, name = panel_of(job.benchmark.panel), job.recipe.benchmark
    asked = [key for key in ("hard_share", "hard_baselines") if key in job.recipe.given]
    if not job.benchmark.panel and asked and job.recipe.hard_share:
        raise UsageError(f"{asked[0]} has no effect: no baselines judge what is hard in {name}")
    others = [one for one in job.recipe.hard_baselines if one in BASELINE_KINDS and one not in panel.families]
    if others and job.recipe.hard_share:
        known = ", ".join(sorted(panel.families)) or "none"
        raise UsageError(f"hard_baselines: {', '.join(others)} can't judge {name}; those that can are: {known}")
    given = prediction_files(job.recipe, panel)
    if given and not panel.takes_predictions:
        raise UsageError(f"hard_baselines: {', '.join(given)}: predictions of your own have no say in what is hard in {name}")


def prediction_files(recipe: Recipe, panel: Panel) -> tuple[str, ...]:
    """The prediction files among a recipe's baselines."""
    return tuple(name for name in dict.fromkeys(recipe.hard_baselines) if name != AUTO and name not in panel.families) if recipe.hard_share else ()


def fold_of(source_id: str) -> int:
    """The fold of a test dialogue, from 1; all its variants are of one."""
    return 1 + key_number(_STEP, "fold", source_id) % FOLDS


def learned_file(kind: str, fold: int) -> str:
    """The file of a kind; fold 0 has learned from nothing of test."""
    return f"baselines-{kind}-{fold}.bin"


class ChooseTrainingSample(Stage):
    """Dialogues to learn from, as `TrainingDialogue`. Side input: the `Layout`.

    Args:
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
    """

    def __init__(self, recipe: Recipe, seed: int) -> None:
        self.recipe, self.seed = recipe, seed

    def process(self, element: Item, side: Layout | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        parsed = ParsedDialogue.decode(element[1])
        test = not parsed.refused and side.assign(parsed.fact, self.recipe)[0] == "test"
        turns = sum(turn.speaker == "user" for turn in parsed.dialogue.turns)
        rank = key_number(self.seed, _STEP, parsed.fact.rank)
        yield "main", ("", msgspec.msgpack.encode(TrainingDialogue(rank, element[0], turns, test, parsed.packed)))


class GatherSample:
    """Combiner: the `Sample` from all dialogues. Accumulators hold no more than may be learned from, and merge in any order."""

    def create(self) -> dict[bool, list[Any]]:
        """Nothing."""
        return {False: [], True: []}

    def add(self, state: dict[bool, list[Any]], item: Item) -> dict[bool, list[Any]]:
        """Adds a dialogue."""
        given = msgspec.msgpack.decode(item[1], type=TrainingDialogue)
        self._extend(state, given.test, [(given.rank, given.source_id, given.turns, given.packed)])
        return state

    def _extend(self, state: dict[bool, list[Any]], test: bool, some: Iterable[Any]) -> None:
        mine = state[test]
        mine.extend(some)
        if len(mine) > 2 * SAMPLE_TURNS:
            mine[:] = _first_turns(mine)

    def merge(self, states: Iterable[dict[bool, list[Any]]]) -> dict[bool, list[Any]]:
        """All of them, without what can't be learned from any more."""
        merged = self.create()
        for state in states:
            for test, some in state.items():
                self._extend(merged, test, some)
        return {test: _first_turns(some) for test, some in merged.items()}

    def extract_output(self, state: dict[bool, list[Any]]) -> Sample:
        """The dialogues to learn from."""
        outside = _first_turns(state[False])
        enough = sum(one[2] for one in outside) >= LEAST_TURNS
        return Sample([(one[1], one[3]) for one in outside], [] if enough else [(one[1], one[3]) for one in _first_turns(state[True])])


def _first_turns(sample: Iterable[Any]) -> list[Any]:
    """The dialogues of the lowest ranks that hold `SAMPLE_TURNS` turns; what is left out of a part is left out of the whole."""
    reached = 0
    kept = []
    for given in sorted(sample, key=lambda one: (one[0], one[1])):
        if reached >= SAMPLE_TURNS:
            break
        reached += given[2]
        kept.append(given)
    return kept


class WriteBounds(Stage):
    """The few-shot bounds into a file in `folder`; gives its path. Side input: the bounds."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, element: object, side: Bounds | None = None) -> Iterable[tuple[str, Item]]:
        target = files.join(self.folder, FEW_FILE)
        with files.create(target) as stream:
            stream.write(msgspec.msgpack.encode(side or {}))
        yield "main", (FEW_FILE, target.encode())


class TrainBaselines(Stage):
    """A (kind, fold) into a file of the baselines by language in `folder`; gives its path. Side input: the `Sample`."""

    def __init__(self, folder: str, job: Job) -> None:
        self.folder, self.benchmark, self.recipe, self.seed = folder, job.benchmark, job.recipe, job.seed

    def process(self, element: tuple[str, int], side: Sample | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        kind, fold = element
        if bool(fold) != bool(side.test):
            return
        kept = [*side.outside, *((name, packed) for name, packed in side.test if fold_of(name) != fold)]
        languages: dict[str, list[Dialogue]] = {}
        for dialogue in (unpack_dialogue(packed) for _, packed in sorted(kept)):
            languages.setdefault(dialogue.language, []).append(self.benchmark.taught(dialogue, self.recipe, self.seed))
        learned: dict[str, bytes] = {}
        for language, dialogues in sorted(languages.items()):
            pool = self.benchmark.judged_pool(self.recipe, language)
            data = panel_of(self.benchmark.panel).train(kind, dialogues, language, pool)
            if data is not None:
                learned[language] = data
        target = files.join(self.folder, learned_file(kind, fold))
        with files.create(target) as stream:
            stream.write(msgspec.msgpack.encode(learned))
        yield "main", (learned_file(kind, fold), target.encode())


class ReadPredictions(Stage):
    """A prediction file of the user's into one in `folder`; gives its path."""

    def __init__(self, folder: str, paths: Sequence[str]) -> None:
        self.folder, self.paths = folder, paths

    def process(self, element: int, side: object = None) -> Iterable[tuple[str, Item]]:
        path = self.paths[element]
        try:
            data = files.read_bytes(path)
            found = read_predictions(path, data)
        except InputError as error:
            self.counters.faults.append(str(error))
            return
        digest = hashlib.sha256(data).hexdigest()
        entry = {"path": path, "sha256": digest, "bytes": len(data), "records": None, "licence": None, "source": None, "role": "other"}
        self.counters.inputs.append(entry)
        target = files.join(self.folder, predictions_file(element))
        with files.create(target) as stream:
            stream.write(zlib.compress(msgspec.msgpack.encode(found), 1))
        yield "main", (predictions_file(element), target.encode())


def predictions_file(number: int) -> str:
    """The file of the user's predictions of this number."""
    return f"predictions-{number}.bin"


def learned_files(recipe: Recipe, name: str) -> list[str]:
    """Every file that `learn` may write."""
    panel = panel_of(name)
    found = [learned_file(kind, fold) for kind in kinds_of(recipe, panel) for fold in range(FOLDS + 1)]
    return [FEW_FILE, *found, *map(predictions_file, range(len(prediction_files(recipe, panel))))]


def learn(runner: Runner, job: Job, folder: str, parsed: Any, spare: Any, layout: Any) -> tuple[list[Any], list[Any]]:
    """The part of the graph that learns: (where what was learned lies, as `stages.pools.PoolPaths` takes it; counters).

    Args:
        parsed: the dialogues that passed the filters.
        spare: those that did not, None where there are none to be had.
    """
    recipe, seed, name = job.recipe, job.seed, job.benchmark.panel
    counted = runner.apply("count for the few-shot set", CountDialogues(recipe, seed, job.benchmark.labels_are_classes), parsed, side=layout)
    bounds = runner.combine("find the lowest ranks", KeepLowest(), counted.main)
    few = runner.apply("write the few-shot bounds", WriteBounds(folder), runner.create("few-shot bounds", [0]), side=bounds)
    written, counters = [few.main], [counted.counters, few.counters]
    panel = panel_of(name)
    kinds, given = kinds_of(recipe, panel), prediction_files(recipe, panel)
    if given:
        named = runner.create("prediction files", list(range(len(given))))
        found = runner.apply("read predictions", ReadPredictions(folder, given), named)
        written, counters = [*written, found.main], [*counters, found.counters]
    if not kinds:
        return written, counters
    read = parsed if spare is None else runner.flatten("all dialogues that were read", [parsed, spare])
    chosen = runner.apply("choose training dialogues", ChooseTrainingSample(recipe, seed), read, side=layout)
    sample = runner.combine("gather the training sample", GatherSample(), chosen.main)
    elements = [(kind, fold) for kind in kinds for fold in range(FOLDS + 1)]
    trained = runner.apply("train the baselines", TrainBaselines(folder, job), runner.create("baselines", elements), side=sample)
    return [*written, trained.main], [*counters, chosen.counters, trained.counters]


class Learned:
    """What a run has learned, as stages use it: once a process.

    Args:
        paths: where the files lie, by name.
        panel: the name of the panel.
        kinds, given: the kinds and the prediction files of the recipe.
    """

    def __init__(self, paths: Mapping[str, str], panel: str, kinds: Sequence[str], given: Sequence[str]) -> None:
        self.paths, self.panel, self.kinds, self.given = paths, panel_of(panel), kinds, given
        self.bounds: Bounds = msgspec.msgpack.decode(files.read_bytes(paths[FEW_FILE]), type=Bounds)
        self.is_folded = any(learned_file(kind, 1) in paths for kind in kinds)
        self._models: dict[tuple[str, int, str], Any] = {}
        self._predictions: dict[str, Predictions] = {}

    def models(self, source_id: str, language: str) -> dict[str, Any]:
        """The kinds that may judge a test dialogue, with the user's predictions by their path."""
        fold = fold_of(source_id) if self.is_folded else 0
        found = {kind: self._model(kind, fold, language) for kind in self.kinds}
        found |= {path: self._given(number, path) for number, path in enumerate(self.given)}
        return {kind: model for kind, model in found.items() if model is not None}

    def _model(self, kind: str, fold: int, language: str) -> Any:
        key = (kind, fold, language)
        if key not in self._models:
            path = self.paths.get(learned_file(kind, fold))
            data = {} if path is None else msgspec.msgpack.decode(files.read_bytes(path), type=dict[str, bytes])
            self._models[key] = self.panel.load(kind, data[language]) if language in data else None
        return self._models[key]

    def _given(self, number: int, path: str) -> Predictions | None:
        if path not in self._predictions and predictions_file(number) in self.paths:
            data = zlib.decompress(files.read_bytes(self.paths[predictions_file(number)]))
            self._predictions[path] = msgspec.msgpack.decode(data, type=Predictions)
        return self._predictions.get(path)


@lru_cache(maxsize=2)
def _opened(paths: tuple[tuple[str, str], ...], panel: str, kinds: tuple[str, ...], given: tuple[str, ...]) -> Learned:
    return Learned(dict(paths), panel, kinds, given)


def bind(paths: Mapping[str, str], recipe: Recipe, panel: str) -> Learned:
    """What a run has learned."""
    found = panel_of(panel)
    return _opened(tuple(sorted(paths.items())), panel, kinds_of(recipe, found), prediction_files(recipe, found))
