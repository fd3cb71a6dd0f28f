"""One module per published benchmark: its release format, and what a reader needs to know of it.

The recipe of the same name (pipelines/recipes/NAME.yaml) says which dialogues and suites it takes.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar

from pipelines import plugins
from pipelines.books import Books
from pipelines.recipe import Recipe
from pipelines.stages.subsets import subset_files
from schemas import Dialogue

if TYPE_CHECKING:
    from perturbers import Perturber
    from pipelines.build import Job
    from pipelines.engine import Engine, Outputs
    from pipelines.sources.base import Source
    from pipelines.stages.base import Out


class Benchmark(ABC):
    """A benchmark's own part of a build. Without an override it has no release format besides the canonical record."""

    name: ClassVar[str]
    about: ClassVar[str]  #: one line for `dialmill list benchmarks`
    paper: ClassVar[str] = ""

    #: Whether `finish` is called with the dialogues of all splits.
    takes_records: ClassVar[bool] = False

    #: What `bind` was given, and where release counts what it leaves out: the books of the worker, set before each call.
    job_recipe: Recipe
    job_seed: int
    books: Books

    def bind(self, recipe: Recipe, seed: int) -> Benchmark:
        """This benchmark with the recipe and seed of a run."""
        self.job_recipe, self.job_seed = recipe, seed
        return self

    def recipe(self) -> type[Recipe]:
        """The recipe class: its fields are the keys that this benchmark knows."""
        return Recipe

    def finish(self, engine: Engine, job: Job, folder: str, records: Any) -> list[Outputs]:
        """The benchmark's own end of the graph, for what needs more than one dialogue at a time, such as candidate pools.

        Args:
            records: (source id, packed `stages.base.Milled`) of every dialogue that was read and passed the filters.

        Returns:
            Outputs of the applied stages, whose "out" collections go to the sink, and whose books to the books.
        """
        return []

    def check(self, job: Job) -> None:
        """Raises `DialmillError` where this benchmark can't be built from the job's inputs."""
        return

    def source(self, source: Source, recipe: Recipe) -> Source:
        """The source as this benchmark reads it, where the recipe has a say in what it gives."""
        return source

    def judge(self, dialogue: Dialogue, extra: bytes, recipe: Recipe, seed: int) -> tuple[Dialogue, int | None]:
        """A dialogue that passed the filters, with what its lineage says of it, and its priority: the sizes of splits take the lowest first, None for
        a keyed hash.

        Raises:
            RecordError: this benchmark doesn't take it.
        """
        return dialogue, None

    def injected(self, recipe: Recipe) -> Perturber | None:
        """What is put into every dialogue before all suites, and so into the suite `standard` too; None for nothing."""
        return None

    def release(self, dialogue: Dialogue, suite: str, order: bytes, blind: bool) -> Iterable[Out]:
        """The pieces of the release files that one record contributes. `blind` writes the labels apart from the inputs. What a record of a subset
        contributes stands in that subset's files too."""
        return ()

    def release_together(self, records: Sequence[Dialogue], order: bytes, blind: bool, extra: bytes, hard: Set[str], few: bool) -> Iterable[Out]:
        """The pieces of release files that hold a dialogue in all its suites and variants.

        Args:
            records: every record that was made of one source dialogue, suite by suite.
            order: where the dialogue stands in its files.
            blind: whether labels of test records are written apart.
            extra: what the source keeps beside the dialogue.
            hard: the ids of those records that are in `test_hard`.
            few: whether the dialogue is a few-shot one.
        """
        return ()

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        """Every release file (path -> schema name), so that those without records exist as well."""
        return {}

    def split_of(self, path: str) -> str | None:
        """The split of a release file that has its own; None for a file that all splits share."""
        return None

    def expected(self, recipe: Recipe) -> dict[str, str]:
        """Every release file that a recipe asks for (path -> schema, "" for tables), those of the subsets too."""
        found = self.release_files(recipe.suites, recipe.held_out_labels)
        return found | subset_files(found, recipe.few_shot, self.split_of)

    def schema_of(self, path: str, blind: bool) -> str | None:
        """The schema of a release file that `release_files` can't foresee, None if `path` is no such file."""
        return None


#: name -> its class.
_REGISTRY = {
    "cgodial-fbd": "cgodial_fbd.CgodialFbd",
    "cgodial-rbd": "cgodial_rbd.CgodialRbd",
    "cgodial-sbd": "cgodial_sbd.CgodialSbd",
    "disentangle": "disentangle.Disentangle",
    "dstc9-track1": "dstc9_track1.Dstc9Track1",
    "noesis-advising": "noesis_advising.NoesisAdvising",
    "noesis-ubuntu": "noesis_ubuntu.NoesisUbuntu",
    "perturb": "perturb.Perturb",
    "raddle": "raddle.Raddle",
    "splits": "splits.Splits",
}
#: Those with a command of their own.
COMMANDS = ("disentangle", "perturb")


def names() -> list[str]:
    """The benchmarks that `dialmill build` knows."""
    return sorted(name for name in _REGISTRY if name not in COMMANDS)


def get(name: str) -> Benchmark:
    """The benchmark called `name`.

    Raises:
        UsageError: no such benchmark; the message lists the known ones.
    """
    benchmark: Benchmark = plugins.load("benchmark", name, _REGISTRY, "pipelines.benchmarks", names())()
    return benchmark
