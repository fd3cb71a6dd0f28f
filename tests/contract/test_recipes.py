"""What every recipe and every benchmark must keep to; a new one inherits these tests by its name."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path

import pytest
import yaml
from dialmill.perturbers.core import options
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core import recipe
from dialmill.pipelines.core.errors import UsageError
from dialmill.schemas.validate import names as schema_names

from tests.pipelines.tools import call

FOLDER = Path(str(importlib.resources.files("dialmill.pipelines") / "benchmarks"))
RECIPES = sorted(path.stem for path in FOLDER.rglob("*.yaml"))


def test_recipes_and_benchmarks_are_the_same_names() -> None:
    assert sorted([*benchmarks.names(), *benchmarks.COMMANDS]) == RECIPES
    with pytest.raises(UsageError) as refusal:
        benchmarks.get("radle")
    assert all(name in str(refusal.value) for name in benchmarks.names())


def _own_keys(name: str) -> list[str]:
    """The keys of a benchmark's recipe; of those that every recipe has, raddle's."""
    shared = recipe.known_keys()
    return [key for key in recipe.known_keys(benchmarks.get(name).recipe()) if name == "raddle" or key not in shared]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_commented_and_every_key_is_known(name: str) -> None:
    text = next(FOLDER.rglob(f"{name}.yaml")).read_text("utf-8")
    assert text.startswith("# ")
    assert set(yaml.safe_load(text)) <= set(recipe.known_keys(benchmarks.get(name).recipe()))
    loaded = benchmarks.load_recipe(name)
    assert loaded.benchmark == name and loaded.suites


@pytest.mark.parametrize("name", RECIPES)
def test_a_resolved_recipe_resolves_to_itself(name: str, tmp_path: Path) -> None:
    """The manifest's recipe, given back with --recipe, is the same recipe."""
    loaded = benchmarks.load_recipe(name)
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(loaded.to_dict()))), "utf-8")
    assert benchmarks.load_recipe(name, str(tmp_path / "again.yaml")) == loaded


@pytest.mark.parametrize(("name", "key"), [(name, key) for name in ("raddle", "noesis-ubuntu", "noesis-advising") for key in _own_keys(name)])
def test_every_key_can_be_set_in_words(name: str, key: str) -> None:
    value = getattr(benchmarks.load_recipe(name), key)
    if isinstance(value, dict):
        text = ",".join(f"{name}:{item}" for name, item in value.items()) if key != "perturbations" else None
    elif isinstance(value, list):
        text = ",".join(map(str, value))
    else:
        text = "none" if value is None else str(value)
    if text is not None:
        assert getattr(benchmarks.load_recipe(name, None, [f"{key}={text}"]), key) == value


@pytest.mark.parametrize("name", RECIPES)
def test_a_benchmark_says_what_it_is_and_which_files_it_makes(name: str) -> None:
    benchmark = benchmarks.get(name)
    assert benchmark.name == name and benchmark.about and not benchmark.about.endswith(".")
    for blind in (False, True):
        for path, schema in benchmark.expected(benchmarks.load_recipe(name, None, [f"held_out_labels={blind}"])).items():
            assert schema in schema_names() or (path.endswith(".tsv") and not schema), "every release file has a schema, but for tables"
            assert path.startswith(("release/", "labels/release/")) and ".." not in path


@pytest.mark.parametrize("name", benchmarks.names())
def test_every_benchmark_refuses_what_it_cannot_read(name: str, tmp_path: Path) -> None:
    result = call("build", name, "--input", tmp_path / "gone", "--output", tmp_path / "out")
    assert result.code == 1 and "does not exist" in result.err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", RECIPES)
def test_every_key_says_what_it_means_and_its_example_is_read(name: str) -> None:
    kind = benchmarks.get(name).recipe()
    for option in options.options(kind):
        assert option.meaning and option.example is not None, option.name
        assert options.read(option.name, option.kind, options.written(option.example)) == option.example != option.default, option.name
        assert f"  {option.name}\n" in options.describe(kind, name, options.RECIPE)
