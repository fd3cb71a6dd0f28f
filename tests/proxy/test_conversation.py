"""Noise on conversations: the same whenever they come again, whoever answers; values stay; nothing else is touched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.guard import Guard
from dialmill.pipelines.core.errors import DialmillError, InputError, UsageError
from dialmill.pipelines.proxy.bodies import chat, responses
from dialmill.pipelines.proxy.conversation import Noise, next_key
from dialmill.pipelines.proxy.guards import read_guard
from dialmill.pipelines.proxy.lineage import Log, as_folder, clean, conversations, is_log
from dialmill.schemas.dialogue import encode
from dialmill.schemas.validate import check_dialogue
from hypothesis import given, settings
from hypothesis import strategies as st

TYPOS = parse("typos:rate=0.5").perturber
SAID = ["I would like to change my flight, please", "my id is mia_li_3668", "what do you think about the other one", "yes, that will be fine, thanks"]
NOISE = Noise(TYPOS, 1)


def _texts(noise: Noise, said: list[str], **more: Any) -> list[str]:
    return [one.texts[0].text for one in noise.conversation([[text] for text in said], **more)]


def test_a_message_is_the_same_in_every_request_that_holds_it() -> None:
    whole = _texts(NOISE, SAID)
    assert whole != SAID and whole[1].endswith("mia_li_3668")
    for length in range(1, len(SAID)):
        assert _texts(Noise(TYPOS, 1), SAID[:length]) == whole[:length]


def test_what_a_message_becomes_depends_on_what_was_said_before_and_on_seed_and_variant() -> None:
    made = {tuple(_texts(Noise(TYPOS, seed), [first, SAID[2]], variant=variant)) for seed in (1, 2) for variant in (0, 1) for first in SAID[:2]}
    assert len({texts[1] for texts in made}) == 8
    assert _texts(NOISE, [SAID[0]], variant=1) == _texts(Noise(TYPOS, 1), [SAID[0]], variant=1)


def test_keys_tell_texts_in_parts_from_one_text() -> None:
    two = next_key(next_key("", ["ab"]), ["c"])
    assert len({next_key("", ["ab", "c"]), next_key("", ["a", "bc"]), next_key("", ["abc"]), two, next_key("", [])}) == 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ('{"answer": "a text with words in it"}', "json"),
        ('["some words", 2]', "json"),
        ("def add(a, b):\n    return a + b\n\nprint(add(1, 2))", "code"),
        ("SELECT name FROM people WHERE age > 3;\nUPDATE people SET age = 4;", "code"),
        ("TOOL RESULT: the weather is very nice today", "kept"),
        ("half of a picture \ud83d in some words", "lone_surrogate"),
    ],
)
def test_what_isnt_said_by_a_person_stays(text: str, reason: str) -> None:
    noise = Noise(TYPOS, 1, keep=re.compile("^TOOL RESULT"))
    ((made,),) = (one.texts for one in noise.conversation([[text]]))
    assert (made.text, made.changed, made.reason) == (text, False, reason) and check_dialogue(made.record) == [] and encode(made.record)


@pytest.mark.parametrize("text", ["I said: call me; or write", "if you want, take a look:\nplease tell me the price\nand the name", "hello (there)"])
def test_words_with_the_marks_of_programs_are_still_words(text: str) -> None:
    assert NOISE.conversation([[text]])[0].texts[0].changed


def test_choices_of_tools_and_the_guard_stay() -> None:
    tools = [{"type": "function", "function": {"parameters": {"properties": {"cabin": {"enum": ["economy", "business"]}}}}}]
    text = "please put me into economy and give the seat to smithers"
    for seed in range(8):
        made = _texts(Noise(parse("typos:rate=1,style=chat").perturber, seed, guard=Guard(["smithers"])), [text], tools=tools)[0]
        assert "economy" in made and "smithers" in made and made != text


def test_speech_writes_as_recognisers_do_and_keeps_values_where_it_is_told_to() -> None:
    text = "I would like to change the reservation ZFA04K of Ivan Smith to business, please. Could you do that for me?"
    noise = Noise(parse("speech:output=plain,engine=text,wer=0.4,values=protect").perturber, 1, guard=Guard(["business"]))
    made = _texts(noise, [text])[0]
    assert all(value in made for value in ("ZFA04K", "Ivan Smith", "business")) and not re.search("[,.?]", made) and made != text


@pytest.mark.parametrize(
    ("spec", "about"), [("questions", "turns of its own"), ("entities", "changes values"), ("typos+out_of_scope", "turns of its own")]
)
def test_perturbers_that_need_more_than_texts_are_refused(spec: str, about: str) -> None:
    with pytest.raises(UsageError, match=about):
        Noise(parse(spec).perturber)


def test_a_perturber_that_fails_leaves_the_text_and_says_so() -> None:
    class Broken(type(TYPOS)):  # type: ignore[misc]
        def perturb(self, *_: Any) -> Any:
            raise RuntimeError("no such luck")

    made = Noise(Broken()).conversation([["hello there, how are you"]])[0].texts[0]
    assert (made.text, made.changed, made.failure) == ("hello there, how are you", False, "perturber_failed: RuntimeError")
    assert made.reason == made.failure and check_dialogue(made.record) == []


# ------------------------------------------------------------- bodies

_SOME = ["hello there my friend", "我想订一间便宜的酒店", 'a"b\\c\n', "😀 ok"]
_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=30) | st.sampled_from(_SOME)
_image = st.just({"type": "image_url", "image_url": {"url": "u"}})
_part = st.fixed_dictionaries({"type": st.sampled_from(["text", "input_text"]), "text": _text}) | _image
_message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "developer", "tool"]), "content": _text | st.none() | st.lists(_part, max_size=3)},
    optional={"name": _text, "tool_calls": st.just([{"id": "x", "function": {"name": "f", "arguments": '{"content": "hello there"}'}}])},
)
_layout = st.sampled_from([{"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"ensure_ascii": False, "indent": 2}])


_rest = st.dictionaries(st.sampled_from(["model", "n", "messages_", "tools"]), _text, max_size=3)


@settings(max_examples=150)
@given(st.lists(_message, max_size=6), _layout, _rest, st.booleans())
def test_nothing_but_the_users_texts_changes(messages: list[dict[str, Any]], layout: dict[str, Any], rest: dict[str, Any], api: bool) -> None:
    holder, read = ("input", responses) if api else ("messages", chat)
    body = json.dumps({**rest, holder: messages, "metadata": {"messages": [{"role": "user", "content": "not this"}]}}, **layout)
    request = read(body)
    assert request.with_texts([[place.text for place in one.places] for one in request.messages]) == body
    marked = request.with_texts([[f"<{place.text}>" for place in one.places] for one in request.messages])
    expected = json.loads(body)
    for one in expected[holder]:
        if one["role"] == "user" and isinstance(one["content"], str):
            one["content"] = f"<{one['content']}>"
        elif one["role"] == "user":
            for part in one["content"] or ():
                if "text" in part:
                    part["text"] = f"<{part['text']}>"
    assert json.loads(marked) == expected
    # Between the texts every character is the same.
    kept = [body[a.end : b.start] for a, b in zip(_ends(request), _ends(request)[1:], strict=False)]
    assert all(piece in marked for piece in kept)


def _ends(request: Any) -> list[Any]:
    return [place for one in request.messages for place in one.places]


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ('{"input": "hello"}', [["hello"]]),
        (
            '{"input": [{"role": "user", "content": "a"}, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "b"}]}]}',
            [["a"], ["b"]],
        ),
        ('{"input": [{"type": "function_call_output", "call_id": "1", "output": "user text"}, {"type": "item_reference", "id": "x"}]}', []),
        ('{"input": [{"role": "user", "type": "mcp_approval", "content": "no"}]}', []),
        ('{"instructions": "you are", "model": "m"}', []),
        ('{"input": null}', []),
        ('{"input": "first", "input": "second"}', [["second"]]),
    ],
)
def test_bodies_of_responses(body: str, texts: list[list[str]]) -> None:
    assert [[place.text for place in one.places] for one in responses(body).messages] == texts


def test_only_messages_behind_the_last_answer_are_new() -> None:
    def new(*roles: str) -> list[bool]:
        return [one.new for one in chat(json.dumps({"messages": [{"role": role, "content": "x"} for role in roles]})).messages]

    assert new("system", "user") == [True]
    assert new("user", "assistant", "user", "user") == [False, True, True]
    assert new("user", "assistant", "tool") == [False]
    assert responses('{"input": "x", "previous_response_id": "r"}').continued and not responses('{"input": "x"}').continued


@pytest.mark.parametrize("body", ["", "[]", "3", '{"messages": [', '{"messages"', "no json", '{"messages": [{]}'])
def test_what_is_no_request_is_an_error(body: str) -> None:
    with pytest.raises(ValueError):
        chat(body)


# ------------------------------------------------------------- guards and logs


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("list.txt", "Ivan Smith\n\nEWR\n", ["Ivan Smith", "EWR"]),
        ("runs.json", json.dumps([{"traj": [{"tool_calls": [{"function": {"arguments": '{"id": "abc"}'}}]}], "note": "not this"}]), ["abc"]),
        ("tasks.json", json.dumps([{"evaluation_criteria": {"actions": [{"name": "f", "arguments": {"x": ["one", 20, 345]}}]}}]), ["one", "345"]),
        ("tools.json", json.dumps([{"function": {"description": "no", "parameters": {"properties": {"a": {"enum": ["yes"]}}}}}]), ["yes"]),
        ("db.json", json.dumps({"users": {"u1": {"name": "Ann Lee", "about": "long " * 20}}}), ["Ann Lee"]),
        ("db.jsonl", '{"name": "北京"}\n{"name": "Rome"}\n', ["北京", "Rome"]),
    ],
)
def test_guards_from_files(name: str, content: str, values: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    guard = read_guard([str(path)], shapes=False)
    assert len(guard) == len(values)
    assert [span.text for span in guard.spans(" / ".join([*values, "not this", "no"]))] == values


@pytest.mark.parametrize(("name", "content"), [("a.txt", b""), ("a.json", b"{}"), ("a.json", b"no json"), ("a.txt", b"\xff\xfe\x00")])
def test_a_guard_that_names_nothing_is_an_error(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError):
        read_guard([str(tmp_path / name)])
    with pytest.raises(DialmillError):
        read_guard([str(tmp_path / "nowhere.txt")])


def test_a_log_gives_its_conversations_back(tmp_path: Path) -> None:
    path = str(tmp_path / "log.jsonl")
    log = Log(path)
    assert (tmp_path / "log.jsonl").stat().st_mode & 0o077 == 0 and not is_log(path)
    for length in (1, 2, 2, 3):  # The second message was sent twice.
        log.write(NOISE.conversation([[text] for text in SAID[:length]])[-1:], "/chat/completions")
    log.write(NOISE.conversation([[SAID[0]], ["and another end of it", "in two parts"]])[-1:], "/responses")
    log.close()
    assert is_log(path)
    found = list(conversations(path))
    assert [[turn.source_text for turn in one.turns] for one in found] == [SAID[:3], [SAID[0], "and another end of it", "in two parts"]]
    assert [turn.utterance for turn in found[0].turns] == _texts(NOISE, SAID[:3])
    assert all(check_dialogue(record) == [] for one in found for record in (one, clean(one)))
    with as_folder(path) as folder:
        held = {file.relative_to(folder).as_posix(): file.read_text("utf-8").count("\n") for file in Path(folder).rglob("*.jsonl")}
        assert held == {"dialogues/standard/test.jsonl": 2, f"dialogues/{found[0].suite}/test.jsonl": 2}
    (tmp_path / "log.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="line 1"):
        list(conversations(path))
