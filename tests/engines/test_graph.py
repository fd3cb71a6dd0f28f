"""What the graph must not hold, because engines other than the in-memory one break on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.runners.beam import BeamRunner
from dialmill.pipelines.runners.options import make_pipeline

from tests.pipelines.tools import DATA

_KNOWLEDGE = ",".join(str(DATA / "dstc9_track1" / name) for name in ("knowledge.json", "knowledge_eval.json"))


@pytest.mark.parametrize(
    ("name", "corpora", "settings"),
    [
        ("raddle", ["multiwoz21"], []),
        ("splits", ["multiwoz21"], []),
        ("noesis-ubuntu", ["ubuntu_irc"], []),
        ("dstc9-track1", ["multiwoz21"], [f"knowledge={_KNOWLEDGE}"]),
        ("cgodial-fbd", ["flow"], []),
    ],
)
def test_an_input_of_a_flatten_goes_nowhere_else(name: str, corpora: Sequence[str], settings: Sequence[str], tmp_path: Path) -> None:
    """The job servers of Flink and Spark unzip flattens, and lose track of an input that another transform reads too."""
    recipe = benchmarks.load_recipe(name, None, settings)
    job = build.make_job(recipe, [str(DATA / corpus) for corpus in corpora], str(tmp_path / "out"))
    pipeline = make_pipeline([])
    build.graph(BeamRunner(pipeline), job, str(tmp_path / "folder"))
    parts = pipeline.to_runner_api().components.transforms.values()
    leaves = [one for one in parts if not one.subtransforms]
    readers = Counter(collection for one in leaves for collection in set(one.inputs.values()))
    flattens = [one for one in leaves if one.spec.urn == "beam:transform:flatten:v1"]
    assert len(flattens) >= 3
    shared = {one.unique_name for one in flattens for collection in one.inputs.values() if readers[collection] > 1}
    assert not shared
