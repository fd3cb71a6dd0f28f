"""The proxy over HTTP: the user's texts change and nothing else, in either direction; nothing is remembered; no key is written down."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from dialmill.perturbers import parse
from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.pipelines.proxy import server
from dialmill.pipelines.proxy.conversation import Noise
from dialmill.pipelines.proxy.lineage import conversations
from dialmill.schemas.dialogue import decode
from dialmill.schemas.validate import check_dialogue

from tests.pipelines.tools import call
from tests.proxy.conftest import KEY, Asked, Send, Upstream, reply, until

Start = Callable[..., str]
IMAGE = {"type": "image_url", "image_url": {"url": "u"}}
REDIRECTED = "http://127.0.0.1:1/v1"
CALL = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"user_id": "mia_li_3668"}'}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a helpful agent. Today is Friday."},
    {"role": "user", "content": "Hello, I would like to change my flight, please"},
    {"role": "assistant", "content": "Of course! Could you please tell me your user id?"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "sure, it is mia_li_3668 and there is a picture"}, IMAGE],
    },
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": '{"name": "Mia", "note": "hello there, how are you"}'},
    {"role": "assistant", "content": "Thank you, what would you like to do?"},
    {"role": "user", "content": "我想改到星期五，麻烦帮我看一下有没有便宜的"},
    {"role": "user", "content": "and what would the other one cost? 😀"},
]
CLIENT = httpx.Client(timeout=20, limits=httpx.Limits(max_connections=None, max_keepalive_connections=0))
HEADERS = {"Authorization": f"Bearer {KEY}", "X-Custom": "stays", "Cookie": f"session={KEY}"}


def _post(url: str, body: Any, path: str = "/chat/completions", **more: Any) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return CLIENT.post(url + path, content=content, headers={**HEADERS, **more.pop("headers", {})}, **more)


def _chat(url: str, messages: list[dict[str, Any]], **more: Any) -> list[Any]:
    """The contents of the messages as the upstream got them, which answers with them."""
    return [message["content"] for message in _post(url, {"model": "m", "messages": messages}, **more).json()["messages"]]


def test_the_users_texts_change_and_nothing_else(proxy: Start, upstream: Upstream) -> None:
    body = json.dumps({"unknown": {"messages": [1.50, 1e9]}, "messages": CONVERSATION, "stream": False, "n": 2}, ensure_ascii=False, indent=1)
    answer = _post(proxy(), body.encode(), params={"api-version": "1"}, headers={"OpenAI-Organization": "o"})
    (asked,) = upstream.asked
    got, sent = json.loads(asked.body), json.loads(body)
    changed = [place for place, (old, new) in enumerate(zip(sent["messages"], got["messages"], strict=True)) if old != new]
    assert changed == [1, 3, 7, 8] and "mia_li_3668" in got["messages"][3]["content"][0]["text"]
    assert answer.headers["x-dialmill-changed"] == "4" and json.loads(answer.headers["x-dialmill-lineage"])["steps"] == ["typos@3"]
    # Put back into the body that came, the user's texts leave every byte as it was.
    back = asked.body.decode()
    for place in changed:
        old, new = sent["messages"][place]["content"], got["messages"][place]["content"]
        pair = (old, new) if isinstance(old, str) else (old[0]["text"], new[0]["text"])
        back = back.replace(json.dumps(pair[1], ensure_ascii=False), json.dumps(pair[0], ensure_ascii=False))
    assert back == body
    assert (asked.method, asked.path, asked.query) == ("POST", "/v1/chat/completions", "api-version=1")
    assert asked.header("authorization") == f"Bearer {KEY}" and asked.header("openai-organization") == "o" and asked.header("x-custom") == "stays"
    assert answer.content == asked.body


def test_nothing_is_added_to_a_request_but_what_http_needs(proxy: Start, upstream: Upstream) -> None:
    with socket.create_connection(("127.0.0.1", int(proxy().split(":")[2].split("/")[0]))) as client:
        client.sendall(
            b"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nConnection: x-two\r\nX-Two: 2\r\nTE: trailers\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert client.recv(9000).startswith(b"HTTP/1.1 200")
    names = {name for name, _ in upstream.asked[0].headers}
    assert names == {"host", "x-one", "content-length"} and upstream.asked[0].header("host") in upstream.url


def test_equal_requests_give_equal_bytes_over_replays_workers_and_restarts(proxy: Start, upstream: Upstream) -> None:
    first, second = proxy(seed=3), proxy(seed=3)
    for url in (first, first, first, second, proxy(seed=3)):
        _chat(url, CONVERSATION)
    assert len(set(upstream.bodies)) == 1
    _chat(proxy(seed=4), CONVERSATION)
    _chat(first, CONVERSATION, headers={"X-Dialmill-Variant": "1"})
    _chat(proxy(seed=3, variant=1), CONVERSATION)
    assert len(set(upstream.bodies)) == 3 and upstream.bodies[-1] == upstream.bodies[-2]
    assert upstream.asked[-2].header("x-dialmill-variant") is None


def test_a_growing_history_keeps_its_noise_whatever_the_model_says(proxy: Start) -> None:
    url, whole = proxy(), _chat(proxy(), CONVERSATION)
    for length in range(1, len(CONVERSATION)):
        assert _chat(url, CONVERSATION[:length]) == whole[:length]
    other = [{**one, "content": "another model's words"} if one["role"] in ("assistant", "system") else one for one in CONVERSATION]
    assert [new for new, one in zip(_chat(url, other), CONVERSATION, strict=True) if one["role"] == "user"] == [
        new for new, one in zip(whole, CONVERSATION, strict=True) if one["role"] == "user"
    ]


def test_a_hundred_conversations_at_once(proxy: Start) -> None:
    url = proxy()
    talks = [[{"role": "user", "content": f"hello there, this is caller number {n}, could you please help me"}] for n in range(100)]
    with ThreadPoolExecutor(100) as pool:
        made = list(pool.map(lambda talk: _chat(url, talk)[0], talks))
    noise = Noise(parse("typos:rate=0.5").perturber, 1)
    assert made == [noise.conversation([[talk[0]["content"]]])[0].texts[0].text for talk in talks]


ROOM = "hello, I would like a room please"


@pytest.mark.parametrize("given", [ROOM, [{"role": "user", "content": [{"type": "input_text", "text": ROOM}]}]])
def test_responses(given: Any, proxy: Start, upstream: Upstream) -> None:
    body = {"input": given, "instructions": "hello, be kind to everyone", "previous_response_id": "resp_1"}
    answer = _post(proxy(), body, "/responses").json()
    assert answer["instructions"] == body["instructions"] and answer["previous_response_id"] == "resp_1" and answer["input"] != given
    first = answer["input"] if isinstance(given, str) else answer["input"][0]["content"][0]["text"]
    assert first == _chat(proxy(), [{"role": "user", "content": ROOM}])[0]


def test_other_paths_and_methods_pass(proxy: Start, upstream: Upstream) -> None:
    url, talk = proxy(), {"messages": CONVERSATION[:2]}
    for path in ("/models/a%2Fb", "/embeddings", "/chat/completions/x", "/responses/input_tokens", "/completions"):
        assert _post(url, talk, path).json() == talk and upstream.asked[-1].path == f"/v1{path}"
    assert httpx.get(f"{url}/models").status_code == 200 and upstream.asked[-1].method == "GET"
    assert upstream.asked[-1].header("content-length") is None
    assert httpx.head(f"{url}/models").status_code == 200
    assert _post(url, talk, "/deployments/x/chat/completions").json() != talk
    assert httpx.get(url.replace("/v1", "/v2")).status_code == 404 and httpx.get(url.replace("/v1", "/v1x")).status_code == 404


def test_no_noise_passes_every_byte(proxy: Start, upstream: Upstream) -> None:
    body = json.dumps(CONVERSATION).encode()
    for content in (b'{"messages":' + body + b" }", b"no json", b"", b"\xff\xfe"):
        _post(proxy("none"), content)
        assert upstream.bodies[-1] == content


# ------------------------------------------------------------- answers


def test_a_stream_comes_through_as_it_comes(proxy: Start, upstream: Upstream) -> None:
    pieces = [
        b'data: {"choices":[{"delta":{"content":"He"}}]}\n\n',
        b'data: {"x":\n',
        b"\n",
        "data: 你好 \n\n".encode()[:9],
        b"\x80\xffrest",
        b"data: [DONE]\n\n",
    ]
    more = asyncio.Event()

    async def stream(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream"), (b"x-request-id", b"7")]})
        for number, piece in enumerate(pieces):
            while number == 1 and not more.is_set():
                await asyncio.sleep(0.01)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    upstream.answer = stream
    with httpx.stream("POST", proxy() + "/chat/completions", json={"messages": CONVERSATION, "stream": True}, timeout=20) as answer:
        parts = answer.iter_raw()
        assert next(parts) == pieces[0]  # It is there before the upstream says more.
        more.set()
        assert b"".join(parts) == b"".join(pieces[1:])
    assert answer.headers["content-type"] == "text/event-stream" and answer.headers["x-request-id"] == "7"


@pytest.mark.parametrize("begun", [False, True])
def test_a_client_that_leaves_stops_the_upstream(begun: bool, proxy: Start, upstream: Upstream) -> None:
    left = []

    async def endless(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await asyncio.wait_for(gone.wait(), 10)
        left.append(time.monotonic())

    upstream.answer = endless
    url = proxy()
    with httpx.Client(timeout=httpx.Timeout(10, read=0.5)) as client:
        if begun:
            with client.stream("POST", url + "/chat/completions", json={"messages": CONVERSATION}) as answer:
                assert next(answer.iter_raw()) == b"data: 1\n\n"
        else:
            with pytest.raises(httpx.ReadTimeout):
                client.post(url + "/chat/completions", json={"messages": CONVERSATION})
    until(lambda: left, 5)


@pytest.mark.parametrize("status", [200, 201, 400, 401, 404, 422, 429, 500, 503])
def test_statuses_headers_and_errors_pass(status: int, proxy: Start, upstream: Upstream) -> None:
    body = gzip.compress(b'{"error": {"message": "rate limit", "code": null}}')
    headers = [
        (b"content-encoding", b"gzip"),
        (b"retry-after", b"7"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"connection", b"x-hop"),
        (b"x-hop", b"1"),
    ]

    async def answer(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        await reply(send, status, headers, body)

    upstream.answer = answer
    with httpx.stream("POST", proxy() + "/chat/completions", json={"messages": CONVERSATION}) as got:
        raw = b"".join(got.iter_raw())
    assert (got.status_code, raw) == (status, body)
    assert got.headers["retry-after"] == "7" and got.headers.get_list("set-cookie") == ["a=1", "b=2"] and "x-hop" not in got.headers
    assert got.headers["content-length"] == str(len(body)) and got.headers["content-encoding"] == "gzip"


def test_an_answer_without_a_body(proxy: Start, upstream: Upstream) -> None:
    async def nothing(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    upstream.answer = nothing
    assert _post(proxy(), {"messages": CONVERSATION}).status_code == 204


def test_an_answer_that_breaks_off_breaks_off(proxy: Start, upstream: Upstream) -> None:
    async def broken(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})

    upstream.answer = broken
    with pytest.raises(httpx.RemoteProtocolError):
        _post(proxy(), {"messages": CONVERSATION})


def test_redirects_are_followed_within_the_origin_alone(proxy: Start, upstream: Upstream) -> None:
    async def redirect(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        if asked.path.endswith("/again"):
            await reply(send, 200, [], asked.body)
        else:
            target = asked.query or "/v1/again"
            await reply(send, 308, [(b"location", target.encode())], b"")

    upstream.answer = redirect
    url = proxy()
    followed = _post(url, {"messages": CONVERSATION[:2]})
    assert followed.status_code == 200 and followed.json()["messages"][1] != CONVERSATION[1] and upstream.asked[-1].header("authorization")
    seen = len(upstream.asked)
    away = _post(url, {"messages": CONVERSATION[:2]}, path=f"/chat/completions?{REDIRECTED}")
    assert away.status_code == 308 and away.headers["location"] == REDIRECTED and len(upstream.asked) == seen + 1


def test_an_upstream_that_isnt_there(proxy: Start) -> None:
    answer = _post(proxy(upstream="http://127.0.0.1:9/v1"), {"messages": CONVERSATION})
    assert answer.status_code == 502 and answer.json()["error"]["type"] == "dialmill_proxy" and KEY not in answer.text


def test_an_upstream_that_is_silent(proxy: Start, upstream: Upstream) -> None:
    async def silent(asked: Asked, send: Send, gone: asyncio.Event) -> None:
        await asyncio.wait_for(gone.wait(), 10)

    upstream.answer = silent
    assert _post(proxy(timeout=0.3), {"messages": CONVERSATION}).status_code == 504


# ------------------------------------------------------------- what goes wrong


def test_halves_of_characters_and_deep_json_pass(proxy: Start, upstream: Upstream, tmp_path: Path) -> None:
    url = proxy(log=str(tmp_path / "log.jsonl"))
    for content in ('"half of a picture \\ud83d in 你 words"', "[" * 50_000 + "]" * 50_000, '""', "{}", "7", "true"):
        body = '{"messages": [{"role": "user", "content": ' + content + '}, {"role": 7}, "x", null]}'
        assert _post(url, body.encode()).status_code == 200 and upstream.bodies[-1] == body.encode()
    assert _post(url, b'{"messages": {"role": "user", "content": "hello there my friend"}}').status_code == 200


def test_compressed_requests_are_read(proxy: Start, upstream: Upstream) -> None:
    body = json.dumps({"messages": CONVERSATION}).encode()
    url = proxy()
    plain = _post(url, body).content
    assert _post(url, gzip.compress(body), headers={"Content-Encoding": "gzip"}).content == plain
    assert upstream.asked[-1].header("content-encoding") is None
    # What nobody here can read is passed on as it is.
    assert _post(url, b"\0\1", headers={"Content-Encoding": "br"}).content == b"\0\1" and upstream.asked[-1].header("content-encoding") == "br"


@pytest.mark.parametrize("body", [b"no json", b'{"messages": [', b"\xff\xfe{}", gzip.compress(b"x" * 9, mtime=0)[:-6]])
def test_bodies_that_cant_be_read_pass_or_fail(body: bytes, proxy: Start, upstream: Upstream) -> None:
    headers = {"Content-Encoding": "gzip"} if body.startswith(b"\x1f") else {}
    assert _post(proxy(), body, headers=headers).content == body
    seen = len(upstream.asked)
    refused = _post(proxy(on_error="fail"), body, headers=headers)
    assert refused.status_code == 400 and "can't read the body" in refused.text and len(upstream.asked) == seen


def test_a_perturber_that_fails_passes_or_fails(proxy: Start, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(KEY)

    start = {name: proxy(on_error=name) for name in ("pass", "fail")}
    monkeypatch.setattr(type(parse("typos").perturber), "perturb", broken)
    talk = {"messages": [{"role": "user", "content": "something that nobody has said before"}]}
    assert _post(start["pass"], talk).json() == talk
    seen = len(upstream.asked)
    failed = _post(start["fail"], talk)
    assert failed.status_code == 500 and KEY not in failed.text and len(upstream.asked) == seen
    assert httpx.get(start["pass"].replace("/v1", "/healthz")).json()["counts"]["failed"] == 1


def test_bodies_have_a_largest_size(proxy: Start, upstream: Upstream) -> None:
    url = proxy(max_body=2000)
    assert _post(url, {"messages": [{"role": "user", "content": "x" * 3000}]}).status_code == 413
    assert _post(url, gzip.compress(b" " * 10_000, mtime=0), headers={"Content-Encoding": "gzip"}).status_code == 200  # it isn't unpacked, and passes
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("variant", ["-1", "x", "1.5", "99999999"])
def test_a_variant_is_a_number(variant: str, proxy: Start, upstream: Upstream) -> None:
    assert _post(proxy(), {"messages": CONVERSATION}, headers={"X-Dialmill-Variant": variant}).status_code == 400 and not upstream.asked


def test_health(proxy: Start, upstream: Upstream) -> None:
    url = proxy("disfluency+typos", seed=5)
    _chat(url, CONVERSATION)
    found = httpx.get(url.replace("/v1", "/healthz")).json()
    assert (found["status"], found["steps"], found["seed"]) == ("ok", ["disfluency@2", "typos@3"], 5) or found["steps"][1] == "typos@3"
    assert found["counts"]["requests"] == 1 and found["counts"]["messages"] == 4 and 0 < found["counts"]["changed"] <= 4


# ------------------------------------------------------------- what is written down


def test_the_log_says_what_became_of_every_text_once_and_holds_no_key(proxy: Start, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.jsonl"
    url = proxy(log=str(path))
    for length in range(1, len(CONVERSATION) + 1):
        if CONVERSATION[length - 1]["role"] in ("user", "tool"):
            _post(url, {"messages": CONVERSATION[:length], "user": KEY}, params={"key": KEY}, headers={"api-key": KEY})
    _post(proxy(upstream="http://127.0.0.1:9/v1", log=str(path)), {"messages": CONVERSATION}, params={"key": KEY})
    records = [decode(line) for line in path.read_bytes().splitlines()]
    # The last request but one had a user's message as new that the last one had too.
    assert len({record.source_id for record in records}) == 4 and all(check_dialogue(record) == [] for record in records)
    assert {record.turns[0].source_text for record in records} >= {CONVERSATION[1]["content"], CONVERSATION[7]["content"]}
    said = path.read_text("utf-8") + "".join(capfd.readouterr())
    assert KEY not in said and "helpful agent" not in said and "Of course" not in said
    shown = call("show", path, "--id", records[-1].source_id)
    assert shown.code == 0 and "standard" in shown.out and "typos@3" in shown.out and "mia_li_3668" in shown.out
    assert call("report", path).code == 0 and "mia_li_3668" in (tmp_path / "log.jsonl.report.html").read_text("utf-8")
    (tmp_path / "english.jsonl").write_text("".join(line for line in path.open(encoding="utf-8") if '"language":"en"' in line), "utf-8")
    scored = call("score", "wer", "--gold", tmp_path / "english.jsonl", "--json", "-")
    assert scored.code == 0 and json.loads(scored.out)["counts"]["turns"] == 3 and json.loads(scored.out)["metrics"]["wer"] > 0


def test_a_log_that_cant_be_written_passes_or_fails(proxy: Start, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    start = {name: proxy(on_error=name, log=str(tmp_path / name)) for name in ("pass", "fail")}
    monkeypatch.setattr("dialmill.pipelines.proxy.lineage.os.write", full)
    assert _post(start["pass"], {"messages": CONVERSATION}).status_code == 200
    assert _post(start["fail"], {"messages": CONVERSATION}).status_code == 500 and len(upstream.asked) == 1


# ------------------------------------------------------------- the command


def test_the_command_serves_with_several_workers_until_it_is_told_to_stop(upstream: Upstream, tmp_path: Path) -> None:
    guard = tmp_path / "guard.txt"
    guard.write_text("other one\n")
    command = [sys.executable, "-m", "dialmill", "proxy", "--upstream", upstream.url, "--with", "typos:rate=0.5", "--port", "0", "--workers", "2"]
    running = subprocess.Popen([*command, "--guard", str(guard), "--log", str(tmp_path / "log.jsonl")], stderr=subprocess.PIPE, text=True)
    try:
        assert running.stderr is not None
        told = running.stderr.readline()
        url = told.split("proxy at ")[1].split(" ")[0]
        assert "typos@3, seed 1, 1 values guarded" in told
        until(lambda: _ready(url), 60)
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _: tuple(map(str, _chat(url, CONVERSATION))), range(24)))
        assert len(set(made)) == 1 and "other one" in made[0][-1]
    finally:
        running.terminate()
        code = running.wait(20)
    assert code in (0, -15) and len(list(conversations(str(tmp_path / "log.jsonl")))) == 1


def _ready(url: str) -> bool:
    try:
        return httpx.get(url.replace("/v1", "/healthz")).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"upstream": "api.example.com/v1"}, "--upstream must be an address"),
        ({"upstream": "https://me:secret@api.example.com/v1"}, "no user name"),
        ({"upstream": "https://api.example.com/v1?key=1"}, "--upstream must be an address"),
        ({"spec": "typo"}, "no perturber 'typo'"),
        ({"spec": "typos:rate=7"}, "rate"),
        ({"spec": "questions"}, "turns of its own"),
        ({"keep": "("}, "no regular expression"),
    ],
)
def test_what_cant_be_used_is_said_at_the_start(options: dict[str, Any], about: str) -> None:
    with pytest.raises(UsageError, match=about) as found:
        server.proxy_of(server.Options(**{"upstream": "http://127.0.0.1:9/v1", **options}))
    assert "secret" not in str(found.value).replace("https://me:secret@", "")


def test_a_port_that_is_taken(upstream: Upstream) -> None:
    with pytest.raises(DialmillError, match="choose another --port"):
        server.serve(server.Options(upstream.url, port=int(upstream.url.split(":")[2].split("/")[0])))


def test_usage_errors_of_the_command() -> None:
    assert call("proxy", "--upstream", "nowhere", "--with", "typos").code == 2
    assert call("proxy", "--upstream", "http://x/v1", "--with", "typos", "--port", "99999").code == 2
    assert call("proxy", "--upstream", "http://x/v1", "--with", "typos", "--guard", "/nowhere").code == 1
