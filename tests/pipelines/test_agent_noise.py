"""agent-noise: an agent's next action is read however it is written; prefixes come in pairs, with the values they need; scores say what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import registry
from dialmill.pipelines.benchmarks.agent_noise.scorer import said_by
from dialmill.pipelines.core.actions import ANSWER, CALL, Action, action_of, chat_messages, needed, prefixes, succeeded, task_of
from dialmill.pipelines.exporters.tasks.tracking import score_action
from dialmill.pipelines.sources import registry as sources
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode
from hypothesis import given
from hypothesis import strategies as st

import dialmill as dm
from tests.pipelines.source_tools import parse
from tests.pipelines.tools import DATA, call

SOURCE = sources.get("messages")


def chat(*messages: dict[str, Any], **rest: Any) -> Dialogue:
    return parse(SOURCE, {"messages": list(messages), **rest})


USER = {"role": "user", "content": "my id is mia_li_3668, cancel it"}
FUNCTION = {"name": "f", "arguments": '{"id": "mia_li_3668"}'}
OPENAI = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}
FLAT = {"id": "c1", "name": "f", "arguments": {"id": "mia_li_3668"}, "requestor": "assistant"}
TAU2 = {"role": "assistant", "content": None, "tool_calls": [FLAT], "cost": 1}
SHARE = [{"from": "human", "value": USER["content"]}, {"from": "function_call", "value": '{"name": "f", "arguments": {"id": "mia_li_3668"}}'}]


@pytest.mark.parametrize("run", [chat(USER, OPENAI), chat(USER, TAU2), parse(SOURCE, {"conversations": SHARE})])
def test_calls_are_read_in_every_form(run: Dialogue) -> None:
    (prefix,) = prefixes(run)
    assert prefix.action.to_dict() == {"kind": CALL, "calls": [{"name": "f", "arguments": {"id": "mia_li_3668"}}]}
    assert [(one.value, one.given_by) for one in needed(run, prefix)] == [("mia_li_3668", "user")]
    assert [json.loads(message) for message in chat_messages(run, prefix.last)] == [USER]
    whole = [json.loads(message) for message in chat_messages(run, 2)]
    assert whole[1]["role"] == "assistant" and json.loads(whole[1]["tool_calls"][0]["function"]["arguments"]) == {"id": "mia_li_3668"}


def test_what_users_do_with_tools_is_hidden_from_the_agent() -> None:
    own = {"role": "user", "content": None, "tool_calls": [{"id": "u", "name": "toggle", "arguments": {"on": True}, "requestor": "user"}]}
    came = {"id": "u", "role": "tool", "content": "on", "requestor": "user"}
    result = {"id": "c1", "role": "tool", "content": "done", "requestor": "assistant", "error": False}
    run = chat(
        {"role": "assistant", "content": "hello", "turn_idx": 0},
        USER,
        own,
        came,
        TAU2,
        result,
        {"role": "assistant", "content": "ok"},
        policy="be kind",
    )
    (prefix,) = prefixes(run)
    assert prefix.last == 4 and prefix.action.kind == CALL
    seen = [json.loads(message) for message in chat_messages(run, len(run.turns))]
    assert [one["role"] for one in seen] == ["system", "assistant", "user", "assistant", "tool", "assistant"]
    assert seen[0]["content"] == "be kind" and seen[1] == {"role": "assistant", "content": "hello"}
    assert seen[4] == {"role": "tool", "content": "done", "tool_call_id": "c1"}


def test_several_messages_of_the_users_are_one_place_and_an_answer_is_an_action() -> None:
    run = chat(USER, {"role": "user", "content": "please"}, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "###STOP###"})
    assert [(one.last, one.action) for one in prefixes(run)] == [(2, Action(answer="Done."))]
    assert action_of(run.turns[0]) is None and list(prefixes(chat(USER))) == []
    broken = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{no json"}}]}
    assert list(prefixes(chat(USER, broken))) == []


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ({}, None),
        ({"reward": 1.0}, True),
        ({"reward": 0.5}, False),
        ({"reward_info": {"reward": 1}}, True),
        ({"reward_info": {"reward": 0.0}}, False),
        ({"reward_info": None}, None),
        ({"reward": None}, None),
    ],
)
def test_success(rest: dict[str, Any], expected: bool | None) -> None:
    assert succeeded(chat(USER, OPENAI, **rest)) is expected
    assert (task_of(chat(USER, task_id=3)) == "3" and task_of(chat(USER)) == "1") or task_of(chat(USER))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agents") / "out"
    dm.build("agent-noise", input=DATA / "messages", output=folder, set={"suites": ["standard", "typos-heavy", "chat", "speech"], "variants": 2})
    return folder


def _examples(folder: Path, suite: str, split: str = "test") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "release" / suite / f"{split}.jsonl").read_text("utf-8").splitlines()]


def test_prefixes_come_in_pairs_and_hold_what_they_need(built: Path) -> None:
    clean = {(one["run"], one["place"]): one for one in _examples(built, "standard")}
    calls = [one for one in clean.values() if one["target"]["kind"] == CALL]
    assert len(calls) > 5 and len(clean) > len(calls)
    changed = 0
    for suite in ("typos-heavy", "chat", "speech"):
        noisy = _examples(built, suite)
        assert {(one["run"], one["place"]) for one in noisy} <= clean.keys() and noisy
        for one in noisy:
            source = clean[one["run"], one["place"]]
            changed += one["changed_turns"] > 0
            assert one["target"] == source["target"] and len(one["messages"]) == len(source["messages"])
            said = " ".join(json.dumps(message["content"], ensure_ascii=False) for message in one["messages"] if message["role"] == "user")
            assert all(need["value"] in said for need in one["needs"] if need["given_by"] == "user")
            for old, new in zip(source["messages"], one["messages"], strict=True):
                assert old == new or (old["role"] == "user" and {**old, "content": 0} == {**new, "content": 0})
    assert changed > 10
    assert call("verify", built).code == 0
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    assert next(stage for stage in manifest["stages"] if stage["name"] == "filter")["rejected"]["run_failed"] > 0


def _write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def _said(target: dict[str, Any]) -> dict[str, Any]:
    return {"calls": target["calls"]} if target["kind"] == CALL else {"answer": ""}


def _message(calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"function": {**one, "arguments": json.dumps(one["arguments"])}} for one in calls]}


def test_the_right_actions_score_full_in_every_form_and_each_error_counts(built: Path, tmp_path: Path) -> None:
    examples = [one for suite in ("standard", "chat") for one in _examples(built, suite)]
    right = [
        {"example_id": one["example_id"], **({"calls": one["target"]["calls"]} if one["target"]["kind"] == CALL else {"answer": ""})}
        for one in examples
    ]
    as_messages = [
        {
            "example_id": one["example_id"],
            "message": {
                "role": "assistant",
                "tool_calls": [{"function": {**c, "arguments": json.dumps(c["arguments"])}} for c in one.get("calls", [])],
            },
        }
        for one in right
    ]
    for lines in (right, as_messages):
        found = dm.score("agent-noise", gold=built, predictions=_write(tmp_path / "p.jsonl", lines), suite="all", samples=20)
        assert found["metrics"]["chat"]["action_accuracy"] == found["metrics"]["standard"]["call"]["arguments"] == 100
        assert "chat" in found["robustness"]["suites"]
    place = next(number for number, one in enumerate(right) if "calls" in one)
    wrong = json.loads(json.dumps(right))
    wrong[place]["calls"][0]["arguments"] = dict.fromkeys(wrong[place]["calls"][0]["arguments"], "x")
    found = dm.score("agent-noise", gold=built, predictions=_write(tmp_path / "w.jsonl", wrong), suite="standard", samples=20)
    assert found["metrics"]["call"]["name"] == 100 > found["metrics"]["call"]["exact"] and found["metrics"]["call"]["arguments"] < 100
    assert found["metrics"]["kind_accuracy"] == 100
    with pytest.raises(dm.DialmillError, match="no prediction for example"):
        dm.score("agent-noise", gold=built, predictions=_write(tmp_path / "s.jsonl", right[1:]))


_json = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4), lambda inner: st.lists(inner, max_size=2), max_leaves=4)
_calls = st.lists(
    st.tuples(st.sampled_from(["f", "g"]), st.dictionaries(st.sampled_from(["a", "b", "c"]), _json, max_size=3)), min_size=1, max_size=3
)


@given(_calls, st.randoms(use_true_random=False))
def test_calls_are_compared_as_sets_of_json(calls: list[tuple[str, dict[str, Any]]], random: Any) -> None:
    from dialmill.pipelines.benchmarks.agent_noise.scorer import _row

    target = {"kind": CALL, "calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
    shuffled = [(name, json.loads(json.dumps(dict(reversed(arguments.items()))))) for name, arguments in calls]
    random.shuffle(shuffled)
    row = _row(target, shuffled)
    assert row["exact"] == row["names"] == row["right"] == row["kind"] == 1
    assert _row(target, [])["right"] == 0 == _row(target, [*shuffled, ("f", {})])["exact"]
    assert _row(target, [("f", {"zz": 1})])["arguments_right"] == 0
    assert 0 <= row["arguments_right"] <= row["arguments"] == sum(len(one) for _, one in calls)


def test_arguments_that_cant_be_read_are_wrong_and_no_fault() -> None:
    assert said_by({"message": {"tool_calls": [{"function": {"name": "f", "arguments": "{no"}}]}}) == [("f", {})]
    assert said_by({"message": {"content": "hello", "tool_calls": None}}) == said_by({"answer": "x"}) == []


def test_held_out_labels_stand_apart(tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = {"suites": ["standard", "chat"], "held_out_labels": True, "blind_suites": "paired"}
    dm.build("agent-noise", input=DATA / "messages", output=out, set=settings)
    clean, noisy = ([(one["run"], one["place"]) for one in _examples(out, suite)] for suite in ("standard", "chat"))
    # A pair of each run, and no whole run: a longer prefix has the action that a shorter one asks for.
    assert clean == noisy and len({run for run, _ in clean}) == len(clean) > 10
    assert not (out / "dialogues" / "chat" / "test.jsonl").read_bytes() and (out / "labels" / "dialogues" / "chat" / "test.jsonl").read_bytes()
    assert all("target" not in one and "needs" not in one for one in _examples(out, "chat")) and call("verify", out).code == 0
    labels = [json.loads(line) for line in (out / "labels" / "release" / "chat" / "test.jsonl").read_text("utf-8").splitlines()]
    made = [{"example_id": one["example_id"], "calls": one["target"].get("calls", [])} for one in labels]
    lines = [one if one["calls"] else {"example_id": one["example_id"], "answer": ""} for one in made]
    found = dm.score("agent-noise", gold=out, predictions=_write(tmp_path / "p.jsonl", lines), suite="chat", samples=20)
    assert found["metrics"]["action_accuracy"] == 100


LOST = {"suites": ["standard", "lost"], "perturbations.lost": "typos:rate=1,values=follow"}
HALVES = {"suites": ["standard"], "splits": "hash", "fractions": {"train": 0.5, "test": 0.5, "valid": 0}}


def test_values_that_are_followed_and_lost_take_their_prefix_out_of_every_suite(tmp_path: Path) -> None:
    out = tmp_path / "out"
    dm.build(
        "agent-noise", input=DATA / "messages", output=out, set={"suites": ["standard", "lost"], "perturbations.lost": "typos:rate=1,values=follow"}
    )
    clean, noisy = ({(one["run"], one["place"]) for one in _examples(out, suite)} for suite in ("standard", "lost"))
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    counted = next(stage for stage in manifest["stages"] if stage["name"] == "prefixes")
    assert clean == noisy and counted["rejected"].get("needed_value_lost", 0) > 0


def test_baselines(built: Path, tmp_path: Path) -> None:
    assert call("predict-baseline", "agent-noise", "--gold", built, "--baseline", "answer", "--output", tmp_path / "a.jsonl").code == 0
    found = dm.score("agent-noise", gold=built, predictions=tmp_path / "a.jsonl", suite="all", samples=20)
    assert found["metrics"]["standard"]["answer"]["kind"] == 100 and found["metrics"]["standard"]["call"]["exact"] == 0
    refused = call("predict-baseline", "agent-noise", "--gold", built, "--output", tmp_path / "n.jsonl")
    assert refused.code == 1 and "splits=hash" in refused.err
    out = tmp_path / "split"
    dm.build(
        "agent-noise",
        input=DATA / "messages",
        output=out,
        set={"suites": ["standard"], "splits": "hash", "fractions": {"train": 0.5, "test": 0.5, "valid": 0}},
    )
    assert call("predict-baseline", "agent-noise", "--gold", out, "--output", tmp_path / "n.jsonl").code == 0
    assert dm.score("agent-noise", gold=out, predictions=tmp_path / "n.jsonl", samples=20)["metrics"]["action_accuracy"] > 0


def test_corpora_without_actions_are_refused(tmp_path: Path) -> None:
    result = call("build", "agent-noise", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--quiet")
    assert result.code == 1 and "no_action" in result.err and registry.get("agent-noise").takes_carried and ANSWER


@pytest.mark.parametrize("name", ["inspect", "lm-eval", "promptfoo"])
def test_exports_ask_for_every_action_of_the_noisy_text(name: str, built: Path, tmp_path: Path) -> None:
    assert call("export", built, "--to", name, "--output", tmp_path / "out").code == 0
    records = {one.dialogue_id: one for one in map(decode, (built / "dialogues" / "chat" / "test.jsonl").read_bytes().splitlines())}
    lines = [json.loads(line) for line in (tmp_path / "out" / name / "chat" / "agent_action.test.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == sum(len(list(prefixes(one))) for one in records.values())
    for line in lines:
        about = line.get("metadata", line)
        source, variant = about["dialogue_id"].rsplit("~", 1)
        record = records[f"{source}/chat/{variant}"]
        text = line["vars"]["prompt"] if name == "promptfoo" else line.get("prompt") or json.dumps(line["input"], ensure_ascii=False)
        target = line["vars"]["target"] if name == "promptfoo" else line["target"]
        assert all(turn.utterance in text.replace('\\"', '"') for turn in record.turns[: about["turn"] + 1] if turn.speaker == "user")
        assert set(score_action(target, target).values()) == {1.0} and set(score_action("no idea", target).values()) == {0.0}
        if name == "inspect":
            roles = [message["role"] for message in line["input"]]
            assert roles[0] == "system" and roles[-1] == "user" and ("tools are" in text or "工具有" in text)


def test_an_action_is_scored_as_a_whole_and_by_its_arguments() -> None:
    gold = '{"calls": [{"name": "f", "arguments": {"a": 1, "b": "x"}}, {"name": "g", "arguments": {}}]}'
    assert score_action('Sure: {"calls": [{"name": "g"}, {"name": "f", "arguments": {"b": "x", "a": 1}}]}', gold)["argument_accuracy"] == 1.0
    half = score_action('{"calls": [{"name": "f", "arguments": {"a": 1, "b": "y"}}]}', gold)
    assert half == {"action_accuracy": 0.0, "argument_accuracy": 0.5}
    assert score_action('{"answer": "hello"}', gold) == {"action_accuracy": 0.0, "argument_accuracy": 0.0}
    assert score_action('{"answer": "hello"}', '{"answer": "good day"}') == {"action_accuracy": 1.0, "argument_accuracy": 1.0}
