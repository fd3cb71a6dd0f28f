"""Flow files: what is a tree of alternating nodes, and what is told of one that isn't."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from dialmill.pipelines.sources.flow_check import contradictions
from dialmill.schemas.flow import FlowError, fields, flow_problems, read_flow
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipelines.tools import call
from tests.schemas.cases import validate_file

FLOWS = sorted((Path(__file__).parents[2] / "data" / "flow").glob("*.yaml"))
SMALL: dict[str, Any] = {
    "flow": "parcel",
    "start": "greet",
    "nodes": {
        "greet": {"system": "寄件还是查件？", "next": ["send", "track"]},
        "send": {"user": ["我要寄件", "寄个{thing}"], "next": "sent"},
        "sent": {"system": "好的。"},
        "track": {"user": ["查件"], "next": ["tracked"]},
        "tracked": {"system": "在路上。", "next": []},
    },
    "values": {"thing": ["箱子"]},
}


def _read(record: dict[str, Any]) -> None:
    read_flow(json.dumps(record).encode(), "x.json")


@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.stem)
def test_our_flows_are_large_trees_with_many_wordings(path: Path) -> None:
    flow = read_flow(path.read_bytes(), path.name)
    users = {name: node for name, node in flow.nodes.items() if node.user}
    assert flow.flow == path.stem and len(flow.nodes) >= 70 and flow.unrolled() >= 360, "as large as those of the paper, of 260 to 297 nodes"
    assert min(len(node.user) for node in users.values()) >= 5
    assert all(node.domain for node in users.values()) and len({node.domain for node in users.values()}) >= 4
    wordings = [text for node in users.values() for text in node.user]
    assert len(set(wordings)) == len(wordings), "one wording means one node"
    assert sum(len(node.next) for node in flow.nodes.values()) > len(flow.nodes) - 1, "branches merge"
    assert contradictions(flow) == []
    assert validate_file(path).ok and validate_file(path).schema == "flow"


def test_yaml_and_json_hold_the_same_flow() -> None:
    assert read_flow(yaml.safe_dump(SMALL, allow_unicode=True).encode(), "x.yaml") == read_flow(json.dumps(SMALL).encode(), "x.json")


def _add(record: dict[str, Any], **nodes: Any) -> None:
    record["nodes"] |= nodes


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda r: r["nodes"]["send"].update(next=["sent", "tracked"]), "leads to one system node, this one to 2"),
        (lambda r: r["nodes"]["send"].pop("next"), "leads to one system node, this one to none"),
        (lambda r: r["nodes"]["send"].update(next="track"), "track is a user node too; user and system nodes alternate"),
        (lambda r: r["nodes"]["greet"].update(next=["send", "track", "sent"]), "sent is a system node too"),
        (lambda r: _add(r, lonely={"system": "?"}), "nodes.lonely: is an orphan"),
        (lambda r: _add(r, a={"user": ["a"], "next": "b"}, b={"system": "b", "next": "a"}), "can't be reached from the start greet"),
        (lambda r: r["nodes"]["sent"].update(next=["track"]) or r["nodes"]["tracked"].update(next=["send"]), "which led to it; a flow has an end"),
        (lambda r: r["nodes"]["send"].update(next="greet"), "leads back to the start"),
        (lambda r: r["nodes"]["send"].update(next="sned"), "is no node (found sned)"),
        (lambda r: r.update(start="send"), "must be a system node"),
        (lambda r: r.update(start="gone"), "start: is no node"),
        (lambda r: r.pop("values"), "{thing} is in a wording but not in `values`"),
        (lambda r: r["nodes"]["track"].update(system="x"), "has both `system` and `user`"),
        (lambda r: r["nodes"]["track"].update(user=["a", "a"]), "holds the same twice"),
        (lambda r: r.update(flow="../x"), "folders are named after it"),
        (lambda r: _add(r, 拒识={"system": "?"}), "give the node another name"),
        (lambda r: r["nodes"].update(x={"next": "send"}), "nodes.x"),
        (lambda r: r.update(nodes=[]), "nodes"),
    ],
)
def test_what_is_no_tree_is_told(damage: Callable[[dict[str, Any]], object], told: str) -> None:
    record = copy.deepcopy(SMALL)
    damage(record)
    with pytest.raises(FlowError) as refusal:
        _read(record)
    assert told in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"flow: x\nflow: y\n", "the key 'flow' occurs twice at line 2"),
        (b"flow: [x\n", "is not YAML"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"", "is not of type 'object'"),
        (b"? [a]\n: b\n", "is not YAML"),
    ],
)
def test_what_is_no_yaml_is_told(data: bytes, told: str) -> None:
    with pytest.raises(FlowError, match=told.replace("[", r"\[")):
        read_flow(data, "x.yaml")


_NAMES = st.sampled_from(["greet", "send", "sent", "track", "tracked", "gone"])


@settings(max_examples=150)
@given(st.data())
def test_any_wiring_is_a_tree_or_refused(data: st.DataObject) -> None:
    """Whatever `next` says, either problems are told, or every node is reached, roles alternate, and all paths end."""
    record = copy.deepcopy(SMALL)
    for node in record["nodes"].values():
        if data.draw(st.booleans()):
            node["next"] = data.draw(st.one_of(_NAMES, st.lists(_NAMES, max_size=3)))
    if flow_problems(record):
        with pytest.raises(FlowError):
            _read(record)
        return
    flow = read_flow(json.dumps(record).encode(), "x.json")
    reached, paths = {flow.start}, [(flow.start,)]
    while paths:
        path = paths.pop()
        for child in flow.nodes[path[-1]].next:
            assert bool(flow.nodes[child].user) != bool(flow.nodes[path[-1]].user) and child not in path
            reached.add(child)
            paths.append((*path, child))
    assert reached == set(flow.nodes)


def test_branches_may_merge() -> None:
    record = copy.deepcopy(SMALL)
    record["nodes"]["track"]["next"] = "sent"
    del record["nodes"]["tracked"]
    record["nodes"]["sent"]["next"] = ["thanks"]
    record["nodes"] |= {"thanks": {"user": ["谢谢"], "next": "bye"}, "bye": {"system": "再见。"}}
    flow = read_flow(json.dumps(record).encode(), "x.json")
    assert len(flow.nodes) == 6 and flow.unrolled() == 9, "what follows both is there twice in the tree"
    assert flow.ends() == {"greet": 2, "send": 1, "track": 1, "sent": 1, "thanks": 1, "bye": 1}


def test_a_flow_that_unrolls_without_end_is_refused() -> None:
    nodes: dict[str, Any] = {}
    for number in range(40):
        nodes[f"s{number}"] = {"system": "?", "next": [f"a{number}", f"b{number}"]}
        nodes |= {f"{one}{number}": {"user": [f"{one}{number}"], "next": f"s{number + 1}"} for one in "ab"}
    nodes["s40"] = {"system": "."}
    assert "unroll to a tree of" in str(flow_problems({"flow": "x", "start": "s0", "nodes": nodes})[0])


FORK: dict[str, Any] = {
    "flow": "doctor",
    "language": "en",
    "start": "greet",
    "nodes": {
        "greet": {"system": "Which department?", "next": ["medicine", "dentistry"]},
        "medicine": {"user": ["medicine", "the medical ward", "the first of them"], "next": "fever"},
        "fever": {"system": "Do you feel hot?", "next": ["hot", "cool"]},
        "hot": {"user": ["very hot", "i do"], "next": "come"},
        "cool": {"user": ["not at all", "cool enough"], "next": "wait"},
        "come": {"system": "Come at once."},
        "wait": {"system": "Come tomorrow."},
        "dentistry": {"user": ["the dentist", "dentistry it is"], "next": "teeth"},
        "teeth": {"system": "You are registered."},
    },
}


@pytest.mark.parametrize(
    ("node", "wordings", "told"),
    [
        ("medicine", ["medicine", "doctor of medicine", "the first"], []),
        (
            "cool",
            ["no, only the cough", "not at all"],
            ["cool: 'no, only the cough' takes 'cough' for known"],
        ),
        (
            "medicine",
            ["medicine", "very feverish", "medical"],
            ["medicine: 'very feverish' settles by 'feverish' what fever asks later"],
        ),
        ("hot", ["the dentistry people said so"], ["hot: 'the dentistry people said so' names 'dentistry', which is of dentistry"]),
    ],
)
def test_wordings_that_contradict_their_path_are_told(node: str, wordings: list[str], told: list[str], tmp_path: Path) -> None:
    record = copy.deepcopy(FORK)
    assert contradictions(read_flow(json.dumps(record).encode(), "x.json")) == []
    record["nodes"][node]["user"] = wordings
    if node == "cool":
        record["nodes"]["medicine"]["user"] = ["medicine", "a nasty cough", "the first"]
    if "very feverish" in wordings:
        record["nodes"]["hot"]["user"] = ["feverish", "i do"]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(record))
    found = contradictions(read_flow(path.read_bytes(), "x.json"))
    assert bool(found) == bool(told) and all(any(one.startswith(start) for one in found) for start in told)
    checked = call("validate", path)
    assert checked.code == 0 and checked.out.count("warning: ") == len(found) and all(one in checked.out for one in found)


def test_fields_are_found_in_order() -> None:
    assert fields("把{a}寄到{b}") == ["a", "b"] and fields("x") == []
