"""The local runner keeps little in memory: what it spools and spills comes back whole, and a build's bytes don't depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.runners import known, local
from dialmill.pipelines.runners.local import LocalRunner, Spool, SpooledList
from dialmill.pipelines.runners.options import make_pipeline

from .tools import DATA, call, hashes, plain


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little memory that everything is spilled, and every stage has many bundles."""
    monkeypatch.setattr(local, "IN_MEMORY", 2_000)
    monkeypatch.setattr(local, "BUNDLE", 3_000)


def test_spools_give_back_what_they_were_given(small: None) -> None:
    spool = Spool()
    given = [bytes([number % 256]) * (number * 7 % 900) for number in range(60)]
    for number, one in enumerate(given):
        spool.add(one)
        if number % 13 == 0:
            assert list(spool) == given[: number + 1], "also while it grows"
    assert spool._file is not None and list(spool) == list(spool) == given


def test_copies_share_elements_and_grow_apart(small: None) -> None:
    one = SpooledList(None)
    for number in range(50):
        one.append(b"%d " % number * 40)
    first = b"".join(one)
    other = one.copy()
    other.append(b"other")
    one.append(b"one")
    assert b"".join(one) == first + b"one" and b"".join(other) == first + b"other"
    one.extend(other)
    assert b"".join(one) == first + b"one" + first + b"other" and b"".join(other) == first + b"other"


def _sums(items: Sequence[tuple[str, bytes]]) -> list[tuple[str, int, int]]:
    found: dict[str, list[bytes]] = {}
    for key, value in items:
        found.setdefault(key, []).append(value)
    return [(key, len(values), sum(map(len, values))) for key, values in found.items()]


def test_shuffles_by_way_of_the_disk(small: None) -> None:
    items = [(f"key {number % 37}", bytes(number % 50)) for number in range(3_000)]
    with beam.Pipeline(runner=LocalRunner(), options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
        given = pipeline | beam.Create(items).with_output_types(tuple[str, bytes])
        grouped = given | beam.GroupByKey()
        told = grouped | beam.MapTuple(lambda key, values: (key, len(list(values)), sum(map(len, values))))
        again = grouped | "again" >> beam.MapTuple(lambda key, values: (key, len(list(values)), sum(map(len, values))))
        assert_that(told, equal_to(_sums(items)))
        assert_that(again, equal_to(_sums(items)), label="the same groups in another stage")
        both = (given, given) | beam.Flatten() | beam.combiners.Count.Globally()
        assert_that(both, equal_to([6_000]), label="an input twice")


def test_a_build_is_the_same_however_little_fits_into_memory(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled: list[int] = []
    write = local._Spill.write
    monkeypatch.setattr(local._Spill, "write", lambda self, table: (spilled.append(len(table)), write(self, table))[1])
    keys = ["suites=standard,typos", "hard_share="]
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "plain", *keys)
    job = build.make_job(benchmarks.load_recipe("raddle", None, keys), [str(DATA / "multiwoz21")], str(tmp_path / "local"))
    build.run(job)
    assert len(spilled) > 10
    assert hashes(tmp_path / "local") == hashes(tmp_path / "plain")


def test_it_is_what_a_local_run_takes() -> None:
    assert type(make_pipeline([]).runner) is LocalRunner
    assert type(make_pipeline(["--direct_running_mode=multi_processing", "--direct_num_workers=2"]).runner) is LocalRunner


def test_the_limit_of_one_machine_is_told_and_what_goes_beyond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = call("list", "runners")
    assert listed.code == 0 and "100,000 dialogues" in listed.out and known.LOCAL_FLINK in listed.out
    words = ("build", "splits", "--input", DATA / "multiwoz21", "--set", "hard_share=", "--output")
    monkeypatch.setattr(known, "DIALOGUES", 3)
    after = call(*words, tmp_path / "dialogues")
    assert after.code == 0 and "dialogues in this process" in after.err and known.LOCAL_FLINK in after.err
    monkeypatch.setattr(known, "BYTES", 1_000)
    before = call(*words, tmp_path / "bytes")
    assert before.code == 0 and before.err.count("GB of input in this process") == 1 and "dialogues in this process" not in before.err
    assert hashes(tmp_path / "dialogues") == hashes(tmp_path / "bytes")
    assert known.size_warning(["--runner=FlinkRunner"], bytes_in=10**12) == ""
    assert known.size_warning([], bytes_in=10) == ""
