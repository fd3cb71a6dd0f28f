"""agent-noise on tau-bench's recorded runs: how many pairs there are, by action, and that each noisy prefix has what its action needs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import dialmill as dm

SUITES = ["standard", "typos", "speech"]


def test_pairs_by_action(real: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = dm.build("agent-noise", input=real / "tau_bench" / "gpt-4o-airline.json.zip", output=out, set={"suites": SUITES})
    assert next(stage for stage in made["stages"] if stage["name"] == "filter")["rejected"] == {"run_failed": 116}
    examples = {suite: [json.loads(line) for line in (out / "release" / suite / "test.jsonl").open(encoding="utf-8")] for suite in SUITES}
    pairs = Counter(call["name"] for one in examples["standard"] for call in one["target"].get("calls", ()))
    assert len(examples["standard"]) >= 510 and pairs["get_reservation_details"] >= 60 and len(pairs) == 12
    for suite in SUITES[1:]:
        assert [(one["run"], one["place"]) for one in examples[suite]] == [(one["run"], one["place"]) for one in examples["standard"]]
        assert sum(one["changed_turns"] > 0 for one in examples[suite]) > 500
        for one in examples[suite]:
            said = " ".join(message["content"] for message in one["messages"] if message["role"] == "user")
            assert all(need["value"] in said for need in one["needs"] if need["given_by"] == "user")
