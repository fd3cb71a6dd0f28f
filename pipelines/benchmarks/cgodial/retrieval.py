"""CGoDial's retrieval-based dialogues (Dai et al., EMNLP 2022, section 3.3): which of 2 or 10 candidates is the shop's response.

Release files: ``release/{train,dev,test}.json`` as the loader of CGoDial reads them (AlibabaResearch/DAMO-ConvAI, cgodial/retrieval_based_dialog),
id -> {`history`, `true`, `false`}; and the same examples in the form of NOESIS, ``release/ecd_{train,dev,test}_subtask_1.json``, whose candidates
stand in a random order and are told by their ids. CGoDial's loader puts the right one first, and its scorer favours the first of equals.
``release/few_shot`` and ``release/test_hard`` repeat the examples of these subsets; ``hard_dialog_id.json`` has the places of hard ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import Annotated, Any

import msgspec
from dialmill.perturbers import Skipped, variants
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.benchmarks.cgodial import ambiguity as retrieval
from dialmill.pipelines.benchmarks.cgodial.check import check_retrieval
from dialmill.pipelines.benchmarks.cgodial.flows import keyed
from dialmill.pipelines.benchmarks.cgodial.retrieval_scorer import Retrieval as _Scorer
from dialmill.pipelines.benchmarks.shared import ranking_predictor
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.candidates.examples import Example, example_number, option, record, release_path
from dialmill.pipelines.core.benchmark import Benchmark, Job
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.errors import InputError, RecordError, UsageError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, dialogue_order
from dialmill.pipelines.core.subsets import FEW as FEW_SHOT
from dialmill.pipelines.core.subsets import HARD as TEST_HARD
from dialmill.pipelines.core.subsets import repeated, subset_files
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue, Step
from dialmill.schemas.kinds import ANY, FileKind

#: The suite whose text the release has.
SPOKEN = "spoken"
HARD = "release/hard_dialog_id.json"
_STEP, _JUDGED = "candidates@1", "mean_accuracy@1"
#: The releases' names of the splits.
_SPLITS = {"train": "train", "valid": "dev", "test": "test"}
#: Responses of each split that examples with too few candidates draw from.
_POOL = 2000


@dataclass(frozen=True)
class RetrievalRecipe(Recipe):
    """Keys of retrieval-based dialogues."""

    candidate_numbers: Annotated[
        dict[str, Annotated[int, Meta(ge=2)]],
        Meta(
            description="candidates of an example in each split, one of them right",
            examples=[{"train": 2, "valid": 10, "test": 10}],
            extra={"unit": "candidates"},
        ),
    ] = field(default_factory=lambda: {"train": 2, "valid": 2, "test": 10})
    max_accuracy: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="examples of which the baselines' mean accuracy is above this are too easy and left out; of the others, the sizes "
            "take the hardest",
            examples=[0.5],
            extra={"unit": "accuracy"},
        ),
    ] = 0.8
    min_response: Annotated[
        int,
        Meta(
            ge=1,
            description="a right response of fewer characters fits many contexts, and makes an example ambiguous",
            examples=[6],
            extra={"unit": "characters"},
        ),
    ] = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.candidate_numbers) != {"train", "valid", "test"}:
            raise UsageError(f"candidate_numbers must name each of train, valid and test, not {self.candidate_numbers}")


class CgodialRbd(Benchmark):
    name = "cgodial-rbd"
    about = "CGoDial, retrieval-based: the hardest examples of the E-commerce Dialogue Corpus, spoken, with 2 or 10 candidates"
    paper = "Dai et al. (2022), CGoDial: A Large-Scale Benchmark for Chinese Goal-oriented Dialog Evaluation"
    takes_records = True
    kinds = (
        FileKind("cgodial-rbd", ({ANY: {"history": ANY, "true": ANY, "false": ANY}},)),
        FileKind("cgodial-hard-examples", (), ("hard_dialog_id.json",)),
    )

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_retrieval(folder, manifest["recipe"])

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def predictor(self) -> Predictor:
        return ranking_predictor

    def recipe(self) -> type[Recipe]:
        return RetrievalRecipe

    def check(self, job: Job) -> None:
        for one in job.inputs:
            if one.source != "ecd":
                raise InputError(one.shown, f"is of {one.source}, and cgodial-rbd reads the E-commerce Dialogue Corpus", "see data/ecd")

    def judge(self, dialogue: Dialogue, extra: bytes, recipe: Recipe, seed: int) -> tuple[Dialogue, int | None]:
        assert isinstance(recipe, RetrievalRecipe)
        *context, answer = [turn.utterance for turn in dialogue.turns]
        if retrieval.length(answer) < recipe.min_response:
            raise RecordError("ambiguous_response", f"{answer!r} fits many contexts")
        given = msgspec.msgpack.decode(extra, type=list[str])
        wrong = retrieval.usable(answer, given, context)
        if not wrong:
            raise RecordError("ambiguous_candidates", f"no wrong response differs from {answer!r}: {given[:3]}")
        mean = retrieval.accuracy(context, answer, wrong, dialogue.language)
        if mean > recipe.max_accuracy:
            raise RecordError("too_easy", f"the baselines' mean accuracy is {mean:.2f}, above {recipe.max_accuracy:g}: {answer}")
        step = Step(_JUDGED, None, None, "selected", reasons=(f"mean_accuracy: {mean:.3f}", f"near_equal_candidates: {len(given) - len(wrong)}"))
        return dialogue.replace(lineage=(*dialogue.lineage, step)), retrieval.priority(mean, key_number(seed, _JUDGED, dialogue.source_id))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        assert isinstance(job.recipe, RetrievalRecipe)
        pool = runner.combine("gather responses", Responses(job.seed), records)
        chosen = runner.apply("choose candidates", ChooseCandidates(job.recipe, job.seed, job.shards), records, side=pool)
        return [chosen, runner.apply("number hard examples", NumberHard(), runner.group("order test examples", chosen.main))]

    def expected(self, recipe: Recipe) -> dict[str, str]:
        found = {f"release/{name}.json": "cgodial-rbd" for name in _SPLITS.values()}
        found[HARD] = "cgodial-hard-examples"
        found |= {release_path("ecd", split, 1): "noesis" for split in _SPLITS}
        found = {_place(path, recipe.held_out_labels): schema for path, schema in found.items()}
        found |= {f"labels/{release_path('ecd', 'test', 1)}": "noesis"} if recipe.held_out_labels else {}
        return found | subset_files(found, recipe.few_shot, self.split_of)

    def split_of(self, path: str) -> str | None:
        match = re.search(r"\b(?:ecd_)?(train|test)(?:_subtask_1)?\.json$", path)
        return match[1] if match else None

    def schema_of(self, path: str, blind: bool) -> str | None:
        return "noesis" if path.endswith("_subtask_1.json") else "cgodial-rbd" if "release/" in path else None


def _place(path: str, blind: bool) -> str:
    """Where a file goes: test.json tells the answers, and stands with the labels where those are held out."""
    return f"labels/{path}" if blind and path == "release/test.json" else path


class Responses:
    """Some responses of each split, those with the lowest keyed numbers: the same whatever the order."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def create(self) -> dict[str, list[tuple[int, str, str]]]:
        """None yet."""
        return {}

    def add(self, state: dict[str, list[tuple[int, str, str]]], item: Item) -> dict[str, list[tuple[int, str, str]]]:
        """Adds the response of one dialogue."""
        given = SplitDialogue.decode(item[1])
        if given.split is not None:
            answer = given.dialogue.turns[-1].utterance
            mine = state.setdefault(given.split, [])
            mine.append((key_number(self.seed, _STEP, "pool", answer), item[0], answer))
            if len(mine) > 2 * _POOL:
                mine[:] = nsmallest(_POOL, mine)
        return state

    def merge(self, states: Iterable[dict[str, list[tuple[int, str, str]]]]) -> dict[str, list[tuple[int, str, str]]]:
        """All of them."""
        merged: dict[str, list[tuple[int, str, str]]] = {}
        for state in states:
            for split, some in state.items():
                merged.setdefault(split, []).extend(some)
        return merged

    def extract_output(self, state: dict[str, list[tuple[int, str, str]]]) -> dict[str, list[tuple[str, str]]]:
        """(source id, response) by split, in the order of their numbers."""
        found: dict[str, list[tuple[str, str]]] = {}
        for split, some in sorted(state.items()):
            found[split] = [(name, text) for _, name, text in nsmallest(_POOL, some)]
        return found


