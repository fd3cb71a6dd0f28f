"""Suites of real corpora, with inserted turns and several variants, written as every format that our own sources read: the records come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.exporters import registry
from dialmill.schemas import Dialogue, Turn

import dialmill as dm
from tests.pipelines.tools import call, records

NAMES = [name for name in registry.names() if registry.get(name).reads_back]


def _of(turn: Turn, labels: bool) -> tuple[Any, ...]:
    said = (turn.speaker, turn.utterance)
    return (*said, turn.spans, turn.acts, turn.state, turn.labels, turn.knowledge) if labels else said


def _turns(dialogue: Dialogue, labels: bool, carried: bool) -> list[tuple[Any, ...]]:
    return [_of(turn, labels) for turn in dialogue.turns if carried or turn.speaker != "other"]


@pytest.mark.parametrize(
    ("corpus", "source", "spec"),
    [
        ("crosswoz", "crosswoz", "knowledge+typos:rate=0.2"),
        ("tau_bench/gpt-4o-airline.json.zip", "messages", "out_of_scope+typos:rate=0.2"),
    ],
)
def test_what_was_exported_is_read_back(real: Path, corpus: str, source: str, spec: str, tmp_path: Path) -> None:
    if not (real / corpus).exists():
        pytest.skip(f"{corpus} is not there")
    names = [name for name in NAMES if name != "tau2"]
    words = (
        "--input",
        real / corpus,
        "--format",
        source,
        "--limit",
        5,
        "--with",
        f"{spec},name=noisy",
        "--variants",
        2,
        "--set",
        "hard_baselines=",
        "--export",
        ",".join(names),
    )
    done = call("perturb", *words, "--output", tmp_path / "out", "--quiet")
    assert done.code == 0, done.err
    for suite in ("standard", "noisy"):
        made = {one.source_id if suite == "standard" else f"{one.source_id}~{one.variant}": one for one in records(tmp_path / "out", suite)}
        assert len(made) >= 5
        for name in names:
            exporter = registry.get(name)
            read = {one.source_id: one for one in dm.read(tmp_path / "out" / "export" / name / suite, format=exporter.reads_back)}
            assert read.keys() == made.keys(), (name, suite)
            for key, one in read.items():
                carried = exporter.reads_back == source
                labels = exporter.keeps_labels
                assert _turns(one, labels, carried) == _turns(made[key], labels, carried), (name, suite, key)
                assert not labels or (one.domains, one.language, one.split) == (made[key].domains, made[key].language, made[key].split)
    lengths = {one.source_id: len(one.turns) for one in records(tmp_path / "out", "standard")}
    assert any(len(one.turns) > lengths[one.source_id] for one in records(tmp_path / "out", "noisy")), "turns were inserted"
