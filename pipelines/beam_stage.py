"""Stages as Beam's own classes. Importing this imports Beam."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam import typehints
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from pipelines.books import Books
from pipelines.engine import Combiner, tick
from pipelines.errors import DialmillError
from pipelines.stages.base import Stage


class StageFn(beam.DoFn):  # type: ignore[misc]
    """Runs a `Stage`: side outputs by tag, and its books once per bundle."""

    def __init__(self, label: str, stage: Stage) -> None:
        self.label, self.stage = label, stage

    def setup(self) -> None:
        self.stage.books = Books()
        self.stage.setup()

    def start_bundle(self) -> None:
        self.stage.books = Books()

    def process(self, element: Any, side: Any = None) -> Iterable[Any]:
        try:
            for tag, item in self.stage.process(element, side):
                yield item if tag == "main" else beam.pvalue.TaggedOutput(tag, item)
        except OSError as error:
            # A full disk, say. Beam can't raise an OSError again as it was.
            raise DialmillError(f"{error.filename or self.label}: {error.strerror or error}") from None
        tick(self.label)

    def finish_bundle(self) -> Iterable[Any]:
        window = GlobalWindow()
        yield beam.pvalue.TaggedOutput("books", WindowedValue(("", self.stage.books.pack()), window.max_timestamp(), [window]))


class CombinerFn(beam.CombineFn):  # type: ignore[misc]
    """Runs a `Combiner`."""

    def __init__(self, combiner: Combiner) -> None:
        self.combiner = combiner

    def create_accumulator(self) -> Any:
        return self.combiner.create()

    def add_input(self, state: Any, item: Any) -> Any:
        return self.combiner.add(state, item)

    def merge_accumulators(self, states: Iterable[Any]) -> Any:
        return self.combiner.merge(states)

    def extract_output(self, state: Any) -> Any:
        return self.combiner.layout(state)


def typed(collection: Any) -> Any:
    """The collection with its element type stated: Beam infers none for tagged outputs, and a shuffle needs keys and values."""
    collection.element_type = typehints.Tuple[str, bytes]
    return collection