class NumberHard(Stage):
    """The places of the hard examples in the test file, counted from 0."""

    tags = ("out",)

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        examples = sorted(msgspec.msgpack.decode(value, type=tuple[bytes, bytes, bool]) for value in element[1])
        for place, (_, _, hard) in enumerate(examples):
            if hard:
                yield "out", Out(HARD, place.to_bytes(8, "big"), 1, str(place).encode()).item(1)


class ChooseCandidates(Stage):
    """A dialogue into its example, in the words of its spoken variant. Side input: the responses of each split."""

    tags = ("out",)

    def __init__(self, recipe: RetrievalRecipe, seed: int, shards: int) -> None:
        self.recipe, self.seed, self.shards = recipe, seed, shards

    def setup(self) -> None:
        self.spoken = next((suite.perturber for suite in self.recipe.suite_plan() if suite.name == SPOKEN), None)

    def process(self, element: Item, side: dict[str, list[tuple[str, str]]] | None = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        given = SplitDialogue.decode(data)
        split, hard = given.split, bool(given.hard)
        if split is None:
            return
        own = msgspec.msgpack.decode(given.extra, type=list[str])
        counted = self.counters.stage("examples")
        counted.entered += 1
        clean = given.dialogue.replace(split=split, dialogue_id=f"{source_id}/standard/0")
        *context, answer = [turn.utterance for turn in clean.turns]
        pool = [text for other, text in (side or {}).get(split, ()) if other != source_id]
        count = self.recipe.candidate_numbers[split] - 1
        rng = Rng(self.seed, _STEP, source_id)
        wrong = retrieval.choose(answer, own, pool, context, count, rng)
        if wrong is None:
            self.counters.reject("examples", "too_few_candidates")
            evidence = f"{count} wrong responses are wanted that differ from {answer!r} and from each other"
            yield "out", Reject("examples", "too_few_candidates", evidence, source_id=source_id).out().item(1)
            return
        counted.out += 1
        heard = self._heard(clean)
        order = dialogue_order(clean)
        blind = self.recipe.held_out_labels and split == "test"
        history = [turn.utterance for turn in heard.turns[:-1]]
        line = keyed(source_id, {"history": history, "true": [answer], "false": wrong})
        pieces = [Out(_place(f"release/{_SPLITS[split]}.json", self.recipe.held_out_labels), order, 1, line)]
        if split == "test":
            yield "main", ("", msgspec.msgpack.encode((order, line, hard)))
        options = [option(text) for text in (answer, *wrong)]
        rng.shuffle(options)
        texts = [one.text for one in options]
        path = release_path("ecd", split, 1)
        self.counters.add(Counters(audit={path: audit.measure(history, texts, [texts.index(answer)], lambda word: 1.0)}))
        messages = [("participant_1" if turn.speaker == "user" else "participant_2", turn.utterance, "", "") for turn in heard.turns[:-1]]
        example = Example(example_number(self.seed, source_id), order, split, 1, messages, [answer], [], [], "participant_2")
        for hidden in (False, True) if blind else (False,):
            place = f"labels/{path}" if blind and not hidden else path
            pieces.append(Out(place, order, 1, record(example, [option(answer)], options, "dstc7", hidden)))
        for out in repeated(pieces, [*([FEW_SHOT] if given.few else []), *([TEST_HARD] if hard else [])]):
            yield "out", out.item(self.shards)

    def _heard(self, clean: Dialogue) -> Dialogue:
        """The dialogue as the suite `spoken` has it; where that left it as it is, itself."""
        if self.spoken is None or not self.recipe.takes(SPOKEN, str(clean.split), clean.domains):
            return clean
        try:
            made = next(iter(variants(self.spoken, clean, self.seed, 1)))
        except Exception:  # counted among the suite's rejected
            return clean
        return clean if isinstance(made, Skipped) else made
