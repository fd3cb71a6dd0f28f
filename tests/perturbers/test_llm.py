"""The engine `llm` against a real server on this machine that misbehaves on demand."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import OptionError
from dialmill.perturbers.rewording import llm
from dialmill.perturbers.rewording.paraphrase import Paraphrase
from dialmill.schemas import Dialogue

from tests.llm_server import Reply
from tests.llm_server import serve as serve
from tests.oracle import damaged_values, misaligned_spans
from tests.talk import dialogue, inform

TEXT = "I need a cheap hotel in the north ."
GOOD = "Could you find me a cheap place in the north ?"


def source() -> Dialogue:
    return dialogue("one", [("user", TEXT, *inform("hotel", pricerange="cheap", area="north"))])


def run(**options: Any) -> tuple[str, str]:
    """How the turn came out, and why it was skipped ("" if it was not)."""
    made = Paraphrase(engine="llm", model="m", **options).perturb(source(), 1)
    assert not misaligned_spans(source().turns[0], made.turns[0])
    assert not damaged_values(source().turns[0], made.turns[0])
    skipped = made.lineage[-1].skipped
    return made.turns[0].utterance, skipped[0].reason if skipped else ""


def test_a_good_answer_is_taken_and_its_cost_noted(serve: Any) -> None:
    server = serve(lambda number, body: f' "{GOOD}" ')
    assert run() == (GOOD, "")
    made = Paraphrase(engine="llm", model="m").perturb(source(), 1)
    assert made.lineage[-1].reasons == ("turn 0: llm (21 tokens)",)
    asked = server.asked[0]
    assert (asked["path"], asked["key"], asked["model"]) == ("/v1/chat/completions", "Bearer sesame", "m")
    assert "cheap; north" in asked["messages"][0]["content"]
    assert TEXT in asked["messages"][1]["content"]


def test_a_rebuild_asks_nobody(serve: Any) -> None:
    server = serve(lambda number, body: GOOD)
    first = run()
    calls = len(server.asked)
    server.reply = lambda number, body: (500, {}, b"")
    assert run() == first
    assert len(server.asked) == calls


def test_the_prompt_is_the_users(serve: Any) -> None:
    server = serve(lambda number, body: GOOD)
    run(prompt="Say it like a pirate.")
    assert server.asked[0]["messages"][0]["content"].startswith("Say it like a pirate.")


@pytest.mark.parametrize(
    "bad",
    [(429, {"Retry-After": "0"}, b"slow down"), (500, {}, b"oops"), (503, {}, b""), (200, {}, b"<html>"), (200, {}, b'{"choices": []}')],
    ids=["429", "500", "503", "not json", "no choice"],
)
def test_a_passing_fault_is_ridden_out(serve: Any, bad: Reply) -> None:
    server = serve(lambda number, body: bad if number < 2 else GOOD)
    assert run() == (GOOD, "")
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ((500, {}, b""), "llm_failed: HTTP 500"),
        ((429, {"Retry-After": "0"}, b""), "llm_failed: HTTP 429"),
        ((200, {}, b"hello"), "llm_failed: not an answer"),
    ],
)
def test_a_lasting_fault_costs_the_turn(serve: Any, bad: Reply, reason: str) -> None:
    server = serve(lambda number, body: bad)
    assert run() == (TEXT, reason)
    assert len(server.asked) == 4, "the calls ahead; what failed for good isn't asked for again"


def test_a_refusal_is_not_repeated(serve: Any) -> None:
    server = serve(lambda number, body: (401, {}, b"who are you"))
    assert run() == (TEXT, "llm_failed: HTTP 401")
    assert len(server.asked) == 1


def test_a_silent_server_times_out(serve: Any) -> None:
    def sleep(number: int, body: dict[str, Any]) -> Reply:
        time.sleep(0.6)
        return GOOD

    serve(sleep)
    assert run() == (TEXT, "llm_failed: timeout")


def test_an_answer_that_comes_byte_by_byte_times_out(serve: Any) -> None:
    """Each byte comes in time, and the whole never would."""
    serve(lambda number, body: (200, {}, [b" "] * 1000))
    begun = time.monotonic()
    assert run() == (TEXT, "llm_failed: timeout")
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "bad",
    [(200, {}, [b" "] * 1000), (429, {"Retry-After": "3600"}, b""), (503, {"Retry-After": "1"}, b"")],
    ids=["byte by byte", "asks for an hour", "asks for a second"],
)
def test_what_takes_long_to_fail_is_given_up_by_the_time_it_took(serve: Any, bad: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven of eight calls: long before the count of failures would say so."""
    monkeypatch.setattr(llm, "_LONGEST_WAIT", 0.6)
    serve(lambda number, body: GOOD if number % 8 == 7 else bad)
    client = llm.Client("m", wait=0.0, timeout=0.3)
    reasons, begun = set(), time.monotonic()
    for number in range(60):
        try:
            client.ask([{"role": "user", "content": str(number)}])
        except llm.LlmError as error:
            reasons.add(str(error))
    assert "llm_failed: endpoint down" in reasons and time.monotonic() - begun < 8


