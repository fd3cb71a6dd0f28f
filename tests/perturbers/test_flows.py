"""Walks of flows: along the tree, seeded, with wordings that no two splits share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from dialmill.pipelines.sources.flow_walks import DETOUR, RESTATED, UNCLEAR, asked_again, split_wordings, walk
from dialmill.schemas.flow import REJECTED, Flow, Node, fields, read_flow

FLOWS = [read_flow(path.read_bytes(), path.name) for path in sorted((Path(__file__).parents[2] / "data" / "flow").glob("*.yaml"))]


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.flow)
def test_a_walk_goes_from_the_start_to_an_end(flow: Flow) -> None:
    kinds: Counter[str] = Counter()
    ends = set()
    for number in range(150):
        turns = walk(flow, number, "train")
        assert turns == walk(flow, number, "train"), "keyed"
        at, said = flow.start, 0
        for place, turn in enumerate(turns):
            assert turn["sys_action"] == at
            kinds[turn.get("usr_kind", "")] += 1
            if place == len(turns) - 1:
                assert "usr_query" not in turn and not flow.nodes[at].next
                ends.add(at)
            elif turn["usr_intent"] == REJECTED:
                assert turn["usr_kind"] in (DETOUR, UNCLEAR)
                assert turns[place + 1]["sys_response"].endswith(asked_again(flow.nodes[at], flow.language)), "the system asks again"
                said += 1
            else:
                assert turn["usr_intent"] in flow.nodes[at].next and "{" not in turn["usr_query"]
                (at,) = flow.nodes[turn["usr_intent"]].next
        assert said <= 2
    leaves = {name for name, node in flow.nodes.items() if not node.next}
    assert ends == leaves, "150 walks reach every end"
    assert min(kinds[kind] for kind in (DETOUR, UNCLEAR, RESTATED)) > 10


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.flow)
def test_no_wording_stands_in_two_splits(flow: Flow) -> None:
    for name, node in flow.nodes.items():
        if node.user:
            parts = [set(split_wordings(flow, name, split)) for split in ("train", "valid", "test")]
            assert all(parts) and sum(map(len, parts)) == len(node.user) and set.union(*parts) == set(node.user)
    plain = {text for node in flow.nodes.values() for text in node.user if not fields(text)}
    said = {split: {turn.get("usr_query") for number in range(60) for turn in walk(flow, number, split)} & plain for split in ("train", "test")}
    assert said["train"] and said["test"] and not said["train"] & said["test"]


def test_few_wordings_are_shared_by_all_splits() -> None:
    flow = Flow("x", "s", {"s": Node(("u",), system="？"), "u": Node(("e",), user=("好",)), "e": Node((), system="完")})
    assert split_wordings(flow, "u", "test") == split_wordings(flow, "u", "train") == ("好",)


def test_the_system_asks_again_in_its_own_words_or_by_its_last_sentence() -> None:
    assert asked_again(Node((), system="好的，两小时内到。请问要加急吗？")) == "请问要加急吗？"
    assert asked_again(Node((), system="好的，请问是哪张卡？")) == "请问是哪张卡？"
    assert asked_again(Node((), system="Fine. Which card is it?"), "en") == "Which card is it?"
    assert asked_again(Node((), system="x", again="哪张？")) == "哪张？"


def test_seeds_and_numbers_give_other_walks() -> None:
    flow = FLOWS[0]
    assert len({str(walk(flow, number, "test")) for number in range(30)}) > 20
    assert walk(flow, 3, "test") != walk(flow.replace(seed=2), 3, "test")
