"""Recipes: every choice of a build in one place, from YAML and `--set`, printed before the run and kept in the manifest."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from dialmill.perturbers.core import options
from dialmill.perturbers.core.options import Meta, state
from dialmill.perturbers.insertion.knowledge import Knowledge
from dialmill.perturbers.rewording.rewriter import REWRITERS, Rewriter
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import UsageError

from dialmill import perturbers

_SUITE_NAME = re.compile(r"\w(?:[\w.+-]*[\w+-])?")
_SIMULATED = ("reminder",)
#: The baselines that come with dialmill (dialmill.pipelines.baselines.trained has them; it isn't imported for their names).
BUILT_IN = ("tracker", "classifier")
#: The perturbers whose engine llm takes an instruction.
_PROMPTED = (*REWRITERS, "knowledge")
_STAGES = ("read", "filter", "split", "few_shot", "test_hard")
#: How many dialogues at most.
Size = Annotated[int, Meta(ge=0)]
Splits = Literal["auto", "official", "hash", "keep"]


@dataclass(frozen=True)
class Recipe:
    """The resolved recipe of a build. Each field is a key of the YAML files and of `--set`; its annotation says what it means and takes.

    Raises:
        UsageError: a value out of its range, or values that do not go together.
    """

    benchmark: str = state()
    simulated: Annotated[
        list[str], Meta(description="simulated corpora read besides the input (pipelines/sources/simulated/NAME.json)", examples=[["reminder"]])
    ] = field(default_factory=list)
    # splits
    splits: Annotated[
        Splits,
        Meta(
            description='how dialogues get their split: "auto", the official lists where the corpus has them, else by hash; "official"; '
            '"hash", by a hash of their id and the seed; "keep", as the input says'
        ),
    ] = "auto"
    fractions: Annotated[
        dict[str, Annotated[float, Meta(ge=0)]],
        Meta(
            description="the shares of the splits, where they go by hash; what they sum up to is the whole",
            examples=[{"train": 0.7, "valid": 0.1, "test": 0.2}],
            extra={"unit": "share of dialogues"},
        ),
    ] = field(default_factory=lambda: {"train": 0.8, "valid": 0.1, "test": 0.1})
    group_by: Annotated[Literal["none", "domain"], Meta(description="what sizes are counted by: all dialogues together, or those of each domain")] = (
        "none"
    )
    proportional: Annotated[bool, Meta(description="with fewer dialogues than the sizes ask for, train and test shrink alike")] = False
    train_size: Annotated[
        Size | dict[str, Size] | None,
        Meta(
            description="at most so many training dialogues (in each group): a number, one number for each group that is named, or none for all",
            examples=[{"hotel": 200}],
            extra={"unit": "dialogues"},
        ),
    ] = None
    valid_size: Annotated[
        Size | dict[str, Size] | None,
        Meta(description="at most so many validation dialogues, as train_size", examples=[50], extra={"unit": "dialogues"}),
    ] = None
    test_size: Annotated[
        Size | dict[str, Size] | None, Meta(description="at most so many test dialogues, as train_size", examples=[200], extra={"unit": "dialogues"})
    ] = None
    # filters
    domains: Annotated[
        list[str], Meta(description="only dialogues about nothing but these domains; empty takes all", examples=[["hotel", "restaurant"]])
    ] = field(default_factory=list)
    single_domain: Annotated[bool, Meta(description="only dialogues about one domain")] = False
    min_turns: Annotated[
        int, Meta(ge=0, description="only dialogues of at least so many turns, both speakers counted", examples=[4], extra={"unit": "turns"})
    ] = 1
    max_turns: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="only dialogues of at most so many turns", examples=[20], extra={"unit": "turns"})
    ] = None
    max_words: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="only dialogues in which no turn has more words than this", examples=[60], extra={"unit": "words"}),
    ] = None
    require_acts: Annotated[bool, Meta(description="only dialogues of which every turn has dialogue acts")] = False
    require_system_end: Annotated[bool, Meta(description="only dialogues that the system ends")] = False
    ascii_only: Annotated[bool, Meta(description="only dialogues written in ASCII")] = False
    commercial: Annotated[bool, Meta(description="only corpora whose licence allows commercial use")] = False
    # suites
    suites: Annotated[
        list[str],
        Meta(
            description="the suites that are made: standard, the unperturbed dialogues, and names of perturbations", examples=[["standard", "typos"]]
        ),
    ] = field(default_factory=lambda: ["standard"])
    perturbations: Annotated[
        dict[str, str],
        Meta(
            description="the suites that can be made: a name, and the perturbers of the suite as --with takes them",
            examples=[{"noisy": "typos:rate=0.3"}],
        ),
    ] = field(default_factory=dict)
    perturbed_splits: Annotated[list[str], Meta(description="the splits of which perturbed suites have dialogues", examples=[["test"]])] = field(
        default_factory=lambda: ["train", "valid", "test"]
    )
    donors_from: Annotated[
        str | None,
        Meta(
            description="where suites of reworded turns take the words of other turns from: input, train, or the path of a corpus; none "
            "leaves it to each of them",
            examples=["train"],
        ),
    ] = None
    prompts: Annotated[
        dict[str, str], Meta(description="instructions for the engine llm, by perturber", examples=[{"paraphrase": "Say it like a pirate."}])
    ] = field(default_factory=dict)
    typography: Annotated[
        Literal["keep", "join"],
        Meta(
            description='"join" writes text that a tokeniser pulled apart ("i \'d like") as people do, in all suites alike, the '
            "unperturbed one too; edits lead back to the source"
        ),
    ] = "keep"
    variants: Annotated[int, Meta(ge=1, description="variants of each dialogue in a perturbed suite", examples=[3], extra={"unit": "variants"})] = 1
    suite_variants: Annotated[
        dict[str, Annotated[int, Meta(ge=1)]],
        Meta(
            description="how many variants a suite has in which split, where that is not variants in the perturbed_splits; a split that a "
            "suite does not name has none",
            examples=[{"typos.test": 8}],
            extra={"unit": "variants"},
        ),
    ] = field(default_factory=dict)
    suite_domains: Annotated[
        dict[str, str],
        Meta(
            description='the domains that a suite takes, several joined by "+"; a suite that is not named takes all',
            examples=[{"ood": "attraction+taxi"}],
        ),
    ] = field(default_factory=dict)
    # subsets
    few_shot: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="the share of train that stands in few_shot/ too; 0 for none",
            examples=[0.05],
            extra={"unit": "share of dialogues"},
        ),
    ] = 0.1
    hard_threshold: Annotated[float, Meta(description="test dialogues of a difficulty above this stand in test_hard", examples=[3.0])] = 2.5
    hard_baselines: Annotated[
        list[str],
        Meta(
            description="the baselines of which one at least must be wrong in a test_hard dialogue: auto (whichever of tracker and "
            "classifier the labels fit), those by name, or prediction files of your own; empty lets the difficulty decide",
            examples=[["tracker"]],
        ),
    ] = field(default_factory=lambda: ["auto"])
    # release
    held_out_labels: Annotated[bool, Meta(description="a release without the labels of its test split, and those beside it")] = False
    keep_audio: Annotated[bool, Meta(description="leaves the audio of speech suites in dialogues/SUITE/audio/ID/VARIANT/TURN.wav")] = False

    #: Keys of earlier releases -> what they are called now.
    renamed: ClassVar[Mapping[str, str]] = {"twins_from": "donors_from"}

    def __post_init__(self) -> None:
        try:
            options.check(self)
        except options.OptionError as error:
            raise UsageError(str(error)) from None
        self._check_suites()
        self._check_splits()
        self._check_baselines_and_prompts()
        self.suite_plan()

    def _check_suites(self) -> None:
        if not self.suites or len(set(self.suites)) < len(self.suites):
            raise UsageError(f"suites must name one suite or more, each once, not {', '.join(self.suites) or 'none'}")
        for name in self.suites:
            # Suites become folders, and stages in the counts.
            if not _SUITE_NAME.fullmatch(name) or name in _STAGES:
                raise UsageError(f"{name!r} can't name a suite: letters, digits, and . _ + - between them, and none of {', '.join(_STAGES)}")
            if name != "standard" and name not in self.perturbations:
                known = ", ".join(["standard", *self.perturbations])
                raise UsageError(f"there is no suite {name!r} in recipe {self.benchmark}; it has: {known}")
        for key in self.suite_variants:
            suite, dot, split = key.rpartition(".")
            if not dot or suite not in self.perturbations or split not in ("train", "valid", "test"):
                raise UsageError(f"suite_variants: expected SUITE.SPLIT with a perturbed suite and train, valid or test, not {key!r}")
        for suite in self.suite_domains:
            if suite != "standard" and suite not in self.perturbations:
                raise UsageError(f"suite_domains: there is no suite {suite!r}; there are: {', '.join(['standard', *self.perturbations])}")

    def _check_splits(self) -> None:
        for name in (*self.perturbed_splits, *self.fractions):
            if name not in ("train", "valid", "test"):
                raise UsageError(f"there is no split {name!r}; the splits are train, valid and test")
        if sum(self.fractions.values()) <= 0:
            raise UsageError("fractions must be numbers of at least 0 with a sum above 0")

    def _check_baselines_and_prompts(self) -> None:
        for name in self.simulated:
            if name not in _SIMULATED:
                raise UsageError(f"there is no simulated corpus {name!r}; there are: {', '.join(_SIMULATED)}")
        for name in self.hard_baselines:
            if name not in ("auto", *BUILT_IN) and not (files.is_remote(name) or Path(name).is_file()):
                raise UsageError(f"hard_baselines: {name!r} is neither one of auto, {', '.join(BUILT_IN)} nor a file of predictions")
        unknown = [name for name in self.prompts if name not in _PROMPTED]
        if unknown:
            raise UsageError(f"prompts: {', '.join(map(repr, unknown))} takes no prompt; those that do are: {', '.join(_PROMPTED)}")

    def suite_plan(self) -> list[perturbers.Suite]:
        """The perturbed suites with their perturbers, in the recipe's order."""
        try:
            parsed = [(name, perturbers.parse(self.perturbations[name])) for name in self.suites if name != "standard"]
        except perturbers.OptionError as error:
            raise UsageError(str(error)) from None
        return [perturbers.Suite(name, self._with_words(suite.perturber)) for name, suite in parsed]

    def _with_words(self, perturber: perturbers.Perturber) -> perturbers.Perturber:
        """The perturber with the recipe's `donors_from` and its prompt, where it has such options."""
        if isinstance(perturber, perturbers.Chain):
            return dataclasses.replace(perturber, links=tuple(self._with_words(link) for link in perturber.links))
        if isinstance(perturber, Knowledge):
            return dataclasses.replace(perturber, prompt=perturber.prompt or self.prompts.get(perturber.name, ""))
        if not isinstance(perturber, Rewriter):
            return perturber
        donors_from = perturber.donors_from if self.donors_from is None else self.donors_from
        return dataclasses.replace(perturber, donors_from=donors_from, prompt=perturber.prompt or self.prompts.get(perturber.name, ""))

    def takes(self, suite: str, split: str, domains: Sequence[str]) -> int:
        """How many variants a suite has of a dialogue of this split and these domains; 0 where it takes none. `standard` has one of each."""
        wanted = self.suite_domains.get(suite)
        if wanted is not None and not set(domains) <= set(wanted.split("+")):
            return 0
        if suite == "standard":
            return 1
        if any(key.rpartition(".")[0] == suite for key in self.suite_variants):
            return self.suite_variants.get(f"{suite}.{split}", 0)
        return self.variants if split in self.perturbed_splits else 0

    def test_only(self, domains: Sequence[str]) -> bool:
        """Whether a dialogue about these domains is kept out of train and valid."""
        return False

    def size(self, split: str, group: str) -> int | None:
        """The upper bound of a split in a group, None without one."""
        value: int | dict[str, int] | None = getattr(self, f"{split}_size", None)
        return value.get(group) if isinstance(value, dict) else value

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the manifest."""
        return dataclasses.asdict(self)


def known_keys(kind: type[Recipe] = Recipe) -> list[str]:
    """The keys of a recipe."""
    return list(options.names(kind))


def load(benchmark: str, kind: type[Recipe], packaged: str, file: str | None = None, settings: Iterable[str] = ()) -> Recipe:
    """The recipe of a benchmark, changed by a YAML file of the user's and then by settings "key=value".

    Args:
        kind: the class of the recipe.
        packaged: its YAML as it comes with the benchmark.

    Raises:
        UsageError: an unknown key (the message lists the known), a value of the wrong type, or a file that isn't such YAML.
    """
    values = _load_yaml(packaged, f"{benchmark}.yaml")
    if file is not None:
        try:
            text = Path(file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
        values |= _load_yaml(text, file)
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set expects key=value, found {setting!r}")
        key, _, inner = key.strip().partition(".")
        if inner:
            # A size that was one number for all groups becomes one of each group that is named.
            before = values.get(key)
            values[key] = {**(before if isinstance(before, dict) else {}), inner: value}
        else:
            values[key] = value
    values.pop("benchmark", None)
    return kind(benchmark=benchmark, **_typed(values, kind))


def _load_yaml(text: str, name: str) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: is not YAML: {error}") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
        raise UsageError(f"{name}: expected keys and values, found {type(loaded).__name__}")
    return loaded


def _typed(values: Mapping[str, Any], kind: type[Recipe]) -> dict[str, Any]:
    kinds = {option.name: option.kind for option in options.options(kind)}
    for key in values:
        if key in kind.renamed:
            raise UsageError(f"the recipe key {key} is called {kind.renamed[key]} now")
    unknown = sorted(set(values) - set(kinds))
    if unknown:
        raise UsageError(f"unknown recipe key {', '.join(map(repr, unknown))}; the known keys are: {', '.join(kinds)}")
    try:
        return {key: options.read(key, kinds[key], value) for key, value in values.items()}
    except options.OptionError as error:
        raise UsageError(str(error)) from None
