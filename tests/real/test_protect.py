"""On the published corpora, protect mode damages no value and every span is exact: judged by `tests.oracle`, which shares no code with the locator.

A sample of the dialogues by default; DIALMILL_FULL=1 takes all of them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from dialmill.perturbers import get
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue

from tests import oracle
from tests.pipelines.source_tools import read_paths

_FULL = os.environ.get("DIALMILL_FULL") == "1"


def _read(real: Path, source: str, paths: Sequence[str], every: int) -> list[Dialogue]:
    dialogues = list(read_paths(registry.get(source), [real / path for path in paths]).dialogues.values())
    return dialogues if _FULL else dialogues[::every]


@pytest.fixture(scope="module")
def multiwoz(real: Path) -> list[Dialogue]:
    return _read(real, "multiwoz21", ["multiwoz21/convlab2/val.json.zip", "multiwoz21/convlab2/test.json.zip"], 8)


@pytest.fixture(scope="module")
def risawoz(real: Path) -> list[Dialogue]:
    return _read(real, "risawoz", ["risawoz/zh_fewshot.json"], 1)


@pytest.mark.parametrize("corpus", ["multiwoz", "risawoz"])
@pytest.mark.parametrize("mode", ["protect", "follow"])
def test_labels_hold_at_rate_half(corpus: str, mode: str, request: pytest.FixtureRequest) -> None:
    dialogues: list[Dialogue] = request.getfixturevalue(corpus)
    typos = get("typos")(rate=0.5, values=mode)
    found: list[str] = []
    long_turns = skipped_long = changed = 0
    reasons: Counter[str] = Counter()
    for dialogue in dialogues:
        variant = typos.perturb(dialogue, seed=1)
        found += oracle.problems(dialogue, variant, protect=mode == "protect")
        skipped = {skip.turn: skip.reason for skip in variant.lineage[-1].skipped}
        reasons.update(reason.partition(":")[0] for reason in skipped.values())
        for old, new in zip(dialogue.turns, variant.turns, strict=True):
            if old.speaker != "user":
                assert new == old
                continue
            changed += new.utterance != old.utterance
            assert (old.utterance.split() == new.utterance.split()) == (old.turn in skipped)
            if len(old.utterance.split() if dialogue.language == "en" else old.utterance) >= (5 if dialogue.language == "en" else 10):
                long_turns += 1
                skipped_long += old.turn in skipped
    print(f"\n{corpus} {mode}: {len(dialogues)} dialogues, {changed} turns changed; of {long_turns} long turns {skipped_long} skipped; {reasons}")
    assert found == []
    assert skipped_long < 0.03 * long_turns
