"""Recipes: every choice of a build in one place, from YAML and `--set`, printed before the run and kept in the manifest."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml
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
Splits = Literal["auto", "official", "hash", "keep"]


@dataclass(frozen=True)
class Recipe:
    """The resolved recipe of a build. Each field is a key of the YAML files and of `--set`.

    Sizes are upper bounds, per group where `group_by` says so; a number, or one number for each group ("hotel: 200"). Filters that are null or
    false are off. A suite has `variants` variants of each dialogue of the `perturbed_splits`, unless `suite_variants` says for it how many in which
    splits ("ood.train: 1, ood.test: 8"); `suite_domains` holds the domains that a suite takes ("ood: attraction", several joined by "+").
    `few_shot` is the share of train that stands in few_shot/ too, 0 for none; `hard_baselines` are those of which one at least must be wrong in a
    test_hard dialogue: auto (whichever of tracker and classifier the labels fit), or prediction files of your own; none lets the difficulty decide.
    `twins_from` (input, train, or the path of a corpus) says where suites of reworded turns take the words of other turns from; null leaves it to
    each of them. `prompts` (perturber -> instruction) are for the engine llm. With `typography: join` text that a tokeniser pulled apart ("i 'd
    like") is written as people do, in all suites alike, the unperturbed one too; edits lead back to the source. `keep_audio` leaves the audio of
    speech suites in dialogues/SUITE/audio/ID/VARIANT/TURN.wav.
    """

    benchmark: str
    # input besides the user's: simulated corpora (pipelines/simulated/NAME.json)
    simulated: list[str] = field(default_factory=list)
    # splits
    splits: Splits = "auto"
    fractions: dict[str, float] = field(default_factory=lambda: {"train": 0.8, "valid": 0.1, "test": 0.1})
    group_by: Literal["none", "domain"] = "none"
    proportional: bool = False
    train_size: int | dict[str, int] | None = None
    valid_size: int | dict[str, int] | None = None
    test_size: int | dict[str, int] | None = None
    # filters
    domains: list[str] = field(default_factory=list)
    single_domain: bool = False
    min_turns: int = 1
    max_turns: int | None = None
    max_words: int | None = None
    require_acts: bool = False
    require_system_end: bool = False
    ascii_only: bool = False
    commercial: bool = False
    # suites
    suites: list[str] = field(default_factory=lambda: ["standard"])
    perturbations: dict[str, str] = field(default_factory=dict)
    perturbed_splits: list[str] = field(default_factory=lambda: ["train", "valid", "test"])
    twins_from: str | None = None
    prompts: dict[str, str] = field(default_factory=dict)
    typography: Literal["keep", "join"] = "keep"
    variants: int = 1
    suite_variants: dict[str, int] = field(default_factory=dict)
    suite_domains: dict[str, str] = field(default_factory=dict)
    # subsets
    few_shot: float = 0.1
    hard_threshold: float = 2.5
    hard_baselines: list[str] = field(default_factory=lambda: ["auto"])
    # release
    held_out_labels: bool = False
    keep_audio: bool = False

    def __post_init__(self) -> None:
        if not self.suites or len(set(self.suites)) < len(self.suites):
            raise UsageError(f"suites must name one suite or more, each once, not {', '.join(self.suites) or 'none'}")
        for name in self.suites:
            # Suites become folders, and stages in the counts.
            if not _SUITE_NAME.fullmatch(name) or name in _STAGES:
                raise UsageError(f"{name!r} can't name a suite: letters, digits, and . _ + - between them, and none of {', '.join(_STAGES)}")
            if name != "standard" and name not in self.perturbations:
                known = ", ".join(["standard", *self.perturbations])
                raise UsageError(f"there is no suite {name!r} in recipe {self.benchmark}; it has: {known}")
        for name in (*self.perturbed_splits, *self.fractions):
            if name not in ("train", "valid", "test"):
                raise UsageError(f"there is no split {name!r}; the splits are train, valid and test")
        if not self.fractions or min(self.fractions.values()) < 0 or sum(self.fractions.values()) <= 0:
            raise UsageError("fractions must be numbers of at least 0 with a sum above 0")
        for name in self.simulated:
            if name not in _SIMULATED:
                raise UsageError(f"there is no simulated corpus {name!r}; there are: {', '.join(_SIMULATED)}")
        for key in self.suite_variants:
            suite, dot, split = key.rpartition(".")
            if not dot or suite not in self.perturbations or split not in ("train", "valid", "test"):
                raise UsageError(f"suite_variants: expected SUITE.SPLIT with a perturbed suite and train, valid or test, not {key!r}")
        for suite in self.suite_domains:
            if suite != "standard" and suite not in self.perturbations:
                raise UsageError(f"suite_domains: there is no suite {suite!r}; there are: {', '.join(['standard', *self.perturbations])}")
        if not 0 <= self.few_shot <= 1:
            raise UsageError(f"few_shot must be a share of train, from 0 to 1, not {self.few_shot}")
        for name in self.hard_baselines:
            if name not in ("auto", *BUILT_IN) and not (files.is_remote(name) or Path(name).is_file()):
                raise UsageError(f"hard_baselines: {name!r} is neither one of auto, {', '.join(BUILT_IN)} nor a file of predictions")
        if any(number < 1 for number in self.suite_variants.values()):
            raise UsageError("suite_variants must be at least 1; a split that a suite doesn't name has none")
        if self.variants < 1:
            raise UsageError(f"variants must be at least 1, not {self.variants}")
        unknown = [name for name in self.prompts if name not in _PROMPTED]
        if unknown:
            raise UsageError(f"prompts: {', '.join(map(repr, unknown))} takes no prompt; those that do are: {', '.join(_PROMPTED)}")
        for key in ("train_size", "valid_size", "test_size"):
            value = getattr(self, key)
            numbers = value.values() if isinstance(value, dict) else [value]
            if any(number is not None and number < 0 for number in numbers):
                raise UsageError(f"{key} must be at least 0")
        self.suite_plan()

    def suite_plan(self) -> list[perturbers.Suite]:
        """The perturbed suites with their perturbers, in the recipe's order."""
        try:
            parsed = [(name, perturbers.parse(self.perturbations[name])) for name in self.suites if name != "standard"]
        except perturbers.OptionError as error:
            raise UsageError(str(error)) from None
        return [perturbers.Suite(name, self._with_words(suite.perturber)) for name, suite in parsed]

    def _with_words(self, perturber: perturbers.Perturber) -> perturbers.Perturber:
        """The perturber with the recipe's `twins_from` and its prompt, where it has such options."""
        if isinstance(perturber, perturbers.Chain):
            return dataclasses.replace(perturber, links=tuple(self._with_words(link) for link in perturber.links))
        if isinstance(perturber, Knowledge):
            return dataclasses.replace(perturber, prompt=perturber.prompt or self.prompts.get(perturber.name, ""))
        if not isinstance(perturber, Rewriter):
            return perturber
        twins_from = perturber.twins_from if self.twins_from is None else self.twins_from
        return dataclasses.replace(perturber, twins_from=twins_from, prompt=perturber.prompt or self.prompts.get(perturber.name, ""))

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
    return [item.name for item in dataclasses.fields(kind) if item.name != "benchmark"]


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
    hints = get_type_hints(kind)
    known = known_keys(kind)
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise UsageError(f"unknown recipe key {', '.join(map(repr, unknown))}; the known keys are: {', '.join(known)}")
    return {key: coerce(key, hints[key], value) for key, value in values.items()}


def coerce(key: str, kind: Any, value: Any) -> Any:
    """`value`, typed or as the text of a `--set`, as the type `kind`.

    Raises:
        UsageError: it doesn't fit; the message says what would.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    fault = UsageError(f"{key} must be {_describe(kind)}, not {value!r}")
    if origin is Literal:
        if value not in arguments:
            raise fault
        return value
    if origin is list:
        items = [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise fault
        return [coerce(key, arguments[0], item) for item in items]
    if origin is dict:
        if isinstance(value, str):
            pairs = [item.partition("=" if "=" in item else ":") for item in value.split(",") if item.strip()]
            value = {name.strip(): number.strip() for name, _, number in pairs}
        if not isinstance(value, dict):
            raise fault
        return {str(name): coerce(f"{key}.{name}", arguments[1], item) for name, item in value.items()}
    if origin is Union or str(type(kind)) == "<class 'types.UnionType'>":
        if type(None) in arguments and (value is None or str(value).lower() in ("none", "null", "")):
            return None
        if isinstance(value, str) and any(get_origin(option) is dict for option in arguments) and ("=" in value or ":" in value):
            return coerce(key, next(option for option in arguments if get_origin(option) is dict), value)
        for option in arguments:
            if option is not type(None):
                try:
                    return coerce(key, option, value)
                except UsageError:
                    continue
        raise fault
    if kind is bool:
        flags = {"true": True, "false": False, "yes": True, "no": False}
        if isinstance(value, bool):
            return value
        if str(value).lower() not in flags:
            raise fault
        return flags[str(value).lower()]
    if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
        raise fault
    try:
        made = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise fault from None
    if (kind is float and not math.isfinite(made)) or (kind is int and isinstance(value, float) and made != value):
        raise fault
    return made


def _describe(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin is list:
        return "a list separated by commas"
    if origin is dict:
        return f"name=value pairs ({_describe(arguments[1])})"
    if arguments:
        return " or ".join("none" if option is type(None) else _describe(option) for option in arguments)
    return {bool: "true or false", int: "a whole number", float: "a number", str: "text"}.get(kind, str(kind))
