"""What no single dialogue of a flow tells: the intents of a scenario, and files that would be missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
from dialmill.pipelines.benchmarks.cgodial.fbd.release import FEW, INTENTS, LOGS, SPLITS, WALKS, node_of, scenario
from dialmill.pipelines.benchmarks.cgodial.writing import keyed
from dialmill.pipelines.core import files
from dialmill.pipelines.core.stage import Item, Out, Stage
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas.flow import REJECTED, FlowError, read_flow


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
        missing = [f"{SPLITS[split]}_ids.json" for split in SPLITS if split not in splits]
        missing += [FEW] if self.few_shot and not any(few for *_, few, _ in items) else []
        missing += [name for name, logged in ((WALKS, False), (LOGS, True)) if logged not in forms]
        for name in missing:
            yield "out", Out(f"{folder}/{name}", b"", 0, b"").item(1)
