"""Chats of agents: what is a turn, what is carried through, and that every message comes back to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import get
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue, Edit, Turn
from dialmill.schemas.messages import text_of, written

import dialmill as dm

from .source_tools import parse, read_data
from .tools import DATA, call, records

SOURCE = registry.get("messages")
CALL = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"name": "Ivan", "city": "Oslo"}'}}


def chat(*messages: Any, **rest: Any) -> Dialogue:
    return parse(SOURCE, {"messages": list(messages), **rest})


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_who_speaks_and_what_is_carried_through() -> None:
    messages = [
        {"role": "system", "content": "You book hotels."}, {"role": "developer", "content": "Be brief."}, user("a room in Oslo, I am Ivan"),
        {"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": "Booked.", "refusal": None}, user(""), {"role": "critic", "content": "hm"},
    ]  # fmt: skip
    found = chat(*messages, tools=[], temperature=0.5)
    assert [turn.speaker for turn in found.turns] == ["other", "other", "user", "other", "other", "system", "other", "other"]
    assert [turn.role for turn in found.turns] == [message["role"] for message in messages]
    assert [json.loads(turn.payload or "") for turn in found.turns] == messages
    assert json.loads(found.payload or "") == {"tools": [], "temperature": 0.5}
    assert {span.text for span in found.turns[2].spans} == {"Oslo", "Ivan"}, "what the tool is given is guarded"


FORMS = (
    '{"role":"user","content":"one two"}',
    '{ "content" : "one two",  "role" : "user" , "name": "\\u00e9"}',
    '{"role":"user","content":[{"type":"text","text":"one two"}]}',
    '{"from": "human", "value": "one two"}',
    '{"role":"user","x":{"content":"one two"},"content":"one two","tail":[1, 2]}',
)


@pytest.mark.parametrize("raw", FORMS)
def test_a_message_is_written_with_another_text_and_else_to_the_byte(raw: str) -> None:
    turn = Turn(0, "user", "one two", role="user", payload=raw)
    assert written(turn) == raw
    changed = turn.replace(utterance='one "tow"', original="one two", edits=(Edit(4, 7, '"tow"'),))
    made = written(changed)
    assert text_of(json.loads(made)) == 'one "tow"'
    place = raw.rindex('"one two"')
    assert made == raw[:place] + '"one \\"tow\\""' + raw[place + 9 :]


def test_parts_keep_their_texts_apart() -> None:
    parts = [{"type": "text", "text": "look here"}, {"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "what is it"}]
    turn = chat(user(parts)).turns[0]
    assert turn.utterance == "look here\nwhat is it"
    changed = turn.replace(original=turn.utterance, utterance="lok here\nwat is itt", edits=(Edit(1, 2, ""), Edit(11, 12, ""), Edit(20, 20, "t")))
    content = json.loads(written(changed))["content"]
    assert [part.get("text") for part in content] == ["lok here", None, "wat is itt"] and content[1] == parts[1]
    joined = turn.replace(original=turn.utterance, utterance="look here what is it", edits=(Edit(9, 10, " "),))
    assert [part.get("text") for part in json.loads(written(joined))["content"]] == ["", None, "look here what is it"]


def test_every_message_of_the_corpus_comes_back(tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert call("perturb", "--input", DATA / "messages", "--with", "typos:rate=0.5", "--output", output, "--quiet").code == 0
    originals = {one.source_id: one for one in dm.read(DATA / "messages")}
    changed = 0
    for one in records(output, "typos"):
        source = originals[one.source_id]
        assert one.payload == source.payload and len(one.turns) == len(source.turns)
        for before, after in zip(source.turns, one.turns, strict=True):
            if after.original is None:
                assert written(after) == before.payload and after == before
            else:
                changed += 1
                assert before.speaker == "user"
                was, now = json.loads(before.payload or ""), json.loads(written(after))
                assert text_of(now) == after.utterance
                holder = "content" if "content" in was else "value"
                assert {**was, holder: 0} == {**now, holder: 0} and list(was) == list(now)
    assert changed > 15


@pytest.mark.parametrize("spec", ["typos:rate=0.5", "disfluency", "paraphrase", "simplification", "verbosity", "entities:slots=all", "questions"])
def test_no_perturber_touches_what_is_carried_through(spec: str) -> None:
    for one in dm.read(DATA / "messages"):
        (made,) = dm.perturb(one, spec, seed=1)
        assert [turn.replace(turn=0) for turn in made.turns if turn.speaker == "other"] == [
            turn.replace(turn=0) for turn in one.turns if turn.speaker == "other"
        ]


def test_values_are_not_replaced_where_a_tool_call_would_keep_them() -> None:
    found = chat(user("a room in Oslo, I am Ivan"), {"role": "assistant", "content": None, "tool_calls": [CALL]})
    made = get("entities")(slots="all").perturb(found, seed=1)
    assert made.turns == found.turns and made.lineage[-1].skipped[0].reason == "values_in_carried_turns"


def test_runs_of_agents_have_the_ids_of_their_tasks() -> None:
    run = {"task_id": 7, "trial": 2, "traj": [user("hello"), user("###STOP###")]}
    assert set(read_data(SOURCE, {"a.json": json.dumps([run, {**run, "trial": 3}]).encode()}).dialogues) == {"7-2", "7-3"}
    lines = "\n".join(json.dumps({"messages": [user("hello")]}) for _ in range(2)) + "\n"
    assert set(read_data(SOURCE, {"a.jsonl": lines.encode()}).dialogues) == {"a.jsonl:1", "a.jsonl:2"}
    assert set(read_data(SOURCE, {"a.json": json.dumps([user("hello"), user("there")]).encode()}).dialogues) == {"a.json"}


@pytest.mark.parametrize(
    ("messages", "reason", "evidence"),
    [
        ([user("hi"), "hi"], "wrong_type", "messages[1]: expected an object, found a string"),
        ([user("hi"), {"content": "hi"}], "missing_key", "messages[1].role"),
        ([{"role": 3, "content": "hi"}], "wrong_type", "messages[0].role"),
        ([{"role": "assistant", "content": "hi"}], "empty_dialogue", "is a user's text"),
        ({}, "wrong_type", "messages: expected an array, found an object"),
    ],
)
def test_what_is_no_chat_says_why(messages: Any, reason: str, evidence: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse(SOURCE, {"messages": messages})
    assert caught.value.reason == reason and evidence in caught.value.evidence


def test_a_benchmark_of_user_and_system_turns_refuses_them(tmp_path: Path) -> None:
    result = call("build", "raddle", "--input", DATA / "messages", "--output", tmp_path / "out", "--set", "suites=standard", "--quiet")
    assert result.code == 1, result
    assert "carried_turns" in result.err and "nothing would be left" in result.err


def test_a_batch_of_requests_goes_as_it_came(tmp_path: Path) -> None:
    """The messages lie in the body of each request, whose name is its id."""
    asked = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "I need a hotel in the north for two nights"}]
    requests = [
        {"custom_id": f"r{number}", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": asked, "model": "m", "n": number}}
        for number in range(3)
    ]
    (tmp_path / "batch.jsonl").write_text("".join(json.dumps(one) + "\n" for one in requests), "utf-8")
    words = ("--input", tmp_path / "batch.jsonl", "--with", "typos:rate=0.4", "--export", "messages", "--output", tmp_path / "out", "--quiet")
    done = call("perturb", *words)
    assert done.code == 0, done.err
    written = {}
    for suite in ("standard", "typos"):
        lines = (tmp_path / "out" / "export" / "messages" / suite / "test.jsonl").read_text("utf-8").splitlines()
        written[suite] = sorted(map(json.loads, lines), key=lambda one: str(one["custom_id"]))
    assert written["standard"] == requests
    for clean, noisy in zip(requests, written["typos"], strict=True):
        texts = [message["content"] for message in noisy["body"]["messages"]]
        assert texts[0] == "be brief" and texts[1] != asked[1]["content"]
        noisy["body"]["messages"] = asked
        assert noisy == clean
