"""Schemas that packages with a benchmark bring: found without importing them, ours kept, and none winning in silence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from dialmill.schemas import validator
from dialmill.schemas.validate import load, names

Bring = Callable[..., None]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bring]:
    """Makes packages that bring a benchmark and the schemas of these names, as if they were installed."""
    points: list[metadata.EntryPoint] = []

    def make(package: str, *schemas: str, module: str = "benchmark") -> None:
        folder = tmp_path / package
        (folder / "json").mkdir(parents=True)
        (folder / "__init__.py").write_text("raise RuntimeError('imported')\n", "utf-8")
        for name in schemas:
            (folder / "json" / f"{name}.schema.json").write_text(json.dumps({"title": f"{name} of {package}"}), "utf-8")
        points.append(metadata.EntryPoint(package, f"{package}.{module}:Benchmark" if module else f"{package}:Benchmark", "dialmill.benchmarks"))
        validator._places.cache_clear()

    def entry_points(group: str) -> Any:
        return points if group == "dialmill.benchmarks" else []

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(metadata, "entry_points", entry_points)
    validator._places.cache_clear()
    yield make
    validator._places.cache_clear()


@pytest.mark.parametrize("module", ["benchmark", ""])
def test_a_package_s_schemas_are_found_without_importing_it(bring: Bring, module: str) -> None:
    before = names()
    bring("first_package", "first-table", module=module)
    assert set(names()) - set(before) == {"first-table"}
    assert load("first-table") == {"title": "first-table of first_package"}


def test_ours_stay_and_of_two_packages_none_wins(bring: Bring) -> None:
    bring("second_package", "dialogue", "shared-table")
    bring("third_package", "shared-table")
    assert load("dialogue")["$id"] == "urn:dialmill:schema:dialogue"
    with pytest.raises(KeyError, match=r"brought by .*second_package.*third_package.*uninstall one"):
        load("shared-table")


def test_a_package_that_is_gone_keeps_nothing_else_from_working(bring: Bring, tmp_path: Path) -> None:
    bring("fourth_package", "fourth-table")
    bring("fifth_package", "fifth-table")
    (tmp_path / "fifth_package").rename(tmp_path / "elsewhere")
    validator._places.cache_clear()
    assert "fourth-table" in names() and "fifth-table" not in names()
