"""Two engines run the same graph: Beam, on any of its runners, and a plain loop in this process. Their outputs are equal to the byte.

Stages know neither (`pipelines.stages.base.Stage`); this module is the thin layer between them and Beam.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from pipelines import progress
from pipelines.books import Books
from pipelines.stages.base import Item, Stage


class Combiner(Protocol):
    """Folds many items into one value; accumulators merge in any order."""

    def create(self) -> Any: ...
    def add(self, state: Any, item: Any) -> Any: ...
    def merge(self, states: Iterable[Any]) -> Any: ...
    def layout(self, state: Any) -> Any: ...


class Outputs(NamedTuple):
    """The outputs of an applied stage: its main collection, its tagged ones, and its books."""

    main: Any
    tagged: dict[str, Any]
    books: Any


class Engine(ABC):
    """What the graph is written in. Collections are opaque to it."""

    @abstractmethod
    def create(self, label: str, items: Sequence[Any]) -> Any:
        """A collection of the given items."""

    @abstractmethod
    def apply(self, label: str, stage: Stage, items: Any, side: Any = None) -> Outputs:
        """A stage over every item; `side` is a value made by `combine`."""

    @abstractmethod
    def group(self, label: str, items: Any) -> Any:
        """(key, values) for the keyed items; the order of values is not defined."""

    @abstractmethod
    def combine(self, label: str, combiner: Combiner, items: Any) -> Any:
        """One value from all items, to be used as a side input."""

    @abstractmethod
    def both(self, label: str, one: Any, other: Any) -> Any:
        """Two values made by `combine` as one, a pair."""

    @abstractmethod
    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        """All items of several collections."""


class PlainEngine(Engine):
    """The graph as ordinary function calls over lists, in the order of the input: the reference for every runner."""

    def create(self, label: str, items: Sequence[Any]) -> Any:
        return list(items)

    def apply(self, label: str, stage: Stage, items: Any, side: Any = None) -> Outputs:
        stage.books = Books()
        stage.setup()
        tagged: dict[str, list[Item]] = {tag: [] for tag in ("main", *stage.tags)}
        for item in items:
            for tag, made in stage.process(item, side):
                tagged[tag].append(made)
        main = tagged.pop("main")
        return Outputs(main, tagged, [("", stage.books.pack())])

    def group(self, label: str, items: Any) -> Any:
        groups: dict[str, list[bytes]] = {}
        for key, value in items:
            groups.setdefault(key, []).append(value)
        return list(groups.items())

    def combine(self, label: str, combiner: Combiner, items: Any) -> Any:
        state = combiner.create()
        for item in items:
            state = combiner.add(state, item)
        return combiner.layout(state)

    def both(self, label: str, one: Any, other: Any) -> Any:
        return one, other

    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        return [item for items in collections for item in items]


class BeamEngine(Engine):
    """The graph as transforms of a Beam pipeline, each labelled with words."""

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline
        #: The labels of the transforms, in the order of the graph.
        self.labels: list[str] = []

    def create(self, label: str, items: Sequence[Any]) -> Any:
        import apache_beam as beam

        self.labels.append(label)
        # A few descriptors: the shuffle costs nothing and lets workers read different files.
        return self.pipeline | label >> beam.Create(list(items)) | f"spread {label}" >> beam.Reshuffle()

    def apply(self, label: str, stage: Stage, items: Any, side: Any = None) -> Outputs:
        import apache_beam as beam

        from pipelines.beam_stage import StageFn, typed

        self.labels.append(label)
        arguments = [beam.pvalue.AsSingleton(side)] if side is not None else []
        outputs = items | label >> beam.ParDo(StageFn(label, stage), *arguments).with_outputs(*stage.tags, "books", main="main")
        return Outputs(typed(outputs.main), {tag: typed(outputs[tag]) for tag in stage.tags}, typed(outputs.books))

    def group(self, label: str, items: Any) -> Any:
        import apache_beam as beam

        self.labels.append(label)
        return items | label >> beam.GroupByKey()

    def combine(self, label: str, combiner: Combiner, items: Any) -> Any:
        import apache_beam as beam

        from pipelines.beam_stage import CombinerFn

        self.labels.append(label)
        return items | label >> beam.CombineGlobally(CombinerFn(combiner))

    def both(self, label: str, one: Any, other: Any) -> Any:
        import apache_beam as beam

        return one | label >> beam.Map(lambda first, second: (first, second), beam.pvalue.AsSingleton(other))

    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        import apache_beam as beam

        self.labels.append(label)
        return tuple(collections) | label >> beam.Flatten()


def tick(label: str) -> None:
    """Counts a processed element for the progress line."""
    progress.COUNTS[label] = progress.COUNTS.get(label, 0) + 1
