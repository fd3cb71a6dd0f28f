"""Real messages of agents' users: at a rate that changes nearly every turn, no identifier and no control token changes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.protected import lost, ranges
from dialmill.schemas import Dialogue, Turn


@pytest.mark.parametrize(
    "spec", ["typos:rate=0.3", "typos:rate=0.3,style=chat", "disfluency:rate=0.3", "simplification", "verbosity", "speech:wer=0.3,engine=text"]
)
def test_identifiers_and_control_tokens_of_tau_bench(spec: str, real: Path) -> None:
    with zipfile.ZipFile(real / "tau_bench" / "gpt-4o-airline.json.zip") as archive:
        runs = json.loads(archive.read(next(name for name in archive.namelist() if name.endswith(".json"))))
    messages = [message["content"] for run in runs for message in run["traj"] if message["role"] == "user"]
    assert len(messages) == 1490 and sum(bool(ranges(text)) for text in messages) > 400
    perturber = parse(spec).perturber
    changed = 0
    for number, text in enumerate(messages):
        turns = (Turn(turn=0, speaker="user", utterance=text),)
        dialogue = Dialogue(dialogue_id=f"{number}/standard/0", source="x", source_id=str(number), language="en", domains=("airline",), turns=turns)
        variant = perturber.perturb(dialogue, seed=1).turns[0].utterance
        assert lost(text, variant) is None, (text, variant)
        changed += variant != text
    if spec != "verbosity":  # It gives reasons for what the acts say, and these turns have no acts: it leaves them as they are.
        assert changed > len(messages) / 2
