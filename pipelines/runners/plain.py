"""The graph as ordinary function calls: the reference for every runner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialmill.pipelines.core.runner import Combiner, Outputs, Runner
from dialmill.pipelines.core.stage import Item, Stage


class PlainRunner(Runner):
    """The graph as ordinary function calls over lists, in the order of the input: the reference for every runner."""

    def create(self, label: str, items: Sequence[Any]) -> Any:
        return list(items)

    def apply(self, label: str, stage: Stage, items: Any, side: Any = None) -> Outputs:
        stage.setup()
        tagged: dict[str, list[Item]] = {tag: [] for tag in ("main", *stage.tags)}
        for item in items:
            for tag, made in stage.process(item, side):
                tagged[tag].append(made)
        main = tagged.pop("main")
        return Outputs(main, tagged, [("", stage.take_counters().pack())])

    def group(self, label: str, items: Any) -> Any:
        groups: dict[str, list[bytes]] = {}
        for key, value in items:
            groups.setdefault(key, []).append(value)
        return list(groups.items())

    def combine(self, label: str, combiner: Combiner, items: Any) -> Any:
        state = combiner.create()
        for item in items:
            state = combiner.add(state, item)
        return combiner.extract_output(state)

    def combine_keys(self, label: str, combiner: Combiner, items: Any) -> Any:
        states: dict[str, Any] = {}
        for key, value in items:
            states[key] = combiner.add(states[key] if key in states else combiner.create(), value)
        return [(key, combiner.extract_output(state)) for key, state in states.items()]

    def zip_side_inputs(self, label: str, one: Any, other: Any) -> Any:
        return one, other

    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        return [item for items in collections for item in items]
