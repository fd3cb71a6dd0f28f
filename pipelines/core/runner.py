"""The contract of a runner: what executes the graph.

Two exist, Beam (on any of its own runners) and a plain loop in this process (`dialmill.pipelines.runners`); their outputs are equal to the byte.
Stages know neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from dialmill.pipelines.core.stage import Stage


class Combiner(Protocol):
    """Folds many items into one value; accumulators merge in any order, and one alone may be merged to be rid of what it needn't keep."""

    def create(self) -> Any: ...
    def add(self, state: Any, item: Any) -> Any: ...
    def merge(self, states: Iterable[Any]) -> Any: ...
    def extract_output(self, state: Any) -> Any: ...


class Outputs(NamedTuple):
    """The outputs of an applied stage: its main collection, its tagged ones, and its counters."""

    main: Any
    tagged: dict[str, Any]
    counters: Any


class Runner(ABC):
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
    def combine_keys(self, label: str, combiner: Combiner, items: Any) -> Any:
        """(key, value) for the keyed items, one value from all items of a key. Where an engine can, they are combined before they travel; what
        `merge` gives is what travels then, and is bytes best."""

    @abstractmethod
    def zip_side_inputs(self, label: str, one: Any, other: Any) -> Any:
        """Two values made by `combine` as one, a pair."""

    @abstractmethod
    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        """All items of several collections."""
