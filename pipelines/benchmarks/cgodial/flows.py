"""CGoDial's flow-based dialogues (Dai et al., EMNLP 2022, section 3.2): which user node of a flow does an utterance mean.

Release files, in a folder for each scenario, as the loader of CGoDial reads them (AlibabaResearch/DAMO-ConvAI, cgodial/flow_based_dialog):
``release/data/SCENARIO/{selected_simu_data,real_data}.jsonasr.json`` (walks, logs), ``{train,dev,test}_ids.json`` and ``int2act.json`` (intent ->
the action it leads to; the classes are its keys and 拒识). `asr_results` of a turn are its texts in the variants of the suite `asr`, or those
that a log came with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.benchmarks.cgodial.check import check_flows
from dialmill.pipelines.benchmarks.cgodial.flows_scorer import Flows as _Scorer
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Benchmark, Job, ReleaseContext, SourceRecords
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.core.stage import Item, Out, Stage
from dialmill.pipelines.sources.flow import NODE, Flows
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import STANDARD
from dialmill.schemas.flow import REJECTED, FlowError, read_flow
from dialmill.schemas.kinds import ANY, FileKind

#: The suite whose variants are the transcripts of a turn.
ASR = "asr"
WALKS, LOGS, INTENTS = "selected_simu_data.jsonasr.json", "real_data.jsonasr.json", "int2act.json"
#: Which version of each turn counts in the hard test set.
HARD = "release/data/hard_data_id.json"
#: The ids of a scenario's few-shot dialogues.
FEW = "train_few_shot_ids.json"
_SPLITS = {"train": "train", "valid": "dev", "test": "test"}


class CgodialFbd(Benchmark):
    name = "cgodial-fbd"
    about = "CGoDial, flow-based: dialogues along the tree of a flow, the user node to be told from noisy speech"
    paper = "Dai et al. (2022), CGoDial: A Large-Scale Benchmark for Chinese Goal-oriented Dialog Evaluation"
    takes_records = True
    kinds = (
        FileKind("cgodial-fbd", ({ANY: [{"sys_response": ANY}]}, {ANY: [{"usr_query": ANY}]}), ("*.jsonasr.json",)),
        FileKind("cgodial-intents", (), (INTENTS,)),
        FileKind("cgodial-hard-flows", (), ("hard_data_id.json",)),
        FileKind("cgodial-ids", (), ("*_ids.json",)),
    )

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        return check_flows(folder)

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def predictor(self) -> Predictor:
        return turn_predictor

    def check(self, job: Job) -> None:
        needs_written(self.name, job.recipe)
        for one in job.inputs:
            if one.source not in ("flow", "dialmill"):
                raise InputError(one.shown, f"is of {one.source}, and cgodial-fbd reads dialogue flows and agent logs", "see data/flow")

    def source(self, source: Source, recipe: Recipe) -> Source:
        # Walks are made to order: the sizes say how many of each flow, more than its file asks for as well.
        return Flows(recipe.size) if isinstance(source, Flows) else source

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        order, extra = made.order, made.extra
        clean = next((one for one in made.records if one.suite == STANDARD), None)
        if clean is None:
            return
        variants = [one for one in made.records if one.suite == ASR]
        heard = msgspec.msgpack.decode(extra, type=list[list[str]]) if extra else _transcripts(clean, variants)
        folder = f"release/data/{scenario(clean)}"
        file = f"{folder}/{LOGS if extra else WALKS}"
        line = keyed(clean.source_id, log_turns(clean, heard))
        if context.hides_labels(clean):
            yield Out(f"labels/{file}", order, 1, line)
            line = keyed(clean.source_id, log_turns(clean, heard, labels=False))
        yield Out(file, order, 1, line)
        yield Out(f"{folder}/{_SPLITS[str(clean.split)]}_ids.json", order, 1, msgspec.json.encode(clean.source_id))
        if made.few:
            yield Out(f"{folder}/{FEW}", order, 1, msgspec.json.encode(clean.source_id))
        if made.hard:
            # A log's own transcripts are not the variants, of which some may be hard.
            places = [] if extra else [place for place, one in enumerate(variants) if one.dialogue_id in made.hard]
            yield Out(HARD, order, 1, keyed(clean.source_id, hard_versions(clean, variants, places)))

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        paths = [one.path for one in job.inputs if one.source == "flow"]
        seen = runner.apply("find intents", SeenIntents(), records)
        told = runner.apply("read intents", GivenIntents(), runner.create("flow files", paths))
        joined = runner.group("bring scenarios together", runner.flatten("all intents", [seen.main, told.main]))
        return [runner.apply("write intents", WriteIntents(job.recipe.few_shot), joined)]

    def schema_of(self, path: str, blind: bool) -> str | None:
        if path.endswith(".jsonasr.json"):
            return "cgodial-fbd"
        if path.endswith(f"/{INTENTS}"):
            return "cgodial-intents"
        return "cgodial-ids" if path.endswith("_ids.json") else None

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        return {HARD: "cgodial-hard-flows"}


def needs_written(benchmark: str, recipe: Recipe) -> None:
    """Refuses a recipe without the written dialogues, which the other versions of a release stand beside.

    Raises:
        UsageError: the suite `standard` is missing.
    """
    if STANDARD not in recipe.suites:
        raise UsageError(f"{benchmark} needs the suite {STANDARD!r}, the written dialogues; suites are {', '.join(recipe.suites)}")


def scenario(dialogue: Dialogue) -> str:
    """The folder of a dialogue: its flow."""
    return "".join(char if char.isalnum() or char in "_-." else "_" for char in (dialogue.domains or ("flow",))[0]).lstrip(".") or "flow"


def keyed(name: str, value: object) -> bytes:
    """One entry of a JSON object."""
    return msgspec.json.encode(name) + b": " + msgspec.json.encode(value)


def node_of(turn: Turn) -> str | None:
    """The node that a turn's label names."""
    return next((label[len(NODE) :] for label in turn.labels if label.startswith(NODE)), None)


