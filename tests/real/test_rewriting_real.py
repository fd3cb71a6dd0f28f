"""On the published corpora, what rewords turns or replaces names loses no value and adds none, and every span is exact; judged by `tests.oracle`.

A sample of the dialogues by default; DIALMILL_FULL=1 takes all of them. The figures, with the turns skipped by reason, are printed (pytest -s).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.pools import PoolFile
from dialmill.perturbers.rewording.donors import DonorPool
from dialmill.perturbers.rewording.rewriter import Rewriter
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue, Turn

from tests import en_requests, oracle
from tests.pipelines.source_tools import read_paths

_FULL = os.environ.get("DIALMILL_FULL") == "1"
#: Corpus -> its source, its files, and which dialogues a quick run takes.
_CORPORA = {
    "multiwoz": ("multiwoz21", "multiwoz21/convlab2/*.json.zip", 16),
    "risawoz": ("risawoz", "risawoz/zh_fewshot.json", 2),
    "sgd": ("sgd", "sgd/*/*.json", 3),
    "crosswoz": ("crosswoz", "crosswoz/val.json.zip", 12),
}
#: Perturber -> who judges a variant, and the least share of user turns that it changes.
_KINDS: dict[str, tuple[Callable[[Dialogue, Dialogue], list[str]], float]] = {
    "paraphrase": (oracle.problems, 0.6),
    "simplification": (oracle.problems, 0.45),
    "verbosity": (oracle.problems, 0.25),
    "disfluency": (oracle.problems, 0.35),
    "entities": (oracle.relabelled, 0.05),
}


@cache
def _corpus(folder: Path, name: str) -> tuple[list[Dialogue], PoolFile]:
    """The dialogues of a corpus, and the donors in them."""
    source, pattern, every = _CORPORA[name]
    read = read_paths(registry.get(source), sorted(folder.glob(pattern)))
    dialogues = [one.replace(dialogue_id=f"{one.source_id}/standard/0") for one in read.dialogues.values()]
    dialogues = dialogues if _FULL else dialogues[::every]
    return dialogues, PoolFile.of_dialogues(DonorPool(), dialogues)


@pytest.mark.parametrize("corpus", _CORPORA)
@pytest.mark.parametrize("kind", _KINDS)
def test_no_value_is_lost_or_added(corpus: str, kind: str, real: Path) -> None:
    dialogues, donors = _corpus(real, corpus)
    judge, least = _KINDS[kind]
    perturber = parse(kind).perturber
    if isinstance(perturber, Rewriter):
        perturber = perturber.with_pools({(DonorPool.name, "input"): donors})
    values = oracle.ontology(dialogues, names=kind == "entities")
    found: list[str] = []
    added: list[tuple[list[str], str, str]] = []
    reasons: Counter[str] = Counter()
    pairs: list[tuple[Turn, Turn]] = []
    for dialogue in dialogues:
        made = perturber.perturb(dialogue, seed=1)
        found += judge(dialogue, made)
        reasons.update(skip.reason.partition(":")[0] for skip in made.lineage[-1].skipped)
        pairs += [(old, new) for old, new in zip(dialogue.turns, made.turns, strict=True) if old.speaker == "user"]
    for old, new in pairs:
        values_added = oracle.added_values(old, new, values)
        if values_added:
            added.append((values_added, old.utterance, new.utterance))
    changed = sum(old.utterance != new.utterance for old, new in pairs)
    spans = sum(len(turn.spans) for dialogue in dialogues for turn in dialogue.turns)
    print(
        f"\n{corpus} {kind}: {len(dialogues)} dialogues, {changed} of {len(pairs)} user turns changed, {len(found)} values lost or spans of {spans}"
        f" not exact, {len(added)} values added out of {len(values)}; skipped: {dict(reasons)}"
    )
    assert found == []
    assert added == []
    assert len(values) > 50
    assert changed >= least * len(pairs)


@pytest.mark.parametrize("corpus", ["multiwoz", "sgd"])
@pytest.mark.parametrize("kind", ["paraphrase", "simplification", "verbosity"])
def test_no_request_intent_or_facility_is_lost(corpus: str, kind: str, real: Path) -> None:
    dialogues, donors = _corpus(real, corpus)
    perturber = parse(kind).perturber
    assert isinstance(perturber, Rewriter)
    perturber = perturber.with_pools({(DonorPool.name, "input"): donors})
    asked = 0
    for one in dialogues:
        for before, after in zip(one.turns, perturber.perturb(one, 2).turns, strict=True):
            if before.speaker == "user" and before.utterance != after.utterance:
                asked += len(en_requests.told(before))
                assert not en_requests.lost(before, after), (before.utterance, after.utterance)
    assert asked > 50


def test_the_oracle_sees_what_comes_in() -> None:
    """A checker that never complains proves nothing."""
    old, new = (
        Turn(0, "user", "I want a table at the Lotus, near the park."),
        Turn(0, "user", "I want a cheap table at the Lotus Garden, near the park at 17:30."),
    )
    values = frozenset({"lotus", "lotus garden", "cheap", "17:30", "7", "park at"})
    assert oracle.added_values(old, new, values) == ["17:30", "cheap", "lotus garden", "park at"]
    assert oracle.added_values(old, old, values) == []
