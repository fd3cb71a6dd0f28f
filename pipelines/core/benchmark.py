"""The contract of a benchmark, and the job that a run carries out: the recipe, the seed, the inputs and the benchmark, resolved once."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from dialmill.perturbers.core.contract import Perturber
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.params import recipe_params
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe, load
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import OwnScoring, Scorer
from dialmill.pipelines.core.source import Source
from dialmill.pipelines.core.stage import Out
from dialmill.pipelines.core.subsets import subset_files
from dialmill.schemas import Dialogue
from dialmill.schemas.kinds import FileKind, Relative

#: A shard of an output holds about this many bytes of input.
SHARD_BYTES = 48 << 20


@dataclass(frozen=True)
class Job:
    """All that a run depends on. Two runs of equal jobs write equal bytes."""

    benchmark: Benchmark
    recipe: Recipe
    seed: int
    inputs: tuple[InputFile, ...]
    #: The sources of all input files, by name.
    sources: Mapping[str, Source]
    output: str
    overwrite: bool = False
    #: The input files of other corpora that pools are gathered from, by the path in the recipe.
    corpora: dict[str, tuple[InputFile, ...]] = field(default_factory=dict)
    #: The names of the exporters that write the suites in other formats too.
    exports: tuple[str, ...] = ()

    @property
    def shards(self) -> int:
        """Shards of each large output, from the size of the input alone."""
        return max(1, min(256, sum(one.size for one in self.inputs) // SHARD_BYTES))

    @property
    def startup_warnings(self) -> list[str]:
        """What the recipe, the benchmark and the suites' perturbers have to say before they start."""
        languages = {language for source in self.sources.values() for language in source.language.split(", ")}
        return [*self.recipe.startup_warnings(), *self.benchmark.input_warnings(self)] + [
            f"suite {suite.name}: {warning}" for suite in self.recipe.suite_plan() for warning in suite.perturber.startup_warnings(languages)
        ]

    @property
    def params(self) -> dict[str, dict[str, set[type]]]:
        """The lineage options of each suite, for the Parquet schemas."""
        return recipe_params(self.recipe, self.benchmark.inserter(self.recipe))


@dataclass(frozen=True)
class ReleaseContext:
    """What the release of a record depends on besides the record.

    Args:
        recipe: the resolved recipe of the run.
        seed: the seed of the run.
        counters: where a release counts what it leaves out; those of the worker.
        side_files: the paths of the input's files that no source reads, such as databases, sorted.
    """

    recipe: Recipe
    seed: int
    counters: Counters
    side_files: tuple[str, ...] = ()

    def hides_labels(self, record: Dialogue) -> bool:
        """Whether the labels of a record are written apart from its inputs: it is a test record, and the recipe holds labels out."""
        return self.recipe.held_out_labels and record.split == "test"


class SourceRecords(NamedTuple):
    """Every record that was made of one source dialogue.

    Args:
        records: suite by suite, variant by variant; one record at least.
        order: where the dialogue stands in its files.
        extra: what the source keeps beside the dialogue.
        hard: the ids of those records that are in `test_hard`.
        few: whether the dialogue is a few-shot one.
        hard_turns: of those records the turns that are hard, where the benchmark's panel judges turns for themselves.
    """

    records: Sequence[Dialogue]
    order: bytes
    extra: bytes
    hard: Set[str]
    few: bool
    hard_turns: Mapping[str, Set[int]] = {}


