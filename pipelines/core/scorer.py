"""What every scorer is: it reads a gold and predictions, and turns each suite into rows whose sums give the metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, ClassVar, NamedTuple, Protocol

from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.units import Floats, Sums, Units


@dataclass(frozen=True)
class Settings:
    """What the command line says.

    Args:
        gold: the folder (or file) of right answers.
        split: the split to score.
        official: compute as the published scorer does, its faults included.
        database: a folder of database files, where a metric needs one.
    """

    gold: str
    split: str | None = None
    official: bool = False
    database: str | None = None


@dataclass
class Notes:
    """What a reader of the scores must know, collected while scoring; each once."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Notes a line."""
        if line not in self.lines:
            self.lines.append(line)


class Scorer(ABC):
    """The scorer of one benchmark. One object scores one gold.

    `metrics` work on sums of any shape, so that a bootstrap over 1,000 samples is one call. Metric names with a dot are nested in the score
    file ("selection.mrr@5").
    """

    name: ClassVar[str]
    about: ClassVar[str]
    #: "percent" or "fraction": as the benchmark's own scorer and paper have it.
    scale: ClassVar[str]
    #: The metrics by which several systems are ranked, the first being the one to look at.
    ranked: ClassVar[tuple[str, ...]]
    #: The metrics that make sense of a few turns (a stratum), not only of whole dialogues.
    of_turns: ClassVar[tuple[str, ...]] = ()
    #: The suite that the others are compared with, where they are copies of it (`paired`) and not parts of it.
    clean: ClassVar[str] = "standard"
    paired: ClassVar[bool] = True
    #: Metrics that the right answers themselves may not reach the full score in, by the last part of their name, and why.
    below_full: ClassVar[Mapping[str, str]] = {}
    #: Suites made of the rows of others, which are compared with none.
    pools: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        #: The split that is scored.
        self.split = settings.split or "test"
        self.notes = Notes()

    @abstractmethod
    def suites(self) -> list[str]:
        """The suites of the gold, the clean one first.

        Raises:
            InputError: the gold can't be read.
        """

    @abstractmethod
    def read(self, path: str) -> Any:
        """A prediction file (or folder), checked for its form.

        Raises:
            InputError: it isn't what is expected; the message names file, record and remedy.
        """

    @abstractmethod
    def covered(self, guesses: Any) -> list[str]:
        """The suites that predictions are about."""

    def every(self, guesses: Any) -> list[str]:
        """The suites that `--suite all` scores: those that predictions are about."""
        return self.covered(guesses)

    @abstractmethod
    def units(self, suite: str, guesses: Any | None) -> Units:
        """The rows of a suite. `guesses` None scores the gold against itself: the ceiling.

        Raises:
            InputError: ids of gold and predictions don't match.
        """

    @abstractmethod
    def metrics(self, sums: Sums) -> dict[str, Floats]:
        """The metrics from column sums, numbers of the sums' shape. A metric that can't be computed is left out."""

    def counts(self, units: Units) -> dict[str, int]:
        """How much was scored."""
        return {"examples": len(units)}

    def policy(self) -> dict[str, str]:
        """The decisions that the numbers depend on, by name: how values are compared, which tokeniser, ..."""
        return {}

    def packages(self) -> Sequence[str]:
        """The libraries that took part, for `versions` in the score file."""
        return ("numpy",)

    def self_test(self) -> None:
        """Finds out at the start whether the libraries do what the metrics rest on.

        Raises:
            DialmillError: they don't, in this version.
        """
        return


class Score(NamedTuple):
    """A cell of a table of systems.

    Args:
        text: the score.
        best: whether it is the best of its column.
        beats: the letters of the systems that it is better than for more than chance.
        change: its drop, with the interval.
    """

    text: str
    best: bool = False
    beats: str = ""
    change: str = ""


class Table(NamedTuple):
    """A table with a caption; the first column is text, the others are numbers."""

    caption: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str | Score, ...]]


class OwnScoring(Protocol):
    """A module that makes a score file by itself: of what isn't predictions about the suites of a gold, and has no `Scorer`."""

    def score_files(self, settings: Settings, predictions: Sequence[str], suite: str | None) -> dict[str, Any]:
        """The score file.

        Raises:
            UsageError: other predictions than it takes, or an unknown suite.
            DialmillError: files that can't be used.
        """

    def text(self, scores: dict[str, Any]) -> str:
        """A score file for a terminal."""

    def tables(self, scores: dict[str, Any]) -> list[Table]:
        """A score file as tables."""


def versions(packages: Sequence[str]) -> dict[str, str]:
    """The installed versions of packages."""
    from dialmill.schemas.version import VERSION

    return {"dialmill": VERSION} | {name: metadata.version(name) for name in packages}


def nested(flat: Mapping[str, Floats]) -> dict[str, Any]:
    """Metrics with a dot in their names as nested objects of plain numbers."""
    made: dict[str, Any] = {}
    for name, value in flat.items():
        inner = made
        *parents, last = name.split(".")
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = float(value)
    return made


def missing_extra(package: str, what: str) -> DialmillError:
    """The error of a library that isn't installed."""
    return DialmillError(f"{what} needs {package}, which is not installed: pip install 'dialmill[score]'")
