"""The graph on Apache Beam: stages as Beam's own classes, the pipeline with its options, and its errors. Importing this imports Beam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam
from apache_beam import typehints
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.progress import tick
from dialmill.pipelines.core.runner import Combiner, Outputs, Runner
from dialmill.pipelines.core.stage import Stage, StageChain
from dialmill.pipelines.runners.launched import Launched


class StageFn(beam.DoFn):  # type: ignore[misc]
    """Runs a `Stage`: side outputs by tag, and its counters once per bundle."""

    def __init__(self, label: str, stage: Stage) -> None:
        self.label, self.stage, self.launched = label, stage, Launched.here()

    def setup(self) -> None:
        self.launched.enter()
        self.stage.setup()

    def start_bundle(self) -> None:
        # What a bundle counted that failed, and is tried again, is dropped.
        self.stage.take_counters()

    def process(self, element: Any, side: Any = None) -> Iterable[Any]:
        try:
            for tag, item in self.stage.process(element, side):
                yield item if tag == "main" else beam.pvalue.TaggedOutput(tag, item)
        except OSError as error:
            # A full disk, say. Beam can't raise an OSError again as it was.
            raise DialmillError(f"{error.filename or self.label}: {error.strerror or error}") from None
        if not isinstance(self.stage, StageChain):  # whose stages tick each for itself
            tick(self.label)

    def finish_bundle(self) -> Iterable[Any]:
        window = GlobalWindow()
        yield beam.pvalue.TaggedOutput("counters", WindowedValue(("", self.stage.take_counters().pack()), window.max_timestamp(), [window]))


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

    def compact(self, state: Any) -> Any:
        # Before it travels: merging leaves out what a combiner needn't keep.
        return self.combiner.merge([state])

    def extract_output(self, state: Any) -> Any:
        return self.combiner.extract_output(state)


def typed(collection: Any) -> Any:
    """The collection with its element type stated: Beam infers none for tagged outputs, and a shuffle needs keys and values."""
    collection.element_type = typehints.Tuple[str, bytes]
    return collection


def _same(item: Any) -> Any:
    return item


class BeamRunner(Runner):
    """The graph as transforms of a Beam pipeline, each labelled with words."""

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline
        #: The labels of the transforms, in the order of the graph.
        self.labels: list[str] = []

    def create(self, label: str, items: Sequence[Any]) -> Any:
        self.labels.append(label)
        # A few descriptors: the shuffle costs nothing and lets workers read different files.
        return self.pipeline | label >> beam.Create(list(items)) | f"spread {label}" >> beam.Reshuffle()

    def apply(self, label: str, stage: Stage, items: Any, side: Any = None) -> Outputs:
        self.labels.append(label)
        arguments = [beam.pvalue.AsSingleton(side)] if side is not None else []
        outputs = items | label >> beam.ParDo(StageFn(label, stage), *arguments).with_outputs(*stage.tags, "counters", main="main")
        return Outputs(typed(outputs.main), {tag: typed(outputs[tag]) for tag in stage.tags}, typed(outputs.counters))

    def group(self, label: str, items: Any) -> Any:
        self.labels.append(label)
        return items | label >> beam.GroupByKey()

    def combine(self, label: str, combiner: Combiner, items: Any) -> Any:
        self.labels.append(label)
        return items | label >> beam.CombineGlobally(CombinerFn(combiner))

    def combine_keys(self, label: str, combiner: Combiner, items: Any) -> Any:
        self.labels.append(label)
        return typed(items | label >> beam.CombinePerKey(CombinerFn(combiner)))

    def zip_side_inputs(self, label: str, one: Any, other: Any) -> Any:
        return one | label >> beam.Map(lambda first, second: (first, second), beam.pvalue.AsSingleton(other))

    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        self.labels.append(label)
        # Beam's job servers of Flink and Spark break on a flatten whose input another transform reads too (apache/beam#34647): each input gets a
        # step of its own, which is fused into what comes before.
        own = [typed(one | f"{label}, part {number}" >> beam.Map(_same)) for number, one in enumerate(collections, 1)]
        return tuple(own) | label >> beam.Flatten()