class Benchmark(ABC):
    """A benchmark's own part of a build. Without an override it has no release format besides the canonical record."""

    name: ClassVar[str]
    about: ClassVar[str]  #: one line for `dialmill list benchmarks`
    paper: ClassVar[str] = ""
    #: The kinds of its files, of its release and of predictions, that `dialmill validate` holds to a schema.
    kinds: ClassVar[tuple[FileKind, ...]] = ()
    #: Kinds of files that are easily taken for its own: `dialmill validate` tells them by what they are.
    relatives: ClassVar[tuple[Relative, ...]] = ()
    #: The schemas of files that `compare` takes.
    compared: ClassVar[tuple[str, ...]] = ()

    #: Whether it takes dialogues with turns that are neither the user's nor the system's words (speaker "other").
    takes_carried: ClassVar[bool] = False
    #: What its data is for, in the Hub's words: categories of tasks, and the finer ids within them.
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)
    task_ids: ClassVar[tuple[str, ...]] = ("dialogue-modeling",)

    #: Whether a whole test dialogue would answer its instances: then none is published where labels are held out, but by the release.
    answers_in_dialogues: ClassVar[bool] = False
    #: Whether the release of a dialogue is made of several of its suites: then it draws by itself which of them is published.
    releases_suites_together: ClassVar[bool] = False

    #: Whether `finish` is called with the dialogues of all splits.
    takes_records: ClassVar[bool] = False
    #: The suites in whose words `finish` gets a dialogue, besides its own.
    wanted_suites: ClassVar[tuple[str, ...]] = ()
    #: The panel of baselines that chooses test_hard (dialmill.pipelines.baselines.panel.registry has them), "" for none.
    panel: ClassVar[str] = "turns"
    #: Whether labels of user turns are classes that a system tells; of chat logs they are the names of speakers.
    labels_are_classes: ClassVar[bool] = True

    def recipe(self) -> type[Recipe]:
        """The recipe class: its fields are the keys that this benchmark knows."""
        return Recipe

    def load_recipe(self, file: str | None = None, settings: Iterable[str] = (), fixed: Mapping[str, Any] | None = None) -> Recipe:
        """The packaged recipe (NAME.yaml beside the module), changed by a YAML file of the user's and then by settings "key=value".

        Raises:
            UsageError: an unknown key (the message lists the known), a value of the wrong type, or a file that isn't such YAML.
        """
        return load(self.name, self.recipe(), self.recipe_text(), file, settings, fixed)

    def recipe_text(self) -> str:
        """The packaged recipe as YAML: NAME.yaml beside the module.

        Raises:
            UsageError: there is none.
        """
        path = Path(inspect.getfile(type(self))).with_name(f"{self.name}.yaml")
        try:
            return path.read_text("utf-8")
        except FileNotFoundError:
            raise UsageError(f"the benchmark {self.name!r} has no recipe: {path} is not there") from None

    def command(self, recipe: Mapping[str, Any]) -> str:
        """The command line, up to its inputs, that builds from a recipe (as the manifest has it) in recipe.yaml."""
        return f"dialmill build {self.name} --recipe recipe.yaml --input PATH..."

    def scorer(self) -> type[Scorer] | None:
        """The scorer of predictions, None where there is none."""
        return None

    def own_scoring(self) -> OwnScoring | None:
        """What makes score files in place of a scorer, None for most."""
        return None

    def predictor(self) -> Predictor | None:
        """The light baseline whose predictions the scorer reads, None where there is none."""
        return None

    def taught(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Dialogue:
        """A dialogue as baselines learn from it: with what the benchmark puts into those that they judge."""
        inserter = self.inserter(recipe)
        return dialogue if inserter is None else inserter.perturb(dialogue, seed)

    def judged_turns(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Sequence[int] | None:
        """The turns of a test dialogue that may be hard, where the panel judges turns for themselves; None for all."""
        return None

    def judged_pool(self, recipe: Recipe, language: str) -> Sequence[Any]:
        """What a test turn's answer is chosen from, in plain values, where that is the same for all turns; of one language."""
        return ()

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        """The benchmark's own end of the graph, for what needs more than one dialogue at a time, such as candidate pools.

        Args:
            records: (source id, encoded `stages.items.SplitDialogue`) of every dialogue that was read and passed the filters.

        Returns:
            Outputs of the applied stages, whose "out" collections go to the sink, and whose counters are added to those of the run.
        """
        return []

    def check(self, job: Job) -> None:
        """Raises `DialmillError` where this benchmark can't be built from the job's inputs."""
        return

    def input_warnings(self, job: Job) -> list[str]:
        """What the job's inputs lack that the recipe asks for, where the run can do without."""
        return []

    def check_release(self, folder: Path, manifest: Mapping[str, Any]) -> Checked:
        """What `dialmill verify` finds out about the release in an output folder, beyond its files' schemas. The manifest is valid, and every file is
        as it says."""
        return Checked()

    def check_file(self, path: Path, schema: str, sound: Callable[[Path], bool]) -> Checked:
        """What `dialmill validate` finds out about a file of one of this benchmark's kinds beyond its schema, from what stands beside it too.

        Args:
            path: a file that is as its schema has it.
            schema: the name of that schema.
            sound: whether a file beside it is as its own schema has it.
        """
        return Checked()

    def compare(self, path: Path, schema: str, gold: Path) -> Checked:
        """What `dialmill validate --gold` finds out about predictions, of a schema that `compared` names, beside the right answers.

        Raises:
            UsageError: `gold` is no such folder.
        """
        return Checked()

    def source(self, source: Source, recipe: Recipe) -> Source:
        """The source as this benchmark reads it, where the recipe has a say in what it gives."""
        return source

    def assess(self, dialogue: Dialogue, extra: bytes, recipe: Recipe, seed: int) -> tuple[Dialogue, int | None]:
        """A dialogue that passed the filters, with what its lineage says of it, and its priority: the sizes of splits take the lowest first, None for
        a seeded hash.

        Raises:
            RecordError: this benchmark doesn't take it.
        """
        return dialogue, None

    def inserter(self, recipe: Recipe) -> Perturber | None:
        """What is put into every dialogue before all suites, and so into the suite `standard` too; None for nothing."""
        return None

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        """The pieces of the release files that one record contributes; `order` says where it stands in them. What a record of a subset contributes
        stands in that subset's files too."""
        return ()

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        """The pieces of release files that hold a dialogue in all its suites and variants."""
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

    def around(self, path: str) -> tuple[bytes, bytes] | None:
        """What stands before and after the pieces of a release file that is one JSON document, and no array or object of records; None for others."""
        return None

    def schema_of(self, path: str, blind: bool) -> str | None:
        """The schema of a release file that `release_files` can't foresee, None if `path` is no such file."""
        return None
