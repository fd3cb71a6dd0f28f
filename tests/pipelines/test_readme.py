"""The README says what is so: its excerpt is real output, its tables name all there is, and its options exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from dialmill.pipelines.benchmarks import registry as benchmarks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_excerpt_is_a_turn_of_the_first_command_s_output(raddle: Path) -> None:
    excerpt = re.search(r"<!-- excerpt -->\n```json\n(.*?)\n```", README, re.S)
    assert excerpt is not None
    shown = json.loads(excerpt[1])
    records = [json.loads(line) for line in (raddle / "dialogues/typos/test.jsonl").read_text("utf-8").splitlines()]
    turns = [turn for record in records for turn in record["turns"]]
    assert shown["original"] is not None
    assert any(all(turn[key] == value for key, value in shown.items()) for turn in turns)
    assert any(all(not value for key, value in turn.items() if key not in shown) for turn in turns if turn["utterance"] == shown["utterance"])


@pytest.mark.parametrize("name", benchmarks.names())
def test_every_benchmark_has_a_row(name: str) -> None:
    """Perturbers and sources are many, and `dialmill list` tells of them."""
    assert re.search(rf"^\| `{name}` \|", README, re.M), f"README.md has no row for {name}"


def test_the_two_commands_are_where_ci_looks() -> None:
    for name in ("first", "tests"):
        assert re.search(rf"^<!-- command: {name} -->\n```sh\n.+?\n```$", README, re.M | re.S)