def test_no_server_at_all(monkeypatch: pytest.MonkeyPatch, serve: Any) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert run() == (TEXT, "llm_failed: no connection")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Could you find me a place in the north ?", "value_lost"),
        ("Could you find me an expensive place in the north ?", "value_lost"),
        ("Could you find me a cheap place in the north on monday ?", "value_added"),
        ("I do not need a cheap hotel in the north .", "negation_changed"),
        ("", "no_edit_possible"),
        (TEXT, "no_edit_possible"),
        (f"  {TEXT}  ", "no_edit_possible"),
    ],
    ids=["value dropped", "value changed", "value added", "negation added", "empty", "identical", "identical but for blanks"],
)
def test_an_answer_that_breaks_the_labels_is_asked_for_again_and_then_left(serve: Any, answer: str, reason: str) -> None:
    server = serve(lambda number, body: answer)
    text, skipped = run()
    assert text == TEXT
    assert skipped.startswith(reason)
    assert len({asked["seed"] for asked in server.asked}) == 3
    server.reply = lambda number, body: GOOD


def test_the_second_answer_may_do(serve: Any) -> None:
    serve(lambda number, body: GOOD if body["seed"] else "Anything cheap ?")
    assert run() == (GOOD, "")


def test_a_server_that_is_down_is_left_alone_after_a_while(serve: Any) -> None:
    server = serve(lambda number, body: (401, {}, b""))
    client = llm.Client("m", wait=0.0)
    for number in range(llm._PATIENCE + 10):
        with pytest.raises(llm.LlmError):
            client.ask([{"role": "user", "content": str(number)}])
    assert len(server.asked) == llm._PATIENCE


def test_the_turns_of_a_dialogue_are_asked_for_at_once(serve: Any) -> None:
    together = threading.Barrier(2, timeout=0.25)

    def meet(number: int, body: dict[str, Any]) -> Reply:
        together.wait()
        return "Thanks so very much ."

    serve(meet)
    record = dialogue("two", [("user", "thanks !"), ("system", "Welcome ."), ("user", "thank you !")])
    made = Paraphrase(engine="llm", model="m").perturb(record, 1)
    assert [turn.utterance for turn in made.turns if turn.speaker == "user"] == ["Thanks so very much ."] * 2


def test_mostly_bad_answers_cost_their_turns_and_little_time(serve: Any) -> None:
    server = serve(lambda number, body: GOOD if number % 8 == 7 else (200, {}, b"nonsense"))
    client = llm.Client("m", wait=0.0)
    reasons = set()
    for number in range(300):
        try:
            client.ask([{"role": "user", "content": str(number)}])
        except llm.LlmError as error:
            reasons.add(str(error))
    assert reasons == {"llm_failed: not an answer", "llm_failed: endpoint down"}
    assert len(server.asked) < 100


def test_an_endless_answer_is_cut_off(serve: Any) -> None:
    serve(lambda number, body: (200, {}, b"x" * (llm._LARGEST + 100_000)))
    assert run() == (TEXT, "llm_failed: answer too large")


