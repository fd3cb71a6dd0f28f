"""What a benchmark must keep to: everything that knows its name stands in its room, and what it declares holds. A new one inherits these tests."""

from __future__ import annotations

import ast
import importlib.resources
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import yaml
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.stage import Out
from dialmill.schemas import Dialogue
from dialmill.schemas.kinds import by_content, by_name
from dialmill.schemas.validate import names as schema_names

from tests.pipelines.tools import DATA, ROOT, call
from tests.schemas.cases import good

NAMES = sorted(registry.REGISTRY.entries)
BUILT = [*registry.names(), *registry.COMMANDS]
ROOMS = "dialmill.pipelines.benchmarks"
#: Modules of the benchmarks' folder that are no room: what finds a benchmark by its name, and what several share.
COMMON = ("registry", "scores", "predictions", "shared")
#: Names that are words of the field, or commands, as well.
WORDS = {"splits", "wer", "disentanglement", *registry.COMMANDS}


def _room(module: str) -> str | None:
    """The room that a module stands in; None for one outside of all rooms."""
    if not module.startswith(f"{ROOMS}."):
        return None
    room = module.removeprefix(f"{ROOMS}.").split(".")[0]
    return None if room in COMMON else room


def _modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package with its syntax tree."""
    for top in ("schemas", "perturbers", "pipelines"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(("dialmill", *(part for part in parts if part != "__init__"))), ast.parse(path.read_text("utf-8"))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _texts(tree: ast.Module) -> set[str]:
    """The string constants of a module; a docstring is none that equals a name."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_a_room_is_entered_through_the_registry_alone() -> None:
    for module, tree in _modules():
        room = _room(module)
        entered = {other for name in _imports(tree) if (other := _room(name)) is not None}
        assert entered <= {room}, f"{module} imports from the room of {sorted(entered - {room})}"


def test_a_benchmark_is_named_in_its_room_alone() -> None:
    """Outside of it no code tells benchmarks apart by their names; sources and recipes have names of their own."""
    wanted = set(NAMES) - WORDS
    for module, tree in _modules():
        if _room(module) is None and module != registry.__name__:
            assert not _texts(tree) & wanted, f"{module} names {sorted(_texts(tree) & wanted)}"


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_says_what_it_is(name: str) -> None:
    benchmark = registry.get(name)
    assert benchmark.name == name and benchmark.about and not benchmark.about.endswith(".")
    assert _room(type(benchmark).__module__) is not None
    pages = "".join((ROOT / page).read_text("utf-8") for page in ("README.md", "docs/benchmarks.md", "docs/scores.md"))
    assert re.search(rf"(`|dialmill ){name}\b", pages), "a benchmark has its row in the README, what is only scored in docs/scores.md"


@pytest.mark.parametrize("name", BUILT)
def test_the_command_that_builds_it_is_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the report says makes a folder again is understood to its last option; what is missing is the input."""
    recipe = registry.load_recipe(name).to_dict()
    monkeypatch.chdir(tmp_path)
    chains = {"typos": "typos:rate=0.1"}
    command = registry.get(name).command(recipe | {"perturbations": chains})
    # A run whose chains the command names has just these suites in its recipe.
    made = recipe | {"perturbations": chains, "suites": list(chains)} if " --with " in command else recipe
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(made), "utf-8")
    result = call(*shlex.split(command.replace("PATH...", "gone"))[1:], "--seed", "2", "--output", "out")
    assert result.code == 1 and "gone: does not exist" in result.err, result


@pytest.mark.parametrize("name", BUILT)
def test_a_recipe_lies_beside_its_benchmark(name: str) -> None:
    folder = importlib.resources.files(type(registry.get(name)).__module__.rpartition(".")[0])
    assert (folder / f"{name}.yaml").is_file() and registry.load_recipe(name).benchmark == name


@pytest.mark.parametrize("name", NAMES)
def test_what_is_predicted_is_scored(name: str) -> None:
    benchmark = registry.get(name)
    scorer, predictor = benchmark.scorer(), benchmark.predictor()
    assert scorer is None or (scorer.about and scorer.scale in ("percent", "fraction") and scorer.ranked)
    assert scorer is None or benchmark.own_scoring() is None, "a benchmark is scored in one way"
    assert predictor is None or ((scorer is not None or benchmark.own_scoring() is not None) and predictor.BASELINES)
    assert name not in registry.SCORED_ONLY or scorer is not None or benchmark.own_scoring() is not None


@pytest.mark.parametrize("name", NAMES)
def test_kinds_have_schemas(name: str) -> None:
    benchmark = registry.get(name)
    assert {kind.schema for kind in benchmark.kinds} <= set(schema_names())
    assert set(benchmark.compared) <= set(schema_names())
    for kind in benchmark.kinds:
        owner = registry.owner(kind.schema)
        assert owner is not None and kind in owner.kinds, "benchmarks that share a schema share the kind"
        assert kind.like or kind.names, "a kind that nothing tells is none"


@pytest.mark.parametrize("name", BUILT)
def test_every_release_file_is_told_and_held_to_its_schema(name: str) -> None:
    """With labels and without: a file's name, or what its schema's examples look like, leads to the schema that the release says."""
    benchmark = registry.get(name)
    for blind in (False, True):
        recipe = registry.load_recipe(name, None, [f"held_out_labels={blind}"])
        for path, schema in benchmark.expected(recipe).items():
            if not schema:
                assert path.endswith(".tsv"), "what has no schema is a table"
                continue
            assert schema in schema_names()
            lines = path.endswith(".jsonl")
            told = {by_content(registry.file_kinds(), one, lines) for one in good(schema)}
            assert told & {schema} or by_name(registry.file_kinds(), Path(path), lines) == schema, f"{path} is taken for {told}"
            assert benchmark.schema_of(path, blind) in (None, schema), path


@pytest.mark.parametrize("schema", sorted({kind.schema for kind in registry.file_kinds()}))
def test_a_kind_is_told_from_all_others(schema: str) -> None:
    """No example of a schema is taken for another kind; where its content tells nothing, its name does."""
    kinds = registry.file_kinds()
    lines = {kind.lines for kind in kinds if kind.schema == schema}
    for instance in good(schema):
        told = {by_content(kinds, instance, one) for one in lines} - {None}
        assert told <= {schema}, f"an example of {schema} is taken for {told}"
    for kind in kinds:
        if kind.schema == schema:
            for pattern in kind.names:
                path = Path("release") / re.sub(r"[*?]", "1", pattern)
                assert by_name(kinds, path, kind.lines) == schema, f"{path} is taken for {by_name(kinds, path, kind.lines)}"


class _Misnamed(Benchmark):
    """A benchmark whose release names a schema that doesn't exist."""

    name = "misnamed"
    about = "a release of an unknown schema"

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        return {"release/all.json": "misnamed-turns"}

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        return [Out("release/all.json", order, 1, b"{}")]


def test_an_unknown_schema_is_told_before_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "get", lambda name: _Misnamed())
    recipe = registry.REGISTRY.load("splits")().load_recipe()
    with pytest.raises(DialmillError, match=r"'misnamed-turns' for release/all\.json"):
        build.make_job(recipe, [str(DATA / "multiwoz21")], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