def log_turns(dialogue: Dialogue, heard: Sequence[Sequence[str]], labels: bool = True) -> list[dict[str, object]]:
    """The turns as a log has them: what the system says, and what the user answers.

    Args:
        heard: the transcripts of each user turn, in order.
        labels: whether intents and actions are told.
    """
    found: list[dict[str, object]] = []
    users = 0
    for turn in dialogue.turns:
        node = node_of(turn) if labels else None
        if turn.speaker == "system":
            found.append({"sys_response": turn.utterance, **({"sys_action": node} if node is not None else {})})
            continue
        if not found or "usr_query" in found[-1]:
            found.append({})
        found[-1] |= {"usr_query": turn.utterance, **({"usr_intent": node} if node is not None else {}), "asr_results": list(heard[users])}
        users += 1
    return found


def hard_versions(clean: Dialogue, variants: Sequence[Dialogue], hard: Sequence[int]) -> list[str | None]:
    """Which version of each turn of the log counts in the hard test set: of the hard variants the one with the most edits, "origin" where only the
    written dialogue is hard, None where the user says nothing."""
    found: list[str | None] = []
    for turn in clean.turns:
        if turn.speaker == "system" or not found or found[-1] is not None:
            found.append(None)
        if turn.speaker == "user":
            place = max(hard, key=lambda place: (len(variants[place].turns[turn.turn].edits), -place), default=None)
            found[-1] = "origin" if place is None else f"asr_{place}"
    return found


def _transcripts(clean: Dialogue, variants: Sequence[Dialogue]) -> list[list[str]]:
    """What each user turn is in each variant."""
    return [[one.turns[turn.turn].utterance for one in variants] for turn in clean.turns if turn.speaker == "user"]


class SeenIntents(Stage):
    """Which action follows which intent in a dialogue, keyed by scenario, and its split."""

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        given = SplitDialogue.decode(element[1])
        if given.split is None:
            return
        dialogue = given.dialogue
        pairs = [
            (intent, action)
            for turn, answer in zip(dialogue.turns, dialogue.turns[1:], strict=False)
            if turn.speaker == "user" and (intent := node_of(turn)) not in (None, REJECTED) and (action := node_of(answer)) is not None
        ]
        yield "main", (scenario(dialogue), msgspec.msgpack.encode(("seen", given.split, bool(given.extra), given.few, pairs)))


class GivenIntents(Stage):
    """The intents and actions that a flow file, or an int2act.json, names."""

    def process(self, element: str, side: object = None) -> Iterable[tuple[str, Item]]:
        name = element.replace("\\", "/").replace("!", "/")
        pairs: list[tuple[str, str]] = []
        if name.endswith(f"/{INTENTS}"):
            try:
                pairs = list(msgspec.json.decode(files.read_bytes(element), type=dict[str, str]).items())
            except msgspec.DecodeError as error:
                self.counters.faults.append(f"{element}: is no map from intents to actions: {error}")
            folder = name.split("/")[-2].lower()
        elif name.endswith((".yaml", ".yml", ".json")) and not name.endswith((".jsonasr.json", "_ids.json", "hard_data_id.json")):
            try:
                flow = read_flow(files.read_bytes(element), name)
            except FlowError:
                return  # a log under another name; a flow that can't be read is a fault of the reader's
            pairs = [(intent, node.next[0]) for intent, node in flow.nodes.items() if node.user]
            folder = flow.flow.lower()
        if pairs:
            yield "main", (folder, msgspec.msgpack.encode(("given", "", False, False, pairs)))


class WriteIntents(Stage):
    """The files of a scenario that no single dialogue makes: int2act.json, and lists and logs that would be missing."""

    tags = ("out",)

    def __init__(self, few_shot: float) -> None:
        self.few_shot = few_shot

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        folder = f"release/data/{element[0]}"
        items = [msgspec.msgpack.decode(value, type=tuple[str, str, bool, bool, list[tuple[str, str]]]) for value in element[1]]
        splits = {split for kind, split, *_ in items if kind == "seen"}
        forms = {logged for kind, _, logged, *_ in items if kind == "seen"}
        if not splits:
            return  # no dialogue of the flow came through
        following: dict[str, Counter[str]] = {}
        given: dict[str, str] = {}
        for kind, *_, pairs in items:
            for intent, action in pairs:
                if kind == "given":
                    given[intent] = min(given.get(intent, action), action)
                else:
                    following.setdefault(intent, Counter())[action] += 1
        actions = {intent: min(counted, key=lambda action: (-counted[action], action)) for intent, counted in following.items()} | given
        for place, intent in enumerate(sorted(actions)):
            yield "out", Out(f"{folder}/{INTENTS}", b"\0" + place.to_bytes(4, "big"), 1, keyed(intent, actions[intent])).item(1)
        missing = [f"{_SPLITS[split]}_ids.json" for split in _SPLITS if split not in splits]
        missing += [FEW] if self.few_shot and not any(few for *_, few, _ in items) else []
        missing += [name for name, logged in ((WALKS, False), (LOGS, True)) if logged not in forms]
        for name in missing:
            yield "out", Out(f"{folder}/{name}", b"", 0, b"").item(1)
