"""What every benchmark must keep to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from dialmill.perturbers.core import options as option_texts
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.cli.verify import verify_folder
from dialmill.pipelines.core import recipe as recipes
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import InputError
from dialmill.schemas.validate import names as schema_names


class BenchmarkContract:
    """The contract of a benchmark. Subclasses set `name`, and what it is built from.

    Attributes:
        name: under which it is registered.
        input: paths of a small corpus that it can be built from; without it the tests that build are skipped.
        settings: keys of the recipe for that build, as `--set` takes them.
    """

    name: ClassVar[str]
    input: ClassVar[Sequence[Path]] = ()
    settings: ClassVar[Sequence[str]] = ()

    @pytest.fixture
    def benchmark(self) -> Benchmark:
        """The benchmark."""
        return registry.get(self.name)

    def test_it_says_what_it_is(self, benchmark: Benchmark) -> None:
        assert benchmark.name == self.name
        assert benchmark.about and not benchmark.about.endswith("."), "one line for `dialmill list benchmarks`, without a full stop"

    def test_its_recipe_is_commented_and_every_key_is_known(self, benchmark: Benchmark) -> None:
        text = benchmark.recipe_text()
        assert text.startswith("# "), "the first line of the recipe says what it makes"
        assert set(yaml.safe_load(text)) <= set(recipes.known_keys(benchmark.recipe()))
        loaded = registry.load_recipe(self.name)
        assert loaded.benchmark == self.name and loaded.suites

    def test_a_resolved_recipe_resolves_to_itself(self, tmp_path: Path) -> None:
        """The manifest's recipe, given back with --recipe, is the same recipe."""
        loaded = registry.load_recipe(self.name)
        (tmp_path / "again.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(loaded.to_dict()))), "utf-8")
        assert registry.load_recipe(self.name, str(tmp_path / "again.yaml")) == loaded

    def test_every_key_says_what_it_means_and_its_example_is_read(self, benchmark: Benchmark) -> None:
        kind = benchmark.recipe()
        for option in option_texts.options(kind):
            assert option.meaning and option.example is not None, f"{option.name} has no description or no example in its annotation"
            assert option_texts.read(option.name, option.kind, option_texts.written(option.example)) == option.example != option.default, option.name
            assert f"  {option.name}\n" in option_texts.describe(kind, self.name, option_texts.RECIPE)

    def test_every_file_of_its_release_has_a_schema_that_is_there(self, benchmark: Benchmark) -> None:
        for blind in (False, True):
            for path, schema in benchmark.expected(registry.load_recipe(self.name, None, [f"held_out_labels={blind}"])).items():
                assert schema in schema_names() or (path.endswith(".tsv") and not schema), f"{path}: only a table has no schema"
                assert path.startswith(("release/", "labels/release/")) and ".." not in path

    def test_what_is_predicted_is_scored(self, benchmark: Benchmark) -> None:
        scorer, predictor = benchmark.scorer(), benchmark.predictor()
        assert scorer is None or (scorer.about and scorer.scale in ("percent", "fraction") and scorer.ranked)
        assert scorer is None or benchmark.own_scoring() is None, "a benchmark is scored in one way"
        assert predictor is None or ((scorer is not None or benchmark.own_scoring() is not None) and predictor.BASELINES)

    def test_it_refuses_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(Exception, match="does not exist"):
            build.make_job(registry.load_recipe(self.name), [str(tmp_path / "gone")], str(tmp_path / "out"))
        with pytest.raises(InputError, match=r"manifest\.json"):
            verify_folder(str(tmp_path / "out"))
        assert list(tmp_path.iterdir()) == []

    def test_it_is_built_verified_and_the_same_again(self, tmp_path: Path) -> None:
        if not self.input:
            pytest.skip(f"{type(self).__name__} names no input")
        manifest = self._built(tmp_path / "one")
        assert sum(one["records"] or 0 for one in manifest["outputs"] if one["path"].endswith(".jsonl")) > 0
        assert verify_folder(str(tmp_path / "one")).problems == []
        assert manifest["outputs"] == self._built(tmp_path / "two")["outputs"], "same input, recipe and seed: the same bytes"
        made = {path.relative_to(tmp_path / "one").as_posix() for path in (tmp_path / "one").rglob("*") if path.is_file()}
        expected = registry.get(self.name).expected(registry.load_recipe(self.name, None, self.settings))
        assert set(expected) <= made, "every file of the release exists, those without records as well"
        for one in manifest["outputs"]:
            assert hashlib.sha256((tmp_path / "one" / one["path"]).read_bytes()).hexdigest() == one["sha256"]

    def _built(self, output: Path) -> dict[str, Any]:
        job = build.make_job(registry.load_recipe(self.name, None, self.settings), [str(path) for path in self.input], str(output))
        return build.run(job, plain=True)