def test_the_key_goes_nowhere_else(serve: Any) -> None:
    thief = serve(lambda number, body: GOOD)
    there = f"http://127.0.0.1:{thief.server_address[1]}/v1/chat/completions"
    serve(lambda number, body: (307, {"Location": there}, b""))
    assert run() == (TEXT, "llm_failed: HTTP 307")
    assert thief.asked == []


def test_a_key_with_a_line_end_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, serve: Any) -> None:
    serve(lambda number, body: GOOD)
    monkeypatch.setenv("OPENAI_API_KEY", "sesame\nX-Evil: 1")
    with pytest.raises(OptionError, match="OPENAI_API_KEY") as refusal:
        Paraphrase(engine="llm", model="m")
    assert "sesame" not in str(refusal.value)


def test_another_endpoint_is_asked_anew(serve: Any) -> None:
    serve(lambda number, body: GOOD)
    assert run() == (GOOD, "")
    second = serve(lambda number, body: GOOD)
    run()
    assert second.asked


def test_a_cache_that_broke_off_is_asked_anew(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda number, body: GOOD)
    client = llm.Client("m", cache=tmp_path)
    client.ask([{"role": "user", "content": "x"}])
    (kept,) = (path for path in tmp_path.rglob("*.json"))
    for broken in (b"", b"{", b"[1]", b'{"text": 1}', b"null"):
        kept.write_bytes(broken)
        assert client.ask([{"role": "user", "content": "x"}]).text == GOOD
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    "answer",
    [
        "Thanks a lot , see <a href='x'>this</a> .",
        "Thanks [here](http://x.org) .",
        "Thanks , visit www.example.com .",
        "**Thanks** so much .",
        "Thanks\nso much .",
        "Thanks \x1b[31mso much .",
        "Thanks " + "so very " * 200 + "much .",
        "Thanks \x9b31m so much .",
        "Thanks \u202eso much .",
        "Thanks so\u200b much .",
        "Thanks , *so* much .",
        "Thanks , _so_ much .",
        "Thanks , `so` much .",
        "Thanks &lt;b&gt; so much .",
        "[b]Thanks[/b] so much .",
        "Thanks , see evil.com/x .",
        "Thanks , see ftp://evil.example/x .",
        "Thanks , mailto:a@b.example .",
        "Thanks , javascript:alert(1) .",
        "> Thanks so much .",
        "<!-- Thanks --> so much .",
    ],
)
def test_what_no_person_says_is_refused_without_values_too(answer: str) -> None:
    assert not llm.admissible(answer, "Thank you .")
    assert llm.admissible("Thanks so much !", "Thank you .")


def test_an_address_of_the_turn_lets_no_other_one_in() -> None:
    assert llm.admissible("Please look at http://a.example/x .", "Could you look at http://a.example/x ?")
    assert not llm.admissible("Please look at http://b.example/x .", "Could you look at http://a.example/x ?")
    assert llm.admissible("I am at 5.30 p.m. with No.5, i.e. e.g. U.K. food , rated 4.5", "at 5.30 p.m.")
    assert llm.admissible("我想要一家便宜的酒店，星级是4.5，谢谢", "我要便宜的酒店")


def test_a_cached_answer_is_held_to_what_an_answer_is(tmp_path: Path) -> None:
    client = llm.Client("m", base_url="http://127.0.0.1:9/v1", cache=tmp_path, wait=0.0)
    asked = [{"role": "user", "content": "x"}]
    body = json.dumps({"model": "m", "messages": asked, "temperature": 0.7, "seed": 0}, ensure_ascii=False, sort_keys=True).encode()
    digest = hashlib.sha256(b"http://127.0.0.1:9/v1\n" + body).hexdigest()
    kept = tmp_path / "llm" / digest[:2] / f"{digest}.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"text": "yes", "tokens": 1}')
    assert client.ask(asked).text == "yes"
    for broken in ('{"text": 5, "tokens": 1}', '{"text": "a", "tokens": "b"}', "[" * 100_000, ""):
        kept.write_text(broken)
        with pytest.raises(llm.LlmError):
            llm.Client("m", base_url="http://127.0.0.1:9/v1", cache=tmp_path, wait=0.0).ask(asked)
